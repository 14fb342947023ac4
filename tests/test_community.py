"""What strangers look for beside the code: it can be read by machines, and it is linked."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from headway import __version__

ROOT = Path(__file__).parents[1]


def test_the_citation_is_of_this_version():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    # What the schema of version 1.2.0 requires; `cffconvert --validate` checks all of it.
    assert cited.keys() >= {"cff-version", "message", "title", "authors"}
    assert (cited["cff-version"], cited["version"]) == ("1.2.0", __version__)
    [paper] = cited["references"]
    assert [author["family-names"] for author in paper["authors"]][::7] == ["Vaswani", "Polosukhin"]


def test_a_source_distribution_has_what_a_clone_has():
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    named = re.findall(r"^(?:include|graft) (.*)", manifest, re.MULTILINE)
    patterns = [pattern for line in named for pattern in line.split()]
    # setuptools takes these without being told; .ci is for one kind of server.
    patterns += ["LICENSE", "MANIFEST.in", "pyproject.toml", "setup.py", ".ci"]
    for name in {file.partition("/")[0] for file in listed}:
        assert any(fnmatch(name, pattern) for pattern in patterns), name


def test_the_page_for_contributors_links_what_strangers_look_for():
    """That what it links exists, `tests/docs/test_site.py` sees."""
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert {"SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff"} <= {*links}
