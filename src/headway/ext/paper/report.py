"""Results as one web page that needs nothing else: claims, tables and figures beside the paper's numbers."""

import base64
from collections.abc import Sequence
from html import escape

from headway import __version__
from headway.ext.paper.published import PAPER
from headway.ext.paper.results import Cell, Claim, Figure, Findings, Table, place_text
from headway.ext.paper.verdicts import VERDICTS, count_surviving

# Inline styles are allowed because matplotlib writes them into its SVG.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.2rem 4rem; background: #fbfaf8; color: #1c1b1a;
  font: 16px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
h1 + p { margin: 0.2rem 0 1.5rem; opacity: 0.8; }
h2 { font-size: 1.25rem; margin: 3rem 0 0.2rem; border-top: 2px solid #1c1b1a; padding-top: 0.8rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 0.4rem; }
a { color: #1f6fb4; }
p.small, p.note, figcaption { font-size: 0.875rem; opacity: 0.8; margin: 0.3rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid #dddad5; }
th { font-weight: 600; }
td.n { text-align: right; white-space: nowrap; }
figure { margin: 1rem 0; }
figure img { max-width: 100%; height: auto; border: 1px solid #dddad5; border-radius: 0.5rem; background: #fff; }
.v { white-space: nowrap; font-weight: 600; }
.p { white-space: nowrap; font-size: 0.875rem; opacity: 0.8; }
.holds, .shown { color: #1a7430; } .does-not { color: #b3261e; } .not-decided { color: #8a5a00; }
nav ol { columns: 2 18rem; column-gap: 3.5rem; padding-left: 1.3rem; }
footer { margin-top: 4rem; font-size: 0.875rem; opacity: 0.8; }
"""

TOY = "<p>Scale toy: each model is trained for three steps, so that nothing is learned. This page shows that the code runs.</p>"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper, run</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<h1>The paper, run</h1>
<p>{paper}: its tables, figures and arguments, measured on the layers of this package.</p>
{overview}
{sections}
<footer>{footer}</footer>
</body>
</html>
"""


def html(results: Sequence[Findings], scale: str, bases: Table, trainings: Table) -> str:
    """Return the page; its content security policy allows no script and no connection.

    Args:
        results: Of the finished experiments.
        scale: Of all of them.
        bases: How the models that are compared differ from the paper's.
        trainings: Every finished training, also those of experiments that are not finished.
    """
    footer = (
        f"Headway {__version__}, scale “{scale}”; the settings of each experiment name its machine."
        " Intervals are 95 % intervals of the mean by Student's t, over the seeds unless a table says otherwise:"
        " they cover initial weights, order and dropout, not the choice of text. A trend “holds” or “does"
        " not” only if its interval excludes zero, or, for a claim of no difference, lies within or outside"
        " a margin. p is the probability of a mean so far from zero, or farther, without any effect (Student's t, two-sided)."
        " “Shown” is an identity or a count. Claims on time, memory and operations have one measurement and"
        " a limit."
    )
    return _PAGE.format(
        policy=POLICY,
        style=STYLE,
        paper=escape(PAPER),
        overview=(TOY if scale == "toy" else "")
        + _overview(results)
        + _all_claims(results)
        + _table(bases),
        sections="\n".join([*map(_section, results), _table(trainings) if trainings.rows else ""]),
        footer=escape(footer),
    )


def _overview(results: Sequence[Findings]) -> str:
    counts = {v: sum(c.verdict == v for r in results for c in r.claims) for v in VERDICTS}
    total = sum(counts.values())
    counted = ", ".join(f"{_verdict(v)} {n}" for v, n in counts.items() if n)
    items = "".join(
        f'<li><a href="#{escape(r.name)}">{escape(r.title)}</a>'
        f' <span class="small">{escape(_tally(r.claims))}</span></li>'
        for r in results
    )
    found = f"Of {total} claims: {counted}." if total else "No claim is judged yet."
    return f"<p>{found} {_judge_together(results)}</p><nav><ol>{items}</ol></nav>"


def _all_claims(results: Sequence[Findings]) -> str:
    """Return the claims of all experiments in one table, in the order of the paper, but for identities and counts."""
    placed = [
        (c.section or r.section, c) for r in results for c in r.claims if c.verdict != "shown"
    ]
    if not placed:
        return ""
    # Sections come first; figures and what is beyond the paper have no number.
    placed.sort(key=lambda each: (not each[0][:1].isdigit(), each[0]))
    return "<h2>All claims, but for identities and counts</h2>" + _rows(
        ("Section", "Claim", "Here", "", "Why"),
        [
            (escape(place), escape(c.text), escape(c.ours), _judgement(c), escape(c.why))
            for place, c in placed
        ],
    )


def _judge_together(results: Sequence[Findings]) -> str:
    """Say how many trends are decided if all of them are judged together; one that is not decided alone counts as 1."""
    claims = [c for r in results for c in r.claims if c.p is not None]
    values = sorted(1.0 if c.verdict == "not decided" else c.p or 0.0 for c in claims)
    if not values:
        return ""
    count = count_surviving(values)
    limit = _p_text(values[count - 1]) if count else ""
    together = (
        f"{count} {'is' if count == 1 else 'are'}, with p up to {limit}" if count else "none is"
    )
    trends = (
        "1 of the claims is a trend"
        if len(values) == 1
        else f"{len(values)} of the claims are trends"
    )
    return (
        f"{trends} with a side, each judged by itself: if there were no effect at all, about one in twenty would be"
        " decided by chance. Judged together, so that in 95 % of such cases none is decided by chance (Holm's rule),"
        f" {together}. The directions of Table 3's rows are not among them."
    )


def _p_text(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else "0.0001"


def _tally(claims: Sequence[Claim]) -> str:
    counts = [(v, sum(c.verdict == v for c in claims)) for v in VERDICTS]
    return "; ".join(f"{n} {v}" for v, n in counts if n)


def _section(result: Findings) -> str:
    place = place_text(result.section)
    parts = [
        f'<h2 id="{escape(result.name)}">{escape(result.title)}</h2>',
        f'<p class="small">{escape(place[:1].upper() + place[1:])} · <code>headway reproduce'
        f" {escape(result.name)}</code> · {_duration(result.seconds)}</p>",
    ]
    if result.claims:
        parts.append(_claims(result.claims))
    parts += [_table(table) for table in result.tables]
    parts += [_figure(figure) for figure in result.figures]
    if result.differs:
        parts.append(f"<h3>What differs from the paper</h3><p>{escape(result.differs)}</p>")
    if result.settings:
        listed = "; ".join(f"{name}: {value}" for name, value in result.settings.items())
        parts.append(f'<p class="note">Settings: {escape(listed)}</p>')
    return "\n".join(parts)


def _claims(claims: Sequence[Claim]) -> str:
    return _rows(
        ("Claim", "Paper", "Here", "", "Why"),
        [
            (escape(c.text), escape(c.paper), escape(c.ours), _judgement(c), escape(c.why))
            for c in claims
        ],
    )


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _judgement(claim: Claim) -> str:
    if claim.p is None:
        return _verdict(claim.verdict)
    value = f"&lt; {_p_text(0)}" if claim.p < 1e-4 else f"= {_p_text(claim.p)}"
    return f'{_verdict(claim.verdict)}<br><span class="p">p {value}</span>'


def _verdict(verdict: str) -> str:
    return f'<span class="v {verdict.replace(" ", "-")}">{verdict}</span>'


def _table(table: Table) -> str:
    heads = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    body = f'<div class="scroll"><table><tr>{heads}</tr>{rows}</table></div>'
    return f"<h3>{escape(table.title)}</h3>{body}{note}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "<td></td>"
    if isinstance(cell, str):
        return f"<td>{escape(cell)}</td>"
    return f'<td class="n">{escape(number(cell))}</td>'


def number(value: float) -> str:
    """Write a number with four digits, with commas between thousands, or as a power of ten."""
    if isinstance(value, int):
        return f"{value:,}"
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _figure(figure: Figure) -> str:
    if not figure.svg:
        return f"<p>No picture of “{escape(figure.caption)}”: drawing needs headway[pictures].</p>"
    # As an image of its own, so that names and styles inside one figure mean nothing in another.
    data = base64.b64encode(figure.svg.encode()).decode()
    caption = escape(figure.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
