"""The stages of a preparation, and what each writes.

| stage | chunks | result of a chunk |
|---|---|---|
| clean | one a range of the text | the pairs that break no rule by themselves, and their digests |
| select | 1 | which pairs are training text, and the validation text |
| learn | 1, or 2 for two vocabularies | the subwords |
| tokens | one a range and copy | token ids |
| assemble | 1 | the prepared directory |

Most kinds of text can only be read in order (compressed files, tables, standard input), so one process reads it and
hands each range to those that clean. It reads the validation and test text before that.
"""

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, product
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.files import replace_text
from headway.text.chunks import Stage, find_result
from headway.text.cleaning import KEPT, RULES, Decisions, Digests, Report, Rule, digest_texts
from headway.text.groups import Group, TextGroup
from headway.text.languages import name_pair
from headway.text.learning import divide_sample, learn_model, spread_step
from headway.text.lines import Damaged
from headway.text.preparation.clean_ranges import (
    CleanRange,
    Places,
    clean_range,
    make_report,
)
from headway.text.preparation.plan import Plan
from headway.text.preparation.selection import PairSelection, read_decisions
from headway.text.prepared import write_ids, write_prepared
from headway.text.readers import Pair, read_pairs, require_readable
from headway.text.shards import Corpus, IdPair
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw

RANGES = "ranges.json"  # the group of each range, when all text is clean
VALID = "valid.json"  # the sources and targets of the validation text of each group
CHUNK = 10_000  # pairs tokenized at a time


