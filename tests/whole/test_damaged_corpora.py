"""A damaged corpus shifts no line: what can be read is read, and an error names file and line."""

import gzip
import json
import lzma
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import zstandard

from headway.cli.main import main
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text import Damaged, Pair, read_pairs
from support.bounds import bounded
from support.numbered_text import DOCTYPE, HEAD, Text, make_tmx, number_pairs, units
from support.range_cleaning import clean

PAIRS = number_pairs(9)
NUMBERED = dict(enumerate(PAIRS, 1))
SIDES = tuple([pair[side].encode() for pair in PAIRS] for side in (0, 1))
LINES = (1, 5, 9)  # the places of damage


class Case(NamedTuple):
    """A damaged corpus.

    Args:
        kind: What is wrong.
        files: Names and contents; None: a directory.
        faulty: The file that an error names; by default the first one.
        kept: Line -> source and target of what is read.
        unreadable: The line that is reported, and refused when reading strictly.
        unfit: The line that is read, and dropped by cleaning.
        refused: What the error says of a corpus that is refused. At its beginning may be a line and ``:``, or ``:`` for
            any line.
    """

    kind: str
    files: dict[str, bytes | None]
    faulty: str = ""
    kept: dict[int, Text] = NUMBERED
    unreadable: int | None = None
    unfit: int | None = None
    refused: str | None = None


def without(line):
    return {number: pair for number, pair in NUMBERED.items() if number != line}


def join(lines, end=b"\n"):
    return b"".join(line + end for line in lines)


def two(**changed):
    """Return two files of lines, of which one or both are others than the sound ones."""
    return {
        f"corpus.{code}": changed.get(code, join(SIDES[n])) for n, code in enumerate(("en", "de"))
    }


def at_each_place(mark):
    """Yield corpora with a mark instead of a space: the number of the line, the language, and the files."""
    for side, code in enumerate(("en", "de")):
        for line in LINES:
            lines = [*SIDES[side]]
            lines[line - 1] = lines[line - 1].replace(
                b" ", mark.encode("utf-8", "surrogateescape"), 1
            )
            yield line, code, two(**{code: join(lines)})


def plain_text():
    """Yield damage of two files of lines."""
    # No UTF-8 are a byte, half of a character, a surrogate, five bytes, and a slash in two bytes.
    broken = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf"]
    for mark in (
        "no line end " * 90_000,
        *(each.decode("utf-8", "surrogateescape") for each in broken),
    ):
        for line, code, files in at_each_place(mark):
            kind = "a huge line" if len(mark) > 9 else "not UTF-8"
            yield Case(kind, files, f"corpus.{code}", without(line), unreadable=line)
    for mark in "\0\x01\x08\x1b\x7f\x80\x93\u2028\u2029\x85\v\f\r\x1c\x1d\x1e":
        for line, code, files in at_each_place(mark):
            source, target = NUMBERED[line]
            pair = (
                (source.replace(" ", mark, 1), target)
                if code == "en"
                else (source, target.replace(" ", mark, 1))
            )
            unfit = None if mark.isspace() else line
            yield Case("a control character", files, kept=NUMBERED | {line: pair}, unfit=unfit)
    for side, code in enumerate(("en", "de")):
        yield Case("line ends of Windows", two(**{code: join(SIDES[side], b"\r\n")}))
        yield Case("no last line end", two(**{code: join(SIDES[side])[:-1]}))
        for encoding in ("utf-8-sig", "utf-16", "utf-32"):
            text = join(SIDES[side]).decode()
            yield Case("another encoding", two(**{code: text.encode(encoding)}))
        for place in (1, 5, 9):
            lines = [*SIDES[side]]
            longer, shorter = (
                [*lines[:place], b"one", *lines[place:]],
                [*lines[: place - 1], *lines[place:]],
            )
            for changed in (longer, shorter, [*lines, b"", b""]):
                words = f" {len(changed)}"
                yield Case(
                    "other lines", two(**{code: join(changed)}), f"corpus.{code}", refused=words
                )


