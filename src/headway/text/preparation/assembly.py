"""The prepared directory, made of the results of all stages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.text.cleaning import Report
from headway.text.corpus_writer import IdBlock, IdPair
from headway.text.groups import Group
from headway.text.languages import name_pair
from headway.text.preparation.plan import Plan
from headway.text.preparation.token_ranges import CHUNK, count_pairs, load_block, load_reports
from headway.text.prepared import write_prepared
from headway.text.readers import Pair
from headway.text.tokenizer import Tokenizer


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
