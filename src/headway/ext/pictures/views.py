"""The views of attention: where everything stands, and how a picture of a view is made.

Files and the page draw the same layouts. Heads, layers and tokens count from 0 in arguments, and from 1 in the text
of a picture. Paper: Figures 3 to 5.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from headway.ext.pictures.labels import NAMES, SIDES, display_labels, short_labels
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Anchor,
    Area,
    Box,
    Cells,
    Label,
    Line,
    LinkRule,
    MapPlace,
    Point,
    Tokens,
    ViewLayout,
    caption,
)
from headway.ext.pictures.links import choose_links, head_box, link_line
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import FAINTEST, INK, LETTER_SIZE, head_color, head_dash
from headway.ext.pictures.text_width import text_width, widest
from headway.translation import usual_layer

ViewName = Literal["heads", "paper", "grid", "heat", "alignment"]
STEP = 22.0  # from token to token
GAP = 8.0  # between a label and its links
CAPTION = 22.0  # the height of a caption
LEGEND_STEP, LEGEND_LINE = 52.0, 16.0  # from head to head in the legend, and its lines
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
            tokens; ``grid`` a small map of each head of each layer; ``heat`` one large map; ``alignment`` two columns
            of words, each target word with its strongest source words in encoder-decoder attention.
        kind: encoder, decoder or cross.
        layer: The layer; None: the one that usually aligns best.
        heads: The heads; None: all.
        query: The only query whose lines are drawn, with a box for each head behind each key; None: all.
    """
    attention = maps.pick("cross").words() if view == "alignment" else maps.pick(kind)
    layers, count = attention.weights.shape[:2]
    layer = usual_layer(layers) if layer is None else layer
    heads = list(range(count)) if heads is None else list(heads)
    layout = VIEWS[view].place(attention, kind)
    rule = layout.links
    picture = Picture(
        _title(view, kind, attention, layer, heads, query),
        f"{maps.source} | {maps.target}. {VIEWS[view].description}",
        (0.0, 0.0, layout.width, layout.height),
        [*layout.boxes],
        labels=[*layout.labels],
    )
    links = choose_links(attention, rule, layer, heads, query) if rule else []
    picture.lines.extend(link_line(layout, link, has_dashes=len(heads) > 1) for link in links)
    if query is not None and layout.keys:
        picture.boxes.extend(head_box(layout.keys, link.key, link, heads) for link in links)
    for place in layout.maps:
        shown = heads if place.head is None else [place.head]
        weights = attention.weights[layer if place.layer is None else place.layer, shown]
        color = head_color(shown[0]) if len(shown) == 1 else INK
        picture.cells.append(Cells(place.area, weights.mean(0, dtype=np.float64), color))
    if layout.queries and layout.keys:
        for number, label in enumerate(layout.queries.labels):
            is_pale, is_bold = query not in (None, number), query == number
            picture.labels.append(replace(label, is_pale=is_pale, is_bold=is_bold))
        picture.labels.extend(layout.keys.labels)
    _add_legend(picture, heads if rule and not rule.is_mean else [], rule)
    return picture


def _title(
    view: ViewName,
    kind: str,
    attention: AttentionMap,
    layer: int,
    heads: Sequence[int],
    query: int | None,
) -> str:
    layers, count = attention.weights.shape[:2]
    if view == "grid":
        return f"{NAMES[kind]}: {layers} layers of {count} heads"
    title = f"{NAMES[kind]}, layer {layer + 1} of {layers}"
    if view in ("heat", "alignment"):
        numbers = ", ".join(str(head + 1) for head in heads)
        several = "all heads" if len(heads) == count else f"heads {numbers}"
        title += f", mean of {several}" if len(heads) > 1 else f", head {numbers}"
    return title + ("" if query is None else f", from {display_labels(attention.queries)[query]}")


def _add_legend(picture: Picture, heads: Sequence[int], rule: LinkRule | None) -> None:
    """Add the looks of the heads and the meaning of the opacity above everything else."""
    x, y, width, height = picture.area
    least = f", from {rule.least}" if rule and rule.most else ""
    y -= LEGEND_LINE
    picture.labels.append(caption(f"opacity: attention weight{least}", x, y, role="legend"))
    if heads:
        y -= LEGEND_LINE
        picture.labels.append(caption("head", x, y, role="legend"))
    for place, head in enumerate(heads):
        left = x + 40 + place * LEGEND_STEP
        dash = head_dash(head) if len(heads) > 1 else ()
        picture.lines.append(Line((left, y), (left + 24, y), False, head_color(head), 3.0, dash))
        picture.labels.append(Label(str(head + 1), left + 29, y, CAPTION_SIZE, role="legend"))
    width = max(width, 40 + LEGEND_STEP * len(heads))
    picture.area = x, y, width, height - y


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


