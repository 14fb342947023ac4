"""A decoding that allows only well-formed trees over the words of each sentence.

`WellFormedDecoding` wraps the `Decoding` of an engine and gives the search only tokens that can continue
a tree. Allowed tokens keep the probabilities of the model, without renormalization, so the search ranks
trees exactly as the model does.

Shapes: N hypotheses, V target vocabulary, C candidates.
Paper: section 6.3; Vinyals et al. (2015) repaired malformed trees after the search instead.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.paper.parsing.linearization import CLOSE, NUMBERS, OPEN
from headway.ext.paper.parsing.trees import MAX_DEPTH
from headway.text import SPACE
from headway.translation import Candidates, Ids

# Constituents within each other. A root and a part of speech have brackets, too.
DEEPEST = MAX_DEPTH - 2


class LogitsDecoding(Protocol):
    """Hypotheses of an engine that give access to all logits of a step."""

    def logits(self, tokens: Ids) -> Tensor:
        """Read tokens [N] and return the logits of the next ones, [N, V]."""

    def reorder(self, rows: Ids) -> None:
        """Continue hypothesis i from hypothesis ``rows[i]``."""

    def keep(self, sentences: Ids) -> None:
        """Drop the state of all other sentences; a call of `reorder` follows."""


class TreeState(NamedTuple):
    """State of a partially written tree.

    Attributes:
        words_passed: Words of the sentence that have their part of speech.
        words_left: Words that have none yet.
        after_number: Whether the last token is the number of the next word.
        open_labels: Label numbers of the open constituents, outermost first.
        is_empty: Whether the innermost open constituent has no child yet.
        has_begun: Whether a constituent was opened.
        tokens_left: Tokens that may still follow, ``</s>`` included.
    """

    words_passed: int
    words_left: int
    after_number: bool
    open_labels: tuple[int, ...]
    is_empty: bool
    has_begun: bool
    tokens_left: int


class TreeVocabulary:
    """The role of each target token in a tree.

    Args:
        subwords: The target vocabulary as sentencepiece writes it, in the order of its ids.
        eos: Id of ``</s>``.

    Raises:
        HeadwayError: If the vocabulary has no constituents.
    """

    def __init__(self, subwords: Sequence[str], eos: int) -> None:
        self.tokens = [subword.removeprefix(SPACE) for subword in subwords]
        self.eos = eos
        # Only subwords that begin a word are whole tokens.
        whole = [
            token if subword.startswith(SPACE) else ""
            for token, subword in zip(self.tokens, subwords, strict=True)
        ]
        opens = [len(token) > 1 and token[0] == OPEN for token in whole]
        closes = [len(token) > 1 and token[0] == CLOSE for token in whole]
        labels = sorted({token[1:] for token, yes in zip(whole, opens, strict=True) if yes})
        if not labels or not all(CLOSE + label in whole for label in labels):
            raise HeadwayError(
                "the model's target vocabulary has no constituents, so it cannot parse; train it on"
                " the output of `headway treebank`"
            )
        self.opens, self.closes = np.array(opens), np.array(closes)
        # The numbers that stand before words, in order; empty if the trees have none.
        self.numbers = list(takewhile(set(whole).__contains__, NUMBERS))
        self.number_ids = list(map(whole.index, self.numbers))
        self.tags = np.array([bool(token) for token in whole]) & ~self.opens & ~self.closes
        self.tags[self.number_ids] = False
        places = {label: place for place, label in enumerate(labels)}
        self.label_numbers = np.array(
            [places.get(token[1:], -1) if token else -1 for token in whole]
        )
        self._tokens_a_word = 2 if self.numbers else 1
        self.closing_ids = [whole.index(CLOSE + label) for label in labels]

    def least_tokens(self, words: int) -> int:
        """Return the number of tokens of a flat tree of so many words, ``</s>`` included."""
        return words * self._tokens_a_word + 3

    def start(self, words: int, limit: int) -> TreeState:
        """Return the state before the first token; the limit counts ``</s>`` too."""
        assert words > 0, "no words"
        assert self.least_tokens(words) <= limit, "no room for a tree"
        return TreeState(0, words, False, (), False, False, limit)

    def allowed(self, state: TreeState) -> np.ndarray:
        """Return which ids may come next, bool [V]; there is at least one."""
        passed, words_left, after_number, open_labels, is_empty, has_begun, tokens_left = state
        if after_number:
            return self.tags.copy()
        allowed_V = np.zeros(len(self.tokens), dtype=bool)
        if has_begun and not open_labels:
            allowed_V[self.eos] = True
            return allowed_V
        # Each open constituent and </s> need one token.
        needed = words_left * self._tokens_a_word + len(open_labels) + 1
        if words_left and tokens_left >= needed + 2 and len(open_labels) < DEEPEST:
            allowed_V |= self.opens
        if words_left and open_labels:
            if self.numbers:
                allowed_V[self.number_ids[passed % len(self.numbers)]] = True
            else:
                allowed_V |= self.tags
        # The root may only close after the last word.
        if open_labels and not is_empty and (len(open_labels) > 1 or not words_left):
            allowed_V[self.closing_ids[open_labels[-1]]] = True
        return allowed_V

    def advance(self, state: TreeState, token: int) -> TreeState:
        """Return the state after an allowed token."""
        state = state._replace(tokens_left=state.tokens_left - 1)
        if self.opens[token]:
            labels = (*state.open_labels, int(self.label_numbers[token]))
            return state._replace(open_labels=labels, is_empty=True, has_begun=True)
        if self.closes[token]:
            return state._replace(open_labels=state.open_labels[:-1], is_empty=False)
        if self.tags[token]:
            passed, left = state.words_passed + 1, state.words_left - 1
            return state._replace(
                words_passed=passed, words_left=left, after_number=False, is_empty=False
            )
        return state if token == self.eos else state._replace(after_number=True)


class WellFormedDecoding:
    """A `Decoding` whose hypotheses are always beginnings of trees.

    Args:
        decoding: A decoding of an engine that has read nothing yet.
        vocabulary: The role of each target token.
        words: Number of words of each sentence.
        limits: Maximum number of tokens of each sentence, as the search has it; at least `least_tokens`.
        beams: Hypotheses a sentence.
    """

    def __init__(
        self,
        decoding: LogitsDecoding,
        vocabulary: TreeVocabulary,
        words: Sequence[int],
        limits: Sequence[int],
        beams: int,
    ) -> None:
        self.decoding, self.vocabulary = decoding, vocabulary
        # None: the search has given up the hypothesis (its score is minus infinity).
        self.states: list[TreeState | None] = []
        for count, limit in zip(words, limits, strict=True):
            self.states += [vocabulary.start(count, limit)] * beams
        self.is_first_step = True

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and return the best next tokens that a tree allows; see `Decoding`.

        ``forced`` needs no attention: at the limit of a sentence, ``</s>`` is the only allowed token.
        """
        if not self.is_first_step:
            self.states = [
                self._advance(state, token)
                for state, token in zip(self.states, tokens.tolist(), strict=True)
            ]
        self.is_first_step = False
        logits_NV = self.decoding.logits(tokens).float().cpu()
        log_z_N = logits_NV.logsumexp(-1).double()
        allowed_NV = np.zeros(logits_NV.shape, dtype=bool)
        for row_V, state in zip(allowed_NV, self.states, strict=True):
            if state is not None:
                row_V[:] = self.vocabulary.allowed(state)
        logits_NV = logits_NV.masked_fill(~torch.from_numpy(allowed_NV), -torch.inf)
        logits_NC, tokens_NC = logits_NV.topk(min(wanted, logits_NV.size(1)))
        return Candidates(tokens_NC.numpy(), logits_NC.double().numpy(), log_z_N.numpy())

    def reorder(self, rows: Ids) -> None:
        """Continue hypothesis i from hypothesis ``rows[i]``."""
        self.states = [self.states[row] for row in rows.tolist()]
        self.decoding.reorder(rows)

    def keep(self, sentences: Ids) -> None:
        """Drop the engine's state of all other sentences; `reorder` drops their tree states."""
        self.decoding.keep(sentences)

    def _advance(self, state: TreeState | None, token: int) -> TreeState | None:
        if state is None or not self.vocabulary.allowed(state)[token]:
            return None
        return self.vocabulary.advance(state, token)
