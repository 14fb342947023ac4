"""A package that is missing is named with what to install, before the work begins."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headway.errors import explain_missing
from support.extensions import needs

ROOT = Path(__file__).parents[2]
# The module of a package, where it has another name.
MODULES = {"markdown-it-py": "markdown_it"}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PACKAGES = [
    (MODULES.get(name, name.replace("-", "_")), extra)
    for extra, lines in EXTRAS.items()
    if extra not in ("all", "dev", "docs")
    for name in (line.partition(">")[0] for line in lines)
]
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
from headway.cli.main import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize(("module", "extra"), PACKAGES)
def test_each_package_of_an_extra_is_named_with_it(module, extra):
    assert explain_missing(f"{module}.part") == f"needs {module}: pip install 'headway[{extra}]'"


def test_all_extras_are_one():
    [line] = EXTRAS["all"]
    assert sorted(line[len("headway[") : -1].split(",")) == sorted({extra for _, extra in PACKAGES})


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("shtab", ["completion", "bash"]),
        ("tensorboard", ["train", "run", "--train", "a", "b", "--valid", "9", "--training.tensorboard", "true"]),
        pytest.param(
            "lxml", ["translate", str(ROOT / "tests/golden/0.2/model"), "--input", "a.docx", "--output", "b.docx", "--to", "de"],
            marks=needs("documents"),
        ),
    ],
)  # fmt: skip
def test_the_command_ends_with_one_line(hidden, words, tmp_path):
    for name in ("a", "b", "a.docx"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    command = [sys.executable, "-c", HIDE, hidden, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode in (1, 2)
    assert f"needs {hidden}: pip install 'headway[" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "a.docx"}
