"""The links, boxes and cells that a view draws for a choice of layer, heads and token.

The layout holds the rule (`LinkRule`). ``page/draw.js`` applies the same rule to the choice that a reader of
the page makes, and a test compares both. Heads, layers and tokens count from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headway.ext.pictures.layout import Area, Box, LinkRule, PictureLayout
from headway.ext.pictures.maps import AttentionMap
from headway.ext.pictures.style import BOX_OPACITY, head_color
from headway.translation import usual_layer


@dataclass(frozen=True)
class Selection:
    """The part of a map that a picture shows.

    Attributes:
        layer: One layer.
        heads: One head or more.
        query: The only query whose links are shown; None: all.
        key: The only key whose links are shown; None: all.
    """

    layer: int
    heads: Sequence[int]
    query: int | None = None
    key: int | None = None

    @classmethod
    def of(
        cls,
        attention: AttentionMap,
        layer: int | None = None,
        heads: Sequence[int] | None = None,
        query: int | None = None,
    ) -> Self:
        """Return a part of a map: without a layer, of the one that usually aligns best; without heads, of all."""
        layers, count = attention.weights.shape[:2]
        layer = usual_layer(layers) if layer is None else layer
        return cls(layer, list(range(count)) if heads is None else list(heads), query)


@dataclass(frozen=True)
class TokenLink:
    """A line from a query to a key; its opacity is the weight.

    Attributes:
        query: A token.
        key: A token.
        head: None: the weight is a mean over heads.
        weight: From 0 to 1.
    """

    query: int
    key: int
    head: int | None
    weight: float


def choose_links(attention: AttentionMap, rule: LinkRule, choice: Selection) -> list[TokenLink]:
    """Return the links that a rule draws, in the order of their weights, the strongest last."""
    weights_HQK = attention.weights[choice.layer, list(choice.heads)].astype(np.float64)
    heads: list[int | None] = list(choice.heads)
    if rule.is_mean:
        weights_HQK, heads = weights_HQK.mean(0, keepdims=True), [None]
    is_drawn = weights_HQK >= rule.least
    if rule.most is not None:
        rank = (-weights_HQK).argsort(-1, kind="stable").argsort(-1)
        is_drawn &= rank < rule.most
    if choice.query is not None:
        is_drawn &= (np.arange(len(attention.queries)) == choice.query)[:, None]
    if choice.key is not None:
        is_drawn &= np.arange(len(attention.keys)) == choice.key
    links = [
        TokenLink(query, key, heads[place], float(weights_HQK[place, query, key]))
        for place, query, key in np.argwhere(is_drawn).tolist()
    ]
    return sorted(links, key=lambda link: link.weight)


def choose_cells(
    attention: AttentionMap, layout: PictureLayout, choice: Selection
) -> list[NDArray[np.float64]]:
    """Return the weights [queries, keys] of each map of a layout."""
    return [
        attention.weights[
            choice.layer if place.layer is None else place.layer,
            list(choice.heads) if place.head is None else [place.head],
        ].mean(0, dtype=np.float64)
        for place in layout.maps
    ]


def head_boxes(layout: PictureLayout, choice: Selection, links: Sequence[TokenLink]) -> list[Box]:
    """Return a box for each link of a chosen token, behind the token on the other side.

    The heads divide the area of a token among them. The opacity of a box shows the weight.
    """
    side = layout.keys if choice.query is not None else layout.queries
    if side is None or (choice.query is None and choice.key is None):
        return []
    boxes = []
    for link in links:
        x, y, width, height = side.areas[link.key if choice.query is not None else link.query]
        area: Area = x, y, width, height
        if link.head is not None:
            place, count = list(choice.heads).index(link.head), len(choice.heads)
            if side.is_turned:
                area = x, y + height * place / count, width, height / count
            else:
                area = x + width * place / count, y, width / count, height
        opacity = BOX_OPACITY * link.weight
        boxes.append(Box(*area, head_color(link.head or 0), opacity, role="head-box"))
    return boxes
