"""What must hold for every document: each function returns what is broken, or an empty text."""

import random
import re
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from headway.errors import HeadwayError
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.ext.documents.quality_table import name_places
from support.cases import read_rows
from support.documents import expected_text, make_file, same, translate
from support.office_damage import compare_packages, damage_package
from support.office_files import OFFICE_MAKERS

if TYPE_CHECKING:  # the campaigns measure memory without torch
    from headway.translation import Translator

OPTIONS = DocumentOptions("en", "", ("title", "body"))
ADDED = (".po", ".xlf")  # a translation is added to the text
MARKUP = read_rows(__file__, "MARKUP")
ATTRIBUTES = r'\b(alt|title|placeholder|content)=("[^"]*"|\'[^\']*\'|\w+)'
HOSTILE = ("<", "&#", '"', "\\", "\0", "\ufeff", "-->", "]]>", "<![CDATA[", "`", "|", "[", "\r", "{", "\ud800", "99999999999:")  # fmt: skip

# What a file begins with, what is repeated, and what it ends with.
SHAPES: list[tuple[str, str, str, str]] = [
    *read_rows(__file__, "SHAPES"),
    (".md", "".join(f"{'    ' * depth}!!! a\n" for depth in range(300)), "a", ""),
    (".md", "<code>" * 10_000, "</code>", ""),
]


def read_shape(suffix: str, start: str, unit: str, end: str, size: int) -> str:
    """A file of one mark repeated is read or refused within five seconds."""
    data = (start + unit * size + end).encode()
    started = time.process_time()
    try:
        document = open_document(data, f"x{suffix}", OPTIONS)
        document.write([Translated("a") for _ in document.paragraphs])
    except HeadwayError as error:
        if "\n" in str(error) or len(str(error)) > 500:
            return f"{suffix} {unit!r}: the message is no line"
    seconds = time.process_time() - started
    return f"{suffix} {unit!r}: {seconds:.1f} s" if seconds > 5 else ""


def unchanged(suffix: str, seed: int) -> str:
    """Through an identity translator the file has the same bytes."""
    data = make_file(suffix, seed)
    document = open_document(data, f"x{suffix}", OPTIONS)
    found = [replace(same(paragraph), is_finished=True) for paragraph in document.paragraphs]
    written = document.write(found)
    if suffix in ADDED:  # then nothing is left to do
        again = open_document(written, f"x{suffix}", OPTIONS)
        is_same = again.paragraphs == [] and again.write([]) == written
    else:
        is_same = written == data
    return "" if is_same else f"{suffix} {seed}: other bytes through an identity translator"


def changed(suffix: str, seed: int) -> str:
    """Through a translator that changes every word, every text is changed once, and no markup."""
    data = make_file(suffix, seed)
    document = open_document(data, f"x{suffix}", OPTIONS)
    written = document.write([translate(paragraph) for paragraph in document.paragraphs])
    if difference := compare_markup(suffix, data, written):
        return f"{suffix} {seed}: {difference}"
    if suffix in ADDED:
        return ""
    again = open_document(written, f"x{suffix}", OPTIONS)
    expected = " ".join(expected_text(paragraph) for paragraph in document.paragraphs)
    if " ".join(p.text for p in again.paragraphs).split() != expected.split():
        return f"{suffix} {seed}: other text"
    return ""


def of_others(data: bytes, name: str) -> str:
    """What holds for a file that another program made, or why it is refused.

    Nothing changes if no text does, and every text is changed once by a translator that keeps what is no text.
    """
    options = DocumentOptions("en", "", (), is_complete=name.endswith((".po", ".pot", ".xlf", ".xliff")))  # fmt: skip
    try:
        document = open_document(data, name, options)
    except HeadwayError as error:
        return str(error)
    paragraphs = document.paragraphs
    written = document.write([same(paragraph) for paragraph in paragraphs])
    if not options.is_complete and written != data:
        return f"{name}: other bytes through an identity translator"
    texts = [expected_text(paragraph) for paragraph in paragraphs]
    written = document.write([translate(paragraph) for paragraph in paragraphs])
    again = open_document(written, name, options)
    if options.is_complete:
        return ""
    words = " ".join(paragraph.text for paragraph in again.paragraphs).split()
    return "" if words == " ".join(texts).split() else f"{name}: other text"


