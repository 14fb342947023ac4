"""The head view: a line for each weight, of all heads of a layer or of one word.

Heads, layers and tokens are counted from 0 here and in the shapes' data, from 1 in what is read.
Paper: Figures 3 to 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headway.inference.alignment import usual_layer
from headway.pictures.kinds import NAMES, SIDES
from headway.pictures.labels import shown
from headway.pictures.maps import AttentionMaps
from headway.pictures.scene import (
    FAINTEST,
    INK,
    MARGIN,
    PALE,
    SIZE,
    Line,
    Rect,
    Scene,
    Shape,
    Text,
    head_colour,
    head_dash,
    text_width,
)

ROW = 21.0  # from token to token
BOX = 8.0  # a head's box beside a key
LEGEND = 52.0  # a head's place in the legend
ACROSS = {"columns": 240.0, "paper": 190.0}  # from queries to keys
Orientation = Literal["columns", "paper"]


@dataclass(frozen=True)
class Frame:
    """Where things stand. Tokens go along one axis, lines across the other.

    Attributes:
        paper: Along is to the right, as in the paper's figures; else it is down.
        first: Where the tokens begin, along.
        start: Where lines leave the queries, across.
        stop: Where they meet the keys.
        labels: Where the keys' labels begin.
        heads: From 0, those that are drawn.
    """

    paper: bool
    first: float
    start: float
    stop: float
    labels: float
    heads: list[int]

    def at(self, along: float, across: float) -> tuple[float, float]:
        """Return x and y."""
        return (along, across) if self.paper else (across, along)

    def token(self, number: int) -> float:
        """Return a token's middle, along."""
        return self.first + ROW * (number + 0.5)

    def end(self, number: int, head: int, across: float) -> tuple[float, float]:
        """Return the end of a line; heads run beside each other, not over each other."""
        room = min(2.0, (ROW - 7) / len(self.heads))
        beside = room * (self.heads.index(head) - (len(self.heads) - 1) / 2)
        return self.at(self.token(number) + beside, across)


def head_view(
    maps: AttentionMaps,
    kind: str,
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    query: int | None = None,
    orientation: Orientation = "columns",
) -> Scene:
    """Draw a line from each query to each key, for each head: its opacity is the weight.

    Weights below 0.005 are left out. With ``query``, only that token's lines are drawn, and beside
    each key stands a box for each head, as opaque as its weight (Figure 3's "making").

    Args:
        maps: Of a sentence.
        kind: encoder, decoder or cross.
        layer: From 0; None: the one that aligns best.
        heads: From 0; None: all.
        query: A token, from 0.
        orientation: Tokens in two columns, or turned along top and bottom as the paper has them.
    """
    found = maps.pick(kind)
    layers, count = found.weights.shape[:2]
    layer = usual_layer(layers) if layer is None else layer
    heads = list(range(count)) if heads is None else list(heads)
    queries, keys = [shown(q) for q in found.queries], [shown(k) for k in found.keys]
    title = f"{NAMES[kind]}, layer {layer + 1} of {layers}"
    if query is not None:
        title += f", from {queries[query]}"
    before, after = SIDES[kind]
    paper = orientation == "paper"
    if paper:
        before, after = f"{before} (top)", f"{after} (bottom)"
    boxes = len(heads) * BOX + 6 if query is not None else 6.0
    wide_q, wide_k = (max(map(text_width, labels)) for labels in (queries, keys))
    along = max(len(queries), len(keys)) * ROW
    across = wide_q + 8 + ACROSS[orientation] + boxes + wide_k
    # Nothing is narrower than its words; the title is bold.
    width = max(
        along if paper else max(across, across - boxes - wide_k + text_width(after, 11)),
        text_width(title, 16.5),
        text_width(before, 11),
    )
    width += 2 * MARGIN
    legend, top = _legend(heads, 44.0, width)
    start = (top + 14 if paper else MARGIN) + wide_q + 8
    stop = start + ACROSS[orientation]
    frame = Frame(paper, MARGIN if paper else top + 14, start, stop, stop + boxes, heads)
    if paper:
        low = frame.labels + wide_k + 22
        captions = [_caption(MARGIN, top, before), _caption(MARGIN, low, after)]
        height = low + MARGIN
    else:
        # A caption that is wider than its tokens begins at the margin and runs on.
        fits = text_width(before, 11) <= start - MARGIN
        captions = [_caption(start, top, before, "end") if fits else _caption(MARGIN, top, before)]
        captions.append(_caption(stop, top, after))
        height = top + 14 + along + MARGIN
    shapes = [Text(MARGIN, 20, title, 15, bold=True, name="title"), *legend, *captions]
    weights = found.weights[layer]
    shapes += _lines(frame, weights, layer, query)
    if query is not None:
        shapes += _boxes(frame, weights[:, query])
    shapes += _tokens(frame, queries, "query", query) + _tokens(frame, keys, "key", None)
    description = (
        f"{maps.source} | {maps.target}. Each line goes from a token that asks to one that is asked;"
        " its opacity is the attention weight, its colour and dashes are the head's."
    )
    return Scene(width, height, title, description, shapes)


