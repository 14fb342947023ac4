"""Attention maps of a model, pictures of them in files and on a page, and curves of training runs.

The names are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.ext.pictures.curves import Curves as Curves
    from headway.ext.pictures.maps import AttentionMap, AttentionMaps
    from headway.ext.pictures.page import style_sheet as style_sheet
    from headway.ext.pictures.page import view_script as view_script
    from headway.ext.pictures.page_layouts import view_json as view_json
    from headway.ext.pictures.plotting import plot as plot
    from headway.ext.pictures.sentences import LONGEST_TARGET as LONGEST_TARGET
    from headway.ext.pictures.sentences import attention_maps, sentence_maps
    from headway.ext.pictures.sentences import source_ids as source_ids
    from headway.ext.pictures.style import COLORS as COLORS

__all__ = ["AttentionMap", "AttentionMaps", "attention_maps", "sentence_maps"]
# What other rooms of Headway also use.
INSIDE = [
    "COLORS",
    "LONGEST_TARGET",
    "Curves",
    "plot",
    "source_ids",
    "style_sheet",
    "view_json",
    "view_script",
]

_MODULES = {
    "curves": ("Curves",),
    "maps": ("AttentionMap", "AttentionMaps"),
    "page": ("style_sheet", "view_script"),
    "page_layouts": ("view_json",),
    "plotting": ("plot",),
    "sentences": ("LONGEST_TARGET", "attention_maps", "sentence_maps", "source_ids"),
    "style": ("COLORS",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
