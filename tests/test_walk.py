"""docs/walk.py runs, its exercises have right answers, and docs/walk.ipynb is made of it."""

import importlib
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

DOCS = Path(__file__).parents[1] / "docs"
SOURCE = (DOCS / "walk.py").read_text(encoding="utf-8")


def with_answers(source):
    """Return the source with the folded answers in the place of what a reader is to write."""
    for answer in re.findall(r"^# ```python\n(.*?)^# ```$", source, re.DOTALL | re.MULTILINE):
        code = re.sub(r"^# ?", "", answer, flags=re.MULTILINE)
        name = re.search(r"def (\w+)", code)
        assert name
        source, count = re.subn(
            rf"^def {name[1]}\(.*?raise NotImplementedError  # your code\n",
            lambda _, code=code: code,
            source,
            flags=re.DOTALL | re.MULTILINE,
        )
        assert count == 1
    return source


@pytest.mark.timeout(600)
def test_the_notebook_runs_and_its_answers_are_right(capsys, monkeypatch):
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    exec(compile(with_answers(SOURCE), "walk.py", "exec"), {})
    found = re.findall(r"^exercise \d: (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert found == ["right"] * 3


def test_the_notebook_has_the_cells_of_its_source_and_what_they_show():
    notebook = nbformat.read(DOCS / "walk.ipynb", as_version=4)
    source = jupytext.reads(SOURCE, fmt="py:percent")
    assert [(c.cell_type, c.source) for c in notebook.cells] == [
        (c.cell_type, c.source) for c in source.cells
    ], "python website/walk.py writes the notebook"
    for cell in notebook.cells:
        if re.search(r"^(print|show|check)\(|^plt\.show|^    print\(", cell.source, re.MULTILINE):
            assert cell.cell_type == "markdown" or cell.outputs


def test_each_plot_of_the_page_has_its_title_as_alternative_text(monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "website")
    page, pictures = importlib.import_module("walk").walk_page()
    texts = re.findall(r"!\[(.*?)\]\(output_\w+\.png\)", page)
    assert len(texts) == len(pictures) > 5
    assert len(set(texts)) == len(texts)
    assert all(title in SOURCE for text in texts for title in text.split("; "))
    assert "png" not in texts
