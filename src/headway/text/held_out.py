"""Validation text that is held out of the training text.

The choice depends on the text alone: the pairs with the smallest digests are held out, wherever they
stand in the file. If the training text grows, most of them are held out again.
"""

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from operator import attrgetter

from headway.errors import HeadwayError
from headway.text.cleaning import HELD_OUT, SIBLING, Report
from headway.text.digests import Digests, digest_loosely
from headway.text.readers import Pair


def choose_validation(pairs: Iterable[Pair], count: int) -> list[Pair]:
    """Choose pairs for validation, in the order of the text.

    A pair is preferred if no other pair has its source or its target: holding it out costs the
    training text no other pair. Letter case and white space do not matter.

    Args:
        pairs: The cleaned training text; it is read twice.
        count: The number of pairs to choose.

    Raises:
        HeadwayError: If this is 0 or more than half of the text.
    """
    sides, repeated, total = Digests(), Digests(), 0
    for pair in pairs:
        total += 1
        for digest in digest_loosely(pair.source, pair.target)[1:]:
            if not sides.add(digest):
                repeated.add(digest)
    if not 1 <= count <= total // 2:
        raise HeadwayError(
            f"--valid {count}: must be from 1 to half of the {total} pairs of training text, or files"
        )

    def rank(pair: Pair) -> tuple[bool, bytes, int]:
        whole, *halves = digest_loosely(pair.source, pair.target)
        return any(half in repeated for half in halves), whole, pair.line

    return sorted(nsmallest(count, pairs, key=rank), key=attrgetter("line"))


def drop_held_out(
    pairs: Iterable[Pair], validation: Iterable[Pair], report: Report
) -> Iterator[Pair]:
    """Yield the pairs that share no side with held-out validation text.

    Args:
        pairs: The cleaned training text.
        validation: The pairs that `choose_validation` returned.
        report: The dropped pairs are added to it.
    """
    digests = [digest_loosely(pair.source, pair.target) for pair in validation]
    wholes = {whole for whole, *_ in digests}
    halves = {half for _, *sides in digests for half in sides}
    for pair in pairs:
        whole, *sides = digest_loosely(pair.source, pair.target)
        if halves.isdisjoint(sides):
            yield pair
        else:
            rule = HELD_OUT if whole in wholes else SIBLING
            report.kept -= 1
            report.drop(rule, pair.line, f"{pair.source} | {pair.target}")
