"""The text of a recipe: what a user gives, prepared once, as data for trainings and as plain files to translate."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from headway import config
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe_options import Files, Options
from headway.text import (
    Plan,
    PreparationStages,
    PreparedData,
    Workers,
    broken_rule,
    digest_loosely,
    read_pairs,
    require_readable,
    run_stage,
    scan_lines,
)

WORKER_BYTES = 1 << 23  # of text, for which another process is worth its start
BATCH = 1000  # lines that are tokenized at once
HELD = 1_000_000  # digests that are sorted at once, besides those that are chosen so far


@dataclass(frozen=True)
class PairFiles:
    """Two plain text files, whose lines belong together.

    Attributes:
        source: Line n is the source of line n of ``target``.
        target: Its translation.
    """

    source: Path
    target: Path

    @classmethod
    def named(cls, folder: Path, name: str) -> "PairFiles":
        """Return the files of a text.

        They are not named after the languages: ``train.ts``, in Tsonga, would be a message file of Qt.
        """
        return cls(folder / f"{name}.source", folder / f"{name}.target")

    @property
    def reversed(self) -> "PairFiles":
        """The same files for the other direction."""
        return PairFiles(self.target, self.source)

    def read(self) -> Iterator[tuple[str, str]]:
        """Read the pairs as they were written, without a guess at the kind of the files."""
        with self.source.open("rb") as source, self.target.open("rb") as target:
            try:
                for lines in zip(source, target, strict=True):
                    yield lines[0].decode()[:-1], lines[1].decode()[:-1]
            except ValueError:
                raise HeadwayError(
                    f"{self.source} and {self.target}: were changed, and have not as many lines now: give another OUT"
                ) from None

    def write(self, pairs: Iterable[Sequence[str]]) -> int:
        """Write pairs, and return how many they are."""
        count = 0
        with self.source.open("wb") as source, self.target.open("wb") as target:
            for pair in pairs:
                source.write(f"{pair[0]}\n".encode())
                target.write(f"{pair[1]}\n".encode())
                count += 1
        return count


@dataclass(frozen=True, kw_only=True)
class TextFacts:
    """What is known about the text after its preparation.

    Attributes:
        cleaned: Training pairs that are fit, with those that are too long to train on: as many choose the settings.
        kept: Those that are training text.
        source_tokens: Of the kept pairs, ``</s>`` included.
        target_tokens: Likewise.
        validation: Validation pairs.
        mono_lines: Side -> lines of monolingual text that are taken; without an entry if there are none.
        mono_tokens: Side -> their tokens.
    """

    cleaned: int
    kept: int
    source_tokens: int
    target_tokens: int
    validation: int
    mono_lines: Mapping[str, int]
    mono_tokens: Mapping[str, int]


def prepare_text(options: Options, folder: Path, processes: int) -> TextFacts:
    """Prepare the user's text for all stages.

    Args:
        options: Names the files.
        folder: An empty directory. It gets ``data``, prepared data with the usual vocabulary, and the plain texts
            ``train``, ``test``, ``teacher`` and ``mono``: see `PairFiles`. Of ``mono`` each side is by itself.
        processes: The largest number of processes; little text is prepared in this process.

    Raises:
        HeadwayError: If text is missing, wrong or too little; it names the file.
    """
    chosen = {name: v for name, v in options.settings.items() if name.startswith("text.")}
    plan = Plan.make(
        options.train,
        options.valid,
        config.load(overrides=chosen).text,
        options.pair,
        tests=[options.test] if options.test else [],
        form=options.form,
    )
    workers = Workers(min(processes, 1 + plan.input_bytes() // WORKER_BYTES))
    stages = PreparationStages(plan, folder / "work")
    stages.directory.mkdir()
    _do_stages(stages, "select", workers)
    cleaned = stages.count_kept()
    _require_pairs(options, cleaned)
    # The number of pairs decides about the vocabulary.
    scale = numbers.choose_scale(cleaned)
    scale.check(options.settings)
    rules = scale.resolve_usual(options.settings).text
    stages = replace(stages, plan=replace(plan, config=rules))
    _do_stages(stages, "assemble", workers)
    stages.result.rename(folder / "data")
    data = PreparedData.open(folder / "data")
    kept = PairFiles.named(folder, "train").write(pair for _, *pair in stages.read_kept())
    _require_pairs(options, kept)
    if options.teacher:
        read = json.loads((data.directory / "report.json").read_bytes())["read"]
        PairFiles.named(folder, "teacher").write(_read_taught(options, stages, read))
    shutil.rmtree(stages.directory)
    test = []
    if options.test:
        pairs = read_pairs(options.test, options.pair, form=options.form)
        test = [(pair.source, pair.target) for pair in pairs]
        PairFiles.named(folder, "test").write(test)
    held_out = [*zip(data.valid_source, data.valid_target, strict=True), *test]
    mono, most = PairFiles.named(folder, "mono"), int(numbers.MONO_WEIGHT * kept)
    encode = data.tokenizer.encode_source, data.tokenizer.encode_target
    lines, tokens = dict[str, int](), dict[str, int]()
    for number, side in enumerate(("source", "target")):
        if files := getattr(options, f"mono_{side}"):
            read = partial(_read_monolingual, options, rules, files)
            taken = _take_lines(read, most, [pair[number] for pair in held_out])
            lengths = _write_short(getattr(mono, side), taken, encode[number], rules.max_tokens)
            if not lengths:
                raise HeadwayError(
                    f"{files[0]}: no line is left after cleaning, and without those that are longer than text.max_tokens ="
                    f" {rules.max_tokens}: divide them into sentences, or give a larger --text.max-tokens"
                )
            lines[side], tokens[side] = len(lengths), sum(lengths)
    return TextFacts(
        cleaned=cleaned,
        kept=kept,
        source_tokens=data.train.source_tokens // rules.copies,
        target_tokens=data.train.target_tokens // rules.copies,
        validation=len(data.valid),
        mono_lines=lines,
        mono_tokens=tokens,
    )


def _do_stages(stages: PreparationStages, last: str, workers: Workers) -> None:
    """Do what is left of the stages of a preparation, up to the one of this name."""
    for stage in stages.list_stages():
        for _ in run_stage(stage, stages.directory, workers):
            pass
        if stage.name == last:
            return


def _require_pairs(options: Options, pairs: int) -> None:
    if pairs < numbers.LEAST_PAIRS:
        raise HeadwayError(
            f"{options.train[0]}: {pairs} training pairs are left after cleaning, and headway best needs"
            f" {numbers.LEAST_PAIRS}"
        )


def _read_taught(
    options: Options, stages: PreparationStages, pairs: int
) -> Iterator[tuple[str, str]]:
    """Yield the sources of the training text with the lines of the teacher that belong to them.

    Raises:
        HeadwayError: If the teacher has not as many lines as the user has given pairs.
    """
    kept, count = stages.read_kept(), 0
    number, source, _ = next(kept)
    lines = _read_lines(options, str(options.teacher), limit=0)
    for count, line in enumerate(lines, 1):
        if number == count - 1:
            yield source, line
            number, source, _ = next(kept, (-1, "", ""))
    if count != pairs:
        raise HeadwayError(
            f"{options.teacher} has {count:,} lines, but the training text has {pairs:,} pairs: line n must be a"
            " translation of pair n"
        )


def _read_lines(options: Options, file: str | Path, limit: float) -> Iterator[str]:
    """Read plain text, of which at most a share may be unreadable; 0: nothing."""
    lines = scan_lines(file, options.encoding)
    for line in require_readable(lines, options.pair, options.form, limit, "lines"):
        if isinstance(line, str):
            yield line.strip()


def _write_short(
    output: Path,
    lines: Iterator[str],
    encode: Callable[[Sequence[str]], list[list[int]]],
    most: int,
) -> list[int]:
    """Write the lines that have at most so many tokens, and return their numbers of tokens."""
    lengths = []
    with output.open("wb") as file:
        while some := list(islice(lines, BATCH)):
            for line, ids in zip(some, encode(some), strict=True):
                if len(ids) <= most:
                    file.write(f"{line}\n".encode())
                    lengths.append(len(ids))
    return lengths


def _read_monolingual(options: Options, rules: TextConfig, files: Files) -> Iterator[str]:
    """Read the lines of monolingual text that are fit for training."""
    alone = replace(rules, drop_identical=False, max_copied=0.0, max_ratio=0.0)
    for file in files:
        for line in _read_lines(options, file, rules.max_unreadable):
            if broken_rule(line, line, alone) is None:
                yield line


def _take_lines(
    read: Callable[[], Iterator[str]], most: int, held_out: Iterable[str]
) -> Iterator[str]:
    """Yield different lines of a text.

    Args:
        read: Begins to read the text.
        most: Of more lines, those with the smallest digests are taken, which are spread over the text.
        held_out: Lines of validation and test text: a model that has seen them cannot be judged by them.
    """
    chosen = np.empty(0, np.uint64)
    digests = map(_digest, read())
    while len(some := np.fromiter(islice(digests, HELD), np.uint64)):
        chosen = np.union1d(chosen, some)[:most]
    is_left = ~np.isin(chosen, np.fromiter(map(_digest, held_out), np.uint64))
    for line in read():
        digest = _digest(line)
        place = np.searchsorted(chosen, digest)
        if place < len(chosen) and chosen[place] == digest and is_left[place]:
            is_left[place] = False
            yield line


def _digest(line: str) -> np.uint64:
    """Return the digest of a line, for which letter case and white space do not matter."""
    return np.uint64(int.from_bytes(digest_loosely(line, "")[1], "big"))
