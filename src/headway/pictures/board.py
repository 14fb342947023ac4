"""All heads of a model as a board: a field each, coloured by what the head does.

Layers and heads are counted from 1 in what is read, from 0 in the shapes' data.
"""

from collections.abc import Sequence

from headway.pictures.kinds import NAMES
from headway.pictures.roles import Head
from headway.pictures.scene import INK, MARGIN, PALE, Rect, Scene, Shape, Text, text_width

WIDE, HIGH, GAP = 96.0, 40.0, 5.0
# By habit; the word stands in the field too, so that no colour has to be told apart.
FILLS = {
    "aligns": "#fdd9a8",
    "previous": "#c6dcef",
    "following": "#cbe8c8",
    "itself": "#e0d8ee",
    "end": "#f6cdcb",
    "start": "#ead9d3",
    "": "#f4f4f4",
}
WORDS = {"end": "</s>", "start": "<start>", "following": "next", "": "mixed"}


def board(heads: Sequence[Head], title: str) -> Scene:
    """Draw every head's role, how often it plays it, and what BLEU is lost without it."""
    shapes: list[Shape] = [Text(MARGIN, 20, title, 15, bold=True, name="title")]
    left, y = MARGIN + 58, 50.0
    right = left
    for kind, name in NAMES.items():
        here = [head for head in heads if head.kind == kind]
        if not here:
            continue
        shapes.append(Text(MARGIN, y, name, 13, name="kind"))
        y += 16
        for head in here:
            x, top = left + head.head * (WIDE + GAP), y + head.layer * (HIGH + GAP)
            shapes += _field(head, x, top)
            right = max(right, x + WIDE)
            if head.head == 0:
                label = f"layer {head.layer + 1}"
                shapes.append(Text(left - 8, top + HIGH / 2, label, 11, "end", colour=PALE))
        y += (max(head.layer for head in here) + 1) * (HIGH + GAP) + 18
    note = "heads from left to right; share of queries whose largest weight falls so; BLEU lost"
    note += " without the head"
    shapes.append(Text(MARGIN, y, note, 11, colour=PALE, name="note"))
    wide = max(text_width(title, 16.5), text_width(note, 11)) + 2 * MARGIN
    return Scene(max(right + MARGIN, wide), y + 20, title, note, shapes)


def _field(head: Head, x: float, y: float) -> list[Shape]:
    data: dict[str, int | str] = {"kind": head.kind, "layer": head.layer, "head": head.head}
    word = WORDS.get(head.role, head.role)
    if head.role:
        word += f" {head.habits[head.role]:.0%}"
    shapes: list[Shape] = [
        Rect(x, y, WIDE, HIGH, FILLS[head.role], outline="#cccccc", radius=3, name="head",
             data=data),
        Text(x + WIDE / 2, y + HIGH * 0.32, word, 12, "middle", colour=INK, name="role"),
    ]  # fmt: skip
    if head.bleu_lost is not None:
        # A true minus, and no minus before a zero.
        lost = f"{-head.bleu_lost:+.1f}".replace("-0.0", "0.0").replace("+0.0", "0.0")
        lost = lost.replace("-", "\u2212") + " BLEU"
        bold = head.bleu_lost >= 1
        shapes.append(Text(x + WIDE / 2, y + HIGH * 0.72, lost, 10.5, "middle", bold=bold))
    return shapes
