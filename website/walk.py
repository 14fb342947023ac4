"""The notebook docs/walk.ipynb, made of its source docs/walk.py: `python website/walk.py` runs it and writes it.

The source is a Python file of cells (``# %%``), which the tests run. The notebook has the output and the plots of one run.
"""

import os
import re
from pathlib import Path

import jupytext  # type: ignore[import-untyped]
import nbformat
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor, ExecutePreprocessor

DOCS = Path(__file__).resolve().parents[1] / "docs"
SOURCE, NOTEBOOK = DOCS / "walk.py", DOCS / "walk.ipynb"


def run() -> None:
    """Run the source and write the notebook with what each cell shows."""
    notebook = jupytext.reads(SOURCE.read_text(encoding="utf-8"), fmt="py:percent")
    execute, join = ExecutePreprocessor(timeout=600), CoalesceStreamsPreprocessor()  # type: ignore[no-untyped-call]
    execute.preprocess(notebook, {"metadata": {"path": DOCS}})
    join.preprocess(notebook, {})  # type: ignore[no-untyped-call]
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    nbformat.write(notebook, NOTEBOOK)  # type: ignore[no-untyped-call]


def walk_page() -> tuple[str, dict[str, bytes]]:
    """Return the page of the notebook in Markdown, and the pictures in it by their file names."""
    page, resources = MarkdownExporter().from_filename(str(NOTEBOOK))  # type: ignore[no-untyped-call]
    page = describe_plots(page.replace("<details>", '<details markdown="1">'))
    return page, resources["outputs"]


def describe_plots(page: str) -> str:
    """Give each plot of a page the title in the code above it as its alternative text; several axes give all."""
    parts = page.split("```python")
    for place, part in enumerate(parts):
        titles = re.findall(r'(?:title=|\bshow\([^,\n]+, )"([^"]*)"', part.split("```")[0])
        count = part.count("![png]")
        for number in range(count):
            text = titles[number] if len(titles) == count else "; ".join(titles)
            parts[place] = parts[place].replace("![png]", f"![{text}]", 1)
    return "```python".join(parts)


if __name__ == "__main__":
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # small tensors are as fast so, and the notebook prints its seconds
    run()
