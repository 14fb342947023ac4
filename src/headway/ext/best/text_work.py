"""Work on text files: import the user's text, and join texts. Every file is read and written line by line."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import compress, islice, zip_longest
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from headway.errors import HeadwayError
from headway.ext.best.facts import BATCH, measure, measure_sides
from headway.ext.best.given import GivenText
from headway.ext.best.pair_decisions import Decided, PairDecisions, number_of
from headway.ext.best.stage import FileWork
from headway.files import write_atomically
from headway.text import Pair, Tokenizer, digest_loosely, mark_first, read_lines


@dataclass(frozen=True, kw_only=True)
class PairFiles:
    """Two plain text files, whose lines belong together.

    Attributes:
        source: Line n is the source of line n of ``target``.
        target: Its translation.
    """

    source: Path
    target: Path

    @property
    def reversed(self) -> "PairFiles":
        """The same files for the other direction."""
        return PairFiles(source=self.target, target=self.source)

    def read(self) -> Iterator[tuple[str, str]]:
        """Read the pairs, one by one: as they were written, without a guess at the kind of the files."""
        with self.source.open("rb") as source, self.target.open("rb") as target:
            for lines in zip_longest(source, target):
                if None in lines:
                    raise HeadwayError(
                        f"{self.source} and {self.target}: were changed, and have not as many lines now: give another OUT"
                    )
                yield lines[0].decode().removesuffix("\n"), lines[1].decode().removesuffix("\n")


@dataclass(frozen=True, kw_only=True)
class ImportText(FileWork):
    """Write the user's text as plain files: cleaned training pairs without duplicates, and validation pairs.

    Attributes:
        given: The user's files.
        train: The training pairs to write.
        valid: The validation pairs to write.
        teacher: The teacher's lines to write, which belong to the lines of ``train``.
    """

    given: GivenText
    train: PairFiles
    valid: PairFiles
    teacher: Path

    @property
    def reads(self) -> list[str]:
        """The files with pairs, and the teacher's."""
        return self.given.text_files()

    def run(self) -> None:
        """Write the files."""
        decisions, held_out = self._decide()
        valid = list(self.given.read_validation())
        if self.given.held_out is not None:
            numbers = set(held_out)
            fit = enumerate(self.given.read_fit())
            valid = [Pair(text.source, text.target, n + 1) for n, text in fit if n in numbers]
        with write_files(self.valid.source, self.valid.target) as (source, target):
            for pair in valid:
                _write(source, pair.source)
                _write(target, pair.target)
        outputs = [self.train.source, self.train.target]
        if self.given.teacher:
            outputs.append(self.teacher)
        with write_files(*outputs) as files:
            for kept in self.given.read_kept(decisions):
                texts = (kept.source, kept.target, kept.teacher)
                for file, line in zip(files, texts, strict=False):
                    _write(file, line)

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        held_out = f", hold out {self.given.held_out} pairs" if self.given.held_out else ""
        return f"read, clean and copy the given text{held_out}"

    def _decide(self) -> Decided:
        rules = self.given.rules
        pairs = PairDecisions(self.given.held_out, drop_duplicates=rules.drop_duplicates)
        for pair in self.given.read_training():
            pairs.add(pair.source, pair.target, pair.rule)
        return pairs.decide()


