"""Results as one web page that needs nothing else: claims, tables and figures beside the paper's numbers."""

from collections.abc import Sequence

from headway import __version__
from headway.ext.paper.published import PAPER
from headway.ext.paper.results import Claim, Findings, Table, place_text
from headway.ext.paper.verdicts import VERDICTS, count_surviving
from headway.ext.pictures import render_report

OTHER_WORK = "whose scale, seeds, device, text or version is another: run them again for one report"


def html(
    results: Sequence[Findings],
    scale: str,
    bases: Table,
    trainings: Table,
    others: Sequence[str] = (),
) -> str:
    """Return the page; its content security policy allows no script and no connection.

    Args:
        results: Of the finished experiments.
        scale: Of all of them.
        bases: How the models that are compared differ from the paper's.
        trainings: Every finished training, also those of experiments that are not finished.
        others: The names of experiments that have results of other work.
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
    if others:
        footer += f" Not shown: {', '.join(others)}, {OTHER_WORK}."
    claims = [(c.section or r.section, c) for r in results for c in r.claims]
    return render_report(
        __package__,
        "paper.html",
        title="The paper, run",
        paper=PAPER,
        counts={v: n for v in VERDICTS if (n := sum(c.verdict == v for _, c in claims))},
        together=_judge_together(results),
        results=results,
        # Sections come first; figures and what is beyond the paper have no number.
        claims=sorted(
            (each for each in claims if each[1].verdict != "shown"),
            key=lambda each: (not each[0][:1].isdigit(), each[0]),
        ),
        bases=bases,
        trainings=trainings,
        footer=footer,
        tally=_tally,
        place=_place,
        duration=_duration,
        number=number,
        describe_p=lambda p: f"< {_p_text(0)}" if p < 1e-4 else f"= {_p_text(p)}",
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


def _place(result: Findings) -> str:
    place = place_text(result.section)
    return place[:1].upper() + place[1:]


def number(value: float) -> str:
    """Write a number with four digits, with commas between thousands, or as a power of ten."""
    if isinstance(value, int):
        return f"{value:,}"
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
