"""The views of attention: where everything stands, and how a picture of a view is made.

Files and the page draw the same layouts. Heads, layers and tokens count from 0 in arguments, and from 1 in the text
of a picture. Paper: Figures 3 to 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from headway.ext.pictures.labels import (
    NAMES,
    SIDES,
    display_labels,
    is_right_to_left,
    short_labels,
)
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Anchor,
    Area,
    Box,
    Label,
    LinkRule,
    MapPlace,
    PictureLayout,
    Point,
    TokenLabels,
    caption,
)
from headway.ext.pictures.links import Selection, choose_cells, choose_links, head_boxes
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import FAINTEST, LETTER_SIZE
from headway.ext.pictures.text_width import text_width, widest
from headway.translation import usual_layer

ViewName = Literal["heads", "paper", "grid", "heat", "alignment"]
STEP = 22.0  # from token to token
GAP = 8.0  # between a label and its links
CAPTION = 22.0  # the height of a caption
WORD_GAP = 14.0  # between the words of a line
WORD_LINE = 26.0  # the height of a line of words
FRAME = "#b5b5b5"
EACH_WEIGHT = LinkRule(least=FAINTEST, width=1.6)
STRONGEST_MEANS = LinkRule(least=0.1, width=3.0, most=3, is_mean=True)


def draw_view(
    maps: AttentionMaps,
    view: ViewName,
    kind: str = "cross",
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    query: int | None = None,
) -> Picture:
    """Return a view of the attention of one sentence.

    Args:
        maps: The maps of the sentence.
        view: ``heads`` and ``paper`` have a line for each weight of each head, between two columns or two rows of
            tokens; ``grid`` a small map of each head of each layer; ``heat`` one large map; ``alignment`` the words of
            both texts, each target word with its strongest source words in encoder-decoder attention.
        kind: encoder, decoder or cross.
        layer: The layer; None: the one that usually aligns best.
        heads: The heads; None: all.
        query: The only query whose lines are drawn, with a box for each head behind each key; None: all.
    """
    attention = maps.pick("cross").words() if view == "alignment" else maps.pick(kind)
    choice = Selection.of(attention, layer, heads, query)
    chosen = VIEWS[view]
    layout = chosen.place(attention, kind)
    links = choose_links(attention, layout.links, choice) if layout.links else []
    names_heads = view in ("heads", "paper") or (view == "heat" and len(choice.heads) == 1)
    return Picture(
        _title(view, kind, attention, choice),
        f"{maps.source} | {maps.target}. {chosen.description}",
        layout,
        choice.heads if names_heads else (),
        links,
        head_boxes(layout, choice, links),
        choose_cells(attention, layout, choice),
        choice.query,
        chosen.legend,
    )


def _title(view: ViewName, kind: str, attention: AttentionMap, choice: Selection) -> str:
    layers, count = attention.weights.shape[:2]
    layer = f"layer {choice.layer + 1} of {layers}"
    numbers = ", ".join(str(head + 1) for head in choice.heads)
    if view == "grid":
        return f"{NAMES[kind]}: {layers} layers of {count} heads"
    if view == "alignment":
        return f"alignment: {NAMES['cross']}, {layer}, mean of heads"
    if view == "heat" and len(choice.heads) == 1:
        return f"{NAMES[kind]}, {layer}, head {numbers}"
    if view == "heat":
        mean = "all heads" if len(choice.heads) == count else f"heads {numbers}"
        return f"{NAMES[kind]}, {layer}, mean of {mean}"
    word = "" if choice.query is None else display_labels(attention.queries)[choice.query]
    return f"{NAMES[kind]}, {layer}" + (f", from {word}" if word else "")


def view_json(maps: AttentionMaps) -> Any:
    """Return what the page draws, as JSON values: those of the maps, ``words`` and ``views``.

    ``words`` has the maps with subwords merged to words. ``views`` has, of "maps" and of "words" and by kind, the labels
    as the page shows them, the ``layer`` that is shown first, and the layout of each view by the view's name.
    """
    words = maps.words()
    views = {
        form: {
            kind: {
                "queries": display_labels(attention.queries),
                "keys": display_labels(attention.keys),
                "layer": usual_layer(len(attention.weights)),
                "layouts": {
                    name: view.place(attention, kind).to_json() for name, view in VIEWS.items()
                },
            }
            for kind, attention in found.maps.items()
        }
        for form, found in (("maps", maps), ("words", words))
    }
    return {**maps.to_json(), "words": words.to_json()["maps"], "views": views}


def place_sides(attention: AttentionMap, kind: str, *, is_turned: bool = False) -> PictureLayout:
    """Place the queries in a column on the left and the keys in one on the right; turned, in rows above each other.

    The names below are those of the columns; of the rows, which are turned as in the paper, left is top.
    """
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    before, after = SIDES[kind]
    # Captions stand above the columns, and above and below the rows.
    left, top = (CAPTION, 0.0) if is_turned else (0.0, CAPTION)
    start = left + widest(queries) + GAP
    stop = start + 190
    right = stop + GAP + widest(keys) + GAP
    bottom = top + STEP * max(len(queries), len(keys))
    if is_turned:
        captions, width = _row_captions(before, after, right, bottom)
        height = right + CAPTION
    else:
        # A caption that is wider than its column starts at the left edge instead of ending at the links.
        fits = text_width(before, CAPTION_SIZE) <= start
        first = caption(before, start if fits else 0, 8, "end" if fits else "start")
        captions = [first, caption(after, stop, 8)]
        width, height = max(right, stop + text_width(after, CAPTION_SIZE)), bottom
    sides = [
        _tokens(
            texts, [top + STEP * i for i in range(len(texts) + 1)], label, port, area,
            # The text of a turned label runs upwards.
            anchor="start" if (label < port) == is_turned else "end",
            is_row=is_turned, is_turned=is_turned,
        )
        for texts, label, port, area in (
            (queries, start - GAP, start, (left, start - GAP / 2)),
            (keys, stop + GAP, stop, (stop + GAP / 2, right)),
        )
    ]  # fmt: skip
    heads = attention.weights.shape[1]
    room = min(2.0, (STEP - 7) / heads)
    asides = [room * (head - (heads - 1) / 2) for head in range(heads)]
    fan = [(aside, 0.0) if is_turned else (0.0, aside) for aside in asides]
    return PictureLayout(
        width, height, captions, queries=sides[0], keys=sides[1], links=EACH_WEIGHT, fan=fan
    )


def _row_captions(above: str, below: str, y: float, width: float) -> tuple[list[Label], float]:
    """Return captions above two rows and, from ``y`` on, below them; and the width of the widest part."""
    captions = [caption(f"{above} (top)", 0, 8), caption(f"{below} (bottom)", 0, y + 13)]
    return captions, max(width, *(text_width(each.text, CAPTION_SIZE) for each in captions))


def _tokens(
    texts: list[str],
    edges: Sequence[float],
    label: float,
    port: float,
    area: tuple[float, float],
    *,
    anchor: Anchor,
    is_row: bool,
    is_turned: bool,
) -> TokenLabels:
    """Place one token after the other, down a column or along a row.

    Args:
        texts: The labels.
        edges: Where each token begins along the column or row, and where the last one ends; they fall in a row from
            right to left.
        label: The position of the labels across the column or row.
        port: The position of the ends of the links across it.
        area: The beginning and the end of the tokens' areas across it.
        anchor: The part of a label that is at its position.
        is_row: Whether this is a row.
        is_turned: Whether the labels are written upwards.
    """
    depth = area[1] - area[0]

    def at(across: float) -> list[Point]:
        middles = [(begin + end) / 2 for begin, end in pairwise(edges)]
        return [(middle, across) if is_row else (across, middle) for middle in middles]

    areas: list[Area] = [
        (min(pair), area[0], max(pair) - min(pair), depth)
        if is_row
        else (area[0], pair[0], depth, pair[1] - pair[0])
        for pair in pairwise(edges)
    ]
    return TokenLabels(texts, at(label), anchor, is_turned, ports=at(port), areas=areas)


def place_grid(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place a map for each head of each layer: a row for each layer, a column for each head."""
    layers, heads, rows, columns = attention.weights.shape
    cell = min(9.0, max(1.0, 110 / max(rows, columns)))
    # Tokens of one side only must not make a map too small to point at.
    width, height = max(columns * cell, 24.0), max(rows * cell, 16.0)
    left, top, gap = 58.0, 20.0, 12.0
    lefts = [left + head * (width + gap) for head in range(heads)]
    tops = [top + layer * (height + gap) for layer in range(layers)]
    places = [
        MapPlace((lefts[head], tops[layer], width, height), layer, head)
        for layer, head in np.ndindex(layers, heads)
    ]
    prefix = "head " if width > 44 else ""
    labels = [
        caption(f"{prefix}{head + 1}", x + width / 2, top - 12, "middle", "head")
        for head, x in enumerate(lefts)
    ]
    labels += [
        caption(f"layer {layer + 1}", left - 10, y + height / 2, "end", "label")
        for layer, y in enumerate(tops)
    ]
    right, bottom = lefts[-1] + width, tops[-1] + height
    labels.append(_sides(kind, bottom + 18))
    return PictureLayout(
        max(right, text_width(labels[-1].text, CAPTION_SIZE)),
        bottom + 26,
        labels,
        [Box(*place.area, outline=FRAME, role="frame") for place in places],
        maps=places,
    )


