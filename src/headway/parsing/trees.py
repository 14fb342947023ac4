"""Constituency trees: read and written in brackets, and as the sequence a model translates into.

A tree becomes a sequence of opened constituents ``(NP``, of parts of speech, one a word, and of
closed constituents ``)NP``: the words themselves are the source and need not be said again.
Paper: section 6.3. The linearisation is that of Vinyals et al. (2015), with the part of speech in
the place of its ``XX``, so that whole trees come back.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.errors import HeadwayError
from headway.text.lines import read_lines

OPEN, CLOSE = "(", ")"
TRACE = "-NONE-"  # the part of speech of what is not there to be read
ROOTS = frozenset({"ROOT", "TOP", "S1"})  # what treebanks put around a whole sentence
DEEPEST = 200  # no sentence nests so far; what does is not a tree
ESCAPED = {"(": "-LRB-", ")": "-RRB-"}  # brackets as words, as treebanks write them


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent with children, or a word with its part of speech.

    Attributes:
        label: Of the constituent, or the part of speech.
        children: In order; none: a word.
        word: The word; None: a constituent.
    """

    label: str
    children: tuple["Tree", ...] = ()
    word: str | None = None

    def __str__(self) -> str:
        """Write it in brackets, on one line."""
        inside = " ".join(map(str, self.children)) if self.word is None else self.word
        return f"({self.label} {inside})"

    def leaves(self) -> Iterator["Tree"]:
        """Yield the words, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def words(self) -> list[str]:
        """Return the sentence."""
        return [str(leaf.word) for leaf in self.leaves()]


def parse_brackets(text: str, where: str = "tree") -> Tree:
    """Read a tree: ``(S (NP (PRP He)) (VP (VBZ sleeps)))``. A bracket without a label is ``ROOT``.

    Args:
        text: One tree.
        where: What to call it in an error.

    Raises:
        HeadwayError: Saying what is wrong with it.
    """
    tokens = re.findall(r"[()]|[^()\s]+", text)
    stack: list[tuple[str, list[Tree], list[str]]] = []
    found: Tree | None = None
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if found is not None:
            raise HeadwayError(f"{where}: {token} follows the end of the tree")
        if token == OPEN:
            label = "ROOT"
            if at < len(tokens) and tokens[at] not in (OPEN, CLOSE):
                label = tokens[at]
                at += 1
            stack.append((label, [], []))
            if len(stack) > DEEPEST:
                raise HeadwayError(f"{where}: nested more than {DEEPEST} deep")
        elif not stack:
            raise HeadwayError(f"{where}: {token} stands before the first (")
        elif token == CLOSE:
            label, children, words = stack.pop()
            if (len(words), bool(children)) not in ((1, False), (0, True)):
                raise HeadwayError(f"{where}: ({label} holds neither one word nor constituents")
            tree = Tree(label, tuple(children), words[0] if words else None)
            if stack:
                stack[-1][1].append(tree)
            else:
                found = tree
        else:
            stack[-1][2].append(token)
    if found is None:
        raise HeadwayError(f"{where}: ends before its last )")
    return found


def read_trees(path: str | Path) -> list[Tree]:
    """Read a file of trees, one a line; compressed files too. Empty lines are left out.

    Raises:
        HeadwayError: Naming the file and line of what is no tree of constituents.
    """
    trees = []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            tree = parse_brackets(line, f"{path}, line {number}")
            if tree.word is not None:
                raise HeadwayError(f"{path}, line {number}: a word without a constituent")
            trees.append(tree)
    return trees


def plain(tree: Tree) -> Tree | None:
    """Leave out traces, what is empty without them, and functions such as ``-SBJ``.

    Returns:
        None if nothing is left.
    """
    if tree.word is not None:
        return None if tree.label == TRACE else tree
    children = tuple(kept for kept in map(plain, tree.children) if kept is not None)
    if not children:
        return None
    return Tree(without_function(tree.label), children)


def without_function(label: str) -> str:
    """Cut a label at its first ``-``, ``=`` or ``|``; ``-LRB-`` begins with one and stays."""
    return re.split(r"(?<!^)[-=|]", label, maxsplit=1)[0]


def linearise(tree: Tree) -> list[str]:
    """Return the sequence that a tree becomes: 2 x constituents + words tokens."""
    if tree.word is not None:
        return [tree.label]
    inside = [token for child in tree.children for token in linearise(child)]
    return [OPEN + tree.label, *inside, CLOSE + tree.label]


def parts(tree: Tree) -> Iterator[Tree]:
    """Yield what is inside a tree as trees of their own: each constituent of two words or more.

    Of a root around one constituent these are the constituents in that one, with a root around each.
    """
    [top, *rest] = tree.children
    rooted = tree.label in ROOTS and not rest
    for child in top.children if rooted else tree.children:
        for inside in _constituents(child):
            yield replace(tree, children=(inside,)) if rooted else inside


def _constituents(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all constituents in it that have two words or more."""
    if tree.word is None and len(tree.words()) > 1:
        yield tree
        for child in tree.children:
            yield from _constituents(child)


