"""The commands of the pages and of make install PyTorch without CUDA, in the one version that is tried."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLACES = "--index-url https://download.pytorch.org/whl/cpu"
COMMANDS = {
    (page.relative_to(ROOT).as_posix(), command.partition("#")[0].strip())
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
    for command in re.findall(r"pip install torch\b[^`\n]*", page.read_text("utf-8"))
}


@pytest.fixture(scope="module")
def planned():
    """The command that `make` would run."""
    words = ["make", "--dry-run", "--always-make", "VENV=missing", "missing/.installed"]
    lines = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return next(line for line in lines.splitlines() if "torch==" in line)


def test_make_installs_torch_without_cuda(planned):
    assert f"--no-deps {PLACES} " in planned  # what it needs follows, from the usual index


@pytest.mark.parametrize("command", sorted(COMMANDS), ids=" ".join)
def test_pages_install_the_torch_of_make_without_cuda(command, planned):
    [version] = re.findall(r'"(torch==.*)"', planned)
    assert command[1] == f"pip install {version} {PLACES}"


def test_the_pages_for_beginners_have_the_command():
    assert {"README.md", "docs/start.md"} <= {page for page, _ in COMMANDS}
