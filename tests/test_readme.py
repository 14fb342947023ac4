"""What the README shows, runs."""

import re
import shlex
from pathlib import Path

import pytest

from headway.cli.main import VERBS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\s*headway (.*)$", README, re.MULTILINE)


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs(code: str, model_directory: Path) -> None:
    exec(compile(code.replace("runs/demo", str(model_directory)), "README.md", "exec"), {})


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command: str) -> None:
    import importlib

    from headway.cli.main import parse

    verb, *words = shlex.split(re.split(r"\s[<>#]", command)[0])
    assert verb in VERBS
    parse(verb, importlib.import_module(f"headway.cli.{verb}"), words)


def test_every_verb_and_picture_is_there() -> None:
    assert all(f"headway {verb}" in README for verb in VERBS)
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / picture).is_file(), picture
