"""A trained model as a parser: words in, well-formed trees out (paper: section 6.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.inference.batching import batch_by_length
from headway.inference.directory import load_model
from headway.inference.engine import make_engine
from headway.inference.search import beam_search
from headway.model import Transformer
from headway.parsing.trees import Tree, rebuild
from headway.parsing.wellformed import Symbols, WellFormed
from headway.text.tokenizer import Tokenizer

EXTRA = 300  # tokens that a tree may have beyond its sentence (paper: "input length + 300")
PAPER = SearchConfig(beam=21, alpha=0.3, max_extra=EXTRA)  # paper: section 6.3


@dataclass(frozen=True)
class Parse:
    """A sentence's likeliest tree.

    Attributes:
        tree: Whole, with the sentence's words.
        log_probability: Of the tree, in nats, as the model has it.
    """

    tree: Tree
    log_probability: float


class Parser:
    """Finds the likeliest well-formed trees.

    Args:
        model: Trained on what `headway.parsing.treebank` prepares; in fp32 and evaluation mode.
        tokenizer: Its own.
        search: Beam, alpha, the longest tree and precision; default: the paper's.

    Raises:
        HeadwayError: If the model's target vocabulary is not one of trees.
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, search: SearchConfig | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.search = search or PAPER
        self.symbols = Symbols(
            tokenizer.target_pieces(range(tokenizer.target_vocab_size)), tokenizer.eos
        )
        shape = model.config
        self.positions = shape.max_positions if shape.positions == "learned" else None
        self.engine = make_engine(model, self.search.precision)

    @classmethod
    def load(cls, path: str | Path, search: SearchConfig | None = None) -> "Parser":
        """Read a run or model directory."""
        found = load_model(path)
        try:
            return cls(found.transformer, found.tokenizer, search)
        except HeadwayError as error:
            raise HeadwayError(f"{path}: {error}") from None

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse | None]:
        """Parse sentences of words; one without words has no tree.

        Raises:
            HeadwayError: If a sentence is longer than a learned position table.
        """
        found: list[Parse | None] = [None] * len(sentences)
        rows = [row for row, words in enumerate(sentences) if words]
        texts = [" ".join(sentences[row]) for row in rows]
        sources = self.tokenizer.encode_source(texts) if texts else []
        for batch in batch_by_length([len(ids) for ids in sources], self.search.batch_tokens):
            here = [rows[place] for place in batch]
            parses = self._search(
                [sources[place] for place in batch], [list(sentences[row]) for row in here]
            )
            for row, parse in zip(here, parses, strict=True):
                found[row] = parse
        return found

    @torch.inference_mode()
    def _search(self, sources: list[list[int]], sentences: list[list[str]]) -> list[Parse]:
        """Search for the trees of one batch."""
        counts, beam = [len(words) for words in sentences], self.search.beam
        limits = [self._limit(len(ids), count) for ids, count in zip(sources, counts, strict=True)]
        started = self.engine.start(sources, beam, max(limits))
        found = beam_search(
            WellFormed(started, self.symbols, counts, limits, beam),
            limits,
            beam=beam,
            alpha=self.search.alpha,
            eos=self.tokenizer.eos,
            pad=self.tokenizer.target_pad,
        )
        return [
            Parse(
                rebuild([self.symbols.pieces[i] for i in best.tokens[:-1]], words),
                best.log_probability,
            )
            for (best, *_), words in zip(found, sentences, strict=True)
        ]

    def _limit(self, length: int, words: int) -> int:
        """Return the longest tree of a sentence, in tokens: there is always room for the flattest."""
        limit = max(length + self.search.max_extra, words + 3)
        if self.positions is not None:
            limit = min(limit, self.positions)
            if max(length, words + 3) > self.positions:
                raise HeadwayError(
                    f"a sentence of {words} words is longer than the model's {self.positions}"
                    " learned positions"
                )
        return limit
