"""Prepared text: what each form of parallel text becomes, and what is said of damaged text."""

import csv
import gzip
import json
import shlex
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import run_each, write_messages, write_tree
from texts import pairs, read_cases, write_lines, write_pairs


def record(out):
    """Write what some cases of text become, and the answers to mistakes."""
    cases = read_cases("prepared.txt")
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        commands = [*cases, *read_cases("damaged_text.txt")]
        answers = run_each([["prepare", *shlex.split(line)] for line in commands], folder)
        write_messages(out / "messages.jsonl", zip(commands, answers, strict=True))
        for case in cases:
            write_tree(out / f"{case.split()[0]}.txt", folder / case.split()[0])


def write_files(folder):
    """Write the same text in each form, and damaged text."""
    rows = pairs(300)
    a = write_pairs(folder, "a", rows)
    write_pairs(folder, "v", pairs(20, seed=2))
    write_pairs(folder, "t", [*pairs(10, seed=3), *rows[:10]])
    for path in a:
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    write_table(folder / "a.csv", [("en", "de"), *rows], ",")
    write_table(folder / "a.tsv", rows, "\t")
    objects = [{"source": en, "target": de} for en, de in rows]
    write_lines(folder / "a.jsonl", [json.dumps(row, ensure_ascii=False) for row in objects])
    units = [f'<tu><tuv xml:lang="en"><seg>{en}</seg></tuv><tuv xml:lang="de"><seg>{de}</seg></tuv></tu>' for en, de in rows]  # fmt: skip
    head = '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>'
    dirty = [
        ("", "leer"), ("same", "same"), rows[0], rows[0], ("a\x07b", "a b"), ("The dog " * 40, "Hund"), ("x " * 3000, "y " * 3000),
        ("The dog sees a cat", "The dog sees a Kater"), *pairs(20, seed=2),
    ]  # fmt: skip
    write_pairs(folder, "d", [*dirty, *rows])
    write_lines(folder / "short.de", [de for _, de in rows[:-1]])
    for name, lines in {
        "empty.en": [], "empty.de": [], "broken.jsonl": ['{"source": "a", "target": "b"}', '{"source": "a"'],
        "broken.tmx": [head, *units[:5]], "quotes.csv": ['"a,b', "c,d"], "wide.csv": ["a,b,c", "d,e,f"], "a.docx": ["PK\x03\x04"],
        "page.en": ["<!DOCTYPE html>"], "marked.en": ["\ufeff<html lang='en'>"], "xml.en": ["<?xml version='1.0'?>", "<xliff/>"],
        "vtt.en": ["WEBVTT", "", "00:01.000 --> 00:02.000"], "cue.en": ["\ufeff1\r", "00:00:01,000 --> 00:00:02,000\r"],
        "number.jsonl": ["7"], "mac.csv": ["en,de\rthe cat,die Katze\r"], "pdf.en": ["%PDF-1.7"],
        "null.jsonl": ['{"source": "a", "target": null}'], "half.jsonl": ['{"source": "a", "target": "\\udc00"}'],
        "v.fr": [f"{number} chats" for number in range(20)],
    }.items():  # fmt: skip
        write_lines(folder / name, lines)
    (folder / "latin.en").write_bytes("".join(f"café {en}\n" for en, _ in rows).encode("latin-1"))
    (folder / "broken.en.gz").write_bytes((folder / "a.en.gz").read_bytes()[:-20])


def write_table(path, rows, delimiter):
    """Write a table."""
    text = StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="\n")
