"""Token ids of each range, with the reports of its pairs, and the prepared directory made of all ranges."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.cleaning import TOKENS, Report
from headway.text.corpus_writer import IdBlock, IdPair, Side
from headway.text.groups import Group
from headway.text.languages import name_pair
from headway.text.preparation.clean_ranges import CleanRange
from headway.text.preparation.plan import Plan
from headway.text.preparation.selection import KEPT, Decisions, report_cleaning, report_held_out
from headway.text.prepared import id_type, write_prepared
from headway.text.readers import Pair
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw

CHUNK = 10_000  # pairs tokenized at a time
REPORTS = "reports.json"


def write_token_range(
    directory: Path,
    cleaned: CleanRange,
    decisions: Decisions,
    tokenizer: Tokenizer,
    config: TextConfig,
    copy: int,
) -> None:
    """Write the token ids of the kept pairs of a range.

    Args:
        directory: An empty directory.
        cleaned: The range.
        decisions: What becomes of its pairs.
        tokenizer: The vocabulary.
        config: ``max_tokens`` and the settings of copies.
        copy: 0: tokenize as translation does, and write reports; otherwise with BPE dropout.
    """
    texts = cleaned.all_pairs()
    indices = np.flatnonzero(decisions == KEPT).tolist()
    lines = cleaned.lines()
    drawn = Draw(config.merge_dropout, seed=copy) if copy else None
    dtype = id_type(tokenizer)
    report = Report()
    blocks = []
    for start in range(0, len(indices), CHUNK):
        some = indices[start : start + CHUNK]
        sources = tokenizer.encode_source([texts[0][i] for i in some], drawn)
        targets = tokenizer.encode_target([texts[1][i] for i in some], drawn)
        fits = [
            max(len(source), len(target)) <= config.max_tokens
            for source, target in zip(sources, targets, strict=True)
        ]
        for i, is_kept in zip(some, fits, strict=True):
            if not is_kept:
                report.drop(TOKENS, int(lines[i]), f"{texts[0][i]} | {texts[1][i]}")
                report.kept -= 1
        sides = (
            [ids for ids, is_kept in zip(side, fits, strict=True) if is_kept]
            for side in (sources, targets)
        )
        blocks.append(IdBlock(*(Side.make(side, dtype) for side in sides)))
    if blocks:
        save_block(directory, IdBlock.join(blocks))
    if not copy:
        reports = (
            report_cleaning(cleaned, decisions, texts),
            report_held_out(cleaned, decisions, texts),
            report,
        )
        (directory / REPORTS).write_text(json.dumps([asdict(r) for r in reports]), "utf-8")


def save_block(directory: Path, block: IdBlock) -> None:
    """Write what `load_block` reads."""
    for name, side in block._asdict().items():
        np.save(directory / f"{name}.ids.npy", side.ids)
        np.save(directory / f"{name}.lengths.npy", side.lengths)


def load_block(directory: Path) -> IdBlock | None:
    """Read the ids of a range; None: it has no pairs."""
    if not (directory / "source.ids.npy").exists():
        return None
    return IdBlock(
        *(
            Side(np.load(directory / f"{name}.ids.npy"), np.load(directory / f"{name}.lengths.npy"))
            for name in IdBlock._fields
        )
    )


def count_pairs(directory: Path) -> int:
    """Return the number of pairs of a range, without reading their ids."""
    lengths = directory / "source.lengths.npy"
    return len(np.load(lengths, mmap_mode="r")) if lengths.exists() else 0


def load_reports(directory: Path) -> list[Report]:
    """Read the reports of a range: of cleaning and duplicates, of held-out pairs, and of long pairs."""
    return [Report.from_dict(values) for values in json.loads((directory / REPORTS).read_bytes())]


@dataclass(frozen=True)
class TokenizedGroup:
    """The results of the stages for a group.

    Attributes:
        tokenizer: The vocabulary; sources of groups begin with the symbol of their target language.
        valid: Validation pairs.
        token_ranges: For each copy the ranges of token ids in the order of the text; those of the first
            have reports.
    """

    tokenizer: Tokenizer
    valid: Sequence[Pair]
    token_ranges: Sequence[Sequence[Path]]


def assemble(directory: Path, plan: Plan, groups: Sequence[TokenizedGroup]) -> None:
    """Write the prepared directory.

    Args:
        directory: An empty directory.
        plan: The text and the settings.
        groups: The results of the stages, in the order of the plan's groups.

    Raises:
        HeadwayError: If no training text of a group is left.
    """
    tokens = [[path for ranges in group.token_ranges for path in ranges] for group in groups]
    counts = [
        Group(text.codes, sum(map(count_pairs, paths)), len(group.valid))
        for text, group, paths in zip(plan.groups, groups, tokens, strict=True)
    ]
    for text, count in zip(plan.groups, counts, strict=True):
        if not count.training_pairs:
            raise HeadwayError(
                f"{text.train[0]}: every training pair is longer than text.max_tokens ="
                f" {plan.config.max_tokens}"
            )
    valid = [pair for group in groups for pair in group.valid]
    train, _ = write_prepared(
        directory,
        groups[0].tokenizer,
        _read_blocks([path for paths in tokens for path in paths]),
        (ids for group in groups for ids in _encode(group.valid, group.tokenizer)),
        ([pair.source for pair in valid], [pair.target for pair in valid]),
        config=plan.config,
        languages=plan.groups[0].codes,
        groups=counts if plan.has_symbols else (),
        text_files=plan.list_text_files(),
    )
    reports = [join_reports([*map(load_reports, group.token_ranges[0])]) for group in groups]
    texts = [
        f"{layout}\n{report.to_text()}".lstrip()
        for layout, report in zip(plan.layouts, reports, strict=True)
    ]
    report = join_reports([[each] for each in reports])
    report.tokens = {"source": train.source_tokens, "target": train.target_tokens}
    values = report.to_dict()
    if plan.has_symbols:
        names = [name_pair(group.codes) for group in plan.groups]
        values["groups"] = {n: r.to_dict() for n, r in zip(names, reports, strict=True)}
        tables = zip((*names, "all pairs of languages"), (*texts, report.to_text()), strict=True)
        whole = "\n\n".join(f"{name}\n{table}" for name, table in tables)
    else:
        whole = f"{plan.layouts[0]}\n{report.to_text()}".lstrip()
    (directory / "report.json").write_text(
        json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (directory / "report.txt").write_text(f"{whole}\n", encoding="utf-8")


def join_reports(ranges: Sequence[Sequence[Report]]) -> Report:
    """Return the report of a text from the reports of its ranges, one for each kind of rules."""
    whole = Report()
    for reports in zip(*ranges, strict=True):
        for report in reports:
            whole.extend(report)
    return whole


def _read_blocks(directories: Sequence[Path]) -> Iterator[IdBlock]:
    for directory in directories:
        block = load_block(directory)
        if block is not None:
            yield block


def _encode(pairs: Sequence[Pair], tokenizer: Tokenizer) -> Iterator[IdPair]:
    for start in range(0, len(pairs), CHUNK):
        some = pairs[start : start + CHUNK]
        sources = tokenizer.encode_source([pair.source for pair in some])
        targets = tokenizer.encode_target([pair.target for pair in some])
        yield from zip(sources, targets, strict=True)