def place_sides(
    attention: AttentionMap, kind: str, *, rule: LinkRule = EACH_WEIGHT, is_turned: bool = False
) -> ViewLayout:
    """Place the queries in a column on the left and the keys in one on the right.

    Args:
        attention: The map.
        kind: encoder, decoder or cross.
        rule: The rule of the links.
        is_turned: Whether the columns are turned to rows, as in the paper: the queries above the keys, written upwards.
    """
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    start = widest(queries) + GAP + (CAPTION if is_turned else 0.0)
    stop = start + 190.0
    sides = (
        _tokens(queries, start, -widest(queries) - GAP, is_turned=is_turned),
        _tokens(keys, stop, widest(keys) + GAP, is_turned=is_turned),
    )
    right, bottom = stop + widest(keys) + GAP, CAPTION + STEP * max(len(queries), len(keys))
    if is_turned:
        right, bottom = bottom - CAPTION, right
    places = ("top", "bottom") if is_turned else ("left", "right")
    captions = [
        caption(f"{meaning} ({place})", 0, y)
        for meaning, place, y in zip(SIDES[kind], places, (8.0, bottom + 13), strict=True)
    ]
    width = max(right, *(text_width(each.text, CAPTION_SIZE) for each in captions))
    heads = attention.weights.shape[1]
    room = min(2.0, (STEP - 7) / heads)
    asides = [0.0] if rule.is_mean else [room * (head - (heads - 1) / 2) for head in range(heads)]
    fan = [(aside, 0.0) if is_turned else (0.0, aside) for aside in asides]
    return ViewLayout(width, bottom + CAPTION, captions, [], *sides, rule, fan)


def _tokens(texts: list[str], port: float, depth: float, *, is_turned: bool) -> Tokens:
    """Place one token after the other, down a column or along a row.

    Args:
        texts: The labels.
        port: The position of the ends of the links across the column or row.
        depth: The depth of the column or row; negative: it is on the left of its links, or above them.
        is_turned: Whether this is a row, whose labels are written upwards.
    """

    def at(across: float, along: float) -> Point:
        return (along, across) if is_turned else (across, along)

    gap = math.copysign(GAP, depth)
    near, far = sorted((port + gap / 2, port + depth))
    starts = [(0.0 if is_turned else CAPTION) + STEP * i for i in range(len(texts))]
    areas: list[Area] = [(*at(near, start), *at(far - near, STEP)) for start in starts]
    points, ports = (
        [at(across, start + STEP / 2) for start in starts] for across in (port + gap, port)
    )
    anchor: Anchor = "start" if (depth < 0) == is_turned else "end"
    return Tokens(_labels(texts, points, anchor, is_turned=is_turned), ports, areas)


def _labels(
    texts: list[str],
    points: list[Point],
    anchor: Anchor,
    *,
    size: float = LETTER_SIZE,
    is_turned: bool = False,
) -> list[Label]:
    return [
        Label(text, *point, size, anchor, is_turned=is_turned, role="token")
        for text, point in zip(texts, points, strict=True)
    ]


def place_grid(attention: AttentionMap, kind: str) -> ViewLayout:
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
    return ViewLayout(
        max(right, text_width(labels[-1].text, CAPTION_SIZE)),
        bottom + 26,
        labels,
        [Box(place.area, outline=FRAME, role="frame") for place in places],
        maps=places,
    )


def place_map(attention: AttentionMap, kind: str) -> ViewLayout:
    """Place one map with its tokens, the queries on the left and the keys on top."""
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    cell = 22.0 if max(len(queries), len(keys)) <= 60 else 14.0
    size = min(LETTER_SIZE, cell - 3)
    left, top = widest(queries, size) + 10, 18 + widest(keys, size) + 10
    area = left, top, len(keys) * cell, len(queries) * cell
    rows = [(left - 6, top + (i + 0.5) * cell) for i in range(len(queries))]
    columns = [(left + (j + 0.5) * cell, top - 6) for j in range(len(keys))]
    sides = _sides(kind, 6)
    return ViewLayout(
        max(left + area[2], text_width(sides.text, CAPTION_SIZE)),
        top + area[3],
        [sides],
        [Box(area, outline=FRAME, role="frame")],
        Tokens(_labels(queries, rows, "end", size=size)),
        Tokens(_labels(keys, columns, "start", size=size, is_turned=True)),
        maps=[MapPlace(area)],
    )


def _sides(kind: str, y: float) -> Label:
    return caption(f"rows, {SIDES[kind][0]}; columns, {SIDES[kind][1]}", 0, y)


class View(NamedTuple):
    """A way to show attention.

    Attributes:
        place: Makes the layout of a map of a kind of attention.
        description: What the picture shows, for readers who cannot see it.
    """

    place: Callable[[AttentionMap, str], ViewLayout]
    description: str


_LINES = (
    "Each line goes from a query to a key. Its opacity is the attention weight; its color and dashes are those of the"
    " head."
)
_CELLS = "The darker a cell, the larger the weight."
VIEWS: dict[ViewName, View] = {
    "heads": View(place_sides, _LINES),
    "paper": View(partial(place_sides, is_turned=True), _LINES),
    "grid": View(place_grid, _CELLS),
    "heat": View(place_map, _CELLS),
    "alignment": View(
        partial(place_sides, rule=STRONGEST_MEANS),
        "On the left the target, on the right the source; the opacity of a line is the attention weight that a target"
        " word gives to a source word.",
    ),
}
