"""Parse sentences with a trained model; every result is a well-formed tree (paper: section 6.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.paper.parsing.linearization import delinearize, number_words
from headway.ext.paper.parsing.trees import Tree
from headway.ext.paper.parsing.wellformed import TreeVocabulary, WellFormedDecoding
from headway.model import Transformer
from headway.text import Tokenizer
from headway.translation import batch_by_length, beam_search, load_model, make_engine

# Paper: section 6.3; its output limit is "input length + 300".
PAPER = SearchConfig(beam=21, alpha=0.3, max_extra=300)


@dataclass(frozen=True)
class Parse:
    """The best tree that the search found for a sentence.

    Attributes:
        tree: The tree with the words of the sentence.
        log_probability: Natural logarithm of the probability that the model gives the tree.
    """

    tree: Tree
    log_probability: float


class TreeParser:
    """Finds the most probable well-formed trees of sentences by beam search.

    Args:
        model: A model trained on a prepared treebank; in fp32 and evaluation mode.
        tokenizer: The tokenizer of the model.
        search: Beam size, alpha, limit of the length and precision; default: those of the paper.

    Raises:
        HeadwayError: If the target vocabulary of the model has no constituents.
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, search: SearchConfig | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.search = search or PAPER
        self.vocabulary = TreeVocabulary(
            tokenizer.target_subwords(range(tokenizer.target_vocab_size)), tokenizer.eos
        )
        config = model.config
        self.max_positions = config.max_positions if config.positions == "learned" else None
        self.engine = make_engine(model, self.search.precision)

    @classmethod
    def load(cls, path: str | Path, search: SearchConfig | None = None) -> "TreeParser":
        """Load the parser of a run or model directory."""
        found = load_model(path)
        try:
            return cls(found.transformer, found.tokenizer, search)
        except HeadwayError as error:
            raise HeadwayError(f"{path}: {error}") from None

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse | None]:
        """Parse tokenized sentences.

        Args:
            sentences: The words of each sentence, with brackets escaped.

        Returns:
            One parse a sentence; None for a sentence without words.

        Raises:
            HeadwayError: If a sentence is longer than a learned position table.
        """
        results: list[Parse | None] = [None] * len(sentences)
        rows = [row for row, words in enumerate(sentences) if words]
        sources = self.encode([sentences[row] for row in rows]) if rows else []
        for batch in batch_by_length([len(ids) for ids in sources], self.search.batch_tokens):
            batch_rows = [rows[index] for index in batch]
            parses = self._search(
                [sources[index] for index in batch], [list(sentences[row]) for row in batch_rows]
            )
            for row, parse in zip(batch_rows, parses, strict=True):
                results[row] = parse
        return results

    def encode(self, sentences: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the source ids of tokenized sentences, with numbers if the model was trained with them."""
        if numbers := self.vocabulary.numbers:
            sentences = [number_words(words, numbers) for words in sentences]
        return self.tokenizer.encode_source([" ".join(words) for words in sentences])

    @torch.inference_mode()
    def _search(self, sources: list[list[int]], sentences: list[list[str]]) -> list[Parse]:
        counts, beam = [len(words) for words in sentences], self.search.beam
        limits = [self._limit(len(ids), count) for ids, count in zip(sources, counts, strict=True)]
        started = self.engine.start(sources, beam, max(limits))
        found = beam_search(
            WellFormedDecoding(started, self.vocabulary, counts, limits, beam),
            limits,
            beam=beam,
            alpha=self.search.alpha,
            eos=self.tokenizer.eos,
            pad=self.tokenizer.target_pad,
        )
        return [
            Parse(
                delinearize([self.vocabulary.tokens[i] for i in best.tokens[:-1]], words),
                best.log_probability,
            )
            for (best, *_), words in zip(found, sentences, strict=True)
        ]

    def _limit(self, length: int, words: int) -> int:
        """Return the maximum number of tokens of a tree; a flat tree of all words always fits."""
        least = self.vocabulary.least_tokens(words)
        limit = max(length + self.search.max_extra, least)
        if self.max_positions is not None:
            limit = min(limit, self.max_positions)
            if max(length, least) > self.max_positions:
                raise HeadwayError(
                    f"a sentence of {words} words is longer than the model's {self.max_positions}"
                    " learned positions"
                )
        return limit
