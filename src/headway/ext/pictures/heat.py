"""Heat maps, in which a cell is a weight: a grid of all heads, and one map with its tokens.

Heads and layers count from 0 in arguments, and from 1 in the text of a picture.
"""

from collections.abc import Sequence

from headway.ext.pictures.labels import NAMES, SIDES, short_labels
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Box,
    Label,
    MapPlace,
    PictureLayout,
    TokenLabels,
    caption,
)
from headway.ext.pictures.links import Selection, choose_cells
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import LETTER_SIZE
from headway.ext.pictures.text_width import text_width, widest

FRAME = "#b5b5b5"
DESCRIPTION = "The darker a cell, the larger the weight."


def grid(maps: AttentionMaps, kind: str) -> Picture:
    """Draw a small heat map of each head: a row for each layer, a column for each head."""
    attention = maps.pick(kind)
    layers, heads = attention.weights.shape[:2]
    layout = grid_layout(attention, kind)
    return Picture(
        f"{NAMES[kind]}: {layers} layers of {heads} heads",
        f"{maps.source} | {maps.target}. {DESCRIPTION}",
        layout,
        cells=choose_cells(attention, layout, Selection(0, ())),
    )


def grid_layout(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place a map for each head of each layer."""
    layers, heads, rows, columns = attention.weights.shape
    cell = min(9.0, max(1.0, 110 / max(rows, columns)))
    width, height = columns * cell, rows * cell
    # Tokens of one side only must not make a map too small to point at.
    width, height = max(width, 24.0), max(height, 16.0)
    left, top, gap = 58.0, 20.0, 12.0
    lefts = [left + head * (width + gap) for head in range(heads)]
    tops = [top + layer * (height + gap) for layer in range(layers)]
    prefix = "head " if width > 44 else ""
    labels = [
        caption(f"{prefix}{head + 1}", x + width / 2, top - 12, "middle", "head")
        for head, x in enumerate(lefts)
    ]
    labels += [
        caption(f"layer {layer + 1}", left - 10, y + height / 2, "end", "label")
        for layer, y in enumerate(tops)
    ]
    bottom = tops[-1] + height
    labels.append(_sides(kind, bottom + 18))
    places = [
        MapPlace((x, y, width, height), layer, head)
        for layer, y in enumerate(tops)
        for head, x in enumerate(lefts)
    ]
    return PictureLayout(
        max(lefts[-1] + width, text_width(labels[-1].text, CAPTION_SIZE)),
        bottom + 26,
        labels,
        [Box(*place.area, outline=FRAME, role="frame") for place in places],
        maps=places,
    )


def heat_map(
    maps: AttentionMaps, kind: str, *, layer: int | None = None, heads: Sequence[int] | None = None
) -> Picture:
    """Draw one large heat map with its tokens, of one head or of the mean of several.

    Args:
        maps: The maps of a sentence.
        kind: encoder, decoder or cross.
        layer: The layer; None: the one that usually aligns best.
        heads: The heads; None: all.
    """
    attention = maps.pick(kind)
    layers, count = attention.weights.shape[:2]
    choice = Selection.of(attention, layer, heads)
    numbers = ", ".join(str(head + 1) for head in choice.heads)
    if len(choice.heads) == 1:
        name = f"head {numbers}"
    else:
        name = "mean of all heads" if len(choice.heads) == count else f"mean of heads {numbers}"
    layout = heat_layout(attention, kind)
    return Picture(
        f"{NAMES[kind]}, layer {choice.layer + 1} of {layers}, {name}",
        f"{maps.source} | {maps.target}. {DESCRIPTION}",
        layout,
        choice.heads if len(choice.heads) == 1 else (),
        cells=choose_cells(attention, layout, choice),
    )


def heat_layout(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place one map with its tokens: the queries on the left, the keys on top."""
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    cell = 22.0 if max(len(queries), len(keys)) <= 60 else 14.0
    size = min(LETTER_SIZE, cell - 3)
    left, top = widest(queries, size) + 10, 18 + widest(keys, size) + 10
    width, height = len(keys) * cell, len(queries) * cell
    sides = _sides(kind, 6)
    scale_boxes, scale_labels = _scale(left, top + height + 20)
    return PictureLayout(
        max(left + width, left + 140, text_width(sides.text, CAPTION_SIZE)),
        top + height + 30,
        [sides, *scale_labels],
        [Box(left, top, width, height, outline=FRAME, role="frame"), *scale_boxes],
        queries=TokenLabels(
            queries,
            [(left - 6, top + (i + 0.5) * cell) for i in range(len(queries))],
            "end",
            size=size,
        ),
        keys=TokenLabels(
            keys,
            [(left + (j + 0.5) * cell, top - 6) for j in range(len(keys))],
            "start",
            is_turned=True,
            size=size,
        ),
        maps=[MapPlace((left, top, width, height))],
    )


def _sides(kind: str, y: float) -> Label:
    return caption(f"rows, {SIDES[kind][0]}; columns, {SIDES[kind][1]}", 0, y)


def _scale(x: float, y: float) -> tuple[list[Box], list[Label]]:
    """Place the scale that shows how dark weights from 0 to 1 are."""
    labels = [caption("0", x, y, role="scale"), caption("1", x + 128, y, role="scale")]
    x += 12
    boxes = [Box(x + i * 22, y - 6, 22, 12, "cells", (i + 1) / 5, role="scale") for i in range(5)]
    boxes.append(Box(x, y - 6, 110, 12, outline=FRAME, role="scale"))
    return boxes, labels
