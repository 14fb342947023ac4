"""The inputs of a comparison: training batches, sentences and subwords, as files that all sides read."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.text.readers import read_pairs
from headway.text.tokenizer import Tokenizer

LANGUAGES = ("en", "de")
BATCH_TOKENS = 2500  # target tokens of a training batch
KEPT_BATCHES = 60  # written to disk; more than any comparison uses


def find_files(text: Path, split: str) -> list[Path]:
    """Return the files of both languages of a split, such as train.en or train.en.gz."""
    names = [f"{split}.{code}{end}" for code in LANGUAGES for end in ("", ".gz")]
    found = [text / name for name in names if (text / name).exists()]
    if len(found) != len(LANGUAGES):
        raise SystemExit(f"{text}: holds no {split}.en and {split}.de, plain or .gz")
    return found


def write_batches(text: Path, tokenizer: Tokenizer, path: Path) -> dict[str, int]:
    """Write training batches of similar lengths in random order; return their counts."""
    pairs = list(read_pairs(find_files(text, "train")))
    sources = tokenizer.encode_source([pair.source for pair in pairs])
    targets = tokenizer.encode_target([pair.target for pair in pairs])
    order = sorted(range(len(pairs)), key=lambda i: (len(targets[i]), len(sources[i])))
    batches = list(batch_by_length(order, targets))
    random.Random(1).shuffle(batches)
    values = {
        "batches": [
            {"source": [sources[i] for i in rows], "target": [targets[i] for i in rows]}
            for rows in batches[:KEPT_BATCHES]
        ]
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return {"pairs": len(pairs), "batches": len(batches), "target tokens": sum(map(len, targets))}


def batch_by_length(order: Sequence[int], targets: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Divide sorted rows into batches of about `BATCH_TOKENS` target tokens."""
    rows: list[int] = []
    tokens = 0
    for i in order:
        rows.append(i)
        tokens += len(targets[i])
        if tokens >= BATCH_TOKENS:
            yield rows
            rows, tokens = [], 0


def write_sentences(text: Path, tokenizer: Tokenizer, path: Path) -> list[str]:
    """Write the ids of the test set; return the references as text."""
    pairs = list(read_pairs(find_files(text, "test_2016_flickr")))
    values = {
        "sources": tokenizer.encode_source([pair.source for pair in pairs]),
        "references": tokenizer.encode_target([pair.target for pair in pairs]),
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return [pair.target for pair in pairs]


def write_subwords(tokenizer: Tokenizer, path: Path) -> None:
    """Write the subwords of the vocabulary in the order of their ids, ``<pad>`` included."""
    subwords = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    path.write_text(json.dumps(subwords, ensure_ascii=False), encoding="utf-8")
