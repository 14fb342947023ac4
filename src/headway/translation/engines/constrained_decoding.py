"""A decoding whose finished hypotheses meet the constraints of their sentences.

`ConstrainedDecoding` wraps the `Decoding` of an engine. It forbids ``</s>`` until all constraints are met,
offers the tokens that begin or continue them, and leaves a beam only the candidates that it has room for.
Allowed tokens keep the probabilities of the model, without renormalization.

A hypothesis that has met a constraint has often paid for it, and one that has not would push it out of
the beam. So candidates are not ranked by their score alone, but by how far they are behind the best
candidate that is at least as near to meeting all constraints (compare the banks of Post and Vilar, 2018,
and Hu et al., 2019). When all candidates have met all constraints, this is the usual order.

Shapes: A sentences, K beams, N = A K hypotheses, C candidates, Z tokens of an alphabet, M = C + Z.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.translation.engines.protocols import Hypotheses
from headway.translation.search.automaton import FORBIDDEN, STEPS, AutomatonState, SentenceAutomaton
from headway.translation.search.beam_search import Candidates, Hypothesis, Ids, length_penalty
from headway.translation.search.state_table import StateTable

# The log-probability that a constraint usually costs. It decides only which candidates remain where a
# beam has no room for one of each kind.
COST = 6.0
NATURAL = 10.0  # the same that a term of a glossary may cost if it has a natural place
SURE = -0.7  # the log-probability of an end that is likelier than all other tokens together
LACKS_TERMS = 5  # the number of the scalar of `Labels` with this name
LATE = 1e6  # ranks a candidate after all others


class ConstrainedDecoding:
    """A `Decoding` that meets the constraints of each sentence; at least one sentence has some.

    Args:
        decoding: Of an engine; it has read nothing yet.
        automata: Of the constraints of each sentence; None: it has no constraints.
        limits: The most tokens of each sentence, as the search has them.
        beams: K.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        alpha: Exponent of the length penalty.
        n_best: Hypotheses that the search returns for each sentence. When so many have ended, others are
            given up that would be worse at the usual cost of their constraints. If it is 1, those are given up,
            too, whose terms have no natural place, and a sentence may get no hypothesis. 0: none is given up.
    """

    def __init__(
        self,
        decoding: Hypotheses,
        automata: Sequence[SentenceAutomaton | None],
        limits: Sequence[int],
        *,
        beams: int,
        eos: int,
        pad: int,
        alpha: float = 0.0,
        n_best: int = 0,
    ) -> None:
        self.alpha = alpha
        # For each sentence the best hypothesis that could have ended without terms of a glossary, and the least
        # log-probability of one with them, if they have natural places.
        self.without_terms: list[Hypothesis | None] = [None for _ in automata]
        self.least_natural = np.full(len(automata), -np.inf)
        self.sentences = np.arange(len(automata))  # those that are still searched
        self.written_NT = np.zeros((len(automata) * beams, 0), dtype=np.int64)
        self.n_best = n_best
        self.ended: list[list[float]] = [
            [] for _ in automata
        ]  # sums of log-probabilities, best first
        self.decoding, self.beams, self.eos, self.pad = decoding, beams, eos, pad
        self.automata, self.limits = list(automata), list(limits)
        constrained = [automaton for automaton in automata if automaton is not None]
        self.words = constrained[0].words
        width = max(len(automaton.alphabet) for automaton in constrained)
        self.alphabet_AZ = np.full((len(self.automata), width), pad)
        for row_Z, automaton in zip(self.alphabet_AZ, self.automata, strict=True):
            if automaton is not None:
                row_Z[: len(automaton.alphabet)] = automaton.alphabet
        self.table = StateTable(self.words, width)
        starts = [
            0 if each is None else self.table.enter(each.automaton, AutomatonState())
            for each in self.automata
        ]
        self.states_N: Ids = np.array(starts).repeat(beams)
        self.totals_N = np.zeros(len(self.states_N))
        self.totals_N.reshape(-1, beams)[:, 1:] = -np.inf  # as `beam_search` starts
        # Whether a hypothesis was complete but for its constraints. From then on, the candidate that is
        # nearest to meeting them always has room: a long term costs more with each of its tokens, and new
        # beginnings of it would push out those that are almost done.
        self.is_over_A = np.zeros(len(self.automata), dtype=bool)
        self.last: Candidates | None = None
        self.rows: Ids = np.arange(len(self.states_N))
        self.length = 0

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and return the best next tokens that the constraints allow; see `Decoding`."""
        self._read(tokens)
        alphabet_NZ = self.alphabet_AZ.repeat(self.beams, 0)
        # One more than wanted, because </s> may be forbidden; the alphabet is in columns of its own.
        found = self.decoding.candidates(tokens, wanted + 1, forced, alphabet_NZ)
        self._see_ends(found)
        labels_NM, is_late_NM, tokens_NM, logits_NM = self._label(found, alphabet_NZ, forced)
        log_p_NM = logits_NM - found.log_z[:, None]
        chosen_NM = self._choose(log_p_NM, labels_NM, tokens_NM, is_late_NM)
        logits_NM = np.where(chosen_NM, logits_NM, -np.inf)
        # The search expects the best candidates first.
        order_NM = _places((-logits_NM).argsort(1, kind="stable"))
        self.last = Candidates(
            tokens_NM.take(order_NM), logits_NM.take(order_NM), found.log_z.copy()
        )
        return self.last

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""
        self.rows = rows
        self.decoding.reorder(rows)

    def keep(self, sentences: Ids) -> None:
        """Drop the automata of all other sentences; `reorder` drops their states."""
        self.sentences = self.sentences[sentences]
        self.automata = [self.automata[sentence] for sentence in sentences]
        self.limits = [self.limits[sentence] for sentence in sentences]
        self.ended = [self.ended[sentence] for sentence in sentences]
        self.is_over_A = self.is_over_A[sentences]
        self.alphabet_AZ = self.alphabet_AZ[sentences]
        self.decoding.keep(sentences)

    def compare(self, found: Sequence[list[Hypothesis]]) -> list[list[Hypothesis]]:
        """Return the hypotheses of each sentence in which its terms have natural places, or the best one without its terms.

        Args:
            found: What the search has found.
        """
        compared = []
        for n_best, without, least in zip(
            found, self.without_terms, self.least_natural, strict=True
        ):
            if without is None:
                compared.append(n_best)
            else:
                natural = [each for each in n_best if each.log_probability >= least]
                compared.append(natural or [without])
        return compared

    def _read(self, tokens: Ids) -> None:
        """Advance states and scores by the tokens that the search has chosen."""
        self.length += 1
        if self.last is None:
            return
        log_p_NM = (self.last.logits - self.last.log_z[:, None])[self.rows]
        is_token_NM = self.last.tokens[self.rows] == tokens[:, None]
        chosen_N = np.where(is_token_NM, log_p_NM, -np.inf).max(1)
        self.totals_N = self.totals_N[self.rows] + chosen_N
        self.written_NT = np.concatenate((self.written_NT[self.rows], tokens[:, None]), 1)
        alive_N = np.where(self.totals_N > -np.inf, self.states_N[self.rows], 0)
        self.states_N = self.table.advance(alive_N, tokens, self.alphabet_AZ.repeat(self.beams, 0))

    def _see_ends(self, found: Candidates) -> None:
        """Record the hypotheses that could end now, if they lack nothing but terms."""
        lacks_terms_N = self.table.scalars_SX[self.states_N, LACKS_TERMS] > 0
        is_end_NC = (found.tokens == self.eos) & lacks_terms_N[:, None]
        for row, column in np.argwhere(is_end_NC).tolist():
            total = float(self.totals_N[row] + found.logits[row, column] - found.log_z[row])
            score = total / length_penalty(self.length, self.alpha)
            sentence = self.sentences[row // self.beams]
            best = self.without_terms[sentence]
            if total > -np.inf and self.length > 1 and (best is None or score > best.score):
                tokens = [*self.written_NT[row].tolist(), self.eos]
                self.without_terms[sentence] = Hypothesis(tokens, score, total)
                missing = -(-int(self.table.scalars_SX[self.states_N[row], 0]) // STEPS)
                self.least_natural[sentence] = total - NATURAL * missing

    def _label(
        self, found: Candidates, alphabet_NZ: Ids, forced: Ids | None
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], Ids, NDArray[np.float64]]:
        """Return the label of each candidate, whether it is late, its token and its logit, each [N, M]."""
        assert found.asked is not None
        count = found.tokens.shape[1]
        tokens_NM = np.concatenate((found.tokens, alphabet_NZ), 1)
        logits_NM = np.concatenate([x.astype(np.float64) for x in (found.logits, found.asked)], 1)
        # A token of the alphabet is a candidate once, in its own column.
        is_own_NCZ = tokens_NM[:, :count, None] == alphabet_NZ[:, None, :]
        is_free_N = self.states_N == 0
        logits_NM[:, :count][is_own_NCZ.any(2) & ~is_free_N[:, None]] = -np.inf
        logits_NM[:, count:][(alphabet_NZ == self.pad) | is_free_N[:, None]] = -np.inf
        table, states_N = self.table, self.states_N
        scalars_XN = table.scalars_SX[states_N].T
        now_N1, new_N1, longer_N1, needed_new_N1, needed_longer_N1 = scalars_XN[
            :LACKS_TERMS, :, None
        ]
        continues_NC = self.words.continues[found.tokens]
        others_NC = np.where(continues_NC, longer_N1, new_N1)
        needed_NC = np.where(continues_NC, needed_longer_N1, needed_new_N1)
        labels_NM = np.concatenate((others_NC, table.labels_SZ[states_N]), 1)
        needed_NM = np.concatenate((needed_NC, table.needed_SZ[states_N]), 1)
        labels_NM[(tokens_NM == self.eos) & (now_N1 > 0)] = FORBIDDEN
        # A translation that is complete but for its constraints does not get better by other words.
        is_sure_N = found.logits[:, 0] - found.log_z > SURE
        is_over_N = (found.tokens[:, 0] == self.eos) & is_sure_N
        is_late_NM = (labels_NM >= now_N1) & (now_N1 > 0) & is_over_N[:, None]
        # There must be room for what is needed, and for </s>.
        room_N1 = (np.repeat(self.limits, self.beams) - self.length)[:, None] - 1
        labels_NM[(needed_NM > room_N1) & (needed_NM > 0)] = FORBIDDEN
        if forced is not None:
            is_other_NM = (tokens_NM != forced[:, None]) & (forced[:, None] >= 0)
            logits_NM[is_other_NM] = -np.inf
            labels_NM[tokens_NM == forced[:, None]] = 0  # nothing can be done about it
        logits_NM[labels_NM == FORBIDDEN] = -np.inf
        return labels_NM, is_late_NM, tokens_NM, logits_NM

    def _choose(
        self,
        log_p_NM: NDArray[np.float64],
        labels_NM: NDArray[np.int64],
        tokens_NM: Ids,
        is_late_NM: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which candidates the beams of a sentence have room for, [N, M].

        They are at most K, and as many more as end, if `beam_search` then sees all that end.
        """
        sentences, beams = len(self.automata), self.beams
        totals_AM = (self.totals_N[:, None] + log_p_NM).reshape(sentences, -1)
        labels_AM = labels_NM.reshape(sentences, -1)
        by_label_AM = _places(np.lexsort((-totals_AM, labels_AM)))
        sorted_AM = totals_AM.take(by_label_AM)
        best_AM = np.maximum.accumulate(sorted_AM, 1)
        with np.errstate(invalid="ignore"):  # minus infinity twice
            behind_AM = np.where(sorted_AM > -np.inf, best_AM - sorted_AM, np.inf)
        begun_AM = labels_AM.take(by_label_AM) // STEPS
        is_late_AM = is_late_NM.reshape(sentences, -1)
        behind_AM += LATE * is_late_AM.take(by_label_AM)
        self.is_over_A |= (is_late_AM & (totals_AM > -np.inf)).any(1)
        nearest_A = (sorted_AM > -np.inf).argmax(1)
        behind_AM[self.is_over_A, nearest_A[self.is_over_A]] = -1
        ranked_AM = _places(np.lexsort((COST * begun_AM - sorted_AM, behind_AM)))
        order_AM, total_AM = by_label_AM.take(ranked_AM), sorted_AM.take(ranked_AM)
        ends_AM = tokens_NM.take(order_AM) == self.eos
        is_first_AM = np.arange(total_AM.shape[1]) < beams
        # Another candidate takes the place of one that ends, unless its higher score would hide the end.
        worst_end_A1 = np.where(ends_AM & is_first_AM, total_AM, np.inf).min(1, keepdims=True)
        is_next_AM = ((~ends_AM).cumsum(1) <= beams) & ~ends_AM & (total_AM <= worst_end_A1)
        chosen_AM = np.zeros(totals_AM.shape, dtype=bool)
        chosen_AM.put(order_AM, is_first_AM | is_next_AM)
        chosen_AM[[automaton is None for automaton in self.automata]] = True
        if self.n_best:
            self._give_up(chosen_AM, totals_AM, labels_AM)
            self._record_ends(np.where(ends_AM & is_first_AM, total_AM, -np.inf))
        return chosen_AM.reshape(log_p_NM.shape)

    def _give_up(
        self,
        chosen_AM: NDArray[np.bool_],
        totals_AM: NDArray[np.float64],
        labels_AM: NDArray[np.int64],
    ) -> None:
        """Drop candidates with unmet constraints that are probably worse than all that is wanted."""
        worst_A1 = np.array([[e[-1] if len(e) == self.n_best else -np.inf] for e in self.ended])
        unmet_AM = -(-labels_AM // STEPS)
        chosen_AM &= (unmet_AM == 0) | (totals_AM - COST * unmet_AM > worst_A1)
        if self.n_best == 1:
            chosen_AM &= totals_AM >= self.least_natural[self.sentences][:, None]

    def _record_ends(self, totals_AM: NDArray[np.float64]) -> None:
        """Record the sums of hypotheses that end; the others have minus infinity."""
        for row, column in np.argwhere(totals_AM > -np.inf).tolist():
            if self.automata[row] is not None:
                both = [*self.ended[row], float(totals_AM[row, column])]
                self.ended[row] = sorted(both, reverse=True)[: self.n_best]


def _places(order_RM: Ids) -> Ids:
    """Turn places in the rows of an array [R, M] into places in the whole array."""
    rows, width = order_RM.shape
    return order_RM + np.arange(0, rows * width, width)[:, None]
