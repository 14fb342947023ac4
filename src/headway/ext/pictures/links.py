"""The links of a view and the boxes behind its keys, for a choice of layer, heads and token.

The layout holds the rule (`LinkRule`). ``page/draw.js`` applies the same rule to the choice that a reader of
the page makes, and a test compares both. Heads, layers and tokens count from 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.ext.pictures.layout import Area, Box, Line, LinkRule, Tokens, ViewLayout
from headway.ext.pictures.maps import AttentionMap
from headway.ext.pictures.style import BOX_OPACITY, head_color, head_dash


class TokenLink(NamedTuple):
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


def choose_links(
    attention: AttentionMap, rule: LinkRule, layer: int, heads: Sequence[int], query: int | None
) -> list[TokenLink]:
    """Return the links that a rule draws, in the order of their weights, the strongest last.

    Args:
        attention: The map.
        rule: The rule.
        layer: One layer.
        heads: One head or more.
        query: The only query whose links are drawn; None: all.
    """
    weights_HQK = attention.weights[layer, list(heads)].astype(np.float64)
    if rule.is_mean:
        weights_HQK = weights_HQK.mean(0, keepdims=True)
    is_drawn = weights_HQK >= rule.least
    if rule.most is not None:
        rank = (-weights_HQK).argsort(-1, kind="stable").argsort(-1)
        is_drawn &= rank < rule.most
    if query is not None:
        is_drawn &= (np.arange(len(attention.queries)) == query)[:, None]
    links = [
        TokenLink(q, k, None if rule.is_mean else heads[h], float(weights_HQK[h, q, k]))
        for h, q, k in np.argwhere(is_drawn).tolist()
    ]
    return sorted(links, key=lambda link: link.weight)


def link_line(layout: ViewLayout, link: TokenLink, *, has_dashes: bool) -> Line:
    """Return the line of a link; dashes distinguish several heads."""
    assert layout.links is not None
    head = link.head or 0
    ends = layout.link_ends(link.query, link.key, link.head)
    dash = head_dash(head) if has_dashes else ()
    opacity = min(link.weight, 1.0)
    return Line(*ends, False, head_color(head), layout.links.width, dash, opacity)


def head_box(side: Tokens, token: int, link: TokenLink, heads: Sequence[int]) -> Box:
    """Return a box for a link of a chosen token, behind the token on the other side, which stands in ``side``.

    The heads divide the area of a token among them. The opacity of a box shows the weight.
    """
    x, y, width, height = side.areas[token]
    place, count = (0, 1) if link.head is None else (list(heads).index(link.head), len(heads))
    area: Area = x + width * place / count, y, width / count, height
    if side.labels[token].is_turned:
        area = x, y + height * place / count, width, height / count
    return Box(area, head_color(link.head or 0), BOX_OPACITY * link.weight, role="head-box")
