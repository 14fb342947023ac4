"""The report of a recipe: what each stage gave and cost, as a web page and in the model card."""

import base64
import html
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from headway.ext.best.recipe_plan import RecipePlan, format_hours
from headway.ext.best.stage import Stage, StageResult
from headway.ext.pictures import Curves, plot
from headway.files import replace_text
from headway.translation import CARD

FILE = "report.html"
HEADING = "## The stages that led to this model"
FinishedStages = Sequence[tuple[Stage, StageResult]]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>headway best</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid #ddd; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
.number {{ text-align: right; white-space: nowrap; }}
pre {{ background: #f5f5f5; overflow-x: auto; padding: .6rem; white-space: pre-wrap; }}
img {{ max-width: 100%; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class StageRow:
    """A stage in the tables of the report.

    Attributes:
        stage: The stage.
        result: Its result.
        gain: BLEU above the best stage before it; None: it is the first, or it cannot be compared.
    """

    stage: Stage
    result: StageResult
    gain: float | None

    def cells(self) -> list[str]:
        """Return minutes, BLEU, chrF2, perplexity and gain as text."""
        scores = self.result.scores
        perplexity = scores.perplexity if scores else None
        return [
            f"{self.result.seconds / 60:.1f}",
            f"{scores.bleu:.2f}" if scores else "",
            f"{scores.chrf:.2f}" if scores else "",
            "" if perplexity is None else f"{perplexity:.2f}",
            "" if self.gain is None else f"{self.gain:+.2f}",
        ]


COLUMNS = ("stage", "minutes", "BLEU", "chrF2", "perplexity", "gain in BLEU")


def make_rows(finished: FinishedStages) -> list[StageRow]:
    """Return a row for each stage; each gain is over the best comparable stage before it."""
    best: float | None = None
    rows = []
    for stage, result in finished:
        gain = None
        if result.scores and stage.is_compared:
            gain = None if best is None else result.bleu - best
            best = result.bleu if best is None else max(best, result.bleu)
        rows.append(StageRow(stage, result, gain))
    return rows


def judge_parts(finished: FinishedStages) -> list[str]:
    """Return a line for each part of the recipe: its time, its gain, and whether it was worth the time."""
    lines = []
    best: float | None = None  # BLEU of the product, or of the best model that may become it
    for part in dict.fromkeys(stage.part for stage, _ in finished):
        own = [(stage, result) for stage, result in finished if stage.part == part]
        minutes = f"{part}: {sum(result.seconds for _, result in own) / 60:.1f} minutes"
        compared = [result.bleu for stage, result in own if stage.is_compared and result.scores]
        products = [stage.product for stage, _ in own if stage.product is not None]
        if compared and part == "sweep":  # its short trainings only choose settings
            lines.append(minutes + _describe_gain(compared[0], max(compared)))
        elif compared:
            # Not every better score becomes the product: a wider beam must gain more.
            candidates = compared if best is None else [best, *compared]
            after = products[-1] if products else max(candidates)
            lines.append(minutes + _describe_gain(best, after))
            best = after
        elif part == "student" and products and best:
            share = 100 * products[-1] / best
            lines.append(f"{minutes}, {share:.1f} % of the BLEU of the installed model")
        else:
            lines.append(minutes)
    return lines


def _describe_gain(before: float | None, after: float) -> str:
    """Return what a part gave: its BLEU if there was no model before, else the gain, if there is one."""
    if before is None:
        return f", BLEU {after:.2f}"
    if after > before:
        return f", {after - before:+.2f} BLEU"
    return " and no gain: it was not worth its time"


def to_markdown(plan: RecipePlan, finished: FinishedStages) -> str:
    """Return the report as a section of a model card."""
    lines = [HEADING, "", _intro(plan), "", _markdown_row(COLUMNS)]
    lines.append(_markdown_row(["---"] * len(COLUMNS)))
    for row in make_rows(finished):
        lines.append(_markdown_row([f"{row.stage.name}: {row.stage.purpose}", *row.cells()]))
    lines += [
        "",
        "What the parts gave:",
        "",
        *(f"- {line}" for line in judge_parts(finished)),
        "",
        "Commands:",
        "",
    ]
    for stage, _ in finished:
        lines += [
            f"    # {stage.name}",
            *(f"    {_comment(stage, line)}" for line in stage.describe()),
        ]
    return "\n".join(lines) + "\n"


def to_html(plan: RecipePlan, finished: FinishedStages, title: str, *, with_curves: bool) -> str:
    """Return the report as a page that loads nothing; drawing the curves of the trainings takes seconds."""
    parts = [f"<p>{html.escape(_intro(plan))}</p>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in plan.facts.describe()]
    head = "".join(f"<th{_align(n)}>{name}</th>" for n, name in enumerate(COLUMNS))
    parts += ["<table>", f"<tr>{head}</tr>"]
    for row in make_rows(finished):
        cells = [
            f"<b>{html.escape(row.stage.name)}</b>: {html.escape(row.stage.purpose)}",
            *row.cells(),
        ]
        parts.append(
            "<tr>"
            + "".join(f"<td{_align(n)}>{cell}</td>" for n, cell in enumerate(cells))
            + "</tr>"
        )
    parts += ["</table>", "<h2>What the parts gave</h2>", "<ul>"]
    parts += [f"<li>{html.escape(line)}</li>" for line in judge_parts(finished)]
    parts += [f"<li>left out: {html.escape(line)}</li>" for line in plan.describe_omitted()]
    parts += ["</ul>", *(_curves(finished) if with_curves else ()), "<h2>Commands</h2>"]
    for stage, _ in finished:
        commands = html.escape("\n".join(stage.describe()))
        parts.append(f"<h3>{html.escape(stage.name)}</h3>\n<pre>{commands}</pre>")
    return _PAGE.format(title=html.escape(title), body="\n".join(parts))


def write_report(
    out: Path, plan: RecipePlan, finished: FinishedStages, *, is_complete: bool
) -> None:
    """Write the page, and the section of the card of each installed model.

    Args:
        out: The directory of the recipe.
        plan: Its plan.
        finished: The finished stages, with their results.
        is_complete: Whether these are all stages; only then the page has curves.
    """
    replace_text(out / FILE, to_html(plan, finished, str(out), with_curves=is_complete))
    for card in (out / CARD, out / "student" / CARD):
        if card.is_file():
            own = card.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[0].rstrip()
            replace_text(card, f"{own}\n\n{to_markdown(plan, finished)}")


def _intro(plan: RecipePlan) -> str:
    return (
        "BLEU and chrF2 are those of headway evaluate on the validation text, which alone decided. Perplexity is"
        " that of the training, and comparable only between models of one vocabulary. The gain of a stage is its"
        " BLEU above the best stage before it. Planned for"
        f" {format_hours(plan.hours)} hours."
    )


def _curves(finished: FinishedStages) -> list[str]:
    """Return the picture of the training curves, if matplotlib is installed."""
    runs = [Curves(stage.run) for stage, _ in finished if stage.run]
    if not runs or find_spec("matplotlib") is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "curves.svg"
        plot(runs, picture)
        encoded = base64.b64encode(picture.read_bytes()).decode()
    return [
        "<h2>Trainings</h2>",
        f'<img alt="curves of the trainings" src="data:image/svg+xml;base64,{encoded}">',
    ]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _comment(stage: Stage, line: str) -> str:
    return f"# {line}" if stage.work and line == stage.work.describe() else line


def _align(column: int) -> str:
    return ' class="number"' if column else ""
