"""The pages of the documentation, and the commands that they show."""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks/README.md"]
    if path.name != "CHANGELOG.md"  # which names what has been
)
# Bash runs texts one after the other in one process, so that it expands their variables, loops and functions.
# It finds no program, and writes the words of each command that it would run. A job of Slurm has its variable.
RECORDER = """
command_not_found_handle() { printf '%s\\037' "$@" $'\\036' >&3; }
enable -n . source exec kill cd ulimit exit wait trap set
PATH=/nowhere SLURM_ARRAY_TASK_ID=1
"""

# The comment with which a page marks options of programs that are not in this repository.
OTHER_OPTIONS = r"<!-- other programs: (.*) -->"


@dataclass
class Block:
    """A block of code of a page."""

    line: int
    language: str
    text: str


def read_blocks(page):
    """Return the blocks of code of a page of the repository."""
    return [
        Block(token.map[0] + 1 if token.map else 0, token.info.strip(), token.content)
        for token in MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
        if token.type in ("fence", "code_block")
    ]


def read_code_spans(page):
    """Return the code inside the sentences of a page."""
    tokens = MarkdownIt().enable("table").parse((ROOT / page).read_text(encoding="utf-8"))
    children = [child for token in tokens for child in token.children or []]
    return [child.content for child in children if child.type == "code_inline"]


def read_table(page, *columns, heading=""):
    """Return the rows of that table of a page whose first columns have these names; there must be one.

    Args:
        page: Its path in the repository.
        columns: The names.
        heading: The one above the table; empty: any.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    under, tables = "", list[tuple[str, list[list[str]]]]()  # each with the heading above it
    for before, token in pairwise(MarkdownIt().enable("table").parse(text)):
        if before.type == "heading_open":
            under = token.content
        elif token.type == "table_open":
            tables.append((under, []))
        elif token.type == "tr_open":
            tables[-1][1].append([])
        elif before.type in ("th_open", "td_open"):
            tables[-1][1][-1].append(token.content)
    [rows] = [
        rows
        for place, (head, *rows) in tables
        if head[: len(columns)] == [*columns] and heading in ("", place)
    ]
    return rows


def record_commands(texts, directory):
    """Return for each text the commands that a shell would run, each as its words."""
    lines = [f"eval {shlex.quote(_without_files(text))}\nprintf '\\035' >&3\n" for text in texts]
    read, write = os.pipe()
    with os.fdopen(read, "rb") as answers:
        process = subprocess.Popen(
            ["bash", "-c", f"exec 3>&{write}\n{RECORDER}{''.join(lines)}"],
            cwd=directory, pass_fds=[write], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(write)
        recorded = answers.read().decode("utf-8")
    process.wait(timeout=60)
    # The separators of units (words), records (commands) and groups (texts).
    return [
        [command.split("\x1f")[:-1] for command in text.split("\x1e\x1f")[:-1]]
        for text in recorded.split("\x1d")[:-1]
    ]


def _without_files(text):
    """Drop redirections to and from files, which are not there."""
    return re.sub(r"(?<=\s)\d?(?:<|>>?)\s*[\w./$-]+", "", text)
