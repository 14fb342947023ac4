"""The engine for GPUs: it searches with tensors whose shapes never change."""

import copy
import threading
from collections.abc import Callable, Sequence

import numpy as np
import torch

from headway.ext.cuda.beam_state import NOT_FINITE, OPEN, Shape, round_up
from headway.ext.cuda.recorded_call import GraphMemory
from headway.ext.cuda.search import FixedSearch
from headway.model import SelfAttention, Transformer
from headway.translation import (
    GivenTarget,
    Hypothesis,
    Ids,
    LayerChoice,
    PlainEngine,
    Rules,
    check_finite,
    length_penalty,
)

GPU_BATCH = 15  # tokens of a GPU's batch, for each token of a processor's
# Of a batch of given targets: its logits, or the attention weights of a layer; 0.5 GB in fp32.
GPU_NUMBERS = 1 << 27
STEPS_UNSEEN = 8  # between two looks at which sentences are done; each look waits for the GPU
# The shapes that the engine remembers take at most a quarter of a GPU's memory that is free when it is made.
KEPT_PARTS = 4
KEPT_BYTES = 4 << 30  # the same on a processor
FEWEST_POSITIONS = 16
# Small batches, as a server has them, get the fewest shapes: their step takes hardly longer on a GPU if
# half of it is padding, but the first steps of a shape do.
FEW_SENTENCES = 64


def make_fixed_engine(model: Transformer, precision: str) -> "FixedEngine | None":
    """Return the engine for a model on a GPU; None: it cannot run this model. See `headway.extension.Extension`."""
    return FixedEngine(model, precision) if is_supported(model) else None


def is_supported(model: Transformer) -> bool:
    """Return whether the decoder has attention in all layers, whose caches can have fixed shapes."""
    return all(isinstance(layer.mixer, SelfAttention) for layer in model.decoder.layers)


