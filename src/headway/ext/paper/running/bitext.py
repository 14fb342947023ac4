"""Parallel text that translators are trained on and scored on: built in, or read from files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headway.config import Config, TextConfig
from headway.ext.demo import generate, split
from headway.ext.paper.running.scoring import Pairs, score_predictions, score_translations
from headway.ext.paper.running.task import data_key
from headway.files import replace_bytes
from headway.model import Network, Transformer
from headway.text import Pair, PreparedData, languages_from_names, prepare, read_lines, read_pairs


@dataclass(frozen=True)
class Bitext:
    """Training, validation and test pairs of raw text; `prepare` drops training pairs that are in another part.

    Attributes:
        name: For tables.
        train: Pairs to learn from.
        valid: Pairs that are scored during training.
        test: Pairs that are scored after training.
        languages: Codes of source and target.
    """

    name: str
    train: Pairs
    valid: Pairs
    test: Pairs
    languages: tuple[str, str]

    @classmethod
    def built_in(cls, pairs: int, test: int) -> "Bitext":
        """Generate English-German pairs by rules; at most ``test`` of the test pairs are kept."""
        parts = split(generate("en", "de", pairs, 1))
        train, valid, unseen = (tuple((e.source, e.target) for e in part) for part in parts)
        return cls("the built-in corpus", train, valid, unseen[:test], ("en", "de"))

    @classmethod
    def read(
        cls,
        train: Sequence[str | Path],
        valid: Sequence[str | Path],
        test: Sequence[str | Path],
    ) -> "Bitext":
        """Read files as `headway train` takes them; the default test set is the validation set.

        Raises:
            HeadwayError: Naming the file and line of what is wrong.
        """
        codes = languages_from_names(train)
        readable = (p for p in read_pairs(train, codes, strict=False) if isinstance(p, Pair))
        held_out = read_pairs(valid, codes), read_pairs(test or valid, codes)
        parts = [tuple((p.source, p.target) for p in pairs) for pairs in (readable, *held_out)]
        return cls(Path(train[0]).name, parts[0], parts[1], parts[2], codes)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all pairs."""
        text = repr((self.train, self.valid, self.test, self.languages))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def only(self, name: str, is_wanted: Callable[[str, str], bool]) -> "Bitext":
        """Return the same text with only the wanted training pairs; the test pairs stay."""
        return replace(self, name=name, train=tuple(p for p in self.train if is_wanted(*p)))

    def prepare(self, folder: Path, config: TextConfig) -> tuple[Path, list[Path]]:
        """Write and prepare the text; see `TrialTask`."""
        files = self._write(folder / f"text-{self.fingerprint[:16]}")
        prepared = folder / f"pairs-{data_key(self, config)}"
        if not (prepared / "data.json").is_file():
            tests = [files["test"]]
            prepare(files["train"], files["valid"], prepared, config, self.languages, tests)
        return prepared, files["test"]

    def _write(self, folder: Path) -> dict[str, list[Path]]:
        folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for part in ("train", "valid", "test"):
            files[part] = [folder / f"{part}.{side}" for side in ("source", "target")]
            for number, path in enumerate(files[part]):
                if not path.is_file():
                    lines = "".join(f"{pair[number]}\n" for pair in getattr(self, part))
                    replace_bytes(path, lines.encode())
        return files

    @staticmethod
    def score(
        model: Network, data: PreparedData, config: Config, test: list[Path]
    ) -> dict[str, float]:
        """Return ``perplexity``, ``accuracy``, ``confidence`` and ``bleu``; see `TrialTask`."""
        assert isinstance(model, Transformer)
        pairs = tuple(zip(*(read_lines(path) for path in test), strict=True))
        predictions = score_predictions(model, data.tokenizer, pairs)
        bleu = score_translations(model, data.tokenizer, pairs, data.languages)
        return {**predictions, "bleu": bleu}
