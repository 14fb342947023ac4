"""Phrase books for Headway: files in which a translation follows each phrase."""

import argparse
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway.extension import Extension, Verb

extension = Extension(
    name="phrasebook",
    version="1.0",
    verbs={"phrases": Verb("headway_phrasebook", "print the pairs of a phrase book as a table")},
    readers={".phrases": "headway_phrasebook:read_phrases"},
    stages={"mark": "headway_phrasebook:mark"},
    names={"read_phrases": "headway_phrasebook:read_phrases"},
)
EXAMPLE = "headway phrases travel.phrases > travel.tsv"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``headway phrases``."""
    parser.add_argument("file", metavar="FILE", help="phrase book to print")


def run(args: argparse.Namespace) -> None:
    """Run ``headway phrases``."""
    for source, target in read_phrases(args.file):
        print(source, target, sep="\t")


def read_phrases(path: str, languages: object = None) -> Iterator[tuple[str, str]]:
    """Yield each phrase with its translation, which is the line after it."""
    with Path(path).open(encoding="utf-8") as lines:
        for source in lines:
            yield source.strip(), next(lines, "").strip()


def mark(line: str) -> Generator[str, list[Any], list[Any]]:
    """Stage of a translation: a heart at the end of a line is not translated, and stays."""
    heart = " \u2665" if line.endswith(" \u2665") else ""
    found = yield line.removesuffix(heart)
    return [replace(each, text=each.text + heart) for each in found]
