"""Search on token ids: makes batches of similar length and runs the search that is asked for."""

import sys
import zlib
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.extension import load_first
from headway.model import Transformer
from headway.text.languages import is_translatable
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import is_blank
from headway.translation.batching import run_in_batches
from headway.translation.engines import join_engines, make_engine, resolve_precision
from headway.translation.engines.protocols import Engine, Hypotheses
from headway.translation.search.beam_search import Hypothesis, Ids, beam_search

if TYPE_CHECKING:
    from headway.translation.search.automaton import SentenceAutomaton
    from headway.translation.search.constraints import Constraints, WordEdges


class _Engines(dict[str, Engine]):
    """Engines by their precision; they hold memory of this process, so that a pickled or deep copy makes its own."""

    def __reduce__(self) -> tuple[type["_Engines"], tuple[()]]:
        """Pickle no engine."""
        return _Engines, ()


class TokenSearch:
    """Searches for translations of token ids; the result for a source never depends on its batch.

    Args:
        models: In fp32 and evaluation mode; several are an ensemble. Later changes of their weights may have no
            effect, because most engines copy them at the first call of `engine`.
        tokenizer: Gives the control symbols and the vocabulary sizes.
        directory: Model directory, which may hold a shortlist; None: there is no shortlist.
    """

    def __init__(
        self, models: Sequence[Transformer], tokenizer: Tokenizer, directory: Path | None
    ) -> None:
        self.models, self.tokenizer, self.directory = models, tokenizer, directory
        self._engines = _Engines()

    @property
    def max_positions(self) -> int:
        """The most tokens of a source or target; only learned position tables have a limit."""
        configs = [model.config for model in self.models]
        limits = [config.max_positions for config in configs if config.positions == "learned"]
        return min(limits, default=sys.maxsize)

    def engine(self, precision: str) -> Engine:
        """Return the engine that runs the models in a precision; the first call makes it."""
        if precision not in self._engines:
            device = self.models[0].source_embedding.weight.device
            resolved = resolve_precision(precision, device)
            if resolved not in self._engines:
                engines = [make_engine(model, resolved) for model in self.models]
                self._engines[resolved] = join_engines(engines, self.tokenizer.target_pad, device)
            self._engines[precision] = self._engines[resolved]
        return self._engines[precision]

    def batch_limits(self, search: SearchConfig, tokens: int) -> tuple[int, int]:
        """Return how many tokens a batch may have, and how many each source counts besides its own.

        On a GPU each source counts with its longest translation, because the caches have room for it.

        Args:
            search: Search settings.
            tokens: Of a batch on a processor.
        """
        if search.sample:
            return tokens, 0
        return self.engine(search.precision).batch_limits(tokens, search.max_extra)

    def max_target_length(
        self, source: Sequence[int], search: SearchConfig, prefix_length: int = 0
    ) -> int:
        """Return the most tokens that the translation of source ids may have."""
        return min(len(source) + search.max_extra + prefix_length, self.max_positions)

    def search(
        self,
        sources: Sequence[list[int]],
        prefixes: Sequence[list[int]],
        search: SearchConfig,
        constraints: "Sequence[Constraints] | None" = None,
        *,
        may_be_blank: bool = False,
    ) -> list[list[Hypothesis]]:
        """Search for translations of any number of sources, in batches, on all threads.

        Args:
            sources: Token ids, ``</s>`` last.
            prefixes: Token ids that each translation starts with.
            search: Search settings.
            constraints: What each translation must contain; None: nothing.
            may_be_blank: Whether translations without text stay; see `search_rows`.

        Returns:
            For each source its n best hypotheses, or its n samples.
        """
        engine = self.prepare(search)
        required = constraints or [()] * len(sources)

        def search_rows(rows: list[int]) -> list[list[Hypothesis]]:
            return self.search_batch(
                [sources[i] for i in rows],
                [prefixes[i] for i in rows],
                search,
                constraints=[required[i] for i in rows],
                may_be_blank=may_be_blank,
            )

        tokens, extra = self.batch_limits(search, search.batch_tokens)
        lengths = [len(source) + extra for source in sources]
        return run_in_batches(search_rows, lengths, tokens, parallel=engine.is_parallel)

    @torch.inference_mode()
    def search_batch(
        self,
        sources: Sequence[list[int]],
        prefixes: Sequence[list[int]],
        search: SearchConfig,
        is_wanted: Callable[[int], bool] | None = None,
        constraints: "Sequence[Constraints] | None" = None,
        *,
        may_be_blank: bool = False,
    ) -> list[list[Hypothesis]]:
        """Search for translations of sources in one batch, in the calling thread.

        Args:
            sources: Token ids, ``</s>`` last.
            prefixes: Token ids that each translation starts with.
            search: Search settings.
            is_wanted: See `beam_search`; sampling does not call it.
            constraints: What each translation must contain; None: nothing. Sampling ignores it. See
                `headway.translation.constrained_search`.
            may_be_blank: Whether translations without text stay; see `search_rows`.
        """
        if constraints is not None and any(constraints) and not search.sample:
            from headway.translation.constrained_search import search_constrained

            return search_constrained(self, sources, prefixes, constraints, search, is_wanted)
        limits = [
            self.max_target_length(source, search, len(prefix))
            for source, prefix in zip(sources, prefixes, strict=True)
        ]
        choices = None if search.sample else self.choices(sources, prefixes, search)
        return self.search_rows(
            sources, prefixes, limits, choices, search, is_wanted, may_be_blank=may_be_blank
        )

    def search_rows(
        self,
        sources: Sequence[list[int]],
        prefixes: Sequence[list[int]],
        limits: Sequence[int],
        choices: Sequence[Ids] | None,
        search: SearchConfig,
        is_wanted: Callable[[int], bool] | None,
        automata: "Sequence[SentenceAutomaton | None] | None" = None,
        *,
        may_be_blank: bool = False,
    ) -> list[list[Hypothesis]]:
        """Search for translations of sources in one batch, in the calling thread; see `search_engine`.

        A source with letters or digits has no translation without text, such as a lone space. If it has no other, it is
        searched again without such tokens.
        """
        find = partial(
            search_engine, self.engine(search.precision), search=search, eos=self.tokenizer.eos,
            pad=self.tokenizer.target_pad,
        )  # fmt: skip
        found = find(
            sources,
            limits,
            prefixes=prefixes,
            choices=choices,
            is_wanted=is_wanted,
            automata=automata,
        )
        if may_be_blank or search.sample:
            return found
        rows = []
        for row, n_best in enumerate(found):
            if not (automata and automata[row]) and self.is_blank(sources[row], n_best):
                found[row] = [each for each in n_best if not self.is_blank(sources[row], [each])]
                rows += [] if found[row] else [row]
        if rows:
            again = find(
                [sources[row] for row in rows],
                [limits[row] for row in rows],
                prefixes=[prefixes[row] for row in rows],
                choices=self.drop_blanks(choices and [choices[row] for row in rows], len(rows)),
                is_wanted=is_wanted and (lambda number: is_wanted(rows[number])),
            )
            for row, n_best in zip(rows, again, strict=True):
                found[row] = n_best
        return found

    def is_blank(self, source: Sequence[int], n_best: Sequence[Hypothesis]) -> bool:
        """Return whether one of the translations of a source that has letters or digits has no text."""
        return any(self._blank_ids.issuperset(each.tokens) for each in n_best) and is_translatable(
            self.tokenizer.decode_source(source)
        )

    def prepare(self, search: SearchConfig) -> Engine:
        """Return the engine for a search, before any work begins.

        Raises:
            HeadwayError: If the device has no such precision, or the shortlist asked for is missing.
        """
        if search.shortlist:
            _ = self._shortlist
        return self.engine(search.precision)

    @cached_property
    def _shortlist(self) -> Any:
        load = load_first("shortlist")
        if load is None or self.directory is None:
            why = "was not read from a directory" if load else "is used without an extension for it"
            raise HeadwayError(f"search.shortlist: this model {why} and has no shortlist")
        sizes = self.tokenizer.source_vocab_size, self.tokenizer.target_vocab_size
        return load(self.directory, sizes)

    def choices(
        self,
        sources: Sequence[list[int]],
        prefixes: Sequence[list[int]],
        search: SearchConfig,
        needed: Sequence[Collection[int]] | None = None,
    ) -> list[Ids] | None:
        """Return the target ids that each translation may contain; None: all.

        Args:
            sources: Token ids, ``</s>`` last.
            prefixes: Token ids that each translation starts with.
            search: Search settings.
            needed: Further tokens that each translation needs; None: none.
        """
        if not search.shortlist:
            return None
        # With one vocabulary for both languages a source token may always be copied.
        is_joint = self.models[0].config.tying == "three-way"
        ends = self.tokenizer.eos, self.tokenizer.target_pad
        return [
            self._shortlist.pick(
                source, search.shortlist,
                [*ends, *prefix, *some, *(source if is_joint else ())],
            )
            for source, prefix, some in zip(
                sources, prefixes, needed or [()] * len(sources), strict=True
            )
        ]  # fmt: skip

    @cached_property
    def _blank_ids(self) -> frozenset[int]:
        """The target ids without text: spaces, names of languages, ``</s>`` and ``<pad>``."""
        subwords = self.tokenizer.target_subwords(range(self.tokenizer.target_vocab_size))
        ends = {self.tokenizer.eos, self.tokenizer.target_pad}
        return frozenset(ends.union(i for i, subword in enumerate(subwords) if is_blank(subword)))

    def drop_blanks(self, choices: Sequence[Ids] | None, count: int) -> list[Ids]:
        """Return what each of so many translations may contain, without the tokens that have no text; see `choices`."""
        blank = sorted(self._blank_ids - {self.tokenizer.eos, self.tokenizer.target_pad})
        every = np.arange(self.tokenizer.target_vocab_size)
        return [np.setdiff1d(each, blank) for each in choices or [every] * count]

    @cached_property
    def _words(self) -> "WordEdges":
        from headway.translation.search.constraints import WordEdges

        return WordEdges.of(self.tokenizer)

    def follow(self, constraints: "Constraints") -> "SentenceAutomaton":
        """Return what follows constraints, at least one, through a translation."""
        from headway.translation.search.automaton import SentenceAutomaton

        return SentenceAutomaton.of(constraints, self._words)