def rebuild(tokens: Iterable[str], words: Sequence[str]) -> Tree:
    """Return the tree of a linearised sequence over its sentence: the inverse of `linearise`.

    Raises:
        ValueError: If they are not a tree whose leaves are the words.
    """
    rest = iter(words)
    stack: list[tuple[str, list[Tree]]] = [("", [])]
    for token in tokens:
        if len(token) > 1 and token[0] == OPEN:
            stack.append((token[1:], []))
        elif len(token) > 1 and token[0] == CLOSE:
            label, children = stack.pop()
            if label != token[1:] or not children or not stack:
                raise ValueError(f"{token} does not close a constituent with children")
            stack[-1][1].append(Tree(label, tuple(children)))
        else:
            word = next(rest, None)
            if word is None or len(stack) == 1:
                raise ValueError(f"no word, or no constituent, for the part of speech {token}")
            stack[-1][1].append(Tree(token, word=word))
    if len(stack) != 1 or len(stack[0][1]) != 1 or next(rest, None) is not None:
        raise ValueError("not one whole tree of all the words")
    return stack[0][1][0]


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Return the tree with other parts of speech, from left to right."""
    rest = iter(tags)

    def copy(part: Tree) -> Tree:
        if part.word is not None:
            return replace(part, label=next(rest))
        return replace(part, children=tuple(map(copy, part.children)))

    return copy(tree)


def tokenise(sentence: str) -> list[str]:
    """Cut raw English into words as treebanks do: ``He didn't (yet).`` is ``He did n't -LRB- yet -RRB- .``.

    Hyphens stand alone, as in the younger treebanks; full stops of abbreviations such as ``U.S.`` stay.
    """
    text = re.sub(r"([\"“”„,;:?!()\[\]{}%$€£…]|--+|[–—]|\.{2,}|(?<=\w)-(?=\w))", r" \1 ", sentence)
    text = re.sub(r"(?<=\d) ([,:]) (?=\d)", r"\1", text)  # 1,000 and 12:30
    text = re.sub(r"(?i)(?<=\w)(n['’]t|['’](?:s|re|ve|ll|d|m))\b", r" \1", text)
    text = re.sub(r"(^|\s)(['‘])(?=\w\w)|(?<=\w)(['’])(?=\s|$)", r"\1\2 \3", text)
    words = text.split()
    # Only the last full stop ends a sentence, whatever closes after it.
    for place in reversed(range(len(words))):
        if any(character.isalnum() for character in words[place]):
            if words[place][-1] == "." and "." not in words[place][:-1]:
                words[place : place + 1] = [words[place][:-1], "."]
            break
    return escape(words)


def escape(words: Iterable[str]) -> list[str]:
    """Write brackets as treebanks do, so that no word is taken for one."""
    return [word.replace("(", ESCAPED["("]).replace(")", ESCAPED[")"]) for word in words]
