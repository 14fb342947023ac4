"""The commands of the pages install PyTorch without CUDA, on a Linux machine that has no local builds of it."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INDEX = "https://download.pytorch.org/whl/cpu"
CUDA = ("nvidia-cublas", "cuda-toolkit", "triton")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/start.md", "docs/wheels.md")
COMMANDS = [
    (page, command)
    for page in PAGES
    for command in re.findall(r"pip install torch==[^`\n]*", (ROOT / page).read_text("utf-8"))
]


def write_wheel(index, name, version, needs=()):
    """Put a package without code into an index: a folder for each package, and a page that lists its files."""
    folder, stem = index / name, f"{name.replace('-', '_')}-{version}"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata = "\n".join([*lines, *(f"Requires-Dist: {need}" for need in needs), ""])
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as file:
        for part, text in {"METADATA": metadata, "WHEEL": wheel, "RECORD": ""}.items():
            file.writestr(f"{stem}.dist-info/{part}", text)
    (folder / "index.html").write_text(f"<a href='{stem}-py3-none-any.whl'>{stem}</a>")


def resolve(words, folder):
    """Return the packages that `pip install` would install, with their versions."""
    report = folder / "report.json"
    others = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    usual = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": (folder / "usual").as_uri()}
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
         "--disable-pip-version-check", "--no-cache-dir", "--report", report, *words],
        env=others | usual, check=True, timeout=60,
    )  # fmt: skip
    found = [each["metadata"] for each in json.loads(report.read_text("utf-8"))["install"]]
    return {each["name"]: each["version"] for each in found}


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [version] = re.findall(r"^TORCH \?= torch==(\S+)$", makefile, re.MULTILINE)
    for name in CUDA:
        write_wheel(folder / "usual", name, "13.0")
    for index in ("usual", "processors"):
        write_wheel(folder / index, "filelock", "3.0")
    write_wheel(folder / "usual", "torch", version, ("filelock", *CUDA))
    write_wheel(folder / "processors", "torch", f"{version}+cpu", ("filelock",))
    return folder


def test_the_usual_index_would_bring_cuda(indexes):
    assert resolve(["torch"], indexes).keys() >= set(CUDA)


@pytest.mark.slow
def test_pages_install_torch_without_cuda(indexes):
    index = (indexes / "processors").as_uri()
    [command] = {command.partition("#")[0].strip() for _, command in COMMANDS}  # all have the same
    found = resolve(command.replace(INDEX, index).split()[2:], indexes)
    assert found.keys() == {"torch", "filelock"}
    assert found["torch"].endswith("+cpu")


@pytest.mark.slow
def test_make_installs_torch_without_cuda(indexes):
    """The commands that `make` would run are read, and resolved."""
    index = (indexes / "processors").as_uri()
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "VENV=missing", f"TORCH_INDEX={index}", "missing/.installed"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    [command] = [line for line in planned.splitlines() if "torch==" in line]
    words = command.partition(" install ")[2].replace('"', "").replace("--no-compile", "").split()
    [(name, version)] = resolve(words, indexes).items()  # what it needs follows
    assert name == "torch"
    assert version.endswith("+cpu")
    assert INDEX in (ROOT / "Makefile").read_text("utf-8")


def test_every_page_that_names_a_torch_is_tried():
    assert {page for page, _ in COMMANDS} == set(PAGES)
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    naming = {page for page in pages if "pip install torch" in page.read_text("utf-8")}
    assert naming == {ROOT / page for page in PAGES}
