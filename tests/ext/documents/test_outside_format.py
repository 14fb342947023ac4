"""A package of somebody else adds a format of documents: one file, and one line that names it."""

import sys

import pytest

from headway import Translator
from headway.errors import HeadwayError
from headway.ext.documents import list_suffixes, open_document, translate_file
from headway.extension import CHOICE
from support.extensions import forget_extensions

MODULE = '''\
"""Files of Java's messages for Headway: a format of documents in one file and one line."""

import re

from headway.ext.documents import Document, DocumentOptions, EditedFile, TextEntry, read_text_file
from headway.extension import Extension

extension = Extension("properties", "1.0", documents={".properties": "headway_properties:read"})
_MESSAGE = re.compile(r"^(?![#!])([^=\\n]+?)[ \\t]*=[ \\t]*([^\\n]+)", re.MULTILINE)


def read(data: bytes, options: DocumentOptions) -> Document:
    """Read the messages of a file; their keys and comments stay."""
    file = read_text_file(data, options.source)
    found = _MESSAGE.finditer(file.text)
    return EditedFile(file, [TextEntry(*each.span(2), each[2], each[1]) for each in found])
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install the package, as pip does."""
    described = tmp_path / "packages" / "headway_properties-1.0.dist-info"
    described.mkdir(parents=True)
    line = "[headway.extensions]\nproperties = headway_properties:extension\n"
    (described / "entry_points.txt").write_text(line)
    (tmp_path / "packages" / "headway_properties.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delenv(CHOICE, raising=False)
    forget_extensions()
    yield
    sys.modules.pop("headway_properties", None)
    forget_extensions()


@pytest.mark.usefixtures("package")
def test_a_format_is_one_file_and_one_line(model_directory, tmp_path):
    source, out = tmp_path / "app.properties", tmp_path / "app.de.properties"
    source.write_text("# a = note\na.dog = a dog\nb=the cat\n")
    document = open_document(source.read_bytes(), source.name)
    texts = [(each.text, each.place) for each in document.paragraphs]
    assert texts == [("a dog", "a.dog"), ("the cat", "b")]
    translate_file(Translator.load(model_directory), source, out)
    before, after = (path.read_text().splitlines() for path in (source, out))
    assert before[0] == after[0]
    assert [line.partition("=")[0] for line in after] == [line.partition("=")[0] for line in before]
    assert before[1:] != after[1:]
    assert ".properties" in list_suffixes()


def test_without_the_package_the_message_says_what_to_convert_it_to():
    with pytest.raises(HeadwayError, match=r"convert it to \.po or \.json"):
        open_document(b"a=b", "a.properties")
