"""Files to translate, from the lists in ``cases``: of text formats in files.jsonl, and packages in packages.txt."""

from dataclasses import dataclass

from texts import CASES

from support.grammar import read_packages
from support.http_requests import read_rows
from support.office_packages import write_zip

ENCRYPTION = (
    b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
    b'<enc:EncryptedData><enc:CipherData><enc:CipherReference URI="OEBPS/chapter%200.xhtml"/></enc:CipherData>'
    b"</enc:EncryptedData></encryption>"
)
Members = dict[str, bytes]


@dataclass(frozen=True)
class Input:
    """A file to translate.

    Args:
        name: Of the file; the suffix is its format.
        content: Its bytes.
        columns: Of a table.
        is_damaged: Whether it is refused.
    """

    name: str
    content: bytes
    columns: str = ""
    is_damaged: bool = False


def read_inputs():
    """Return the files that are translated: first those of text formats, and then packages."""
    packages = [
        Input(name, write_package(members))
        for name, members in read_packages(CASES / "packages.txt").items()
    ]
    return [each for each in _read_text_files() if not each.is_damaged] + packages


def read_damaged():
    """Return the files that are refused."""
    made = {
        name: Input(name, content, is_damaged=True) for name, content in damage_packages().items()
    }
    return [*(each for each in _read_text_files() if each.is_damaged), *made.values()]


def _read_text_files():
    for row in read_rows(CASES / "files.jsonl"):
        content = row.pop("content")
        yield Input(content=content.encode() if isinstance(content, str) else content, **row)


def write_package(members):
    """Return a package with fixed dates."""
    return write_zip([*members.items()])


def damage_packages():
    """Return packages that are refused."""
    packages = read_packages(CASES / "packages.txt")
    word, book, main = packages["links.docx"], packages["book.epub"], "word/document.xml"
    whole, text = write_package(word), word[main]
    head, _, rest = text.partition(b"\n")
    nested = text.replace(b"<w:body>", b"<w:body>" + b"<w:x>" * 3_000)
    flipped = bytearray(whole)
    flipped[whole.index(main.encode()) + 200] ^= 0xFF
    changed: dict[str, Members] = {
        "no types.docx": {main: text},
        "no main.docx": {name: each for name, each in word.items() if name != main},
        "no end.docx": word | {main: text[:-20]},
        "type.docx": word | {main: head + b'\n<!DOCTYPE x [<!ENTITY e "x">]>' + rest},
        "out.docx": word | {"../x": b"x"},
        "bomb.docx": word | {"word/x.xml": b"<a>" + b" " * 9_000_000 + b"</a>"},
        "deep.docx": word | {main: nested.replace(b"</w:body>", b"</w:x>" * 3_000 + b"</w:body>")},
        "no text.odt": {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"<x/>"},
        "wrong kind.ods": packages["paragraphs.odt"],
        "no container.epub": {"mimetype": b"application/epub+zip"},
        "protected.epub": book | {"META-INF/encryption.xml": ENCRYPTION},
        "no description.epub": {name: each for name, each in book.items() if not name.endswith(".opf")},
    }  # fmt: skip
    return {
        "text.docx": b"The lamp",
        "cut.docx": whole[:-60],
        "half.docx": whole[: len(whole) // 2],
        "old.docx": b"\xd0\xcf\x11\xe0" + b"x" * 600,
        "wrong kind.xlsx": whole,
        **{name: write_package(members) for name, members in changed.items()},
        "flipped.docx": bytes(flipped),
    }
