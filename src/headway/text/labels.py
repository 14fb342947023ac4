"""A vocabulary for texts and the names of their labels: what a classifier reads and says.

A label is one id; it has no pieces, and there is nothing else on its side.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import replace_text
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw

FILE = "labels.json"


class LabelledText(Tokenizer):
    """A `Tokenizer` whose target side is a list of labels.

    Args:
        source: A serialized sentencepiece model.
        labels: Their names; a label's id is its place.
    """

    def __init__(self, source: bytes, labels: Sequence[str]) -> None:
        super().__init__(source)
        self.labels = list(labels)

    @staticmethod
    def load(directory: str | Path) -> "LabelledText":
        """Read ``tokenizer.model`` and ``labels.json``.

        Raises:
            HeadwayError: Naming the file that is missing or damaged.
        """
        return LabelledText(Tokenizer.load(directory).models[0], _read_labels(Path(directory)))

    def save(self, directory: str | Path) -> None:
        """Write ``tokenizer.model`` and ``labels.json``; each appears whole or not at all."""
        super().save(directory)
        replace_text(Path(directory) / FILE, json.dumps(self.labels, ensure_ascii=False) + "\n")

    @property
    def target_vocab_size(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @property
    def target_pad(self) -> int:
        """What fills a batch where there is no label; it is never read."""
        return 0

    @property
    def fingerprint(self) -> str:
        """A hash of the pieces and the labels."""
        return hashlib.sha256(repr((super().fingerprint, self.labels)).encode()).hexdigest()

    def encode_target(self, texts: Sequence[str], drawn: Draw | None = None) -> list[list[int]]:
        """Return each label's id, alone.

        Raises:
            HeadwayError: If there is no such label.
        """
        places = {name: place for place, name in enumerate(self.labels)}
        for text in texts:
            if text not in places:
                raise HeadwayError(f"label {text!r} is not among {', '.join(self.labels)}")
        return [[places[text]] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the name of the label that is the first id."""
        return self.labels[int(ids[0])]

    def encode_parts(self, parts: Sequence[str]) -> list[int]:
        """Turn a text, or a pair of texts, into ids: each part ends in ``</s>``."""
        return [i for ids in self.encode_source(parts) for i in ids]


def load_tokenizer(directory: str | Path) -> Tokenizer:
    """Read what a model of any kind was saved with: a `LabelledText` where there are labels.

    Raises:
        HeadwayError: Naming the file that is missing or damaged.
    """
    labelled = (Path(directory) / FILE).is_file()
    return LabelledText.load(directory) if labelled else Tokenizer.load(directory)


def _read_labels(directory: Path) -> list[str]:
    path = directory / FILE
    if not path.is_file():
        raise HeadwayError(f"{directory}: no {FILE}")
    try:
        labels = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        labels = None
    if not isinstance(labels, list) or not labels or not all(isinstance(x, str) for x in labels):
        raise HeadwayError(f"{path}: not a list of labels")
    return labels
