"""What stands beside the rows and columns of a map: pieces as they stand in the text, and words.

A label that begins a word begins with a space, so that labels, joined, are the text.
"""

import re
from collections.abc import Iterable, Sequence

from headway.errors import HeadwayError
from headway.text.vocabulary import SPACE

START = "<start>"  # what the decoder reads first; it is no piece of any vocabulary
END = "</s>"
CONTROL = frozenset({START, END, "<pad>"})
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def readable(pieces: Sequence[str]) -> list[str]:
    """Write pieces as they stand in text: a plain space for sentencepiece's mark."""
    return [piece.replace(SPACE, " ") for piece in pieces]


def word_groups(labels: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each word; words are what spaces separate."""
    groups: list[list[int]] = []
    blank = False  # the word so far is nothing but spaces: what comes next still belongs to it
    for i, label in enumerate(labels):
        alone = label in CONTROL
        after = bool(groups) and labels[groups[-1][-1]] in CONTROL
        if not groups or alone or after or (label.startswith(" ") and not blank):
            groups.append([])
            blank = True
        groups[-1].append(i)
        blank = blank and not label.strip(" ")
    return groups


def word_label(labels: Sequence[str]) -> str:
    """Label a word as its pieces are, with one space before it: words merge to themselves."""
    return labels[0] if labels[0] in CONTROL else f" {spell(labels)}"


def spell(labels: Iterable[str]) -> str:
    """Join the labels of a word; bytes that were spelled out become their characters."""
    parts = [bytes.fromhex(p[3:5]) if _BYTE.fullmatch(p) else p.encode() for p in labels]
    return b"".join(parts).decode("utf-8", "replace").strip(" ")


def shorten(text: str, longest: int = 24) -> str:
    """Cut a long text; an ellipsis says so."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def shown(label: str) -> str:
    """Write a token's label for a picture: a dot before a piece that goes on with a word."""
    if label.startswith(" "):
        return shorten(label.strip(" ") or "␣")
    return label if label in ("</s>", "<start>") else "·" + shorten(label)


def find_token(labels: Sequence[str], word: str) -> int:
    """Return the token that a user names, by its text or by its number from 1.

    Raises:
        HeadwayError: If there is none, or more than one.
    """
    found = [i for i, label in enumerate(labels) if word in (label.strip(" "), shown(label))]
    if len(found) == 1:
        return found[0]
    if found:
        numbers = ", ".join(str(i + 1) for i in found)
        raise HeadwayError(f"--word {word}: stands here {len(found)} times: give {numbers}")
    if word.isdecimal() and 1 <= int(word) <= len(labels):
        return int(word) - 1
    tokens = " ".join(f"{i}:{shown(label)}" for i, label in enumerate(labels, 1))
    raise HeadwayError(f"--word {word}: none of {tokens}")
