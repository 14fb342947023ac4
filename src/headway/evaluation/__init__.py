"""Scores of translations: a score sheet for one system, and a comparison of two."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.evaluation.comet import CometScore, comet_score, find_comet
    from headway.evaluation.comparison import Comparison, compare
    from headway.evaluation.exact import exact_match, exact_match_by_kind
    from headway.evaluation.metrics import (
        METRICS,
        Metric,
        bleu,
        check_lines,
        chrf_by_line,
        lc_norm_tok,
        moses_tokens,
        pick_metrics,
        split_compounds,
    )
    from headway.evaluation.sheet import Score, ScoreSheet, score_sheet
    from headway.evaluation.text_warnings import find_warnings

__all__ = [
    "METRICS",
    "CometScore",
    "Comparison",
    "Metric",
    "Score",
    "ScoreSheet",
    "bleu",
    "check_lines",
    "chrf_by_line",
    "comet_score",
    "compare",
    "exact_match",
    "exact_match_by_kind",
    "find_comet",
    "find_warnings",
    "lc_norm_tok",
    "moses_tokens",
    "pick_metrics",
    "score_sheet",
    "split_compounds",
]


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