def search_engine(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    search: SearchConfig,
    *,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    choices: Sequence[Ids] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    automata: "Sequence[SentenceAutomaton | None] | None" = None,
) -> list[list[Hypothesis]]:
    """Search for the translations of a batch, from source ids to target ids, by an engine's own search if it has one.

    A sample depends on the seed and its source alone, not on the number of the line.

    Args:
        engine: Runs the model.
        sources: Token ids of the sentences, ``</s>`` last.
        limits: For each sentence the most tokens of its translation, ``</s>`` included.
        search: Search settings.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        prefixes: For each sentence the tokens that its translation must start with.
        choices: For each sentence the tokens that it may choose; see `Engine.start`.
        is_wanted: See `beam_search`; on a GPU it is called every few steps.
        automata: For each sentence the automaton of what its translation must contain, or None; None: all are free.

    Returns:
        For each sentence up to ``n_best`` hypotheses, the best first, or its samples. If the terms of a glossary have
        no natural place, the best lacks them.
    """
    if engine.search is not None and automata is None and not search.sample:
        return engine.search(
            sources, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best, eos=eos,
            prefixes=prefixes, choices=choices, is_wanted=is_wanted,
        )  # fmt: skip
    longest = max(max(limits), 1 + max(map(len, prefixes or [[]])))
    beams = search.n_best if search.sample else search.beam
    decoding = engine.start(sources, beams, longest, choices)
    if automata is not None:
        from headway.translation.engines.constrained_decoding import ConstrainedDecoding

        constrained = ConstrainedDecoding(
            decoding, automata, limits, beams=search.beam, eos=eos, pad=pad, alpha=search.alpha,
            n_best=search.n_best,
        )  # fmt: skip
        found = beam_search(
            constrained, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best,
            eos=eos, pad=pad, prefixes=prefixes, is_wanted=is_wanted,
        )  # fmt: skip
        return constrained.compare(found)
    return find_hypotheses(
        decoding, limits, search, eos=eos, pad=pad, prefixes=prefixes, is_wanted=is_wanted,
        keys=[[_checksum(source)] for source in sources] if search.sample else (),
    )  # fmt: skip


