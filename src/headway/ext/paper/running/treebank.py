"""Trees that parsers are trained on and scored on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headway.config import Config, TextConfig
from headway.ext.paper.parsing.bracketing import score_parser
from headway.ext.paper.parsing.parser import TreeParser
from headway.ext.paper.parsing.treebank import prepare_treebank, read_treebank
from headway.ext.paper.parsing.trees import Tree
from headway.ext.paper.running.task import data_key
from headway.files import replace_bytes
from headway.model import Network, Transformer
from headway.text import PreparedData


@dataclass(frozen=True)
class Treebank:
    """Trees to learn from and to be scored on; a `headway.ext.paper.running.task.TrialTask`.

    Attributes:
        name: For tables.
        is_generated: Whether the sentences are made by rules.
        train: Trees to learn from.
        valid: Trees that are scored during training.
        test: Trees that are scored after training.
    """

    name: str
    is_generated: bool
    train: Sequence[Tree]
    valid: Sequence[Tree]
    test: Sequence[Tree]

    @property
    def window(self) -> int:
        """How many positions restricted attention sees in all: fewer than most sentences have, with their numbers."""
        return 14 if self.is_generated else 32

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all trees."""
        text = "\n\n".join(
            "\n".join(map(str, part)) for part in (self.train, self.valid, self.test)
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def prepare(self, folder: Path, config: TextConfig) -> tuple[Path, list[Path]]:
        """Write and prepare the trees."""
        prepared = folder / f"trees-{data_key(self, config)}"
        if not (prepared / "data.json").is_file():
            prepare_treebank(self.train, self.valid, prepared, config, numbered=True)
        test = prepared.with_name(f"{prepared.name}-test.tree")
        replace_bytes(test, "".join(f"{tree}\n" for tree in self.test).encode())
        return prepared, [test]

    @staticmethod
    def score(
        model: Network, data: PreparedData, config: Config, test: list[Path]
    ) -> dict[str, float]:
        """Return what `bracket_scores` says of the trees that the model finds."""
        assert isinstance(model, Transformer)
        trees = read_treebank(test[0])
        parses = TreeParser(model, data.tokenizer, config.search).parse(
            [tree.words() for tree in trees]
        )
        return bracket_scores(trees, [parse.tree for parse in parses if parse is not None])


def bracket_scores(gold: Sequence[Tree], found: Sequence[Tree]) -> dict[str, float]:
    """Score trees by `score_parser`.

    Returns:
        ``f1``, ``precision``, ``recall``, ``exact`` and ``tagging``, 0 to 100, and ``whole``, the number
        of trees that have their sentence's words.
    """
    scores = score_parser(gold, found)
    return {
        "f1": scores.f1,
        "precision": scores.precision,
        "recall": scores.recall,
        "exact": scores.exact_match,
        "tagging": scores.tagging,
        "whole": scores.sentences + scores.empty,
    }
