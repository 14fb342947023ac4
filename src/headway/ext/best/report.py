"""The report of a recipe: what each stage gave and cost, as a web page and in the model card."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from headway.ext.best.recipe_plan import RecipePlan
from headway.ext.best.stage import Stage, StageResult
from headway.ext.best.stage_maker import PLAN
from headway.ext.pictures import draw_curves, render_report
from headway.files import replace_text
from headway.translation import CARD

FILE = "report.html"
HEADING = "## The stages that led to this model"
COLUMNS = ("stage", "minutes", "BLEU", "chrF2", "perplexity", "gain in BLEU")
FinishedStages = Sequence[tuple[Stage, StageResult]]


def make_rows(finished: FinishedStages) -> list[tuple[Stage, list[str]]]:
    """Return each stage with its minutes, BLEU, chrF2, perplexity and gain as text.

    A gain is the BLEU above the best stage before it; the first stage, and those that cannot be compared, have none.
    """
    best: float | None = None
    rows = []
    for stage, result in finished:
        scores = [result.scores.get(name) for name in ("bleu", "chrf", "perplexity")]
        cells = [
            f"{result.seconds / 60:.1f}",
            *("" if score is None else f"{score:.2f}" for score in scores),
            "",
        ]
        if result.scores and stage.is_compared:
            if best is not None:
                cells[-1] = f"{result.bleu - best:+.2f}"
            best = result.bleu if best is None else max(best, result.bleu)
        rows.append((stage, cells))
    return rows


def write_report(
    out: Path, plan: RecipePlan, finished: FinishedStages, *, is_complete: bool
) -> None:
    """Write the page, and the section of the card of each installed model.

    Args:
        out: The directory of the recipe.
        plan: Its plan.
        finished: The finished stages, with their results.
        is_complete: Whether these are all stages; only then the page has curves, because drawing them takes seconds.
    """
    values = {
        "title": str(out),
        "heading": HEADING,
        "intro": "BLEU and chrF2 are those of headway evaluate on the validation text, which alone decided. Perplexity is"
        " that of the training, and comparable only between models of one vocabulary. The gain of a stage is its"
        f" BLEU above the best stage before it. The plan was “{plan.name}”, for {plan.hours:g} hours.",
        "cleaning": (out / PLAN / "data" / "report.txt").read_text(encoding="utf-8"),
        "columns": COLUMNS,
        "rows": make_rows(finished),
        "curves": _draw_curves(finished) if is_complete else "",
    }
    replace_text(out / FILE, render_report(__package__, "best.html", **values))
    for card in (out / CARD, out / "student" / CARD):
        if card.is_file():
            own = card.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0].rstrip()
            section = render_report(__package__, "card.md", **values)
            replace_text(card, f"{own}\n\n{section}")


def _draw_curves(finished: FinishedStages) -> str:
    """Return the picture of the training curves; "": there are none, or matplotlib is not installed."""
    runs = [stage.run for stage, _ in finished if stage.run]
    return draw_curves(runs).decode() if runs and find_spec("matplotlib") else ""