class FixedEngine(PlainEngine):
    """Searches in batches of few different shapes; samples and streams as `PlainEngine` does.

    It runs on every device, and is used on GPUs. Several threads may call `search`, which
    works for one of them at a time.

    Args:
        model: In fp32, `is_supported`; it is copied.
        precision: Of the matrix products.
    """

    def __init__(self, model: Transformer, precision: str = "fp32") -> None:
        # A recorded step reads weights at fixed addresses, so they are the engine's own.
        super().__init__(copy.deepcopy(model) if precision == "fp32" else model, precision)
        self._searches: dict[Shape, FixedSearch] = {}  # the newest last
        self._memory = GraphMemory(self.device, "decoding")
        self._kept_bytes = KEPT_BYTES
        if self.device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(self.device)
            self._kept_bytes = free // KEPT_PARTS
        self._lock = threading.Lock()

    def batch_limits(self, tokens: int, extra: int) -> tuple[int, int]:
        """Return the limits of a batch, in which each source counts with its longest translation: the caches have room for it."""
        return GPU_BATCH * tokens, extra

    def read_limit(self, tokens: int, numbers: int) -> int:
        """Return how many tokens a batch of given targets may have."""
        return max(tokens, GPU_NUMBERS // numbers)

    @torch.inference_mode()
    def search(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        *,
        beam: int,
        alpha: float,
        n_best: int = 1,
        eos: int,
        prefixes: Sequence[Sequence[int]] | None = None,
        choices: Sequence[Ids] | None = None,
        is_wanted: Callable[[int], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of a batch.

        Args:
            sources: Token ids of the sentences.
            limits: See `beam_search`, like the arguments from ``beam`` to ``prefixes``.
            beam: K.
            alpha: Exponent of the length penalty.
            n_best: Hypotheses to return for each sentence.
            eos: Id of ``</s>``.
            prefixes: For each sentence the tokens that its translation must start with.
            choices: See `Engine.start`.
            is_wanted: Called every few steps with the number of each open sentence. The search ends
                when no open sentence is wanted.

        Returns:
            For each sentence up to ``n_best`` hypotheses, the best first.
        """
        rules = Rules(limits, prefixes, eos)
        if self.model.config.positions == "learned":
            self.model.target_positions.table_of(rules.longest)  # or a message that there are fewer
        shape = Shape(
            _round_sentences(len(sources)), beam, _round_length(max(map(len, sources)), len(sources)),
            _round_length(rules.longest, len(sources)), n_best, choices is not None,
        )  # fmt: skip
        with self._lock:
            search = self._search_of(shape, eos)
            self._fill(search, sources, rules, alpha, choices)
            return self._run(search, len(sources), rules.longest, is_wanted)

    def read(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        is_scored: bool = True,
        layers: LayerChoice | None = None,
    ) -> list[GivenTarget]:
        """See `Engine`; while a search is recorded, nothing else may start."""
        with self._lock:
            return super().read(sources, targets, is_scored=is_scored, layers=layers)

    def _run(
        self,
        search: FixedSearch,
        count: int,
        longest: int,
        is_wanted: Callable[[int], bool] | None,
    ) -> list[list[Hypothesis]]:
        """Take steps until all sentences are done; continue with smaller tensors when half of them are."""
        found: list[list[Hypothesis]] = [[] for _ in range(count)]
        sentences = np.arange(count)  # those in the rows of the tensors
        for length in range(1, longest + 1):
            search.step(length)
            if length % STEPS_UNSEEN and length < longest:
                continue
            status = search.state.status_B.cpu().numpy()[: len(sentences)]
            check_finite(np.where(status == NOT_FINITE, np.nan, 0.0))
            open_rows = [
                row
                for row in np.flatnonzero(status == OPEN).tolist()
                if is_wanted is None or is_wanted(int(sentences[row]))
            ]
            smaller = search.shape._replace(sentences=_round_sentences(max(1, len(open_rows))))
            if open_rows and 2 * smaller.sentences > search.shape.sentences:
                continue
            closed_rows = np.setdiff1d(np.arange(len(sentences)), open_rows)
            for row, best in zip(closed_rows, search.read(self._ids(closed_rows)), strict=True):
                found[sentences[row]] = best
            if not open_rows:
                break
            before, search = search, self._search_of(smaller, search.eos)
            search.state.continue_from(before.state, self._ids(np.array(open_rows)))
            sentences = sentences[open_rows]
        return found

    def _search_of(self, shape: Shape, eos: int) -> FixedSearch:
        """Return the search of a shape; the engine forgets the shapes that were used longest ago."""
        search = self._searches.pop(shape, None) or FixedSearch(
            self.model, shape, eos, self._memory
        )
        self._searches[shape] = search
        while (
            len(self._searches) > 2  # the batch and its smaller successor
            and sum(s.state.num_bytes for s in self._searches.values()) > self._kept_bytes
        ):
            del self._searches[next(iter(self._searches))]
        return search

    def _fill(
        self,
        search: FixedSearch,
        sources: Sequence[Sequence[int]],
        rules: Rules,
        alpha: float,
        choices: Sequence[Ids] | None,
    ) -> None:
        """Encode the sentences, and prepare the tensors for their search."""
        state, shape, count = search.state, search.shape, len(sources)
        state.clear(search.pad)
        pad = self.model.config.source_vocab_size - 1
        ids = np.full((shape.sentences, shape.source), pad)
        real = np.zeros_like(ids)
        # An empty sentence is a <pad> that is not hidden, so that its sums are finite.
        real[:, 0] = 1
        for row, source in enumerate(sources):
            ids[row, : len(source)] = source
            real[row, : len(source)] = 1
        segments = state.decoder.memory_segments
        assert segments is not None
        segments.ids.copy_(self._ids(real))
        memory = self.model.encode(self._ids(ids), segments)
        projected = self.model.decoder.start(memory).memory
        for mine, new in zip(state.decoder.memory, projected, strict=True):
            for cache, tensor in zip(mine, new, strict=True):
                cache.copy_(tensor)
        positions = range(1, shape.target + 1)
        forced = [rules.forced(np.arange(count), length) for length in positions]
        free = np.full(count, -1)
        table = np.stack([free if tokens is None else tokens for tokens in forced], 1)
        state.forced_BT[:count] = self._ids(table)
        penalties = [length_penalty(length, alpha) for length in positions]
        state.penalties_T.copy_(torch.tensor(penalties, dtype=torch.float64))
        longest = [length_penalty(limit, alpha) for limit in rules.limits.tolist()]
        state.limit_penalties_B[:count] = torch.tensor(longest, dtype=torch.float64).to(self.device)
        if state.hidden_BV is not None and choices is not None:
            hidden = np.ones((count, self.model.config.target_vocab_size), dtype=np.bool_)
            for hidden_V, chosen in zip(hidden, choices, strict=True):
                hidden_V[chosen] = False
            state.hidden_BV[:count] = torch.from_numpy(hidden).to(self.device)
        state.status_B[:count] = OPEN

    def _ids(self, ids: Ids) -> torch.Tensor:
        return torch.from_numpy(ids).to(self.device)


def _round_sentences(count: int) -> int:
    return round_up(count, is_coarse=count <= FEW_SENTENCES)


def _round_length(tokens: int, sentences: int) -> int:
    return round_up(tokens, FEWEST_POSITIONS, is_coarse=sentences <= FEW_SENTENCES)
