"""Search for translations that contain what they must: first without constraints, then with them."""

from collections.abc import Callable, Sequence

from headway.inference.search.automaton import SentenceAutomaton
from headway.inference.search.beam_search import Hypothesis
from headway.inference.search.constraints import Constraints

AHEAD = 4  # hypotheses, at least, that a search for constraints follows: one alone begins them too early

# Searches for the translations of rows, with a beam, under constraints of each row.
Find = Callable[[Sequence[int], int, Sequence[Constraints]], list[list[Hypothesis]]]
Follow = Callable[[Constraints], SentenceAutomaton]


def search_required(
    find: Find,
    required: Sequence[Constraints],
    follow: Follow,
    beam: int,
    is_wanted: Callable[[int], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Return hypotheses of each row that meet its constraints, if the search finds any, and free ones otherwise.

    Without terms of a glossary, most translations contain by themselves what they must, and a search without
    constraints is faster and better. A row that does not is searched again with its constraints, and with at least
    `AHEAD` hypotheses. The best of the first search stays the best if it meets them.

    Args:
        find: Searches for the translations of some rows.
        required: What the translation of each row must contain.
        follow: Makes the automaton of constraints, at least one.
        beam: Hypotheses that a search without constraints, or for terms, follows.
        is_wanted: Whether a row is still wanted; no other is searched again.
    """

    def is_open(row: int) -> bool:
        return is_wanted is None or is_wanted(row)

    first = [some if any(each.is_term for each in some) else () for some in required]
    found = find(range(len(required)), beam, first)
    # Terms that contradict each other leave nothing: then the model translates freely.
    empty = [row for row, some in enumerate(first) if some and not found[row] and is_open(row)]
    for row, n_best in zip(empty, find(empty, beam, [() for _ in empty]), strict=True):
        found[row] = n_best
    alone = {
        row: keep_met(follow(some), found[row])
        for row, some in enumerate(required)
        if some and not first[row] and is_open(row)
    }
    lacking = [row for row, met in alone.items() if len(met) < len(found[row])]
    again = find(lacking, max(AHEAD, beam), [required[row] for row in lacking])
    for row, n_best in zip(lacking, again, strict=True):
        found[row] = fill_up(alone[row], n_best) or found[row]
    return found


def keep_met(automaton: SentenceAutomaton, n_best: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses that meet all constraints of an automaton."""
    return [each for each in n_best if automaton.accepts(each.tokens)]


def fill_up(met: list[Hypothesis], others: list[Hypothesis]) -> list[Hypothesis]:
    """Return as many hypotheses as ``others`` are: the first of ``met``, then the best of both that do not exceed it."""
    if not met:
        return others
    best, written = met[0], {tuple(each.tokens) for each in met}
    new = [e for e in others if tuple(e.tokens) not in written and e.score <= best.score]
    rest = sorted([*met[1:], *new], key=lambda each: -each.score)
    return [best, *rest][: max(len(met), len(others))]