def _caption(x: float, y: float, text: str, anchor: Literal["start", "end"] = "start") -> Text:
    return Text(x, y, text, 11, anchor, colour=PALE, name="caption")


def _lines(
    frame: Frame, weights: NDArray[np.float32], layer: int, query: int | None
) -> list[Shape]:
    """Draw the weights [H, queries, keys] that can be seen."""
    shapes: list[Shape] = []
    for head in frame.heads:
        dash = head_dash(head) if len(frame.heads) > 1 else ()
        for i, j in np.argwhere(weights[head] >= FAINTEST).tolist():
            if query in (None, i):
                ends = *frame.end(i, head, frame.start), *frame.end(j, head, frame.stop)
                data: dict[str, int | str] = {
                    "layer": layer, "head": head, "query": i, "key": j,
                }  # fmt: skip
                weight = float(weights[head, i, j])
                shapes.append(
                    Line(*ends, head_colour(head), weight, 1.6, dash, name="weight", data=data)
                )
    return shapes


def _tokens(frame: Frame, labels: Sequence[str], side: str, chosen: int | None) -> list[Shape]:
    """Write the tokens of a side; one that is chosen stands out."""
    shapes: list[Shape] = []
    before = side == "query"
    for i, label in enumerate(labels):
        x, y = frame.at(frame.token(i), frame.start - 6 if before else frame.labels)
        shapes.append(
            Text(
                x,
                y,
                label,
                SIZE,
                "start" if before == frame.paper else "end",
                -90 if frame.paper else 0,
                INK if chosen in (None, i) else PALE,
                chosen == i,
                side,
                {"token": i},
            )
        )
    return shapes


def _legend(heads: Sequence[int], top: float, width: float) -> tuple[list[Shape], float]:
    """Draw each head's colour, dashes and number; returns where the next thing may stand."""
    a_row = max(1, int((width - 2 * MARGIN - 40) // LEGEND))
    shapes: list[Shape] = [Text(MARGIN, top, "head", 11, colour=PALE, name="legend")]
    for place, head in enumerate(heads):
        x, y = MARGIN + 40 + place % a_row * LEGEND, top + place // a_row * 16
        dash = head_dash(head) if len(heads) > 1 else ()
        shapes.append(Line(x, y, x + 24, y, head_colour(head), 1.0, 3.0, dash, name="legend"))
        shapes.append(Text(x + 29, y, str(head + 1), 11, name="legend"))
    return shapes, top + (len(heads) - 1) // a_row * 16 + 22


def _boxes(frame: Frame, weights: NDArray[np.float32]) -> list[Shape]:
    """Draw a box for each head beside each key: weights [H, keys]."""
    shapes: list[Shape] = []
    size = (ROW - 6, BOX) if frame.paper else (BOX, ROW - 6)
    for j in range(weights.shape[1]):
        for place, head in enumerate(frame.heads):
            x, y = frame.at(frame.first + ROW * j + 3, frame.stop + 2 + place * BOX)
            data: dict[str, int | str] = {"head": head, "key": j}
            weight = float(weights[head, j])
            shapes.append(Rect(x, y, *size, head_colour(head), weight, name="share", data=data))
    return shapes
