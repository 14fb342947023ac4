"""English sentences as words of a treebank."""

import re
from collections.abc import Iterable

from headway.ext.paper.parsing.trees import SPACE

ESCAPED_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}  # as treebanks write them


def tokenize_english(sentence: str) -> list[str]:
    """Split raw English into words as treebanks do.

    ``He didn't (yet).`` becomes ``He did n't -LRB- yet -RRB- .``. Hyphens are words of their own, as in
    newer treebanks. Abbreviations such as ``U.S.`` keep their full stops.
    """
    text = re.sub(r"([\"“”„,;:?!()\[\]{}%$€£…]|--+|[–—]|\.{2,}|(?<=\w)-(?=\w))", r" \1 ", sentence)
    text = re.sub(r"(?<=\d) ([,:]) (?=\d)", r"\1", text)  # 1,000 and 12:30
    text = re.sub(r"(?i)(?<=\w)(n['’]t|['’](?:s|re|ve|ll|d|m))\b", r" \1", text)
    text = re.sub(r"(^|\s)(['‘])(?=\w\w)|(?<=\w)(['’])(?=\s|$)", r"\1\2 \3", text)
    words = text.split()
    # Only the full stop after the last word ends the sentence; closing quotes or brackets may follow it.
    for index in reversed(range(len(words))):
        if any(character.isalnum() for character in words[index]):
            if words[index][-1] == "." and "." not in words[index][:-1]:
                words[index : index + 1] = [words[index][:-1], "."]
            break
    return escape_brackets(words)


def split_words(sentence: str) -> list[str]:
    """Split a tokenized sentence where trees are split, and escape its brackets."""
    return escape_brackets(re.findall(f"[^{SPACE}]+", sentence))


def escape_brackets(words: Iterable[str]) -> list[str]:
    """Replace round brackets by ``-LRB-`` and ``-RRB-``, so that a word never looks like a tree."""
    return [
        word.replace("(", ESCAPED_BRACKETS["("]).replace(")", ESCAPED_BRACKETS[")"])
        for word in words
    ]
