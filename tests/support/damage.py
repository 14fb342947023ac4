"""Damaged corpora made from a seed, each with what must come of it.

Every sentence carries the number of its pair, so that a shifted side is seen in the text itself.
"""

import codecs
import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import zstandard

Text = tuple[str, str]


class Readable(NamedTuple):
    """Every pair is delivered as it was written, except those that cannot be read.

    Args:
        pairs: Line -> source and target.
        unreadable: Lines that are reported, and refused when reading strictly.
        unfit: Lines that are delivered, and dropped by cleaning.
    """

    pairs: dict[int, Text]
    unreadable: tuple[int, ...] = ()
    unfit: tuple[int, ...] = ()


class Refused(NamedTuple):
    """Reading ends with an error.

    Args:
        words: What it must name besides the file.
        line: The line it must name; 0: any; None: the fault has no line.
        secret: What it must not say.
    """

    words: tuple[str, ...] = ()
    line: int | None = None
    secret: str = "\0"


class Case(NamedTuple):
    """A damaged corpus.

    Args:
        name: Kind and number.
        paths: As `read_pairs` takes them.
        languages: The same.
        faulty: The file that errors must name.
        expectation: What must come of it.
    """

    name: str
    paths: list[Path]
    languages: tuple[str, str] | None
    faulty: Path
    expectation: Readable | Refused


Outcome = tuple[list[Path], Path, Readable | Refused]  # paths, the faulty one, what must come of it


def damaged_corpora(directory: Path, seed: int, rounds: int = 5) -> Iterator[Case]:
    """Write corpora below a directory, ``rounds`` of every kind, each when it is asked for."""
    kinds = (
        *(bad_utf8, crlf, byte_order_mark, separators, control, no_last_newline, unequal),
        *(truncated, trailing_garbage, flipped_bit, wrong_suffix),
        *(entity_bomb, external_entity, malformed_tmx, sound_tmx, empty, a_directory, missing),
        *(huge_line, broken_jsonl, wrong_columns, broken_csv, utf16),
    )
    for kind in kinds:
        for number in range(rounds):
            name = f"{kind.__name__}-{number}"
            folder = directory / name
            folder.mkdir()
            paths, faulty, expectation = kind(folder, Random(f"{seed} {name}"))
            yield Case(name, paths, ("en", "de"), faulty, expectation)


def sentences(random: Random, smallest: int = 7) -> list[Text]:
    """Return pairs whose two sides both hold their number."""

    def words(vocabulary: str) -> str:
        return " ".join(random.choices(vocabulary.split(), k=random.randint(5, 11)))

    return [
        (
            f"<{number}> {words('a fair day in May & the naïve “cat” 😀 < dog')} .",
            f"<{number}> {words('ein schöner Tag im März & die Straße „Übung“ < 日本 𝔊')} .",
        )
        for number in range(1, random.randint(smallest, 23) + 1)
    ]


def numbered(pairs: list[Text]) -> dict[int, Text]:
    return dict(enumerate(pairs, 1))


def without(pairs: list[Text], line: int) -> dict[int, Text]:
    return {number: pair for number, pair in numbered(pairs).items() if number != line}


def write_two(folder: Path, sides: list[list[bytes]], end: bytes = b"\n") -> list[Path]:
    """Write the lines of both sides to two files."""
    paths = [folder / "corpus.en", folder / "corpus.de"]
    for path, lines in zip(paths, sides, strict=True):
        path.write_bytes(b"".join(line + end for line in lines))
    return paths


def encoded(pairs: list[Text]) -> list[list[bytes]]:
    return [[pair[side].encode() for pair in pairs] for side in (0, 1)]


def inserted(random: Random, line: bytes, what: bytes) -> bytes:
    """Put bytes between two words."""
    words = line.split(b" ")
    words.insert(random.randrange(1, len(words)), what)
    return b" ".join(words)


