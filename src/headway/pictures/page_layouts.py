"""What the page shows: all weights of a sentence, and a layout for each of its views."""

from typing import Any

from headway.inference.alignment import usual_layer
from headway.pictures.alignment import alignment_layout
from headway.pictures.head_view import head_layout
from headway.pictures.heat import grid_layout, heat_layout
from headway.pictures.labels import display_labels
from headway.pictures.layout import Layout
from headway.pictures.maps import AttentionMap, AttentionMaps


def view_json(maps: AttentionMaps) -> dict[str, Any]:
    """Return what the page draws, as JSON values.

    Returns:
        The fields of `AttentionMaps.to_json`, and two more. "words": the maps with subwords merged
        to words, in the form of "maps". "views": for "maps" and for "words", by kind, the labels
        of "queries" and "keys" as they are shown, the "layer" that is shown first, and "layouts", a
        `Layout` by the view's name.
    """
    words = maps.words()
    return {
        **maps.to_json(),
        "words": words.to_json()["maps"],
        "views": {"maps": _views(maps), "words": _views(words)},
    }


def _views(maps: AttentionMaps) -> dict[str, Any]:
    return {
        kind: {
            "queries": display_labels(found.queries),
            "keys": display_labels(found.keys),
            "layer": usual_layer(len(found.weights)),
            "layouts": {name: view.to_json() for name, view in layouts(found, kind).items()},
        }
        for kind, found in maps.maps.items()
    }


def layouts(found: AttentionMap, kind: str) -> dict[str, Layout]:
    """Return the layout of each view, by the view's name."""
    return {
        "heads": head_layout(found, kind, "columns"),
        "paper": head_layout(found, kind, "paper"),
        "grid": grid_layout(found, kind),
        "heat": heat_layout(found, kind),
        "alignment": alignment_layout(found),
    }
