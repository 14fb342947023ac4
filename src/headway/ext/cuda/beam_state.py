"""The tensors of a beam search whose shapes never change, on any device.

Shapes: B sentences, K beams, N = B K hypotheses, T positions, S source positions, M best hypotheses,
H heads, F width of a head, V vocabulary.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from headway.model import BeamCache, BeamPast, Cache, DecoderState, Segments, Transformer

# The states of the search for a sentence.
OPEN, DONE, NOT_FINITE = 0, 1, 2


class Shape(NamedTuple):
    """The sizes that decide the shapes of all tensors.

    Attributes:
        sentences: B, those of the batch and empty ones.
        beams: K.
        source: S.
        target: T.
        n_best: M.
        has_choices: Whether the sentences choose among tokens of their own.
    """

    sentences: int
    beams: int
    source: int
    target: int
    n_best: int
    has_choices: bool


def round_up(size: int, least: int = 1, *, is_coarse: bool = False) -> int:
    """Round up, so that there are few different sizes.

    Args:
        size: At least 1.
        least: The smallest result.
        is_coarse: Return a power of two. Otherwise there are four sizes between two powers of two, so
            that at most a fifth of the result is not used.
    """
    bits = (size - 1).bit_length() - (1 if is_coarse else 3)
    step = 1 << max(0, bits)
    return max(least, -(-size // step) * step)


class BeamState:
    """All that a beam search and the decoder remember between two steps.

    Attributes:
        past: Which cached entries each hypothesis continues, and the position.
        decoder: The caches and the memory, as the decoder takes them.
        last_BK: The last token of each hypothesis.
        scores_BK: Sum of the log-probabilities of each hypothesis, float64.
        moves_BTK: What each step has chosen: token * K + the beam that the token continues.
        best_scores_BM: Scores of the best finished hypotheses, descending; minus infinity: none.
        best_sums_BM: Their log-probabilities.
        best_ends_BM: Where they end: length * K + the beam before the last token.
        finished_B: How many hypotheses have finished.
        status_B: `OPEN`, `DONE` or `NOT_FINITE`.
        forced_BT: The token that must be chosen at a position, or -1.
        limit_penalties_B: The length penalty of the longest hypothesis of each sentence.
        hidden_BV: `True` for the tokens that a sentence may not choose; None: it may choose all.
        penalties_T: The length penalty of a hypothesis that ends at a position.
        by_sentence: All tensors whose first axis is B.
    """

    def __init__(self, model: Transformer, shape: Shape) -> None:
        device = model.source_embedding.weight.device
        dtype, config = model.source_embedding.weight.dtype, model.config
        sentences, beams, source, target, n_best, has_choices = self.shape = shape
        heads, (d_k, d_v) = config.num_heads, config.head_widths

        def zeros(*sizes: int, dtype: torch.dtype = torch.long) -> Tensor:
            return torch.zeros(sentences, *sizes, dtype=dtype, device=device)

        def cache(length: tuple[int, ...], width: int) -> Tensor:
            return zeros(heads, *length, width, dtype=dtype)

        self.past = BeamPast.allocate(sentences, beams, target, device)
        layers, own, memory = range(config.num_decoder_layers), (target, beams), (source,)
        self.decoder = DecoderState(
            [Cache() for _ in layers],
            [(cache(memory, d_k), cache(memory, d_v)) for _ in layers],
            Segments(zeros(source), is_packed=False),
        )
        for layer in self.decoder.layers:
            layer.beams = BeamCache(self.past, cache(own, d_k), cache(own, d_v))
        self.last_BK = zeros(beams)
        self.scores_BK = zeros(beams, dtype=torch.float64)
        self.moves_BTK = zeros(target, beams)
        self.best_scores_BM = zeros(n_best, dtype=torch.float64)
        self.best_sums_BM = zeros(n_best, dtype=torch.float64)
        self.best_ends_BM = zeros(n_best)
        self.finished_B, self.status_B = zeros(), zeros()
        self.forced_BT = zeros(target)
        self.limit_penalties_B = zeros(dtype=torch.float64)
        self.hidden_BV = zeros(config.target_vocab_size, dtype=torch.bool) if has_choices else None
        self.penalties_T = torch.zeros(target, dtype=torch.float64, device=device)
        self.first_rows_B1 = torch.arange(sentences, device=device)[:, None] * beams
        self.by_sentence = self._list_tensors()

    def _list_tensors(self) -> list[Tensor]:
        segments = self.decoder.memory_segments
        assert segments is not None
        found = [self.past.ancestors_BKTK, segments.ids]
        for cache, memory in zip(self.decoder.layers, self.decoder.memory, strict=True):
            assert cache.beams is not None
            found += [cache.beams.keys_BHTKF, cache.beams.values_BHTKF, *memory]
        found += [
            self.last_BK, self.scores_BK, self.moves_BTK, self.best_scores_BM, self.best_sums_BM,
            self.best_ends_BM, self.finished_B, self.status_B, self.forced_BT, self.limit_penalties_B,
        ]  # fmt: skip
        return found if self.hidden_BV is None else [*found, self.hidden_BV]

    @property
    def num_bytes(self) -> int:
        """The bytes of the tensors."""
        return sum(tensor.nbytes for tensor in self.by_sentence)

    def clear(self, pad: int) -> None:
        """Prepare for new sentences: no hypothesis has read anything, and all are `DONE`."""
        for tensor in self.by_sentence:
            tensor.zero_()
        self.past.position.zero_()
        self.last_BK.fill_(pad)
        # All beams of a sentence start equal, so only the first may have candidates.
        self.scores_BK[:, 1:] = -torch.inf
        self.best_scores_BM.fill_(-torch.inf)
        self.forced_BT.fill_(-1)
        self.limit_penalties_B.fill_(1)
        self.status_B.fill_(DONE)

    def continue_from(self, other: "BeamState", sentences: Tensor) -> None:
        """Take over some sentences of another state, [B' <= B]; the sentences after them are `DONE`."""
        count = len(sentences)
        for mine, theirs in zip(self.by_sentence, other.by_sentence, strict=True):
            mine[:count] = theirs.index_select(0, sentences)
            mine[count:] = mine[:1]  # anything finite
        self.status_B[count:] = DONE
        self.past.position.copy_(other.past.position)
        self.penalties_T.copy_(other.penalties_T)
