"""The head view: a line for each weight, of all heads of a layer or of one word.

Heads, layers and tokens count from 0 in arguments, and from 1 in the text of a picture.
Paper: Figures 3 to 5.
"""

from collections.abc import Sequence
from typing import Literal

from headway.ext.pictures.labels import NAMES, SIDES, display_labels, short_labels
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Anchor,
    Area,
    LinkRule,
    PictureLayout,
    Point,
    TokenLabels,
    caption,
)
from headway.ext.pictures.links import Selection, choose_links, head_boxes
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import FAINTEST
from headway.ext.pictures.text_width import text_width, widest

STEP = 22.0  # from token to token
GAP = 8.0  # between a label and its links
ACROSS = {"columns": 240.0, "paper": 190.0}  # from queries to keys
CAPTION = 22.0  # the height of a caption
LINKS = LinkRule(least=FAINTEST, width=1.6)
Orientation = Literal["columns", "paper"]


def head_view(
    maps: AttentionMaps,
    kind: str,
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    query: int | None = None,
    orientation: Orientation = "columns",
) -> Picture:
    """Draw a line from each query to each key, for each head; its opacity is the weight.

    Weights below `FAINTEST` are not drawn. With ``query``, only the lines of that token are drawn, and
    each key gets a box for each head, whose opacity shows the weight.

    Args:
        maps: The maps of a sentence.
        kind: encoder, decoder or cross.
        layer: The layer; None: the one that usually aligns best.
        heads: The heads; None: all.
        query: The only query whose links are drawn; None: all.
        orientation: Whether the tokens are in two columns, or in two rows and turned, as in the paper.
    """
    attention = maps.pick(kind)
    choice = Selection.of(attention, layer, heads, query)
    title = f"{NAMES[kind]}, layer {choice.layer + 1} of {len(attention.weights)}"
    if query is not None:
        title += f", from {display_labels(attention.queries)[query]}"
    layout = head_layout(attention, kind, orientation)
    links = choose_links(attention, LINKS, choice)
    return Picture(
        title,
        f"{maps.source} | {maps.target}. Each line goes from a query to a key. Its opacity is the"
        " attention weight; its color and dashes are those of the head.",
        layout,
        choice.heads,
        links,
        head_boxes(layout, choice, links),
        query=query,
    )


def head_layout(attention: AttentionMap, kind: str, orientation: Orientation) -> PictureLayout:
    """Place the tokens of both sides and the ends of their links."""
    if orientation == "paper":
        return _rows(attention, kind)
    return _columns(attention, kind)


def _fan(heads: int) -> list[float]:
    """Return how far the links of each head are moved along the tokens."""
    room = min(2.0, (STEP - 7) / heads)
    return [room * (head - (heads - 1) / 2) for head in range(heads)]


def _columns(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place the queries in a column on the left, the keys in a column on the right."""
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    start = widest(queries) + GAP
    stop = start + ACROSS["columns"]
    right = stop + GAP + widest(keys) + GAP

    before, after = SIDES[kind]
    # A caption that is wider than its column starts at the left edge instead of ending at the links.
    fits = text_width(before, CAPTION_SIZE) <= start
    captions = [
        caption(before, start if fits else 0, 8, "end" if fits else "start"),
        caption(after, stop, 8),
    ]
    return PictureLayout(
        max(right, stop + text_width(after, CAPTION_SIZE)),
        CAPTION + STEP * max(len(queries), len(keys)),
        captions,
        queries=_side(queries, start - GAP, start, (0, start - GAP / 2), is_turned=False),
        keys=_side(keys, stop + GAP, stop, (stop + GAP / 2, right), is_turned=False),
        links=LINKS,
        fan=[(0.0, aside) for aside in _fan(attention.weights.shape[1])],
    )


def _rows(attention: AttentionMap, kind: str) -> PictureLayout:
    """Place the queries in a row on top, the keys in a row below, all turned upwards."""
    queries, keys = short_labels(attention.queries), short_labels(attention.keys)
    start = CAPTION + widest(queries) + GAP
    stop = start + ACROSS["paper"]
    bottom = stop + GAP + widest(keys) + GAP

    before, after = (
        f"{text} ({place})" for text, place in zip(SIDES[kind], ("top", "bottom"), strict=True)
    )
    return PictureLayout(
        max(
            STEP * max(len(queries), len(keys)),
            *(text_width(t, CAPTION_SIZE) for t in (before, after)),
        ),
        bottom + CAPTION,
        [caption(before, 0, 8), caption(after, 0, bottom + 8)],
        queries=_side(queries, start - GAP, start, (CAPTION, start - GAP / 2), is_turned=True),
        keys=_side(keys, stop + GAP, stop, (stop + GAP / 2, bottom), is_turned=True),
        links=LINKS,
        fan=[(aside, 0.0) for aside in _fan(attention.weights.shape[1])],
    )


def _side(
    texts: list[str], label: float, port: float, area: tuple[float, float], *, is_turned: bool
) -> TokenLabels:
    """Place one label after the other, down a column or, turned, along a row.

    Args:
        texts: The labels.
        label: The position of the labels across the column or row.
        port: The position of the ends of the links.
        area: The beginning and the end of the tokens' areas.
        is_turned: Whether this is a row.
    """
    begins = [STEP * i + (0 if is_turned else CAPTION) for i in range(len(texts))]
    depth = area[1] - area[0]

    def at(across: float) -> list[Point]:
        middles = [begin + STEP / 2 for begin in begins]
        return [(middle, across) if is_turned else (across, middle) for middle in middles]

    areas: list[Area] = [
        (begin, area[0], STEP, depth) if is_turned else (area[0], begin, depth, STEP)
        for begin in begins
    ]
    # The text of a turned label runs upwards.
    anchor: Anchor = "start" if (label < port) == is_turned else "end"
    return TokenLabels(texts, at(label), anchor, is_turned, ports=at(port), areas=areas)