def compressed():
    """Yield damage of a compressed file, as one of two and as a table."""
    table = "".join(f"{source}\t{target}\n" for source, target in PAIRS).encode()
    zstd = zstandard.ZstdCompressor(write_checksum=True).compress
    for suffix, compress in ((".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstd)):
        for name, content in (("corpus.de", join(SIDES[1])), ("corpus.tsv", table)):
            packed, rest = (
                compress(content),
                {"corpus.en": join(SIDES[0])} if content != table else {},
            )
            middle, named = len(packed) // 2, name + suffix
            flipped = packed[:middle] + bytes([packed[middle] ^ 4]) + packed[middle + 1 :]
            for damaged in (
                b"",
                packed[:1],
                packed[:middle],
                packed[:-1],
                flipped,
                packed + b"\1x" * 9,
                content,
            ):
                yield Case("a damaged archive", {**rest, named: damaged}, named, refused=":")
            yield Case("padding", {**rest, named: packed + bytes(8)})
            yield Case("no suffix", {**rest, name: packed})


def tables():
    """Yield rows of tables that are no pairs."""
    records = [json.dumps({"en": source, "de": target}) for source, target in PAIRS]
    forms = {
        "corpus.jsonl": (
            records,
            ["[" * 100_000, '{"en": "one side only"}', '{"en": 7, "de": null}', '["en", "de"]', "null",
             '{"en": "\\ud800", "de": "half"}', f'{{"en": {"9" * 5000}}}', records[0][:-7], records[0] + "]"],
        ),
        "corpus.tsv": (["\t".join(pair) for pair in PAIRS], ["one side", "a\tb\tc", "\t\t"]),
        "corpus.csv": (
            [",".join(f'"{side}"' for side in pair) for pair in PAIRS],
            ['"only one side"', "a,b,c", '"a" b,c', '"a","b",', '"a","b" "'],
        ),
    }  # fmt: skip
    for name, (rows, wrong) in forms.items():
        for row in wrong:
            for line in LINES:
                text = "".join(f"{each}\n" for each in [*rows[: line - 1], row, *rows[line:]])
                yield Case(
                    "a wrong row", {name: text.encode()}, name, without(line), unreadable=line
                )


def absent():
    """Yield files without text, directories in the place of files, and names of none."""
    for name in ("corpus.en", "corpus.de"):
        yield Case("a directory", two() | {name: None}, name, refused="directory")
        yield Case("an empty side", two() | {name: b""}, name, refused=" 0")
        yield Case("no file", {each: data for each, data in two().items() if each != name}, name, refused="No such file")  # fmt: skip
    for name in ("corpus.tsv", "corpus.jsonl"):
        yield Case("no text", {name: b""}, kept={})
    yield Case("no text", two(en=b"", de=b""), kept={})
    yield Case("no text", {"corpus.tmx": b""}, refused=":")


def memories(secret):
    """Yield damage of TMX; that of its elements alone is in the tests of the extension `corpora`."""
    bomb = "\n".join(
        ['<!ENTITY a0 "ha">', *(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))]
    )
    for declarations, use in (
        (bomb, "&a11;"), (f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 20_000), ('<!ENTITY % p0 "x">\n%p0;', ""),
        (f'<!ENTITY x SYSTEM "{secret}">', "&x;"), ('<!ENTITY x SYSTEM "http://127.0.0.1:9/">', "&x;"),
    ):  # fmt: skip
        yield memory(
            "an entity",
            "<seg>",
            f"<seg>{use}",
            5,
            f"{HEAD}<!DOCTYPE tmx [\n{declarations}\n]>\n",
            "3:entit",
        )
    for old, new in (
        ("</seg>", ""), ("<seg>", "<seg>&nbsp;"), ("<seg>", "<seg>a & b"), ("<seg>", "<seg>&#0;"), ("<seg>", "<seg>\1"),
        ("<seg>", "<hi>" * 1000 + "<seg>"),
    ):  # fmt: skip
        for line in LINES:
            yield memory("malformed TMX", old, new, line, HEAD + DOCTYPE, f"{line + 3}:")
    whole = make_tmx(units(PAIRS))
    yield Case(
        "malformed TMX", {"corpus.tmx": whole[: whole.rindex("</body>")].encode()}, refused=":"
    )
    other = "".join(units(PAIRS, "EN-us", "DE")).replace('"DE"', '"nl"', 1)
    kept = {line + 3: pair for line, pair in NUMBERED.items() if line > 1}
    for encoding in ("utf-8", "utf-16"):
        text = make_tmx([other], HEAD.replace("utf-8", encoding) + DOCTYPE)
        yield Case(
            "another language", {"corpus.tmx": text.encode(encoding)}, kept=kept, unreadable=4
        )


def memory(kind, old, new, line, head, refused):
    """Return a refused TMX file with one of its units changed."""
    lines = units(PAIRS)
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return Case(kind, {"corpus.tmx": make_tmx(lines, head).encode()}, refused=refused)


def write(case, folder):
    """Write the files of a case; return what is to be read, and the file that is at fault."""
    folder.mkdir()
    for name, data in case.files.items():
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)
    names = {*case.files, *([case.faulty] if case.faulty else [])}
    paths = sorted((folder / name for name in names), key=lambda path: ".de" in path.name)
    return paths, folder / (case.faulty or paths[0].name)


