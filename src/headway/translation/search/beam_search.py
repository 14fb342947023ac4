"""Beam search for the likeliest translations, with any model that predicts token after token.

A search drives a `Decoding`, which holds N = sentences x beams hypotheses. In each step every hypothesis
reads a token and returns candidates for the next one. The result for a sentence never depends on the
other sentences of the batch: each has its own limit, scores and end.

Shapes: A sentences still searched, K beams, N = A K, C candidates of a beam, T tokens so far.
Paper: section 6.1.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError

if TYPE_CHECKING:
    from torch import Tensor

Ids = NDArray[np.int64]
Numbers = NDArray[np.float32 | np.float64]
WordPairs = list[tuple[int, int]]  # (number of a source word, number of a target word), from 0


class Candidates(NamedTuple):
    """Candidates for the next token of each of N hypotheses, the best first.

    Attributes:
        tokens: Token ids, [N, C]; ``<pad>`` only with a logit of minus infinity.
        logits: [N, C], descending.
        log_z: [N], logarithm of the denominator of the softmax.
        asked: [N, E], logits of further tokens that a constraint has asked for, or None.
    """

    tokens: Ids
    logits: Numbers
    log_z: Numbers
    asked: Numbers | None = None


class Decoding(Protocol):
    """The hypotheses of a batch of sentences; engines start it."""

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and return the best next tokens.

        Args:
            tokens: [N], the last token of each hypothesis.
            wanted: Candidates wanted of each hypothesis; at least two are returned.
            forced: [N], the only token that a hypothesis may take, or -1; None: all are free.
        """

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""

    def keep(self, sentences: Ids) -> None:
        """Drop the hypotheses of all other sentences; the next call is `reorder`."""


class Drawing(Protocol):
    """Hypotheses that return all their logits."""

    def logits(self, tokens: Ids) -> "Tensor":
        """Read tokens [N] and return the logits of the next tokens, [N, V]."""


class Hypothesis(NamedTuple):
    """A finished translation.

    Attributes:
        tokens: Token ids, ``</s>`` last.
        score: ``log_probability`` divided by the length penalty, unless something else has ranked the
            hypotheses.
        log_probability: Natural logarithm, summed over the tokens.
        links: Pairs (word of what was read, word of the translation); None: nobody has asked for them.
    """

    tokens: list[int]
    score: float
    log_probability: float
    links: WordPairs | None = None


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + |Y|) / 6)^alpha, |Y| counting ``</s>`` (Wu et al., 2016; paper: section 6.1)."""
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    decoding: Decoding,
    limits: Sequence[int],
    *,
    beam: int,
    alpha: float,
    n_best: int = 1,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Search for the likeliest translations; a beam of 1 is greedy search.

    The search for a sentence ends when no open hypothesis can overtake the ``n_best`` best finished
    ones. Once ``beam`` hypotheses are finished, it also ends when no open hypothesis would overtake them
    if it ended now. A hypothesis that reaches its limit must end there, and none ends before it has a
    token: the length penalty makes an empty one likelier than a long one of which the model is unsure.

    Args:
        decoding: New, with ``beam`` hypotheses for each sentence.
        limits: For each sentence the most tokens of its translation, ``</s>`` included.
        beam: K.
        alpha: Exponent of the length penalty.
        n_best: Hypotheses to return for each sentence.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``, the first input; it is never an output.
        prefixes: For each sentence the tokens that its translation must start with.
        is_wanted: Called after each step with the number of a sentence; the search for a sentence
            that is no longer wanted stops and returns what it has found.

    Returns:
        For each sentence up to ``n_best`` hypotheses, best first.
    """
    rules = Rules(limits, prefixes, eos)
    ended: list[list[Hypothesis]] = [[] for _ in limits]
    active = np.arange(len(limits))  # the sentences still searched
    tokens_NT = np.empty((len(limits) * beam, rules.longest), dtype=np.int64)
    last_N = np.full(len(limits) * beam, pad)
    # All beams of a sentence start equal, so only the first may have candidates.
    # Sums are in float64: rounding errors in float32 would grow with the length.
    scores_AK = np.full((len(limits), beam), -np.inf)
    scores_AK[:, 0] = 0

    for length in range(1, rules.longest + 1):
        forced_A = rules.forced(active, length)
        forced_N = None if forced_A is None else forced_A.repeat(beam)
        # Twice as many candidates as beams: even if half of them end, K continue. Candidates of one
        # beam are compared by their logits, as in greedy search; those of several by float64 sums.
        found = decoding.candidates(last_N, 2 * beam, forced_N)
        check_finite(found.log_z)
        log_p_NC = found.logits - found.log_z[:, None]
        if length == 1:  # an empty translation is an error of the model, however likely
            others_NC = np.where(found.tokens == eos, -np.inf, log_p_NC)
            has_others_N1 = np.isfinite(others_NC).any(1, keepdims=True)
            log_p_NC = np.where(has_others_N1, others_NC, log_p_NC)
        totals_AM = (scores_AK.reshape(-1, 1) + log_p_NC).reshape(len(active), -1)
        # Of equal candidates, the one of the earlier beam wins, then the earlier one of a beam.
        place = (-totals_AM).argsort(1, kind="stable")[:, : 2 * beam]
        place += np.arange(0, totals_AM.size, totals_AM.shape[1])[:, None]
        best, token = totals_AM.take(place), found.tokens.take(place)
        origin = place // log_p_NC.shape[1]  # the row that the candidate continues
        ends = token == eos
        closing = set()
        if ends.any():
            for row, rank in np.argwhere(ends[:, :beam]).tolist():
                if best[row, rank] > -np.inf:
                    before = tokens_NT[origin[row, rank], : length - 1].tolist()
                    total = float(best[row, rank])
                    ended[active[row]].append(
                        Hypothesis([*before, eos], total / length_penalty(length, alpha), total)
                    )
            # The first K candidates that do not end continue, in the order of their scores.
            best = np.where(ends, -np.inf, best)
            going = ends.argsort(1, kind="stable")[:, :beam]
            going += np.arange(0, ends.size, ends.shape[1])[:, None]
            scores_AK, rows_N, last_N = (x.take(going) for x in (best, origin, token))
        else:
            scores_AK, rows_N, last_N = (x[:, :beam] for x in (best, origin, token))
        for row, sentence in enumerate(active.tolist()):
            top = scores_AK[row, 0]
            if (
                (ended[sentence] or top == -np.inf)
                and _done(ended[sentence], top, length, rules.limits[sentence], beam, alpha, n_best)
            ) or (is_wanted is not None and not is_wanted(sentence)):
                closing.add(row)
        if len(closing) == len(active):
            break
        if closing:
            kept = np.array([row for row in range(len(active)) if row not in closing])
            decoding.keep(kept)
            active, scores_AK, rows_N, last_N = (
                x[kept] for x in (active, scores_AK, rows_N, last_N)
            )
        rows_N, last_N = rows_N.ravel(), last_N.ravel()
        before_NT = tokens_NT[rows_N, : length - 1]
        tokens_NT = tokens_NT[: len(rows_N)]
        tokens_NT[:, : length - 1] = before_NT
        tokens_NT[:, length - 1] = last_N
        decoding.reorder(rows_N)
    return [sorted(found, key=lambda h: -h.score)[:n_best] for found in ended]


