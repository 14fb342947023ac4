"""The labels of the rows and columns of attention maps, as subwords or as whole words.

The label of a subword that begins a word starts with a space, so that the labels of a sentence,
joined, are its text. Paper: section 3.2.3.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from headway.errors import HeadwayError
from headway.ext.pictures.text_width import RIGHT_TO_LEFT, cut
from headway.text import SPACE

NAMES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "encoder-decoder attention",
}
# The meaning of the rows and of the columns of each kind.
SIDES = {
    "encoder": ("queries: source", "keys: source"),
    "decoder": ("queries: decoder input, each to predict the next", "keys: decoder input"),
    "cross": ("queries: target tokens to predict", "keys: source"),
}
START = "<start>"  # the decoder's first input, a zero vector; no vocabulary contains it
END = "</s>"
CONTROL = frozenset({START, END, "<pad>"})
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def readable(subwords: Sequence[str]) -> list[str]:
    """Replace sentencepiece's mark for a space by a space."""
    return [subword.replace(SPACE, " ") for subword in subwords]


def word_groups(labels: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each word; words are separated by spaces."""
    groups: list[list[int]] = []
    is_blank = False  # While a word is only spaces, the next token belongs to it.
    for i, label in enumerate(labels):
        is_control = label in CONTROL
        follows_control = bool(groups) and labels[groups[-1][-1]] in CONTROL
        begins_word = label.startswith(" ") and not is_blank
        if not groups or is_control or follows_control or begins_word:
            groups.append([])
            is_blank = True
        groups[-1].append(i)
        is_blank = is_blank and not label.strip(" ")
    return groups


def word_label(labels: Sequence[str]) -> str:
    """Return the label of a word from the labels of its tokens."""
    return labels[0] if labels[0] in CONTROL else f" {spell(labels)}"


def spell(labels: Iterable[str]) -> str:
    """Join the tokens of a word; tokens that stand for bytes become characters."""
    parts = [bytes.fromhex(p[3:5]) if _BYTE.fullmatch(p) else p.encode() for p in labels]
    return b"".join(parts).decode("utf-8", "replace").strip(" ")


def display_labels(labels: Sequence[str]) -> list[str]:
    """Return the labels as pictures show them.

    A subword that continues a word gets a dot, unless the language has no spaces. Spaces and control
    characters inside a label become visible, because XML cannot hold them all. Invisible marks around
    a label from right to left keep its full stop at its end.
    """
    has_spaces = any(label.startswith(" ") for label in labels)
    return [_display(label, has_spaces) for label in labels]


def short_labels(labels: Sequence[str]) -> list[str]:
    """Return the labels of `display_labels`, cut to the width that layouts leave for them."""
    return [cut(label) for label in display_labels(labels)]


def _display(label: str, has_spaces: bool) -> str:
    if label in CONTROL:
        return label
    text = printable(label.removeprefix(" "))
    continues = has_spaces and not label.startswith(" ") and any(c.isalnum() for c in label)
    text = (f"·{text}" if continues else text) or "␣"
    # The first letter that has a direction decides, as in browsers.
    directions = (d for d in map(unicodedata.bidirectional, text) if d in ("L", "R", "AL"))
    mark = RIGHT_TO_LEFT if next(directions, "L") != "L" else ""
    return f"{mark}{text}{mark}"


def printable(text: str) -> str:
    """Replace white space and control characters by ``␣``, and what XML cannot hold by U+FFFD."""
    controls = {c for c in text if unicodedata.category(c) == "Cc" or c == "\ufeff"}
    return xml_text("".join("␣" if c.isspace() or c in controls else c for c in text))


def xml_text(text: str) -> str:
    """Replace characters that XML cannot hold by U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def find_token(labels: Sequence[str], word: str) -> int:
    """Return the token with this text, or with this number, counted from 1.

    Raises:
        HeadwayError: If no token matches, or several do.
    """
    displayed = display_labels(labels)
    found = [
        i for i, label in enumerate(labels) if word in (label.strip(" "), displayed[i])
    ]  # fmt: skip
    if len(found) == 1:
        return found[0]
    if found:
        numbers = ", ".join(str(i + 1) for i in found)
        raise HeadwayError(f"--word {word}: matches {len(found)} tokens: give a number: {numbers}")
    if word.isdecimal() and 1 <= int(word) <= len(labels):
        return int(word) - 1
    tokens = " ".join(f"{i}:{label}" for i, label in enumerate(displayed, 1))
    raise HeadwayError(f"--word {word}: must be one of {tokens}")
