"""Attention maps of a model, pictures of them in files and on a page, and curves of training runs.

The names are imported at their first use, so that the list of verbs appears at once.
"""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Option, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.pictures.html_page import style_sheet, view_script
    from headway.ext.pictures.maps import AttentionMap, AttentionMaps
    from headway.ext.pictures.plotting import draw_curves
    from headway.ext.pictures.report_page import render_report
    from headway.ext.pictures.sentences import (
        LONGEST_TARGET,
        attention_maps,
        sentence_maps,
        source_ids,
    )
    from headway.ext.pictures.style import COLORS
    from headway.ext.pictures.views import draw_view, view_json

__all__ = ["AttentionMap", "AttentionMaps", "attention_maps", "sentence_maps"]

extension = Extension(
    name="pictures",
    version=__version__,
    verbs={
        name: Verb(f"{__name__}.verbs.{name}", summary, "look inside")
        for name, summary in {
            "picture": "draw what the words of a sentence attend to",
            "heads": "measure what each attention head does, and the BLEU lost without it",
            "plot": "draw loss, score and learning rate of training runs",
        }.items()
    },
    options={
        "info --diagram": Option(
            f"{__name__}.diagram:save_diagram",
            "also draw the model like Figures 1 and 2 of the paper: .svg, .png or .pdf",
            "FILE",
        ),
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
