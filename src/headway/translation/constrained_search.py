"""Search for translations that contain what they must: first without constraints, then with them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from headway.config import SearchConfig
from headway.translation.search.automaton import SentenceAutomaton
from headway.translation.search.beam_search import Hypothesis
from headway.translation.search.constraints import Constraints, count_tokens, list_tokens

if TYPE_CHECKING:
    from headway.translation.token_search import TokenSearch

AHEAD = 4  # hypotheses, at least, that a search for constraints follows: one alone begins them too early


def search_constrained(
    model: "TokenSearch",
    sources: Sequence[list[int]],
    prefixes: Sequence[list[int]],
    required: Sequence[Constraints],
    search: SearchConfig,
    is_wanted: Callable[[int], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Return hypotheses of each source that meet its constraints, if the search finds any, and free ones otherwise.

    Without terms of a glossary, most translations contain by themselves what they must, and a search without
    constraints is faster and better. A row that does not is searched again with its constraints, and with at least
    `AHEAD` hypotheses. The best of the first search stays the best if it meets them.

    Args:
        model: What searches.
        sources: Token ids, ``</s>`` last.
        prefixes: Token ids that each translation starts with.
        required: What the translation of each source must contain.
        search: Search settings, which give the beam of a search without constraints, or for terms.
        is_wanted: Whether a row is still wanted; no other is searched again.
    """

    def limit(row: int, some: Constraints) -> int:
        added = len(prefixes[row]) + count_tokens(some)
        return model.max_target_length(sources[row], search, added)

    needed = [list_tokens(some) for some in required]
    choices = model.choices(sources, prefixes, search, needed)

    def find(rows: Sequence[int], beam: int, some: Sequence[Constraints]) -> list[list[Hypothesis]]:
        if not rows:
            return []
        own, starts = [sources[row] for row in rows], [prefixes[row] for row in rows]
        limits, allowed = list(map(limit, rows, some)), choices and [choices[row] for row in rows]
        is_open = is_wanted and (lambda row: is_wanted(rows[row]))
        automata = [model.follow(each) if each else None for each in some] if any(some) else None
        settings = replace(search, beam=beam)
        return model.search_rows(own, starts, limits, allowed, settings, is_open, automata)

    def is_still_wanted(row: int) -> bool:
        return is_wanted is None or is_wanted(row)

    first = [some if any(each.is_term for each in some) else () for some in required]
    # The search alone places terms behind a prefix: it may have another translation of a term, which must stay.
    first = [
        [replace(each, is_term=False) for each in some] if prefix else some
        for some, prefix in zip(first, prefixes, strict=True)
    ]
    found = find(range(len(required)), search.beam, first)
    # The search drops what is worse without terms, and terms that contradict each other leave nothing: what the model
    # writes freely fills the list.
    short = [
        row
        for row, some in enumerate(first)
        if some and len(found[row]) < search.n_best and is_still_wanted(row)
    ]
    for row, n_best in zip(short, find(short, search.beam, [() for _ in short]), strict=True):
        written = {tuple(each.tokens) for each in found[row]}
        others = [each for each in n_best if tuple(each.tokens) not in written]
        found[row] = [*found[row], *others][: search.n_best + 1]  # two may become equal
    alone = {
        row: keep_met(model.follow(some), found[row])
        for row, some in enumerate(required)
        if some and not first[row] and is_still_wanted(row)
    }
    lacking = [row for row, met in alone.items() if len(met) < len(found[row])]
    again = find(lacking, max(AHEAD, search.beam), [required[row] for row in lacking])
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
