"""What the page shows: all weights of a sentence, and a layout for each of its views."""

from typing import Any

from headway.ext.pictures.alignment import alignment_layout
from headway.ext.pictures.head_views import head_layout
from headway.ext.pictures.heat import grid_layout, heat_layout
from headway.ext.pictures.labels import display_labels
from headway.ext.pictures.layout import PictureLayout
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.translation import usual_layer


def view_json(maps: AttentionMaps) -> Any:
    """Return what the page draws, as JSON values: those of the maps, ``words`` and ``views``.

    ``words`` has the maps with subwords merged to words. ``views`` has, of "maps" and of "words" and by kind, the labels
    as the page shows them, the ``layer`` that is shown first, and the layout of each view by the view's name.
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
            "queries": display_labels(attention.queries),
            "keys": display_labels(attention.keys),
            "layer": usual_layer(len(attention.weights)),
            "layouts": {name: view.to_json() for name, view in layouts(attention, kind).items()},
        }
        for kind, attention in maps.maps.items()
    }


def layouts(attention: AttentionMap, kind: str) -> dict[str, PictureLayout]:
    """Return the layout of each view, by the view's name."""
    return {
        "heads": head_layout(attention, kind, "columns"),
        "paper": head_layout(attention, kind, "paper"),
        "grid": grid_layout(attention, kind),
        "heat": heat_layout(attention, kind),
        "alignment": alignment_layout(attention),
    }
