"""Labeled texts that classifiers are trained on and scored on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from headway.config import Config, TextConfig
from headway.ext.kinds import (
    Classifier,
    LabeledText,
    LabelTokenizer,
    TextClassifier,
    prepare_examples,
    read_examples,
)
from headway.ext.paper.running.task import data_key
from headway.files import replace_bytes
from headway.model import Network
from headway.text import PreparedData

T = TypeVar("T")


def divide(items: Sequence[T]) -> dict[str, Sequence[T]]:
    """Divide items in their order: one part in 20 is for validation, the next for the test, the others for training."""
    held = max(2, len(items) // 20)
    return {"valid": items[:held], "test": items[held : 2 * held], "train": items[2 * held :]}


@dataclass(frozen=True)
class LabeledTexts:
    """Labeled texts to learn from and to be scored on; a `headway.ext.paper.running.task.TrialTask`.

    Attributes:
        name: For tables.
        examples: In the order in which `divide` divides them.
    """

    name: str
    examples: Sequence[LabeledText]

    @cached_property
    def parts(self) -> dict[str, Sequence[LabeledText]]:
        """The examples of validation, test and training."""
        return divide(self.examples)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all examples."""
        return hashlib.sha256(repr(self.examples).encode()).hexdigest()

    def prepare(self, folder: Path, config: TextConfig) -> tuple[Path, list[Path]]:
        """Write and prepare the texts."""
        prepared = folder / f"examples-{data_key(self, config)}"
        files = {part: prepared.with_name(f"{prepared.name}-{part}.tsv") for part in self.parts}
        folder.mkdir(parents=True, exist_ok=True)
        for part, file in files.items():
            if not file.is_file():
                lines = ("\t".join((e.label, *e.parts)) for e in self.parts[part])
                replace_bytes(file, "".join(f"{line}\n" for line in lines).encode())
        if not (prepared / "data.json").is_file():
            # The training part may lack a rare text, but it must not lack a label.
            labels = {example.label for example in self.parts["train"]}
            assert labels >= {example.label for example in self.examples}, (
                "too few texts of a label"
            )
            prepare_examples([files["train"]], [files["valid"]], prepared, config)
        return prepared, [files["test"]]

    @staticmethod
    def score(
        model: Network, data: PreparedData, config: Config, test: list[Path]
    ) -> dict[str, float]:
        """Return ``right``, the share of right labels in percent."""
        assert isinstance(model, Classifier)
        assert isinstance(data.tokenizer, LabelTokenizer)
        examples = list(read_examples(test))
        found = TextClassifier(model, data.tokenizer).predict(
            [example.parts for example in examples]
        )
        right = sum(a.label == b.label for a, b in zip(found, examples, strict=True))
        return {"right": 100 * right / len(examples)}

    def most_frequent(self) -> float:
        """Return the share of test texts, in percent, with the most frequent label of training."""
        labels = [example.label for example in self.parts["train"]]
        best = max(sorted(set(labels)), key=labels.count)
        test = self.parts["test"]
        return 100 * sum(example.label == best for example in test) / len(test)
