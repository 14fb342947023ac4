"""Token ids of each range, and the prepared directory made of all ranges."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from headway.config import TextConfig
from headway.text.cleaning import KEPT, RULES, Decisions, Report, Rule
from headway.text.languages import name_pair
from headway.text.preparation.clean_ranges import CleanRange
from headway.text.preparation.plan import Plan
from headway.text.prepared import write_ids
from headway.text.shards import IdPair
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw

CHUNK = 10_000  # pairs tokenized at a time


def write_token_range(
    directory: Path,
    cleaned: CleanRange,
    decisions: Decisions,
    tokenizer: Tokenizer,
    config: TextConfig,
    copy: int,
) -> None:
    """Write the token ids of the kept pairs of a range, and what becomes of its pairs.

    Args:
        directory: An empty directory.
        cleaned: The range.
        decisions: What becomes of its pairs, before longer ones than ``max_tokens`` are dropped.
        tokenizer: The vocabulary.
        config: ``max_tokens`` and the settings of copies.
        copy: 0: tokenize as translation does; otherwise with BPE dropout.
    """
    places = np.flatnonzero(decisions == KEPT)
    drawn = Draw(config.merge_dropout, seed=copy) if copy else None

    def encode() -> Iterator[IdPair]:
        pairs = encode_pairs(cleaned.texts(places), tokenizer, drawn)
        for place, ids in zip(places.tolist(), pairs, strict=True):
            if max(map(len, ids)) <= config.max_tokens:
                yield ids
            else:
                decisions[place] = RULES.index(Rule.TOKENS)

    write_ids(directory / "pairs", encode(), tokenizer)
    np.save(directory / "decisions.npy", decisions)


def encode_pairs(
    texts: Iterable[tuple[str, str]], tokenizer: Tokenizer, drawn: Draw | None = None
) -> Iterator[IdPair]:
    """Yield the token ids of pairs."""
    rest = iter(texts)
    while some := list(islice(rest, CHUNK)):
        sources, targets = map(list, zip(*some, strict=True))
        ids = tokenizer.encode_source(sources, drawn), tokenizer.encode_target(targets, drawn)
        yield from zip(*ids, strict=True)


def write_reports(
    directory: Path, plan: Plan, reports: Sequence[Report], tokens: dict[str, int]
) -> None:
    """Write ``report.json`` and ``report.txt``.

    Args:
        directory: The prepared directory.
        plan: The text and the settings.
        reports: Of each group.
        tokens: Side -> subwords in the kept pairs of all groups.
    """
    whole = Report(tokens=tokens)
    for report in reports:
        whole.extend(report)
    values, tables = whole.to_dict(), [f"{plan.layouts[0]}\n{whole.to_text()}".lstrip()]
    if plan.has_symbols:
        names = [name_pair(group.codes) for group in plan.groups]
        values["groups"] = {n: r.to_dict() for n, r in zip(names, reports, strict=True)}
        texts = [
            f"{layout}\n{report.to_text()}".lstrip()
            for layout, report in zip(plan.layouts, reports, strict=True)
        ]
        titles = zip((*names, "all pairs of languages"), (*texts, whole.to_text()), strict=True)
        tables = [f"{title}\n{text}" for title, text in titles]
    text = json.dumps(values, indent=2, ensure_ascii=False)
    (directory / "report.json").write_text(f"{text}\n", encoding="utf-8")
    text = "\n\n".join(tables)
    (directory / "report.txt").write_text(f"{text}\n", encoding="utf-8")
