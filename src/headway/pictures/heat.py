"""Pictures in which a cell is a weight: all heads of all layers at once, and one map with its tokens.

Heads and layers are counted from 0 here and in the shapes' data, from 1 in what is read.
"""

from collections.abc import Sequence

import numpy as np

from headway.inference.alignment import usual_layer
from headway.pictures.kinds import NAMES, SIDES
from headway.pictures.labels import shown
from headway.pictures.maps import AttentionMaps
from headway.pictures.scene import (
    MARGIN,
    PALE,
    SIZE,
    Cells,
    Rect,
    Scene,
    Shape,
    Text,
    text_width,
)

FILL = "#08306b"  # a weight of 1
FRAME = "#c8c8c8"


def grid(maps: AttentionMaps, kind: str) -> Scene:
    """Draw a small heat map of every head, layers from top to bottom, heads from left to right."""
    found = maps.pick(kind)
    layers, heads, rows, columns = found.weights.shape
    cell = min(9.0, max(1.5, 110 / max(rows, columns)))
    wide, high = columns * cell, rows * cell
    left, top, gap = MARGIN + 58, 62.0, 12.0
    title = f"{NAMES[kind]}: {layers} layers of {heads} heads"
    shapes: list[Shape] = [Text(MARGIN, 20, title, 15, bold=True, name="title")]
    for head in range(heads):
        x = left + head * (wide + gap) + wide / 2
        label = f"head {head + 1}" if wide > 44 else str(head + 1)
        shapes.append(Text(x, top - 13, label, 11, "middle", colour=PALE, name="head"))
    for layer in range(layers):
        y = top + layer * (high + gap)
        shapes.append(
            Text(left - 10, y + high / 2, f"layer {layer + 1}", 11, "end", colour=PALE,
                 name="layer")
        )  # fmt: skip
        for head in range(heads):
            x = left + head * (wide + gap)
            data: dict[str, int | str] = {"layer": layer, "head": head}
            shapes.append(Cells(x, y, cell, found.weights[layer, head], FILL, "map", data))
            shapes.append(Rect(x, y, wide, high, outline=FRAME, name="frame"))
    bottom = top + layers * (high + gap)
    note = f"rows, {SIDES[kind][0]}; columns, {SIDES[kind][1]}"
    shapes.append(Text(MARGIN, bottom + 6, note, 11, colour=PALE, name="caption"))
    width = left + heads * (wide + gap) - gap + MARGIN
    width = max(width, *(2 * MARGIN + text_width(t, s) for t, s in ((title, 16.5), (note, 11))))
    description = f"{maps.source} | {maps.target}. The darker a cell, the larger the weight."
    return Scene(width, bottom + 14 + MARGIN, title, description, shapes)


def heat_map(
    maps: AttentionMaps, kind: str, *, layer: int | None = None, heads: Sequence[int] | None = None
) -> Scene:
    """Draw one large heat map with its tokens: a head's, or the mean of several.

    Args:
        maps: Of a sentence.
        kind: encoder, decoder or cross.
        layer: From 0; None: the one that aligns best.
        heads: From 0; None: the mean of all.
    """
    found = maps.pick(kind)
    layers, count = found.weights.shape[:2]
    layer = usual_layer(layers) if layer is None else layer
    heads = list(range(count)) if heads is None else list(heads)
    mean = found.weights[layer, heads].mean(0).astype(np.float32)
    queries, keys = [shown(q) for q in found.queries], [shown(k) for k in found.keys]
    cell = 22.0 if max(mean.shape) <= 60 else 14.0
    size = min(SIZE, cell - 3)
    left = MARGIN + max(text_width(q, size) for q in queries) + 10
    top = 52 + max(text_width(k, size) for k in keys) + 8
    who = (
        f"head {heads[0] + 1}"
        if len(heads) == 1
        else "mean of all heads"
        if len(heads) == count
        else "mean of heads " + ", ".join(str(head + 1) for head in heads)
    )
    title = f"{NAMES[kind]}, layer {layer + 1} of {layers}, {who}"
    wide, high = len(keys) * cell, len(queries) * cell
    note = f"rows, {SIDES[kind][0]}; columns, {SIDES[kind][1]}"
    shapes: list[Shape] = [
        Text(MARGIN, 20, title, 15, bold=True, name="title"),
        Text(MARGIN, 40, note, 11, colour=PALE, name="caption"),
        Cells(left, top, cell, mean, FILL, "map", {"layer": layer}),
        Rect(left, top, wide, high, outline=FRAME, name="frame"),
    ]
    for i, label in enumerate(queries):
        y = top + (i + 0.5) * cell
        shapes.append(Text(left - 6, y, label, size, "end", name="query", data={"token": i}))
    for j, label in enumerate(keys):
        x = left + (j + 0.5) * cell
        shapes.append(Text(x, top - 6, label, size, turn=-90, name="key", data={"token": j}))
    below = top + high + 20
    shapes += _scale(left, below)
    width = max(
        left + wide + MARGIN,
        left + 5 * 26 + 40,
        *(2 * MARGIN + text_width(t, s) for t, s in ((title, 16.5), (note, 11))),
    )
    description = f"{maps.source} | {maps.target}. The darker a cell, the larger the weight."
    return Scene(width, below + 12 + MARGIN, title, description, shapes)


def _scale(x: float, y: float) -> list[Shape]:
    """Draw what darkness means."""
    shapes: list[Shape] = [Text(x, y, "0", 11, colour=PALE, name="scale")]
    x += 12
    for step in range(5):
        shapes.append(Rect(x + step * 22, y - 6, 22, 12, FILL, (step + 1) / 5, name="scale"))
    shapes.append(Rect(x, y - 6, 110, 12, outline=FRAME, name="scale"))
    shapes.append(Text(x + 116, y, "1", 11, colour=PALE, name="scale"))
    return shapes
