"""What the page shows: all weights of a sentence, and a layout for each of its views."""

from typing import TypedDict

from headway.ext.pictures.alignment import alignment_layout
from headway.ext.pictures.head_views import head_layout
from headway.ext.pictures.heat import grid_layout, heat_layout
from headway.ext.pictures.labels import display_labels
from headway.ext.pictures.layout import Layout
from headway.ext.pictures.maps import AttentionMap, AttentionMaps, MapJson, MapsJson
from headway.translation import usual_layer


class ViewsJson(TypedDict):
    """What the views of one map have in common, and the layout of each view by the view's name.

    Labels are as the views show them; ``layer`` is shown first.
    """

    queries: list[str]
    keys: list[str]
    layer: int
    layouts: dict[str, dict[str, object]]


class PageJson(MapsJson):
    """What the page draws: the maps of a sentence pair, and their layouts.

    ``words`` has the maps with subwords merged to words. ``views`` has the views of "maps" and of
    "words", by kind.
    """

    words: dict[str, MapJson]
    views: dict[str, dict[str, ViewsJson]]


def view_json(maps: AttentionMaps) -> PageJson:
    """Return what the page draws, as JSON values."""
    words = maps.words()
    return {
        **maps.to_json(),
        "words": words.to_json()["maps"],
        "views": {"maps": _views(maps), "words": _views(words)},
    }


def _views(maps: AttentionMaps) -> dict[str, ViewsJson]:
    return {
        kind: {
            "queries": display_labels(attention.queries),
            "keys": display_labels(attention.keys),
            "layer": usual_layer(len(attention.weights)),
            "layouts": {name: view.to_json() for name, view in layouts(attention, kind).items()},
        }
        for kind, attention in maps.maps.items()
    }


def layouts(attention: AttentionMap, kind: str) -> dict[str, Layout]:
    """Return the layout of each view, by the view's name."""
    return {
        "heads": head_layout(attention, kind, "columns"),
        "paper": head_layout(attention, kind, "paper"),
        "grid": grid_layout(attention, kind),
        "heat": heat_layout(attention, kind),
        "alignment": alignment_layout(attention),
    }
