"""Notebooks that are Python files of cells (``# %%``), as Markdown."""

import re


def notebook_page(script: str) -> str:
    """Return the page of a notebook: its texts as they are, its code in blocks."""
    cells = re.split(r"^# %%", script, flags=re.MULTILINE)[1:]
    return "\n".join(_write_cell(*cell.split("\n", 1)) for cell in cells)


def _write_cell(kind: str, content: str) -> str:
    if kind.strip() != "[markdown]":
        return f"```python\n{content.strip()}\n```\n"
    text = re.sub(r"^# ?", "", content, flags=re.MULTILINE)
    return text.replace("<details>", '<details markdown="1">')


def link_to_pages(text: str) -> str:
    """Let links to notebooks lead to their pages."""
    return re.sub(r"\]\(((?:\w+/)*\d\d_\w+)\.py\)", r"](\1.md)", text)
