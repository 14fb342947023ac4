"""All heads of a model as a table: a box for each head, colored by the role of the head.

Layers and heads count from 1 in the table.
"""

from collections.abc import Sequence

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
    boxes: list[Box] = []
    labels: list[Label] = []
    left, y = 58.0, 8.0
    for kind, name in NAMES.items():
        of_kind = [head for head in heads if head.kind == kind]
        if not of_kind:
            continue
        labels.append(Label(name, 0, y, role="kind"))
        y += 16
        for head in of_kind:
            x, top = left + head.head * (WIDTH + GAP), y + head.layer * (HEIGHT + GAP)
            boxes.append(_box(head, x, top))
            labels += _box_labels(head, x, top)
            if head.head == 0:
                text = f"layer {head.layer + 1}"
                labels.append(caption(text, left - 8, top + HEIGHT / 2, "end", "label"))
        y += (max(head.layer for head in of_kind) + 1) * (HEIGHT + GAP) + 18
    labels.append(caption(NOTE, 0, y, role="note"))
    width = max(text_width(NOTE, CAPTION_SIZE), *(box.x + box.width for box in boxes))
    return Picture(title, NOTE, PictureLayout(width, y + 8, labels, boxes))


def _box(head: Head, x: float, y: float) -> Box:
    return Box(x, y, WIDTH, HEIGHT, FILLS[head.role], outline="#cccccc", radius=3, role="head")


def _box_labels(head: Head, x: float, y: float) -> list[Label]:
    text = ROLE_LABELS.get(head.role, head.role)
    if head.role:
        text += f" {head.shares[head.role]:.0%}"
    has_bleu = head.bleu_lost is not None
    height = 0.32 if has_bleu else 0.5
    labels = [Label(text, x + WIDTH / 2, y + HEIGHT * height, 12, "middle", role="role")]
    if head.bleu_lost is not None:
        # A true minus sign, and none before a zero.
        lost = f"{-head.bleu_lost:+.1f}".replace("-0.0", "0.0").replace("+0.0", "0.0")
        lost = lost.replace("-", "\u2212") + " BLEU"
        is_bold = head.bleu_lost >= 1
        at = x + WIDTH / 2, y + HEIGHT * 0.72
        labels.append(Label(lost, *at, 10.5, "middle", is_bold=is_bold, role="bleu"))
    return labels