@dataclass(frozen=True)
class PreparationStages:
    """The stages of a preparation.

    Attributes:
        plan: The text and the settings.
        directory: Where the results of earlier stages are.
    """

    plan: Plan
    directory: Path

    def list_stages(self) -> Iterator[Stage]:
        """Yield each stage when the results of the stages before it are there."""
        config = self.plan.config
        valid, held_out = self._read_held_out()
        if not (self.directory / RANGES).exists():
            groups: list[int] = []
            yield Stage("clean", self._read_ranges(groups), partial(self.clean, held_out))
            replace_text(self.directory / RANGES, json.dumps(groups))
        yield Stage("select", [0], partial(self.select, valid))
        if not self.plan.models:
            yield Stage("learn", range(1 if config.joint_vocab else 2), self.learn)
        copies, ranges = range(config.copies), range(len(self._groups))
        yield Stage("tokens", product(copies, ranges), self.tokenize)
        yield Stage("assemble", [0], self.assemble)

    @property
    def result(self) -> Path:
        """The prepared directory, after the last stage."""
        return self._result("assemble") / "data"

    def clean(self, held_out: Digests, text: bytes, directory: Path) -> None:
        """Clean a range, which is pickled."""
        pairs: list[Pair | Damaged] = pickle.loads(text)
        clean_range(directory, pairs, self.plan.config, held_out, with_sides=self.plan.holds_out)

    def select(self, given: list[list[Pair]], _: int, directory: Path) -> None:
        """Decide which pairs are training text, and choose the validation text that is not given."""
        plan = self.plan
        selections, valid, wholes, sides = [], [], [], []
        for number, group in enumerate(plan.groups):
            ranges = [self._range(n) for n in self._numbers(number)]
            selection = PairSelection(directory / f"decisions-{number}", ranges, plan.range_pairs)
            selection.require_pairs(self._name(number))
            if plan.config.drop_duplicates:
                selection.drop_duplicates()
            chosen = selection.choose(group.held_out) if group.holds_out else []
            digests = digest_texts(self._in_all_orders(chosen))
            selections.append(selection)
            valid.append([(pair.source, pair.target) for pair in given[number] or chosen])
            wholes.append(digests[: len(chosen), 0])
            sides.append(digests[:, 1:])
        for number, selection in enumerate(selections):
            selection.drop_held_out(wholes[number], np.concatenate(sides))
            selection.require_pairs(self._name(number))
        (directory / VALID).write_text(json.dumps(valid))

    def learn(self, number: int, directory: Path) -> None:
        """Learn the subwords of a vocabulary."""
        config = self.plan.config
        sides = slice(0, 2) if config.joint_vocab else slice(number, number + 1)
        lines = (line for pair in self._sample() for line in pair[sides])
        has_symbols = self.plan.has_symbols and number == 0  # sources begin with them
        languages = {group.codes[1] for group in self.plan.groups} if has_symbols else ()
        (directory / "model").write_bytes(learn_model(lines, config, sorted(languages)))

    def tokenize(self, chunk: tuple[int, int], directory: Path) -> None:
        """Write the token ids of the kept pairs of a range, and what becomes of its pairs.

        Args:
            chunk: The number of the copy, and of the range. Copy 0 is tokenized as translation does, others with
                BPE dropout.
            directory: An empty directory.
        """
        copy, number = chunk
        config, decisions = self.plan.config, self._decisions(number)
        tokenizer = self._tokenizer(self.plan.groups[self._groups[number]])
        drawn = Draw(config.merge_dropout, seed=copy) if copy else None
        places = np.flatnonzero(decisions == KEPT)

        def encode() -> Iterator[IdPair]:
            pairs = _encode_pairs(self._range(number).texts(places), tokenizer, drawn)
            for place, ids in zip(places.tolist(), pairs, strict=True):
                if max(map(len, ids)) <= config.max_tokens:
                    yield ids
                else:
                    decisions[place] = RULES.index(Rule.TOKENS)

        write_ids(directory / "pairs", encode(), tokenizer)
        np.save(directory / "decisions.npy", decisions)

    def assemble(self, _: int, directory: Path) -> None:
        """Write the prepared directory."""
        plan, result = self.plan, directory / "data"
        counts, reports, parts = list[Group](), list[Report](), list[Path]()
        texts, ids = list[tuple[str, str]](), list[Iterator[IdPair]]()
        valid = json.loads((self._result("select") / VALID).read_bytes())
        for number, group in enumerate(plan.groups):
            numbers = self._numbers(number)
            copies = product(range(plan.config.copies), numbers)
            own = [self._tokens(copy, number) / "pairs" for copy, number in copies]
            training_pairs = sum(len(Corpus(part)) for part in own)
            if not training_pairs:
                raise HeadwayError(
                    f"{group.train[0]}: every training pair is longer than text.max_tokens ="
                    f" {plan.config.max_tokens}"
                )
            parts += own
            texts += valid[number]
            ids.append(_encode_pairs(valid[number], self._tokenizer(group)))
            counts.append(Group(group.codes, training_pairs, len(valid[number])))
            decisions = (np.load(self._tokens(0, number) / "decisions.npy") for number in numbers)
            reports.append(make_report(zip(map(self._range, numbers), decisions, strict=True)))
        train = Corpus.join(result / "train", parts)
        write_prepared(
            result,
            self._tokenizer(plan.groups[0]),
            chain.from_iterable(ids),
            ([source for source, _ in texts], [target for _, target in texts]),
            config=plan.config,
            languages=plan.groups[0].codes,
            groups=counts if plan.has_symbols else (),
            text_files=plan.list_text_files(),
        )
        tokens = {"source": train.source_tokens, "target": train.target_tokens}
        self._write_reports(result, reports, tokens)

    def _write_reports(
        self, directory: Path, reports: Sequence[Report], tokens: dict[str, int]
    ) -> None:
        """Write ``report.json`` and ``report.txt``.

        Args:
            directory: The prepared directory.
            reports: Of each group.
            tokens: Side -> subwords in the kept pairs of all groups.
        """
        whole = Report(tokens=tokens)
        for report in reports:
            whole.extend(report)
        values, named = whole.to_dict(), [("", self.plan.layouts[0], whole)]
        if self.plan.has_symbols:
            names = [name_pair(group.codes) for group in self.plan.groups]
            values["groups"] = {n: r.to_dict() for n, r in zip(names, reports, strict=True)}
            named = [*zip(names, self.plan.layouts, reports, strict=True)]
            named.append(("all pairs of languages", "", whole))
        tables = [
            "\n".join(filter(None, (name, layout, report.to_text())))
            for name, layout, report in named
        ]
        text = json.dumps(values, indent=2, ensure_ascii=False)
        (directory / "report.json").write_text(f"{text}\n", encoding="utf-8")
        text = "\n\n".join(tables)
        (directory / "report.txt").write_text(f"{text}\n", encoding="utf-8")

    # What is kept, for callers that need the text itself.

    def count_kept(self) -> int:
        """Return how many pairs are kept before their tokens are counted; the stage "select" is finished."""
        return sum(len(self._kept(number)) for number in range(len(self._groups)))

    def read_kept(self) -> Iterator[tuple[int, str, str]]:
        """Yield the pairs of text that has one group, as prepared, each with its number in the given text, from 0."""
        for number in range(len(self._groups)):
            places = np.flatnonzero(np.load(self._tokens(0, number) / "decisions.npy") == KEPT)
            texts = self._range(number).texts(places)
            for place, (source, target) in zip(places.tolist(), texts, strict=True):
                yield number * self.plan.range_pairs + place, source, target

    # What the stages share.

    def _in_all_orders(self, pairs: Iterable[Pair]) -> list[tuple[str, str]]:
        """Return the texts of pairs, if there are groups also from target to source."""
        texts = [(pair.source, pair.target) for pair in pairs]
        is_alone = len(self.plan.groups) == 1
        return texts if is_alone else texts + [(target, source) for source, target in texts]

    def _read(
        self, paths: Sequence[str], group: TextGroup, limit: float = 0
    ) -> Iterator[Pair | Damaged]:
        """Read text, of which at most a share may be unreadable."""
        pairs = read_pairs(paths, group.languages, strict=False, form=self.plan.form)
        return require_readable(pairs, group.codes, self.plan.form, limit)

    def _read_all(self, paths: Sequence[str], group: TextGroup) -> list[Pair]:
        """Read validation or test text, of which every line must be a pair or of other languages."""
        return [pair for pair in self._read(paths, group) if isinstance(pair, Pair)]

    def _read_held_out(self) -> tuple[list[list[Pair]], Digests]:
        """Return the given validation text of each group, and the digests of all validation and test text."""
        given, digests = [], []
        for group in self.plan.groups:
            valid = self._read_all(group.valid, group) if group.valid else []
            if group.valid and not valid:
                raise HeadwayError(f"{group.valid[0]}: holds no validation pairs")
            tests = [pair for paths in group.tests for pair in self._read_all(paths, group)]
            given.append(valid)
            digests.append(digest_texts(self._in_all_orders([*valid, *tests])))
        return given, np.concatenate(digests)

    def _read_ranges(self, groups: list[int]) -> Iterator[bytes]:
        """Yield the training text, range by range, and append the group of each range to a list."""
        config = self.plan.config
        limit = config.max_unreadable if config.drop_unreadable else 0
        for number, group in enumerate(self.plan.groups):
            pairs = self._read(group.train, group, limit)
            while text := _pickle_some(pairs, self.plan.range_pairs):
                groups.append(number)
                yield text

    def _name(self, group: int) -> str:
        """Return what a message calls the text of a group."""
        return self.plan.layouts[group] or self.plan.groups[group].train[0]

    @cached_property
    def _groups(self) -> list[int]:
        """The group of each range; all text is clean."""
        groups: list[int] = json.loads((self.directory / RANGES).read_bytes())
        return groups

    def _numbers(self, group: int) -> list[int]:
        """Return the numbers of the ranges of a group."""
        return [number for number, of in enumerate(self._groups) if of == group]

    def _range(self, number: int) -> CleanRange:
        return CleanRange(self._result("clean", number))

    def _tokens(self, copy: int, number: int) -> Path:
        return self._result("tokens", copy * len(self._groups) + number)

    def _decisions(self, number: int) -> Decisions:
        """Return what becomes of the pairs of a range, as far as it is decided before the subwords are learned."""
        group = self._groups[number]
        file = self._result("select") / f"decisions-{group}"
        return read_decisions(file, number - self._groups.index(group), self.plan.range_pairs)

    def _sample(self) -> Iterator[tuple[str, str]]:
        """Yield pairs that are spread over the training text of each group, to learn subwords from."""
        groups = [self._numbers(group) for group in range(len(self.plan.groups))]
        kept = [sum(len(self._kept(number)) for number in numbers) for numbers in groups]
        size = self.plan.config.sample_lines
        sizes = divide_sample(kept, size) if size else kept
        for numbers, count, wanted in zip(groups, kept, sizes, strict=True):
            every = spread_step(count, wanted)
            passed = 0
            for number in numbers:
                places = self._kept(number)
                yield from self._range(number).texts(places[-passed % every :: every])
                passed += len(places)

    def _kept(self, number: int) -> Places:
        """Return the places of the kept pairs of a range."""
        return np.flatnonzero(self._decisions(number) == KEPT)

    def _tokenizer(self, group: TextGroup) -> Tokenizer:
        """Return the tokenizer of a group: its sources begin with the symbol of the target language."""
        models = self.plan.models
        if not models:
            sides = range(1 if self.plan.config.joint_vocab else 2)
            models = tuple((self._result("learn", side) / "model").read_bytes() for side in sides)
        tokenizer = Tokenizer(*models, threads=1)
        return tokenizer.to(group.codes[1]) if self.plan.has_symbols else tokenizer

    def _result(self, stage: str, number: int = 0) -> Path:
        return find_result(self.directory / stage, number)


def _pickle_some(pairs: Iterator[Pair | Damaged], count: int) -> bytes:
    """Return some pairs, which wait for a worker in less than half of their memory; empty: there are no more."""
    some = list(islice(pairs, count))
    return pickle.dumps(some) if some else b""


def _encode_pairs(
    texts: Iterable[tuple[str, str]], tokenizer: Tokenizer, drawn: Draw | None = None
) -> Iterator[IdPair]:
    """Yield the token ids of pairs."""
    rest = iter(texts)
    while some := list(islice(rest, CHUNK)):
        sources, targets = map(list, zip(*some, strict=True))
        ids = tokenizer.encode_source(sources, drawn), tokenizer.encode_target(targets, drawn)
        yield from zip(*ids, strict=True)