def bad_utf8(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    side, line = random.randrange(2), random.randint(1, len(pairs))
    sides = encoded(pairs)
    wrong = random.choice(
        [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf"]
    )
    sides[side][line - 1] = inserted(random, sides[side][line - 1], wrong)
    paths = write_two(folder, sides)
    return paths, paths[side], Readable(without(pairs, line), unreadable=(line,))


def crlf(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    sides = encoded(pairs)
    for side in random.sample((0, 1), k=random.randint(1, 2)):
        sides[side] = [line + b"\r" * (random.random() < 0.7) for line in sides[side]]
    paths = write_two(folder, sides)
    return paths, paths[0], Readable(numbered(pairs))


def byte_order_mark(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    paths = write_two(folder, encoded(pairs), random.choice([b"\n", b"\r\n"]))
    for path in random.sample(paths, k=random.randint(1, 2)):
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    return paths, paths[0], Readable(numbered(pairs))


def separators(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    for number, pair in enumerate(pairs):
        changed = list(pair)
        for side in random.sample((0, 1), k=random.randint(1, 2)):
            mark = random.choice("\u2028\u2029\x85\v\f\r\x1c\x1d\x1e")
            changed[side] = inserted(random, pair[side].encode(), mark.encode()).decode()
        pairs[number] = (changed[0], changed[1])
    paths = write_two(folder, encoded(pairs))
    return paths, paths[0], Readable(numbered(pairs))


def control(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    line, side = random.randint(1, len(pairs)), random.randrange(2)
    changed = list(pairs[line - 1])
    mark = random.choice("\0\0\0\x01\x08\x1b\x7f\x80\x93")
    changed[side] = inserted(random, changed[side].encode(), mark.encode()).decode()
    pairs[line - 1] = (changed[0], changed[1])
    paths = write_two(folder, encoded(pairs))
    return paths, paths[side], Readable(numbered(pairs), unfit=(line,))


def no_last_newline(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    paths = write_two(folder, encoded(pairs))
    for path in random.sample(paths, k=random.randint(1, 2)):
        path.write_bytes(path.read_bytes()[:-1])
    return paths, paths[0], Readable(numbered(pairs))


def unequal(folder: Path, random: Random) -> Outcome:
    sides = encoded(sentences(random))
    side = random.randrange(2)
    place = random.choice([0, len(sides[side]) // 2, len(sides[side])])
    match random.randrange(3):
        case 0:
            sides[side].insert(place, random.choice([b"", b"one too many"]))
        case 1:
            del sides[side][place - 1]
        case _:
            sides[side] += [b""] * random.randint(1, 3)
    paths = write_two(folder, sides)
    words = (str(paths[0]), str(paths[1]), f"{len(sides[0])} lines", f"{len(sides[1])}:")
    return paths, paths[side], Refused(words)


def packed(form: str, data: bytes) -> bytes:
    match form:
        case ".gz":
            return gzip.compress(data)
        case ".xz":
            return lzma.compress(data)
        case _:
            return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def write_packed(folder: Path, random: Random, form: str) -> tuple[list[Path], Path, list[Text]]:
    """Write two text files, one of them compressed, or one compressed TSV file."""
    pairs = sentences(random)
    if random.random() < 0.3:
        path = folder / f"corpus.tsv{form}"
        path.write_bytes(packed(form, "".join(f"{s}\t{t}\n" for s, t in pairs).encode()))
        return [path], path, pairs
    paths = write_two(folder, encoded(pairs))
    side = random.randrange(2)
    paths[side] = paths[side].rename(f"{paths[side]}{form}")
    paths[side].write_bytes(packed(form, paths[side].read_bytes()))
    return paths, paths[side], pairs


def truncated(folder: Path, random: Random) -> Outcome:
    paths, path, _ = write_packed(folder, random, random.choice([".gz", ".xz", ".zst"]))
    data = path.read_bytes()
    path.write_bytes(data[: random.choice([0, 1, len(data) - 1, random.randrange(len(data))])])
    return paths, path, Refused(line=0)


def trailing_garbage(folder: Path, random: Random) -> Outcome:
    form = random.choice([".gz", ".gz", ".xz", ".zst"])
    paths, path, pairs = write_packed(folder, random, form)
    if random.random() < 0.2:  # padding, which the formats allow
        path.write_bytes(path.read_bytes() + bytes(4 * random.randint(1, 5)))
        return paths, path, Readable(numbered(pairs))
    path.write_bytes(path.read_bytes() + b"\x01" + random.randbytes(random.randint(0, 5000)))
    return paths, path, Refused(line=0)


def flipped_bit(folder: Path, random: Random) -> Outcome:
    form = random.choice([".gz", ".xz", ".zst"])
    paths, path, _ = write_packed(folder, random, form)
    data = bytearray(path.read_bytes())
    data[random.randrange(12, len(data) - 12)] ^= 1 << random.randrange(8)
    path.write_bytes(data)
    return paths, path, Refused(line=0)


def wrong_suffix(folder: Path, random: Random) -> Outcome:
    form = random.choice([".gz", ".xz", ".zst"])
    pairs = sentences(random)
    paths = write_two(folder, encoded(pairs))
    side = random.randrange(2)
    if random.random() < 0.5:
        paths[side].write_bytes(packed(form, paths[side].read_bytes()))
        return paths, paths[side], Readable(numbered(pairs))
    paths[side] = paths[side].rename(f"{paths[side]}{form}")
    return paths, paths[side], Refused(line=0)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'


def units(pairs: list[Text], english: str = "en", german: str = "de") -> list[str]:
    """Return a line of TMX for each pair."""
    return [
        f'<tu><tuv xml:lang="{english}"><seg>{escaped(source)}</seg></tuv>'
        f'<tuv xml:lang="{german}"><seg>{escaped(target)}</seg></tuv></tu>\n'
        for source, target in pairs
    ]


def write_tmx(folder: Path, lines: list[str], head: str = HEAD + DOCTYPE) -> Path:
    """Write a TMX file whose units begin on the line after the head's."""
    path = folder / "corpus.tmx"
    body = f"{head}<tmx version='1.4'><header/><body>\n{''.join(lines)}</body></tmx>\n"
    path.write_text(body, encoding="utf-8", newline="\n")
    return path


def with_entity(folder: Path, random: Random, declarations: list[str], use: str) -> Outcome:
    """Write a TMX file that declares entities, from line 3 on, and uses one."""
    lines = units(sentences(random))
    place = random.randrange(len(lines))
    lines[place] = lines[place].replace("<seg>", f"<seg>{use}")
    head = HEAD + "<!DOCTYPE tmx [\n" + "\n".join(declarations) + "\n]>\n"
    path = write_tmx(folder, lines, head)
    return [path], path, Refused(("entit",), line=3)


def entity_bomb(folder: Path, random: Random) -> Outcome:
    match random.randrange(3):
        case 0:
            bomb = ['<!ENTITY a0 "ha">']
            bomb += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)]
            return with_entity(folder, random, bomb, "&a11;")
        case 1:
            long = random.randint(50_000, 200_000)
            return with_entity(folder, random, [f'<!ENTITY a "{"x" * long}">'], "&a;" * 20_000)
        case _:
            bomb = ['<!ENTITY % p0 "<!ENTITY x0 &#39;ha&#39;>">', "%p0;"]
            bomb += [f'<!ENTITY % p{n} "{f"&#37;p{n - 1};" * 10}">' for n in range(1, 12)]
            return with_entity(folder, random, [*bomb, "%p11;"], "")


def external_entity(folder: Path, random: Random) -> Outcome:
    secret = f"secret {random.random()}"
    (folder / "secret").write_text(secret)
    where = (folder / "secret").as_uri()
    declaration = random.choice(
        [
            f'<!ENTITY x SYSTEM "{where}">',
            f'<!ENTITY x PUBLIC "-//X//Y" "{where}">',
            f'<!ENTITY % x SYSTEM "{where}">',
            '<!ENTITY x SYSTEM "http://127.0.0.1:9/">',
        ]
    )
    use = "%x;" if "%" in declaration else ""
    paths, path, refused = with_entity(folder, random, [declaration, use], "" if use else "&x;")
    assert isinstance(refused, Refused)
    return paths, path, refused._replace(secret=secret)


def malformed_tmx(folder: Path, random: Random) -> Outcome:
    lines = units(sentences(random))
    place = random.randrange(len(lines))
    line: int | None = place + 4
    head = HEAD + DOCTYPE
    match random.randrange(9):
        case 0:
            lines[place] = lines[place].replace("</seg>", "", 1)
        case 1:
            lines[place] = lines[place].replace("<seg>", "<seg>&nbsp;")
        case 2:
            lines[place] = lines[place].replace("<seg>", "<seg>a & b")
        case 3:
            lines[place] = lines[place].replace("<seg>", "<seg>&#0;")
        case 4:
            lines[place] = lines[place].replace("<seg>", "<seg>\x01")
        case 5:
            lines[place] = lines[place].replace("<seg>", "<hi>" * 1000 + "<seg>")
        case 6:
            head, line = HEAD.replace("utf-8", random.choice(["klingon", "hex", "utf-7"])), None
        case 7:
            lines, line = lines[:place], None
        case _:
            head, line = HEAD + "<xliff>", 2
    path = write_tmx(folder, lines, head)
    if line is None:
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: text.rindex("</body>")], encoding="utf-8", newline="\n")
    return [path], path, Refused(line=line or 0)


def sound_tmx(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    english, german = random.choice(["en", "EN-us", "en_GB"]), random.choice(["DE", "de-AT"])
    lines = units(pairs, english, german)
    damaged: tuple[int, ...] = ()
    kept = {line + 3: pair for line, pair in numbered(pairs).items()}
    if random.random() < 0.5:
        place = random.randrange(len(lines))
        lines[place] = lines[place].replace(f'"{german}"', '"nl"')
        damaged = (place + 4,)
        del kept[place + 4]
    lines = [line.replace(" & ", ' <hi type="b">&amp;</hi> ') for line in lines]
    lines = [line.replace("</seg>", '<ph x="1">{\\rtf}</ph></seg>', 1) for line in lines]
    head = HEAD + DOCTYPE
    path = write_tmx(folder, lines, head)
    if random.random() < 0.3:
        text = path.read_text(encoding="utf-8").replace("utf-8", "utf-16", 1)
        path.write_text(text, encoding="utf-16", newline="\n")
    return [path], path, Readable(kept, unreadable=damaged)


def empty(folder: Path, random: Random) -> Outcome:
    match random.randrange(4):
        case 0:
            paths = write_two(folder, [[], []])
            return paths, paths[0], Readable({})
        case 1:
            sides = encoded(sentences(random))
            sides[side := random.randrange(2)] = []
            paths = write_two(folder, sides)
            return paths, paths[side], Refused((str(paths[0]), str(paths[1]), " 0"))
        case 2:
            path = folder / "corpus.tmx"
            path.touch()
            return [path], path, Refused(line=0)
        case _:
            path = folder / random.choice(["corpus.tsv", "corpus.jsonl"])
            path.touch()
            return [path], path, Readable({})


def a_directory(folder: Path, random: Random) -> Outcome:
    paths = write_two(folder, encoded(sentences(random)))
    side = random.randrange(2)
    paths[side].unlink()
    paths[side].mkdir()
    return paths, paths[side], Refused(("directory",))


def missing(folder: Path, random: Random) -> Outcome:
    names = ["corpus.tsv", "corpus.jsonl.gz", "corpus.tmx", ""]
    if name := random.choice(names):
        return [folder / name], folder / name, Refused(("No such file",))
    paths = write_two(folder, encoded(sentences(random)))
    side = random.randrange(2)
    paths[side].unlink()
    return paths, paths[side], Refused(("No such file",))


def huge_line(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    side, line = random.randrange(2), random.choice([1, len(pairs) // 2, len(pairs)])
    sides = encoded(pairs)
    sides[side][line - 1] = b"no line end " * random.randint(90_000, 200_000)
    paths = write_two(folder, sides)
    if line == len(pairs):
        paths[side].write_bytes(paths[side].read_bytes()[:-1])
    return paths, paths[side], Readable(without(pairs, line), unreadable=(line,))


def broken_jsonl(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    line = random.randint(1, len(pairs))
    keys = random.choice([("source", "target"), ("en", "de")])
    records = [json.dumps(dict(zip(keys, pair, strict=True))) for pair in pairs]
    if random.random() < 0.3:
        records = [f'{{"translation": {record}, "id": 7}}' for record in records]
    records[line - 1] = random.choice(
        [
            records[line - 1][: random.randrange(1, len(records[line - 1]))],
            records[line - 1] + "]",
            "[" * 100_000,
            '{"en": "one side only"}',
            '{"en": 7, "de": null}',
            '["en", "de"]',
            f'{{"{keys[0]}": "\\ud800", "{keys[1]}": "half"}}',
            f'{{"{keys[0]}": {"9" * 5000}}}',
            "null",
        ]
    )
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(records) + "\n", encoding="utf-8", newline="\n")
    return [path], path, Readable(without(pairs, line), unreadable=(line,))


def wrong_columns(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    line = random.randint(1, len(pairs))
    rows = [f"{source}\t{target}" for source, target in pairs]
    rows[line - 1] = random.choice(["", "one side", "a\tb\tc", "\t\t", rows[line - 1] + "\t"])
    path = folder / "corpus.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8", newline="\n")
    # An empty line is no row.
    return (
        [path],
        path,
        Readable(without(pairs, line), unreadable=(line,) if rows[line - 1] else ()),
    )


def broken_csv(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    line = random.randint(1, len(pairs))
    rows = [",".join('"' + side.replace('"', '""') + '"' for side in pair) for pair in pairs]
    rows[line - 1] = random.choice(
        ['"only one side"', "a,b,c", '"a" b,c', rows[line - 1] + ",", rows[line - 1] + ' "']
    )
    path = folder / "corpus.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8", newline="\n")
    return [path], path, Readable(without(pairs, line), unreadable=(line,))


def utf16(folder: Path, random: Random) -> Outcome:
    pairs = sentences(random)
    paths = write_two(folder, encoded(pairs))
    side = random.randrange(2)
    text = paths[side].read_bytes().decode()
    mark, form = random.choice([(codecs.BOM_UTF16_LE, "-le"), (codecs.BOM_UTF16_BE, "-be")])
    paths[side].write_bytes(mark + text.encode(f"utf-16{form}"))
    return paths, paths[side], Readable(numbered(pairs))