class Rules:
    """The tokens that a sentence must take: its prefix first, and ``</s>`` at its limit."""

    def __init__(
        self, limits: Sequence[int], prefixes: Sequence[Sequence[int]] | None, eos: int
    ) -> None:
        self.prefixes = [list(p) for p in prefixes] if prefixes and any(prefixes) else None
        if self.prefixes is not None:  # a prefix and </s> always fit
            limits = [max(n, len(p) + 1) for n, p in zip(limits, self.prefixes, strict=True)]
        self.limits = np.array(limits, dtype=np.int64)
        self.eos = eos
        self.longest = int(self.limits.max(initial=0))
        self.shortest = int(min(limits, default=0))
        self.last_forced = max(map(len, self.prefixes)) if self.prefixes else 0

    def forced(self, sentences: Ids, length: int) -> Ids | None:
        """Return the token that each sentence must take as its ``length``-th, or -1; None: all are free."""
        if self.last_forced < length < self.shortest:
            return None
        forced = np.where(self.limits[sentences] == length, self.eos, -1)
        if self.prefixes is not None:
            for row, sentence in enumerate(sentences.tolist()):
                if length <= len(self.prefixes[sentence]):
                    forced[row] = self.prefixes[sentence][length - 1]
        return forced


def check_finite(log_z: Numbers) -> None:
    """Raise a `HeadwayError` if the predictions of a model are not finite."""
    if not np.isfinite(log_z).all():
        raise HeadwayError(
            "the model predicts numbers that are not finite: it is damaged, or its training diverged"
        )


def _done(
    ended: list[Hypothesis],
    top: float,
    length: int,
    limit: int,
    beam: int,
    alpha: float,
    n_best: int,
) -> bool:
    """Return whether the search for a sentence is done; `beam_search` has the rule.

    The best score that an open hypothesis can reach is its log-probability divided by the penalty of the
    longest translation, because that penalty is the largest.
    """
    if top == -np.inf:
        return True
    if len(ended) < n_best:
        return False
    bound = top / length_penalty(length if len(ended) >= beam else limit, alpha)
    return sorted((h.score for h in ended), reverse=True)[n_best - 1] >= bound
