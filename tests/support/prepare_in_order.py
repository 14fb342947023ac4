"""A preparation that reads, cleans and tokenizes one pair after the other, to compare the real one with."""

import json
from collections.abc import Iterable, Iterator, Set
from heapq import nsmallest
from operator import attrgetter
from pathlib import Path

from headway.config import TextConfig
from headway.text.cleaning import (
    FoundPairs,
    Report,
    Rule,
    broken_rule,
    digest_loosely,
    digest_pair,
    shorten,
)
from headway.text.lines import Damaged
from headway.text.prepared import write_ids, write_prepared
from headway.text.readers import Pair, describe_layout, read_pairs
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw

LANGUAGES = ("en", "de")


def prepare_in_order(
    train: list[Path],
    valid: list[Path] | int,
    out: Path,
    config: TextConfig,
    tests: list[list[Path]],
) -> None:
    """Write the directory that `headway.text.preparation.prepare` writes, with everything in memory."""
    out.mkdir()
    report = Report()
    held_out: set[bytes] = set()
    valid_pairs = [] if isinstance(valid, int) else list(read_pairs(valid, LANGUAGES))
    for pairs in (valid_pairs, *(read_pairs(paths, LANGUAGES) for paths in tests)):
        for pair in pairs:
            held_out |= {*digest_loosely(pair.source, pair.target)}
    kept = list(
        clean_in_order(read_pairs(train, LANGUAGES, strict=False), config, report, held_out)
    )
    if isinstance(valid, int):
        valid_pairs = choose_validation(kept, valid)
        kept = list(drop_held_out(kept, valid_pairs, report))
    every = -(-len(kept) // config.sample_lines)
    tokenizer = Tokenizer.learn(((p.source, p.target) for p in kept[::every]), config)
    write_ids(out / "train", token_ids(kept, tokenizer, config, report), tokenizer)
    corpus, _ = write_prepared(
        out,
        tokenizer,
        (encode(pair, tokenizer) for pair in valid_pairs),
        ([pair.source for pair in valid_pairs], [pair.target for pair in valid_pairs]),
        config=config,
        languages=LANGUAGES,
        text_files={
            "train": [str(path) for path in train],
            "valid": [] if isinstance(valid, int) else [str(path) for path in valid],
            **({"held_out": valid} if isinstance(valid, int) else {}),
            "form": {},
            "origins": [],
        },
    )
    report.tokens = {"source": corpus.source_tokens, "target": corpus.target_tokens}
    text = json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n"
    (out / "report.json").write_text(text, encoding="utf-8")
    layout = describe_layout(train, LANGUAGES)
    (out / "report.txt").write_text(f"{layout}\n{report.to_text()}\n".lstrip(), encoding="utf-8")


def clean_in_order(
    pairs: Iterable[Pair | Damaged], config: TextConfig, report: Report, held_out: Set[bytes]
) -> Iterator[Pair]:
    known: set[bytes] = set()
    for pair in pairs:
        report.read += 1
        if isinstance(pair, Damaged):
            drop(report, Rule.UNREADABLE, pair.line, pair.reason)
            continue
        source, target, line = pair.source.strip(), pair.target.strip(), pair.line
        rule = broken_rule(source, target, config)
        found = None
        if rule is None:
            whole, *halves = digest_loosely(source, target)
            if whole in held_out:
                rule = Rule.LEAK if config.drop_leaks else None
                found = report.leaks_kept
            elif not held_out.isdisjoint(halves):
                found = report.half_leaks
        digest = digest_pair(source, target)
        if rule is None and config.drop_duplicates and digest in known:
            rule = Rule.DUPLICATE
        if rule is None:
            known.add(digest)
            if found:
                found.extend(FoundPairs(1, [line], shorten(f"{source} | {target}")))
            report.kept += 1
            yield Pair(source, target, line)
        else:
            drop(report, rule, line, f"{source} | {target}")


def drop(report: Report, rule: str, line: int, example: str) -> None:
    found = FoundPairs(1, [line], shorten(example))
    report.dropped.setdefault(rule, FoundPairs()).extend(found)


def choose_validation(pairs: list[Pair], count: int) -> list[Pair]:
    known: set[bytes] = set()
    repeated: set[bytes] = set()
    for pair in pairs:
        for digest in digest_loosely(pair.source, pair.target)[1:]:
            (repeated if digest in known else known).add(digest)

    def rank(pair: Pair) -> tuple[bool, bytes, int]:
        whole, *halves = digest_loosely(pair.source, pair.target)
        return not repeated.isdisjoint(halves), whole, pair.line

    return sorted(nsmallest(count, pairs, key=rank), key=attrgetter("line"))


def drop_held_out(pairs: list[Pair], validation: list[Pair], report: Report) -> Iterator[Pair]:
    digests = [digest_loosely(pair.source, pair.target) for pair in validation]
    wholes = {whole for whole, *_ in digests}
    halves = {half for _, *sides in digests for half in sides}
    for pair in pairs:
        whole, *sides = digest_loosely(pair.source, pair.target)
        if halves.isdisjoint(sides):
            yield pair
        else:
            rule = Rule.HELD_OUT if whole in wholes else Rule.SIBLING
            report.kept -= 1
            drop(report, rule, pair.line, f"{pair.source} | {pair.target}")


def encode(
    pair: Pair, tokenizer: Tokenizer, drawn: Draw | None = None
) -> tuple[list[int], list[int]]:
    source = tokenizer.encode_source([pair.source], drawn)
    return source[0], tokenizer.encode_target([pair.target], drawn)[0]


def token_ids(
    pairs: list[Pair], tokenizer: Tokenizer, config: TextConfig, report: Report
) -> Iterator[tuple[list[int], list[int]]]:
    for copy in range(config.copies):
        drawn = Draw(config.merge_dropout, seed=copy) if copy else None
        for pair in pairs:
            ids = encode(pair, tokenizer, drawn)
            if max(map(len, ids)) <= config.max_tokens:
                yield ids
            elif not copy:
                drop(report, Rule.TOKENS, pair.line, f"{pair.source} | {pair.target}")
                report.kept -= 1