def place_map(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place one map with its tokens, the queries on the left and the keys on top, and a scale of its shades."""
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    cell = 22.0 if max(len(queries), len(keys)) <= 60 else 14.0
    size = min(LETTER_SIZE, cell - 3)
    left, top = widest(queries, size) + 10, 18 + widest(keys, size) + 10
    width, height = len(keys) * cell, len(queries) * cell
    rows: list[Point] = [(left - 6, top + (i + 0.5) * cell) for i in range(len(queries))]
    columns: list[Point] = [(left + (j + 0.5) * cell, top - 6) for j in range(len(keys))]
    sides, scale = _sides(kind, 6), top + height + 20
    shades = [
        Box(left + 12 + i * 22, scale - 6, 22, 12, "cells", (i + 1) / 5, role="scale")
        for i in range(5)
    ]
    return PictureLayout(
        max(left + width, left + 140, text_width(sides.text, CAPTION_SIZE)),
        scale + 10,
        [
            sides,
            caption("0", left, scale, role="scale"),
            caption("1", left + 128, scale, role="scale"),
        ],
        [
            Box(left, top, width, height, outline=FRAME, role="frame"),
            *shades,
            Box(left + 12, scale - 6, 110, 12, outline=FRAME, role="scale"),
        ],
        queries=TokenLabels(queries, rows, "end", size=size),
        keys=TokenLabels(keys, columns, "start", is_turned=True, size=size),
        maps=[MapPlace((left, top, width, height))],
    )


def _sides(kind: str, y: float) -> Label:
    return caption(f"rows, {SIDES[kind][0]}; columns, {SIDES[kind][1]}", 0, y)


def place_lines(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place the keys, words of the source, along a line on top, and the queries along a line below.

    A line of a script from right to left runs from right to left.
    """
    texts = short_labels(attention.keys), short_labels(attention.queries)
    widths = [[text_width(text) + WORD_GAP for text in side] for side in texts]
    right, bottom = max(map(sum, widths)), CAPTION + 2 * WORD_LINE + 100.0
    sides = []
    for side, of_side, top in zip(texts, widths, (CAPTION, bottom - WORD_LINE), strict=True):
        # The shorter line gets the width of the longer one, so that links stay steep.
        more = (right - sum(of_side)) / len(side)
        edges = np.cumsum([0.0, *(width + more for width in of_side)])
        if is_right_to_left(side):
            edges = right - edges
        port = top + WORD_LINE if top == CAPTION else top
        sides.append(
            _tokens(
                side, edges.tolist(), top + WORD_LINE / 2, port, (top, top + WORD_LINE),
                anchor="middle", is_row=True, is_turned=False,
            )
        )  # fmt: skip
    above, below = sides
    fan = [(0.0, 0.0)] * attention.weights.shape[1]
    before, after = SIDES[kind]
    captions, width = _row_captions(after, before, bottom, right)
    return PictureLayout(width, bottom + CAPTION, captions, [], below, above, STRONGEST_MEANS, fan)


@dataclass(frozen=True)
class View:
    """A way to show attention.

    Attributes:
        place: Makes the layout of a map of a kind of attention.
        description: What the picture shows, for readers who cannot see it.
        legend: What the opacity means; empty if the layout has a scale.
    """

    place: Callable[[AttentionMap, str], PictureLayout]
    description: str
    legend: str = ""


_LINES = (
    "Each line goes from a query to a key. Its opacity is the attention weight; its color and dashes are those of the"
    " head."
)
_OPACITY = "opacity: attention weight"
_CELLS = "The darker a cell, the larger the weight."
VIEWS: dict[ViewName, View] = {
    "heads": View(place_sides, _LINES, _OPACITY),
    "paper": View(partial(place_sides, is_turned=True), _LINES, _OPACITY),
    "grid": View(place_grid, _CELLS, _OPACITY),
    "heat": View(place_map, _CELLS),
    "alignment": View(
        place_lines,
        "Above the source, below the target; the opacity of a line is the attention weight that a target word gives to a"
        " source word.",
        f"{_OPACITY}, from {STRONGEST_MEANS.least}",
    ),
}
