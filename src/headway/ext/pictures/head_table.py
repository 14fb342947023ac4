"""All heads of a model as a table: a box for each head, colored by the role of the head.

Layers and heads count from 1 in the table.
"""

from collections.abc import Sequence
from dataclasses import replace

from headway.ext.pictures.labels import NAMES
from headway.ext.pictures.layout import CAPTION_SIZE, Box, Label, PictureLayout, caption
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.roles import Head
from headway.ext.pictures.text_width import text_width

WIDTH, HEIGHT, GAP = 96.0, 40.0, 5.0
# The colors of the roles. The box also contains the name of the role, so the table needs no legend.
FILLS = {
    "aligns": "#fdd9a8",
    "previous": "#c6dcef",
    "following": "#cbe8c8",
    "itself": "#e0d8ee",
    "end": "#f6cdcb",
    "start": "#ead9d3",
    "": "#f4f4f4",
}
ROLE_LABELS = {"end": "</s>", "start": "<start>", "following": "next", "": "mixed"}
NOTE = (
    "heads from left to right; share of queries whose largest weight falls there; change of BLEU"
    " without the head"
)


def draw_head_table(heads: Sequence[Head], title: str) -> Picture:
    """Draw the role of every head, its share of queries, and the BLEU lost without the head."""
    layout = PictureLayout(0, 0)
    left, y = 58.0, 8.0
    for kind, name in NAMES.items():
        of_kind = [head for head in heads if head.kind == kind]
        if not of_kind:
            continue
        layout.labels.append(Label(name, 0, y, role="kind"))
        y += 16
        for head in of_kind:
            top = y + head.layer * (HEIGHT + GAP)
            _add_head(layout, head, left + head.head * (WIDTH + GAP), top)
            if head.head == 0:
                text = f"layer {head.layer + 1}"
                layout.labels.append(caption(text, left - 8, top + HEIGHT / 2, "end", "label"))
        y += (max(head.layer for head in of_kind) + 1) * (HEIGHT + GAP) + 18
    layout.labels.append(caption(NOTE, 0, y, role="note"))
    ends = [box.x + box.width for box in layout.boxes]
    width = max(text_width(NOTE, CAPTION_SIZE), *ends)
    return Picture(title, NOTE, replace(layout, width=width, height=y + 8))


def _add_head(layout: PictureLayout, head: Head, x: float, y: float) -> None:
    """Add the box of a head."""
    box = Box(x, y, WIDTH, HEIGHT, FILLS[head.role], outline="#cccccc", radius=3, role="head")
    layout.boxes.append(box)
    text = ROLE_LABELS.get(head.role, head.role)
    if head.role:
        text += f" {head.shares[head.role]:.0%}"
    x, lost = x + WIDTH / 2, head.bleu_lost
    place = y + HEIGHT * (0.5 if lost is None else 0.32)
    layout.labels.append(Label(text, x, place, 12, "middle", role="role"))
    if lost is not None:
        # A true minus sign, and none before a zero.
        change = f"{-lost:+.1f}".replace("-0.0", "0.0").replace("+0.0", "0.0")
        text, y = change.replace("-", "\u2212") + " BLEU", y + HEIGHT * 0.72
        layout.labels.append(Label(text, x, y, 10.5, "middle", is_bold=lost >= 1, role="bleu"))