def read(paths, *, strict):
    """Return the pairs that were read, and the error that ended the reading."""
    delivered = []
    try:
        delivered.extend(read_pairs(paths, ("en", "de"), strict=strict))
    except HeadwayError as error:
        return delivered, error
    return delivered, None


def open_files(folder):
    """Return the files below a directory that this process has open, where /proc lists them."""
    found = []
    for link in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):
            found.append(str(link.readlink()))
    return [name for name in found if name.startswith(f"{folder}/")]


def assert_names(error, file, expected):
    """Check that an error is one line that names a file, and what is expected: see `Case`."""
    line, has_line, words = expected.partition(":") if ":" in expected else ("", "", expected)
    assert error is not None
    assert "\n" not in str(error)
    place = rf":{line or '[0-9]+'}: " if has_line else ""
    assert re.search(re.escape(str(file)) + place, str(error)), error
    assert words in str(error)
    assert "a secret" not in str(error)


def assert_read(case, paths, faulty):
    delivered, error = read(paths, strict=False)
    assert error is None
    assert {pair.line: pair[:2] for pair in delivered if isinstance(pair, Pair)} == case.kept
    damaged = [each for each in delivered if isinstance(each, Damaged)]
    assert [(each.line, each.file) for each in damaged] == [
        (line, str(faulty)) for line in [case.unreadable] if line
    ]
    # One side may be much longer: both are random words.
    kept, _, report = clean(delivered, TextConfig(max_ratio=0.0))
    dropped = {line for found in report.dropped.values() for line in found.lines}
    assert dropped == {line for line in (case.unreadable, case.unfit) if line}
    assert {pair.line for pair in kept} == case.kept.keys() - dropped
    delivered, error = read(paths, strict=True)
    if case.unreadable:
        assert_names(error, faulty, f"{case.unreadable}:")
    else:
        assert (error, {pair.line: pair[:2] for pair in delivered}) == (None, case.kept)


def assert_refused(case, paths, faulty):
    for strict in (True, False):
        with bounded():
            delivered, error = read(paths, strict=strict)
        assert_names(error, faulty, case.refused or "")
        if case.kind != "other lines":  # only the end of the file shows the shift
            assert {pair[:2] for pair in delivered if isinstance(pair, Pair)} <= {*PAIRS}


def list_cases(folder):
    (folder / "secret").write_text("a secret")
    return [
        *plain_text(),
        *compressed(),
        *tables(),
        *absent(),
        *memories((folder / "secret").as_uri()),
    ]


def test_damaged_corpora_are_prepared_or_rejected_in_one_line(tmp_path):
    cases = list_cases(tmp_path)
    assert len(cases) > 300
    for number, case in enumerate(cases):
        paths, faulty = write(case, tmp_path / f"{number}")
        (assert_read if case.refused is None else assert_refused)(case, paths, faulty)
        assert not open_files(faulty.parent)  # while the error, with its traceback, exists


def test_the_command_names_the_damage_and_leaves_no_partial_output(tmp_path, capsys):
    valid = [tmp_path / f"valid.{code}" for code in ("en", "de")]
    for path in valid:
        path.write_text("validation\n")
    options = ["--valid", *map(str, valid), "--languages", "en", "de", "--text.vocab-size", "335"]
    for kind, case in {case.kind: case for case in list_cases(tmp_path)}.items():
        paths, faulty = write(case, tmp_path / kind)
        out = tmp_path / f"{kind}.out"
        with pytest.raises(SystemExit) as ended:  # and nothing else
            main(["prepare", str(out), "--train", *map(str, paths), *options])
        said = capsys.readouterr().err
        if case.refused is None and case.kept:
            assert ended.value.code == 0, f"{kind}: {said}"
            report = json.loads((out / "report.json").read_text())
            unfit = {line for line in (case.unreadable, case.unfit) if line}
            assert report["kept"] == len(case.kept.keys() - unfit)
            assert {n for rule in report["dropped"].values() for n in rule["lines"]} == unfit
        else:
            assert ended.value.code == 1
            assert len(said.splitlines()) == 1
            assert str(faulty) in said
            assert not out.exists()