@dataclass(frozen=True, kw_only=True)
class ImportLines(FileWork):
    """Write monolingual lines, without duplicates: all, or a part that is spread over the text.

    Lines of the validation and the test text are left out: a model that has seen them cannot be judged by them. So are
    lines that are too long to train on.

    Attributes:
        given: The user's files, which have the cleaning rules.
        side: The language.
        files: Those of the language.
        share: The share of the lines to take.
        valid: The validation text of the language.
        model: The run directory of a model that will translate the lines.
        most: Its tokens of a line.
        output: The file to write.
    """

    given: GivenText
    side: Literal["source", "target"]
    files: Sequence[str]
    share: float
    valid: Path
    model: Path
    most: int
    output: Path

    @property
    def reads(self) -> list[str]:
        """The monolingual files, and the test text."""
        return [*self.files, *self.given.test]

    def run(self) -> None:
        """Write the file."""
        others = [*read_lines(self.valid)]
        others += [getattr(pair, self.side) for pair in self.given.read_test()]
        held_out = {_digest_line(line) for line in others}
        is_first = mark_first(np.fromiter(map(number_of, self._read_part()), np.uint64))
        encode = Tokenizer.load(self.model).encode_source
        lines = compress(self._read_part(), is_first)
        with write_files(self.output) as (file,):
            while some := list(islice(lines, BATCH)):
                for line in compress(some, measure(encode, some) <= self.most):
                    if _digest_line(line) not in held_out:
                        _write(file, line)

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        return (
            f"read and clean monolingual text, take {100 * min(1.0, self.share):.3g} % of its lines"
        )

    def _read_part(self) -> Iterator[str]:
        limit = self.share * 2**64
        return (line for line in self.given.read_plain(self.files) if number_of(line) < limit)


@dataclass(frozen=True, kw_only=True)
class KeepShort(FileWork):
    """Copy the pairs that are short enough to train on: of the others, a translation is of no use either.

    Attributes:
        pairs: The text.
        model: The run directory of a model from source to target, whose subwords count.
        most: Tokens of a side.
        output: The files to write.
    """

    pairs: PairFiles
    model: Path
    most: int
    output: PairFiles

    def run(self) -> None:
        """Write the files."""
        tokenizer = Tokenizer.load(self.model)
        pairs = self.pairs.read()
        with write_files(self.output.source, self.output.target) as (source, target):
            while some := list(islice(pairs, BATCH)):
                sources, targets = (list(side) for side in zip(*some, strict=True))
                fits = measure_sides(tokenizer, sources, targets).max(0) <= self.most
                for pair in compress(some, fits):
                    _write(source, pair[0])
                    _write(target, pair[1])

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        return f"copy the pairs of at most {self.most} tokens a side"


@dataclass(frozen=True, kw_only=True)
class JoinPairs(FileWork):
    """Join texts, one after the other.

    Pairs of the test text are left out, which a translation may have made of text that has none of them. Those of the
    validation text are left out by the training itself.

    Attributes:
        given: The user's files, which have the test text.
        parts: The texts, and how often each of them is taken.
        output: The files to write.
    """

    given: GivenText
    parts: Sequence[tuple[PairFiles, int]]
    output: PairFiles

    @property
    def reads(self) -> list[str]:
        """The test text."""
        return [*self.given.test] if self.given.rules.drop_leaks else []

    def run(self) -> None:
        """Write the files."""
        test = self.given.read_test() if self.reads else ()
        held_out = {digest_loosely(pair.source, pair.target)[0] for pair in test}
        with write_files(self.output.source, self.output.target) as (source, target):
            for pairs, times in self.parts:
                for _ in range(times):
                    for pair in pairs.read():
                        if not held_out or digest_loosely(*pair)[0] not in held_out:
                            _write(source, pair[0])
                            _write(target, pair[1])

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        parts = ", ".join(
            f"{times} x ({pairs.source.name}, {pairs.target.name})" for pairs, times in self.parts
        )
        return f"join {parts} to ({self.output.source.name}, {self.output.target.name})"


@contextmanager
def write_files(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Open files that get their names when all of them are complete."""
    with ExitStack() as stack:
        files: list[BinaryIO] = []
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            temporary = stack.enter_context(write_atomically(path))
            files.append(stack.enter_context(temporary.open("wb", buffering=1 << 20)))
        yield files


def _digest_line(line: str) -> bytes:
    return digest_loosely(line, "")[1]


def _write(file: BinaryIO, line: str) -> None:
    file.write(f"{line}\n".encode())
