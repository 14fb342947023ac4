"""Pictures in which a line is a weight: all heads of a layer, one word's, and the alignment.

Heads, layers and tokens are counted from 0 here and in the shapes' data, from 1 in what is read.
Paper: Figures 3 to 5.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from headway.errors import HeadwayError
from headway.pictures.maps import AttentionMap, AttentionMaps
from headway.pictures.scene import (
    FAINTEST,
    INK,
    PALE,
    SIZE,
    Line,
    Rect,
    Scene,
    Shape,
    Text,
    head_colour,
    head_dash,
    shown,
    text_width,
)

MARGIN = 16.0
ROW = 21.0  # from token to token
BOX = 8.0  # a head's box beside a key
LEGEND = 52.0  # a head's place in the legend
# What the rows and the columns of each kind are.
SIDES = {
    "encoder": ("queries: source", "keys: source"),
    "decoder": ("queries: decoder input, each to predict the next", "keys: decoder input"),
    "cross": ("queries: target tokens to predict", "keys: source"),
}
NAMES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "encoder-decoder attention",
}
Orientation = Literal["columns", "paper"]


def pick_map(maps: AttentionMaps, kind: str) -> AttentionMap:
    """Return the map of a kind.

    Raises:
        HeadwayError: If the model has no such attention.
    """
    if kind not in maps.maps:
        raise HeadwayError(
            f"this model has no {NAMES.get(kind, kind)}; it has: {', '.join(maps.maps)}"
        )
    return maps.maps[kind]


def usual_layer(layers: int) -> int:
    """Return the last layer but one: the paper's figures show it, and it aligns best."""
    return max(0, layers - 2)


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
        layer: From 0; None: the last but one.
        heads: From 0; None: all.
        query: A token, from 0.
        orientation: Tokens in two columns, or turned along top and bottom as the paper has them.
    """
    found = pick_map(maps, kind)
    layers, count = found.weights.shape[:2]
    layer = usual_layer(layers) if layer is None else layer
    heads = list(range(count)) if heads is None else list(heads)
    queries, keys = [shown(q) for q in found.queries], [shown(k) for k in found.keys]
    title = f"{NAMES[kind]}, layer {layer + 1} of {layers}"
    if query is not None:
        title += f", from {queries[query]}"
    boxes = len(heads) * BOX + 6 if query is not None else 6.0
    wide_q, wide_k = (max(map(text_width, labels)) for labels in (queries, keys))
    longest = max(len(queries), len(keys)) * ROW
    captions = SIDES[kind]
    if orientation == "paper":
        width = 2 * MARGIN + longest
    else:
        width = 2 * MARGIN + wide_q + 8 + 240 + max(boxes + wide_k, text_width(captions[1], 11))
    # The title is bold.
    for text, size in ((title, 16.5), (f"{captions[0]} (top)", 11)):
        width = max(width, 2 * MARGIN + text_width(text, size))
    shapes: list[Shape] = [Text(MARGIN, 20, title, 15, bold=True, name="title")]
    top = 44.0
    legend, top = _legend(heads, top, width)
    shapes += legend
    if orientation == "paper":
        shapes.append(Text(MARGIN, top, f"{captions[0]} (top)", 11, colour=PALE, name="caption"))
        start = top + 14 + wide_q + 8
        stop = start + 190
        shapes.append(
            Text(MARGIN, stop + boxes + wide_k + 22, f"{captions[1]} (bottom)", 11, colour=PALE,
                 name="caption")
        )  # fmt: skip
        height = stop + boxes + wide_k + 22 + MARGIN
    else:
        start = MARGIN + wide_q + 8
        stop = start + 240
        shapes.append(Text(start, top, captions[0], 11, "end", colour=PALE, name="caption"))
        shapes.append(Text(stop, top, captions[1], 11, colour=PALE, name="caption"))
        over = text_width(captions[0], 11) - start + MARGIN
        if over > 0:  # the caption is wider than the tokens: it begins at the margin then
            shapes[-2] = Text(MARGIN, top, captions[0], 11, colour=PALE, name="caption")
        height = top + 14 + longest + MARGIN
    first = MARGIN if orientation == "paper" else top + 14

    def place(token: int, head: int, side: float) -> tuple[float, float]:
        # Heads run beside each other, not over each other.
        spread = min(2.0, (ROW - 7) / len(heads)) * (heads.index(head) - (len(heads) - 1) / 2)
        along = first + ROW * (token + 0.5) + spread
        return (along, side) if orientation == "paper" else (side, along)

    weights = found.weights[layer]
    for head in heads:
        for i in range(len(queries)) if query is None else [query]:
            for j in range(len(keys)):
                weight = float(weights[head, i, j])
                if weight >= FAINTEST:
                    data: dict[str, int | str] = {
                        "layer": layer, "head": head, "query": i, "key": j,
                    }  # fmt: skip
                    (x1, y1), (x2, y2) = place(i, head, start), place(j, head, stop)
                    shapes.append(
                        Line(x1, y1, x2, y2, head_colour(head), weight, 1.6,
                             head_dash(head) if len(heads) > 1 else (), name="weight", data=data)
                    )  # fmt: skip
    if query is not None:
        shapes += _boxes(found, layer, heads, query, stop, first, orientation)
    for side, labels in (("query", queries), ("key", keys)):
        for i, label in enumerate(labels):
            lit = side == "key" or query in (None, i)
            along = first + ROW * (i + 0.5)
            away = start - 6 if side == "query" else stop + boxes
            where = (along, away) if orientation == "paper" else (away, along)
            anchor: Literal["start", "end"] = (
                "start" if (side == "query") == (orientation == "paper") else "end"
            )
            shapes.append(
                Text(*where, label, SIZE, anchor, -90 if orientation == "paper" else 0,
                     INK if lit else PALE, query == i and side == "query", side, {"token": i})
            )  # fmt: skip
    description = (
        f"{maps.source} | {maps.target}. Each line goes from a token that asks to one that is asked;"
        " its opacity is the attention weight, its colour and dashes are the head's."
    )
    return Scene(width, height, title, description, shapes)


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


def _boxes(
    found: AttentionMap,
    layer: int,
    heads: Sequence[int],
    query: int,
    stop: float,
    first: float,
    orientation: Orientation,
) -> list[Shape]:
    """Draw a box for each head beside each key."""
    shapes: list[Shape] = []
    for j in range(len(found.keys)):
        for place, head in enumerate(heads):
            along, away = first + ROW * j + 3, stop + 2 + place * BOX
            x, y = (along, away) if orientation == "paper" else (away, along)
            size = (ROW - 6, BOX) if orientation == "paper" else (BOX, ROW - 6)
            weight = float(found.weights[layer, head, query, j])
            data: dict[str, int | str] = {"head": head, "key": j}
            shapes.append(Rect(x, y, *size, head_colour(head), weight, name="share", data=data))
    return shapes


def alignment_strip(maps: AttentionMaps, *, layer: int | None = None, strongest: int = 3) -> Scene:
    """Draw the words of both texts along two lines, each target word tied to its strongest sources.

    Weights are the mean of the heads of one layer of encoder-decoder attention, subwords merged; as
    many as ``strongest`` source words of a target word are tied to it, if they get a tenth or more.
    """
    found = pick_map(maps, "cross").words()
    layer = usual_layer(len(found.weights)) if layer is None else layer
    mean = found.weights[layer].mean(0)
    sides = [[shown(label) for label in labels] for labels in (found.keys, found.queries)]
    places: list[list[float]] = []
    ends = []
    for labels in sides:
        x, middles = MARGIN, []
        for label in labels:
            wide = text_width(label, 15)
            middles.append(x + wide / 2)
            x += wide + 14
        places.append(middles)
        ends.append(x - 14)
    # The shorter line is spread to the longer one's width, so that lines stay steep.
    for side, end in enumerate(ends):
        room = max(ends) - end
        places[side] = [
            x + room * (i + 0.5) / len(places[side]) for i, x in enumerate(places[side])
        ]
    title = f"alignment: {NAMES['cross']}, layer {layer + 1} of {len(found.weights)}, mean of heads"
    width = max(max(ends) + MARGIN, 2 * MARGIN + 1.1 * text_width(title, 13))
    shapes: list[Shape] = [Text(MARGIN, 18, title, 13, bold=True, name="title")]
    up, low = 66.0, 166.0
    for i, row in enumerate(mean):
        for j in np.argsort(-row, kind="stable")[:strongest].tolist():
            if row[j] >= 0.1:
                shapes.append(
                    Line(places[0][j], up, places[1][i], low, head_colour(0), float(row[j]), 3.0,
                         name="weight", data={"query": i, "key": j})
                )  # fmt: skip
    for side, (labels, y) in enumerate(zip(sides, (up - 12, low + 12), strict=True)):
        for i, (label, x) in enumerate(zip(labels, places[side], strict=True)):
            name = "query" if side else "key"
            shapes.append(Text(x, y, label, 15, "middle", name=name, data={"token": i}))
    description = (
        f"{maps.source} | {maps.target}. Above the source, below the target; a line's opacity is"
        " the share of its attention that a target word gives to a source word."
    )
    return Scene(width, low + 36, title, description, shapes)
