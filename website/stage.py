"""Gather the pages of the site in one folder: `python website/stage.py build/pages`.

The folder has the layout of the repository, so that the links between its pages work in both. It holds
README.md, CHANGELOG.md, every page of docs/, whatever they link to, and the pages that are made here: the reference
and the notebook. mkdocs.yml says where they appear.
"""

import re
import shutil
import sys
from pathlib import Path

from command_line import command_line_page, settings_page
from library import library_page
from walk import walk_page

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^()\s:#]+)(?:#[^()\s]*)?\)")
FILES = {"website/style.css", "website/iframe-worker.js"}


def stage(target: Path) -> None:
    """Write all pages, and the files that they link to, into a folder of its own."""
    shutil.rmtree(target, ignore_errors=True)
    pages, pictures = make_pages()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in list_pages(pages)}
    texts = {
        name: free_pipes(text).replace("walk.ipynb)", "walk.md)") for name, text in texts.items()
    } | pages
    for name, text in texts.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, picture in pictures.items():
        (target / name).write_bytes(picture)
    for name in FILES | {file for page, text in texts.items() for file in linked(page, text)}:
        if not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)


def make_pages() -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the text of each page that is made here, and the pictures of the notebook, by their paths."""
    walk, pictures = walk_page()
    pages = {
        "docs/reference/library.md": library_page(
            (ROOT / "docs" / "library.md").read_text("utf-8")
        ),
        "docs/reference/command-line.md": command_line_page(),
        "docs/reference/settings.md": settings_page(),
        "docs/walk.md": walk,
    }
    return pages, {f"docs/{name}": picture for name, picture in pictures.items()}


def list_pages(made: dict[str, str]) -> list[str]:
    """Return the paths of the written pages: README.md, CHANGELOG.md, docs/, and pages that a link reaches."""
    found = [
        "README.md",
        "CHANGELOG.md",
        *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md"))),
    ]
    for page in found:  # which grows
        text = (ROOT / page).read_text(encoding="utf-8")
        found += [
            name
            for name in linked(page, text)
            if name.endswith(".md") and name not in found and name not in made
        ]
    return found


def linked(page: str, text: str) -> set[str]:
    """Return the files of the repository that a page links to; mkdocs reports links to nothing."""
    paths = {(ROOT / page).parent.joinpath(link).resolve() for link in LINK.findall(text)}
    return {
        str(path.relative_to(ROOT))
        for path in paths
        if path.is_file() and path.is_relative_to(ROOT)
    }


def free_pipes(text: str) -> str:
    """Remove the backslash before a pipe in code in a table, which only a code host needs."""
    return re.sub(
        r"^\|.*", lambda row: re.sub(r"`[^`]+`", _free_pipe, row[0]), text, flags=re.MULTILINE
    )


def _free_pipe(code: re.Match[str]) -> str:
    return code[0].replace("\\|", "|")


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
