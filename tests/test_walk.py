"""The scripts of docs/walk run, and their index lists them; `python tests/test_walk.py` writes the index."""

import re
from pathlib import Path

import pytest

WALK = Path(__file__).parents[1] / "docs" / "walk"
SCRIPTS = sorted(WALK.glob("*.py"))
HEAD = """# A walk from equation to code to output

Short notebooks for readers who know PyTorch but not the Transformer of "Attention Is All You Need" (Vaswani et al.,
[2017](https://arxiv.org/abs/1706.03762)). Sections and equations have the paper's numbers.

The Transformer translates a text, the source, into another, the target. An encoder turns each token of the source (a word or a part of
one) into a vector that knows its neighbors. A decoder writes the target token by token; it reads these vectors and what it has
written. Both get what they need from other tokens by attention, and from nothing else.

Most notebooks put a few lines by hand beside Headway's own part, and check that both give the same numbers; two train a small
model instead. Each ends with questions; the answers are folded away below them. The files are
plain Python (`python docs/walk/01_attention.py`); VS Code, and Jupyter with jupytext, open them as notebooks.

| notebook | what it shows |
|---|---|
"""


def make_index() -> str:
    """Return the index, made of the title and the first sentence of each script."""
    rows = []
    for script in SCRIPTS:
        _, title, _, sentence, *_ = script.read_text(encoding="utf-8").splitlines()
        rows.append(f"| [{title.removeprefix('# # ')}]({script.name}) | {sentence[2:]} |\n")
    return HEAD + "".join(rows)


def test_the_index_lists_every_script() -> None:
    assert (WALK / "README.md").read_text(encoding="utf-8") == make_index()


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_and_prints_what_it_shows(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script.read_text(encoding="utf-8")
    exec(compile(text, script.name, "exec"), {})
    printed = capsys.readouterr().out
    for block in re.findall(r"^# ```text\n(.*?)^# ```$", text, re.DOTALL | re.MULTILINE):
        shown = re.sub("^# ", "", block, flags=re.MULTILINE)
        if (
            script.stem != "11_reading"
        ):  # its numbers are a training's, which differ between processors
            assert shown in printed


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_compares_and_asks(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert "assert" in text
    questions, answers = text.split("## Questions")[1].split("Answers</summary>")
    count = len(re.findall(r"^# \d\. ", questions, re.MULTILINE))
    assert count in (2, 3)
    assert len(re.findall(r"^# \d\. ", answers, re.MULTILINE)) == count


if __name__ == "__main__":
    (WALK / "README.md").write_text(make_index(), encoding="utf-8", newline="\n")
