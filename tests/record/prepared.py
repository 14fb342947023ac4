"""Prepared text: what each form of parallel text becomes, and what is said of damaged text."""

import csv
import gzip
import json
import shlex
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from side import Side, write_messages, write_tree
from texts import pairs, plain, write_lines, write_pairs

VOCABULARY = "--text.vocab-size 420"
VALID = "--valid v.en v.de"
# Arguments of `headway prepare` for each case.
CASES = {
    "files": f"--train a.en a.de {VALID} {VOCABULARY} --workers 1",
    "workers": f"--train a.en a.de {VALID} {VOCABULARY} --workers 2",
    "valid": f"--train a.en a.de --valid 20 {VOCABULARY} --workers 1",
    "test": f"--train a.en a.de {VALID} --test t.en t.de {VOCABULARY} --workers 1",
    "csv": f"--train a.csv {VALID} --languages en de {VOCABULARY} --workers 1",
    "semicolons": f"--train b.csv {VALID} --columns Englisch Deutsch --languages en de {VOCABULARY} --workers 1",
    "tsv": f"--train a.tsv {VALID} --languages en de {VOCABULARY} --workers 1",
    "jsonl": f"--train a.jsonl {VALID} --languages en de {VOCABULARY} --workers 1",
    "tmx": f"--train a.tmx {VALID} --languages en de {VOCABULARY} --workers 1",
    "gz": f"--train a.en.gz a.de.gz {VALID} {VOCABULARY} --workers 1",
    "cp1252": f"--train c.en c.de {VALID} --encoding cp1252 {VOCABULARY} --workers 1",
    "several": f"--train en-de a.en a.de --train de-en a.de a.en --valid 20 {VOCABULARY} --workers 1",
    "dirty": f"--train d.en d.de {VALID} {VOCABULARY} --workers 1",
    "unigram": f"--train a.en a.de {VALID} --text.subwords unigram --text.vocab-size 370 --workers 1",
    "words": f"--train a.en a.de {VALID} --text.subwords none --text.vocab-size 100 --workers 1",
    "apart": f"--train a.en a.de {VALID} --text.joint-vocab false --text.split-digits true --text.vocab-size 360 --workers 1",
    "copies": f"--train a.en a.de {VALID} --text.copies 3 {VOCABULARY} --workers 1",
    "vocabulary": f"--train a.en a.de {VALID} --vocabulary files/tokenizer.model --workers 1",
}  # fmt: skip
MISTAKES = f"""
files --train a.en a.de --valid v.en v.de
x1 --train a.en short.de --valid 5
x2 --train empty.en empty.de --valid 5 --languages en de
x3 --train broken.jsonl --valid 5 --languages en de
x4 --train broken.tmx --valid 5 --languages en de
x5 --train quotes.csv --valid 5 --languages en de
x6 --train broken.en.gz a.de --valid 5
x7 --train latin.en a.de --valid 5 {VOCABULARY}
x8 --train a.en a.de --valid 5 --text.vocab-size 50
x9 --train a.en a.de --valid 5 --text.vocab-size 5000
x10 --train a.en a.de --valid 500 {VOCABULARY}
x11 --train a.en a.de --valid 5 --vocabulary a.en
x12 --train a.csv --valid 5 --languages en fr
x13 --train wide.csv --valid 5 --languages en de
x14 --train a.en a.de --valid 5 --encoding nothing
x15 --train a.docx --valid 5 --languages en de
"""
STORED = ("files", "csv", "dirty", "several")


def record(side: Side, model: Path, out: Path) -> None:
    """Write each case, the answers to mistakes, and a larger text that two workers prepare."""
    prepare(side, out, list(CASES), {language: plain(model, 1600, language) for language in ("en", "de")})  # fmt: skip


def record_stored(side: Side, out: Path) -> None:
    """Write some cases and the answers to mistakes."""
    prepare(side, out, STORED, {})


def prepare(side: Side, out: Path, names: list[str], larger: dict[str, list[str]]) -> None:
    """Prepare the text of cases and, if it is given, a larger one."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        cases = {case: ["prepare", case, *shlex.split(CASES[case])] for case in names}
        if larger:
            train = [str(write_lines(folder / f"large.{code}", larger[code])) for code in larger]
            cases["large"] = ["prepare", "large", "--train", *train, "--valid", "100", "--workers", "2", "--text.vocab-size", "1000"]  # fmt: skip
        mistakes = {line: ["prepare", *shlex.split(line)] for line in MISTAKES.strip().splitlines()}
        answers = side.run_each([*cases.values(), *mistakes.values()], cwd=folder)
        write_messages(out / "messages.jsonl", zip([*cases, *mistakes], answers, strict=True))
        for case in cases:
            write_tree(out / f"{case}.txt", folder / case)


def write_files(folder: Path) -> None:
    """Write the same text in each form, and damaged text."""
    rows = pairs(300)
    a = write_pairs(folder, "a", rows)
    write_pairs(folder, "v", pairs(20, seed=2))
    write_pairs(folder, "t", [*pairs(10, seed=3), *rows[:10]])
    for path in a:
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        (folder / f"c{path.suffix}").write_bytes(path.read_text("utf-8").encode("cp1252"))
    write_table(folder / "a.csv", [("en", "de"), *rows], ",")
    write_table(folder / "b.csv", [("Nr", "Deutsch", "Englisch"), *((str(n), de, en) for n, (en, de) in enumerate(rows))], ";")  # fmt: skip
    write_table(folder / "a.tsv", rows, "\t")
    objects = [{"source": en, "target": de} for en, de in rows]
    write_lines(folder / "a.jsonl", [json.dumps(row, ensure_ascii=False) for row in objects])
    units = [f'<tu><tuv xml:lang="en"><seg>{en}</seg></tuv><tuv xml:lang="de"><seg>{de}</seg></tuv></tu>' for en, de in rows]  # fmt: skip
    head = '<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>'
    write_lines(folder / "a.tmx", [head, *units, "</body></tmx>"])
    dirty = [
        ("", "leer"), ("same", "same"), rows[0], rows[0], ("a\x07b", "a b"), ("The dog " * 40, "Hund"), ("x " * 3000, "y " * 3000),
        ("The dog sees a cat", "The dog sees a Kater"), *pairs(20, seed=2),
    ]  # fmt: skip
    write_pairs(folder, "d", [*dirty, *rows])
    write_lines(folder / "short.de", [de for _, de in rows[:-1]])
    for name, lines in {
        "empty.en": [], "empty.de": [], "broken.jsonl": ['{"source": "a", "target": "b"}', '{"source": "a"'],
        "broken.tmx": [head, *units[:5]], "quotes.csv": ['"a,b', "c,d"], "wide.csv": ["a,b,c", "d,e,f"], "a.docx": ["PK"],
    }.items():  # fmt: skip
        write_lines(folder / name, lines)
    (folder / "latin.en").write_bytes("".join(f"café {en}\n" for en, _ in rows).encode("latin-1"))
    (folder / "broken.en.gz").write_bytes((folder / "a.en.gz").read_bytes()[:-20])


def write_table(path: Path, rows: list[tuple[str, ...]], delimiter: str) -> None:
    """Write a table."""
    text = StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="\n")