def compare_markup(suffix: str, data: bytes, written: bytes, *, may_divide: bool = False) -> str:
    """Return how the markup of two files differs, in whatever order it stands.

    Args:
        suffix: Of the files.
        data: A file.
        written: Its translation.
        may_divide: Whether the translation may have elements in parts that only say how text looks.
    """
    if suffix in OFFICE_MAKERS:
        return compare_packages(data, written)
    if suffix not in MARKUP:
        return ""
    plain = [re.sub(ATTRIBUTES, r"\1", text.decode()) for text in (data, written)]
    first, second = (Counter(re.findall(MARKUP[suffix], text, re.MULTILINE)) for text in plain)
    added = second - first
    if may_divide:
        added = Counter({tag: n for tag, n in added.items() if not re.match(r"</?span\b", tag)})
    return f"other markup: {first - second} {added}" if first - second or added else ""


def translated(translator: "Translator", suffix: str, seed: int) -> str:
    """Through a model every text is translated, and the markup is the same."""
    from headway.ext.documents.document_translation import translate_document, write_document

    data = make_file(suffix, seed)
    document = open_document(data, f"x{suffix}", OPTIONS)
    found = [*translate_document(translator, document)]
    empty = [
        p.text
        for p, t in zip(document.paragraphs, found, strict=True)
        if p.text.strip() and not t.text.strip()
    ]
    if empty:
        return f"{suffix} {seed}: no translation of {empty[0]!r}"
    written = write_document(document, found, 0.0)
    again = open_document(written, f"x{suffix}", OPTIONS)
    if suffix in ADDED and again.paragraphs:
        return f"{suffix} {seed}: text without a translation"
    if suffix not in (*ADDED, ".srt", ".vtt", ".ass", ".sub") and len(again.paragraphs) != len(
        document.paragraphs
    ):
        return f"{suffix} {seed}: {len(document.paragraphs)} texts became {len(again.paragraphs)}"
    difference = compare_markup(suffix, data, written, may_divide=True)
    return f"{suffix} {seed}: {difference}" if difference else ""


def damage(data: bytes, chooser: random.Random) -> bytes:
    """Return a file with one or a few mistakes in it."""
    for _ in range(chooser.randint(1, 4)):
        at, size = chooser.randrange(len(data) + 1), chooser.randrange(40)
        kind = chooser.randrange(5)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[at + size :]
        elif kind == 2:
            data = data[:at] + chooser.randbytes(size % 4 + 1) + data[at + size % 4 + 1 :]
        elif kind == 3:
            data = data[:at] + data[at : at + size] * chooser.choice([2, 50]) + data[at:]
        else:
            mark = chooser.choice(HOSTILE).encode("utf-8", "surrogatepass")
            data = data[:at] + mark * chooser.choice([1, 1, 300]) + data[at:]
    return data


def damaged(suffix: str, seed: int) -> str:
    """A damaged file is refused with one line, or kept as any other."""
    data, chooser, hostile = make_file(suffix, seed), random.Random(seed), -1
    if suffix in OFFICE_MAKERS:
        data, hostile = damage_package(data, chooser, damage, suffix == ".epub")
    else:
        data = damage(data, chooser)
    try:
        document = open_document(data, f"x{suffix}", OPTIONS)
        paragraphs = document.paragraphs
        name_places(document)
        written = document.write([same(paragraph) for paragraph in paragraphs])
        document.write([translate(paragraph) for paragraph in paragraphs])
    except HeadwayError as error:
        is_line = "\n" not in str(error) and len(str(error)) < 500
        return "" if is_line else f"{suffix} {seed}: the message is no line"
    except Exception as error:
        return f"{suffix} {seed}: {type(error).__name__}: {error}"
    if hostile >= 0:
        return f"{suffix} {seed}: hostile file {hostile} was read"
    if suffix not in ADDED and written != data:
        return f"{suffix} {seed}: other bytes of a damaged file"
    return ""
