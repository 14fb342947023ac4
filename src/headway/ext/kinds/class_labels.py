"""The tokenizer of a classifier: a subword vocabulary for texts, and a list of labels.

Each label is one id of the target side, which has no other ids.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import read_json, replace_text
from headway.text import Draw, Tokenizer

FILE = "labels.json"
MAX_LABEL_BYTES = 1 << 20


class LabelTokenizer(Tokenizer):
    """A `Tokenizer` whose target side is a list of labels.

    Args:
        source: A serialized sentencepiece model.
        labels: The names of the labels; the id of a label is its index.
    """

    def __init__(self, source: bytes, labels: Sequence[str]) -> None:
        super().__init__(source)
        self.labels = list(labels)

    @staticmethod
    def load(directory: str | Path) -> "LabelTokenizer":
        """Read ``tokenizer.model`` and ``labels.json``.

        Raises:
            HeadwayError: If a file is missing or damaged; it names the file.
        """
        path = Path(directory) / FILE
        labels = read_json(path, MAX_LABEL_BYTES)
        if (
            not isinstance(labels, list)
            or not labels
            or not all(isinstance(label, str) for label in labels)
        ):
            raise HeadwayError(f"{path}: not a list of labels")
        return LabelTokenizer(Tokenizer.load(directory).models[0], labels)

    def save(self, directory: str | Path) -> None:
        """Write ``tokenizer.model`` and ``labels.json``; each appears whole or not at all."""
        super().save(directory)
        replace_text(Path(directory) / FILE, json.dumps(self.labels, ensure_ascii=False) + "\n")

    @property
    def target_vocab_size(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @property
    def target_pad(self) -> int:
        """The id that fills places without a label; it is never read."""
        return 0

    @property
    def fingerprint(self) -> str:
        """A hash of the subwords and the labels."""
        return hashlib.sha256(repr((super().fingerprint, self.labels)).encode()).hexdigest()

    def encode_target(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Return, for each label, a list of its id alone; an unknown label raises a `KeyError`."""
        ids = {name: i for i, name in enumerate(self.labels)}
        return [[ids[text]] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the name of the label with the first id."""
        return self.labels[int(ids[0])]

    def encode_parts(self, parts: Sequence[str]) -> list[int]:
        """Tokenize a text or a pair of texts into one sequence; each text ends in ``</s>``."""
        return [i for ids in self.encode_source(parts) for i in ids]
