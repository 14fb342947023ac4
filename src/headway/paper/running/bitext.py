"""The text that experiments train on and are scored on: pairs, held in memory or read from files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from headway.config import TextConfig
from headway.demo import generate, split
from headway.text.prepare import PreparedData, languages_from_names, prepare
from headway.text.readers import Pair, read_pairs
from headway.training.checkpoint import replace_file

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Bitext:
    """Training, validation and test pairs of raw text.

    Attributes:
        name: For tables.
        train: What is learned from.
        valid: What is looked at meanwhile.
        test: What is scored; no part of the others.
        languages: Codes of source and target.
    """

    name: str
    train: Pairs
    valid: Pairs
    test: Pairs
    languages: tuple[str, str]

    @classmethod
    def built_in(
        cls, pairs: int, test: int, languages: tuple[str, str] = ("en", "de"), seed: int = 1
    ) -> "Bitext":
        """Make so many pairs by rules, of which at most ``test`` are scored."""
        parts = split(generate(*languages, pairs, seed))
        train, valid, unseen = (tuple((e.source, e.target) for e in part) for part in parts)
        return cls("the built-in corpus", train, valid, unseen[:test], languages)

    @classmethod
    def read(
        cls,
        train: Sequence[str | Path],
        valid: Sequence[str | Path],
        test: Sequence[str | Path],
        languages: tuple[str, str] | None = None,
        most: int | None = None,
    ) -> "Bitext":
        """Read files as `headway train` takes them; without a test set the validation set is it.

        Raises:
            HeadwayError: Naming the file and line of what is wrong.
        """
        codes = languages or languages_from_names(train)
        readable = (p for p in read_pairs(train, codes, strict=False) if isinstance(p, Pair))
        held = read_pairs(valid, codes), read_pairs(test or valid, codes)
        parts = [tuple((p.source, p.target) for p in islice(r, most)) for r in (readable, *held)]
        return cls(Path(train[0]).name, parts[0], parts[1], parts[2], codes)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all its text."""
        text = repr((self.train, self.valid, self.test, self.languages))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def only(self, name: str, wanted: Callable[[str, str], bool]) -> "Bitext":
        """Return the same with those training pairs alone that are wanted; tests stay whole."""
        return replace(self, name=name, train=tuple(p for p in self.train if wanted(*p)))

    def prepared(self, folder: Path, config: TextConfig) -> PreparedData:
        """Return its training data, prepared once under ``folder`` for each choice of settings."""
        key = hashlib.sha256(f"{self.fingerprint}{config}".encode()).hexdigest()[:16]
        place = folder / key
        if not (place / "data.json").is_file():
            text = self.files(folder)
            prepare(text["train"], text["valid"], place, config, self.languages)
        return PreparedData.open(place)

    def files(self, folder: Path) -> dict[str, list[Path]]:
        """Write train, valid and test under ``folder``, a file for source and target each."""
        place = folder / f"text-{self.fingerprint[:16]}"
        place.mkdir(parents=True, exist_ok=True)
        found = {}
        for part in ("train", "valid", "test"):
            found[part] = [place / f"{part}.{side}" for side in ("source", "target")]
            for number, path in enumerate(found[part]):
                if not path.is_file():
                    lines = "".join(f"{pair[number]}\n" for pair in getattr(self, part))
                    replace_file(path, lines.encode())
        return found
