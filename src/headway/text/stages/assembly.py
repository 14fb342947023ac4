"""The prepared directory, made of the results of all stages."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.errors import HeadwayError
from headway.text.cleaning import Report
from headway.text.corpus_writer import Block, IdPair
from headway.text.prepared import write_prepared
from headway.text.readers import Pair
from headway.text.stages.plan import Plan
from headway.text.stages.token_ranges import CHUNK, load_block, load_reports
from headway.text.tokenizer import Tokenizer


def assemble(
    directory: Path,
    plan: Plan,
    tokenizer: Tokenizer,
    valid: Sequence[Pair],
    token_ranges: Sequence[Path],
    ranges: int,
) -> None:
    """Write the prepared directory.

    Args:
        directory: An empty directory.
        plan: The text and the settings.
        tokenizer: The vocabulary.
        valid: Validation pairs.
        token_ranges: The ranges of token ids in the order of the text, and again for each further copy.
        ranges: The number of ranges of the text; the first ones have reports.

    Raises:
        HeadwayError: If no training text is left.
    """
    train, _ = write_prepared(
        directory,
        tokenizer,
        _read_blocks(token_ranges),
        _encode(valid, tokenizer),
        ([pair.source for pair in valid], [pair.target for pair in valid]),
        config=plan.config,
        languages=plan.codes,
        text_files=plan.list_text_files(),
    )
    if not len(train):
        raise HeadwayError(
            f"{plan.train[0]}: every training pair is longer than text.max_tokens ="
            f" {plan.config.max_tokens}"
        )
    report = join_reports([load_reports(path) for path in token_ranges[:ranges]])
    report.tokens = {"source": train.source_tokens, "target": train.target_tokens}
    (directory / "report.json").write_text(
        json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    text = f"{plan.layout}\n{report.to_text()}\n".lstrip()
    (directory / "report.txt").write_text(text, encoding="utf-8")


def join_reports(ranges: Sequence[Sequence[Report]]) -> Report:
    """Return the report of a text from the reports of its ranges, one for each kind of rules."""
    whole = Report()
    for reports in zip(*ranges, strict=True):
        for report in reports:
            whole.extend(report)
    return whole


def _read_blocks(directories: Sequence[Path]) -> Iterator[Block]:
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