def find_hypotheses(
    decoding: Hypotheses,
    limits: Sequence[int],
    search: SearchConfig,
    *,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    keys: Sequence[Sequence[int]] = (),
) -> list[list[Hypothesis]]:
    """Search for the likeliest outputs of a batch, or sample outputs.

    Args:
        decoding: New, with ``beam`` hypotheses for each text, or ``n_best`` if it samples.
        limits: For each text the most tokens of its output, ``</s>`` included.
        search: Search settings.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        prefixes: For each text the tokens that its output must start with.
        is_wanted: See `beam_search`; sampling does not call it.
        keys: For each text the numbers that its samples depend on, besides the seed.

    Returns:
        For each text its ``n_best`` hypotheses, the best first, or as many samples.
    """
    if search.sample:
        from headway.translation.search.sampling import sample

        seeds = [[(search.seed, draw, *key) for draw in range(search.n_best)] for key in keys]
        return sample(
            decoding, limits, seeds=seeds, temperature=search.temperature, top_k=search.top_k,
            top_p=search.top_p, epsilon=search.epsilon, eos=eos, pad=pad, prefixes=prefixes,
        )  # fmt: skip
    return beam_search(
        decoding, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best, eos=eos,
        pad=pad, prefixes=prefixes, is_wanted=is_wanted,
    )  # fmt: skip


def _checksum(ids: Sequence[int]) -> int:
    return zlib.crc32(np.asarray(ids, dtype=np.int64).tobytes())
