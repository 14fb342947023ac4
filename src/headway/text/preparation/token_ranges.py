"""Token ids of a range, and the reports of its pairs."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from headway.config import TextConfig
from headway.text.cleaning import TOKENS, Report
from headway.text.corpus_writer import IdBlock, Side
from headway.text.preparation.clean_ranges import CleanRange
from headway.text.preparation.selection import KEPT, Decisions, report_cleaning, report_held_out
from headway.text.prepared import id_type
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
