"""Constituency trees: read from and written in brackets, and simplified."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import HeadwayError
from headway.text import read_lines

TRACE = "-NONE-"  # part of speech of an element that is not pronounced
ROOTS = frozenset({"ROOT", "TOP", "S1"})  # labels that treebanks put around a whole sentence
SPACE = r" \t\r\n"  # separates words; a no-break space is a part of one, as in a number
MAX_DEPTH = 200  # no real sentence nests this deep; the limit also bounds recursion


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent with children, or a word with its part of speech.

    Attributes:
        label: Label of the constituent, or part of speech of the word.
        children: Children in order; empty for a word.
        word: The word; None for a constituent.
    """

    label: str
    children: tuple["Tree", ...] = ()
    word: str | None = None

    def __str__(self) -> str:
        """Return the tree in brackets, on one line."""
        inside = " ".join(map(str, self.children)) if self.word is None else self.word
        return f"({self.label} {inside})"

    def leaves(self) -> Iterator["Tree"]:
        """Yield the words with their parts of speech, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def words(self) -> list[str]:
        """Return the words of the sentence."""
        return [str(leaf.word) for leaf in self.leaves()]


def parse_brackets(text: str, where: str = "tree") -> Tree:
    """Read a tree such as ``(S (NP (PRP He)) (VP (VBZ sleeps)))``.

    A bracket without a label gets the label ``ROOT``.

    Args:
        text: One tree.
        where: Name of the place for error messages, such as a file and line.

    Raises:
        HeadwayError: If the text is not exactly one tree.
    """
    tokens = re.findall(rf"[()]|[^(){SPACE}]+", text)
    stack: list[tuple[str, list[Tree], list[str]]] = []
    root: Tree | None = None
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if root is not None:
            raise HeadwayError(f"{where}: {token} follows the end of the tree")
        if token == "(":
            label = "ROOT"
            if position < len(tokens) and tokens[position] not in ("(", ")"):
                label = tokens[position]
                position += 1
            stack.append((label, [], []))
            if len(stack) > MAX_DEPTH:
                raise HeadwayError(f"{where}: nested more than {MAX_DEPTH} deep")
        elif not stack:
            raise HeadwayError(f"{where}: {token!r} stands outside a tree, which begins with (")
        elif token == ")":
            label, children, words = stack.pop()
            if (len(words), bool(children)) not in ((1, False), (0, True)):
                raise HeadwayError(f"{where}: ({label} holds neither one word nor constituents")
            tree = Tree(label, tuple(children), words[0] if words else None)
            if stack:
                stack[-1][1].append(tree)
            else:
                root = tree
        else:
            stack[-1][2].append(token)
    if root is None:
        raise HeadwayError(f"{where}: ends before its last )")
    return root


def read_trees(path: str | Path) -> list[Tree]:
    """Read a plain or compressed file with one tree a line; empty lines are skipped.

    Raises:
        HeadwayError: If a line is not a tree with a constituent; the message names file and line.
    """
    trees = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            tree = parse_brackets(line, f"{path}, line {number}")
            if tree.word is not None:
                raise HeadwayError(f"{path}, line {number}: a word without a constituent")
            trees.append(tree)
    return trees


def simplify(tree: Tree) -> Tree | None:
    """Remove traces, constituents that are empty without them, and functions such as ``-SBJ``.

    Returns:
        The simplified tree; None if nothing is left.
    """
    if tree.word is not None:
        return None if tree.label == TRACE else tree
    children = tuple(kept for kept in map(simplify, tree.children) if kept is not None)
    if not children:
        return None
    return Tree(remove_function(tree.label), children)


def remove_function(label: str) -> str:
    """Cut a label at its first ``-`` or ``=``; the first character always stays."""
    return re.split(r"(?<!^)[-=]", label, maxsplit=1)[0]


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Return the tree with other parts of speech, given from left to right."""
    rest = iter(tags)

    def copy(part: Tree) -> Tree:
        if part.word is not None:
            return replace(part, label=next(rest))
        return replace(part, children=tuple(map(copy, part.children)))

    return copy(tree)
