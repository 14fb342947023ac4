"""The alignment strip: both texts as lines of words, linked by attention."""

import numpy as np

from headway.ext.pictures.labels import NAMES, short_labels
from headway.ext.pictures.layout import Area, LinkRule, PictureLayout, Point, TokenLabels
from headway.ext.pictures.links import Selection, choose_links
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import LETTER_SIZE
from headway.ext.pictures.text_width import text_width

GAP = 14.0  # between words
LINE = 26.0  # the height of a line of words
ACROSS = 100.0  # from one line to the other
LINKS = LinkRule(least=0.1, width=3.0, most=3, is_mean=True)


def alignment_strip(maps: AttentionMaps, *, layer: int | None = None) -> Picture:
    """Draw the words of both texts along two lines; link each target word to its source words.

    Weights are the mean over the heads of one layer of encoder-decoder attention, with subwords
    merged to words. A target word is linked to at most three source words, the strongest, each with
    a weight of at least 0.1.
    """
    attention = maps.pick("cross").words()
    choice = Selection.of(attention, layer)
    return Picture(
        f"alignment: {NAMES['cross']}, layer {choice.layer + 1} of {len(attention.weights)}, mean of heads",
        f"{maps.source} | {maps.target}. Above the source, below the target; the opacity of a line"
        " is the attention weight that a target word gives to a source word.",
        alignment_layout(attention),
        links=choose_links(attention, LINKS, choice),
    )


def alignment_layout(attention: AttentionMap) -> PictureLayout:
    """Place the keys along a line on top, the queries along a line below."""
    sides = short_labels(attention.keys), short_labels(attention.queries)
    widths = [[text_width(text) + GAP for text in texts] for texts in sides]
    right = max(map(sum, widths))
    above, below = (
        # The shorter line gets the width of the longer one, so that links stay steep.
        _line(texts, [width + (right - sum(side)) / len(side) for width in side], top, port)
        for texts, side, top, port in zip(
            sides, widths, (0.0, LINE + ACROSS), (LINE, LINE + ACROSS), strict=True
        )
    )
    heads = attention.weights.shape[1]
    fan = [(0.0, 0.0)] * heads
    return PictureLayout(right, 2 * LINE + ACROSS, queries=below, keys=above, links=LINKS, fan=fan)


def _line(texts: list[str], widths: list[float], top: float, port: float) -> TokenLabels:
    """Place words one after the other; links meet them at the height ``port``."""
    lefts = np.cumsum([0.0, *widths]).tolist()
    middles = [left + width / 2 for left, width in zip(lefts, widths, strict=False)]
    points: list[Point] = [(x, top + LINE / 2) for x in middles]
    ports: list[Point] = [(x, port) for x in middles]
    areas: list[Area] = [(x, top, width, LINE) for x, width in zip(lefts, widths, strict=False)]
    return TokenLabels(texts, points, "middle", size=LETTER_SIZE, ports=ports, areas=areas)
