"""Decoding that can say nothing but whole trees over the words of a sentence.

A `Decoding` around another: it forbids what would make no tree, and leaves the search as it is. What
is allowed keeps the model's own probability, so that the search finds the likeliest trees of all
that the model could say, well formed or not.

Shapes: N hypotheses, V target vocabulary, C candidates.
Paper: section 6.3; Vinyals et al. (2015) repaired what was not well formed.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.inference.search import Candidates, Ids
from headway.parsing.trees import CLOSE, OPEN
from headway.text.vocabulary import SPACE


class Deciding(Protocol):
    """Hypotheses under way that show all their logits, as both engines start them."""

    def logits(self, tokens: Ids) -> Tensor:
        """Read tokens [N] and give the logits of the next ones, [N, V]."""

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``."""

    def keep(self, sentences: Ids) -> None:
        """Forget what belongs to other sentences; `reorder` follows."""


class Shape(NamedTuple):
    """How far a tree has come.

    Attributes:
        words: Of the sentence, still without a part of speech.
        stack: Labels, by number, of the open constituents.
        bare: The innermost has no child yet.
        begun: Something was opened.
        room: Tokens that may still follow, ``</s>`` included.
    """

    words: int
    stack: tuple[int, ...]
    bare: bool
    begun: bool
    room: int


class Symbols:
    """What each target id means to a tree.

    Args:
        pieces: The target vocabulary, spelled out, in the order of its ids.
        eos: Id of ``</s>``.

    Raises:
        HeadwayError: If the vocabulary cannot write trees.
    """

    def __init__(self, pieces: Sequence[str], eos: int) -> None:
        self.pieces = [piece.removeprefix(SPACE) for piece in pieces]
        self.eos = eos
        told = [p if s.startswith(SPACE) else "" for p, s in zip(self.pieces, pieces, strict=True)]
        opens = [len(p) > 1 and p[0] == OPEN for p in told]
        closes = [len(p) > 1 and p[0] == CLOSE for p in told]
        labels = sorted({p[1:] for p, yes in zip(told, opens, strict=True) if yes})
        if not labels or not all(CLOSE + label in told for label in labels):
            raise HeadwayError(
                "its target vocabulary has no constituents, so it cannot parse: train a model on"
                " what `headway treebank` writes"
            )
        self.opens, self.closes = np.array(opens), np.array(closes)
        self.tags = np.array([bool(p) for p in told]) & ~self.opens & ~self.closes
        numbers = {label: number for number, label in enumerate(labels)}
        self.label = np.array([numbers.get(p[1:], -1) if p else -1 for p in told])
        self.close = [told.index(CLOSE + label) for label in labels]

    def allowed(self, shape: Shape) -> np.ndarray:
        """Return which ids may come next, bool [V]; there is always one if ``room`` began large enough."""
        words, stack, bare, begun, room = shape
        found = np.zeros(len(self.pieces), dtype=bool)
        if begun and not stack:
            found[self.eos] = True
            return found
        # A word needs a token, an open constituent one to close it, and the sentence its end.
        needed = words + len(stack) + 1
        if words and room >= needed + 2:
            found |= self.opens
        if words and stack:
            found |= self.tags
        if stack and not bare and (len(stack) > 1 or not words):
            found[self.close[stack[-1]]] = True
        return found

    def after(self, shape: Shape, token: int) -> Shape:
        """Return the shape once an allowed token has been said."""
        words, stack, _, _, room = shape
        if self.opens[token]:
            return Shape(words, (*stack, int(self.label[token])), True, True, room - 1)
        if self.tags[token]:
            return Shape(words - 1, stack, False, True, room - 1)
        return Shape(words, stack[:-1], False, True, room - 1)


class WellFormed:
    """A `Decoding` whose hypotheses are the beginnings of trees.

    Args:
        decoding: What runs the model; fresh.
        symbols: What its ids mean.
        words: Words of each sentence.
        limits: Longest sequence of each, as the search has it: at least words + 3 tokens.
        beams: Hypotheses of each sentence.
    """

    def __init__(
        self,
        decoding: Deciding,
        symbols: Symbols,
        words: Sequence[int],
        limits: Sequence[int],
        beams: int,
    ) -> None:
        self.decoding, self.symbols = decoding, symbols
        # Of what a search gave up (its score is minus infinity) no shape is kept.
        self.shapes: list[Shape | None] = []
        for count, limit in zip(words, limits, strict=True):
            assert 0 < count <= limit - 3, "no room for a tree"
            self.shapes += [Shape(count, (), False, False, limit)] * beams
        self.fresh = True

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and name the best next ones that a tree may go on with; see `Decoding`.

        What is ``forced``, the end at a sentence's limit, is then the only one allowed anyway.
        """
        if not self.fresh:
            self.shapes = [
                None if shape is None or not self.symbols.allowed(shape)[token]
                else self.symbols.after(shape, token)
                for shape, token in zip(self.shapes, tokens.tolist(), strict=True)
            ]  # fmt: skip
        self.fresh = False
        logits_NV = self.decoding.logits(tokens).float().cpu()
        log_z_N = logits_NV.logsumexp(-1).double()
        allowed_NV = np.zeros(logits_NV.shape, dtype=bool)
        for row_V, shape in zip(allowed_NV, self.shapes, strict=True):
            if shape is not None:
                row_V[:] = self.symbols.allowed(shape)
        logits_NV = logits_NV.masked_fill(~torch.from_numpy(allowed_NV), -torch.inf)
        logits_NC, tokens_NC = logits_NV.topk(min(wanted, logits_NV.size(1)))
        return Candidates(tokens_NC.numpy(), logits_NC.double().numpy(), log_z_N.numpy())

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``."""
        self.shapes = [self.shapes[row] for row in rows.tolist()]
        self.decoding.reorder(rows)

    def keep(self, sentences: Ids) -> None:
        """Forget what belongs to other sentences; `reorder` does it for the shapes."""
        self.decoding.keep(sentences)
