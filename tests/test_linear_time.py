"""The time to read text and files is linear in their length: each pattern and each format is pumped with pieces of its own."""

import io
import random
import zipfile
from contextlib import suppress
from functools import cache

import pytest

from headway.errors import HeadwayError
from headway.ext.documents import list_suffixes, open_document
from headway.ext.documents.paragraph import Translated
from headway.ext.protect.protected_text import find_protected_text
from headway.text import find_words
from headway.translation.splitting import split_sentences
from support.documents import TEXT_FORMATS, make_file
from support.office_files import OFFICE_MAKERS
from support.office_packages import change_member
from support.pumping import find_patterns, is_slow, pumped, slow_text

FORMATS = [suffix for suffix in list_suffixes() if suffix in {*TEXT_FORMATS, *OFFICE_MAKERS}]
SIGNS = [
    *"<>&\"'{}[]()|\\*_`~$%#:;-=!/.,\n\r\t ",
    "<!--",
    "]]>",
    "-->",
    "\n\n",
    "<a ",
    "\n- ",
    "\n> ",
]


def write_again(data, name):
    """Read a file, and write it with other texts, if it can be read."""
    with suppress(HeadwayError):
        document = open_document(data, name)
        document.write([Translated(f"{each.text} X") for each in document.paragraphs])


@cache
def all_patterns():
    """Return every pattern that the package compiles: when it is imported, and when it reads files and text."""

    def read():
        for suffix in FORMATS:
            for seed in range(3):
                write_again(make_file(suffix, seed), f"a{suffix}")
        for text in (
            "A {name} saw 3 kg of it. Mr. A went to https://a.example/b.",
            "%s: 3.50 € & <b>x</b>",
        ):
            read_text(text)

    return find_patterns(read)


def read_text(text):
    """Do with a text what happens before a search."""
    find_words(text)
    find_protected_text(text)
    split_sentences(text, "en")


def test_no_pattern_takes_more_than_linear_time():
    patterns = all_patterns()
    assert len(patterns) > 250
    slow = ((found, slow_text(found, 40)) for found in patterns)
    assert [
        f"{found.place} ({found.pattern.pattern!r}): {text}" for found, text in slow if text
    ] == []


def test_the_time_to_read_pumped_text_is_linear():
    chooser = random.Random(1)
    patterns = [found.pattern for found in all_patterns() if isinstance(found.pattern.pattern, str)]
    for pattern in chooser.sample(patterns, 40):
        for make in pumped(pattern, 3):
            assert not is_slow(read_text, make), make(60)


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_time_to_read_and_write_a_pumped_file_is_linear(suffix):
    for make in pumped_files(suffix, 12):
        assert not is_slow(lambda data: write_again(data, f"a{suffix}"), make), make(60)


def pumped_files(suffix, count):
    """Yield functions that return a file in which a piece of itself, or a sign, stands again and again at some place."""
    chooser = random.Random(f"pumped {suffix}")
    for seed in range(count):
        data = make_file(suffix, seed)
        name = ""
        if suffix in OFFICE_MAKERS:
            with zipfile.ZipFile(io.BytesIO(data)) as package:
                name = chooser.choice(
                    [n for n in package.namelist() if n.endswith((".xml", "html"))]
                )
                source = package.read(name).decode()
        else:
            source = data.decode("utf-8-sig")
        start = chooser.randrange(len(source))
        piece = chooser.choice([source[start : start + chooser.randint(1, 12)], chooser.choice(SIGNS), "".join(chooser.choices(SIGNS, k=2))])  # fmt: skip
        at = chooser.randrange(len(source))

        def make(size, at = at, piece = piece, source = source, data = data, name = name):  # fmt: skip
            changed = source[:at] + piece * (size // len(piece)) + source[at:]
            return change_member(data, name, lambda _: changed) if name else changed.encode()

        yield make
