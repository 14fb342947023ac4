"""Generated ZIP packages: members in an order, with dates, packed or not."""

import base64
import html
import io
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence

SPREADSHEET = "vnd.openxmlformats-officedocument.spreadsheetml"
WORD_TEXT = "vnd.openxmlformats-officedocument.wordprocessingml"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORDS = [
    "the", "cat", "sees", "a", "red", "door", "near", "my", "old", "house", "While", "Anna", "reads", "about", "tea,",
    "rain;", "Paris", "and", "'quotes'", "42", "times", "Straße", "naïve", "3.5", "km", "A&B", "x<y", "“so”",
]  # fmt: skip


def sentence(chooser: random.Random, most: int = 9) -> str:
    """Return a sentence."""
    return " ".join(chooser.choices(WORDS, k=chooser.randint(1, most))) + chooser.choice(".!?")


def words(chooser: random.Random, most: int = 9) -> str:
    """Return a sentence as source of XML."""
    return html.escape(sentence(chooser, most), quote=False)


def write_zip(members: Sequence[tuple[str, str | bytes]]) -> bytes:
    """Return a package; the member ``mimetype`` and pictures are not packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for number, (name, content) in enumerate(members):
            info = zipfile.ZipInfo(name, (1999 + number % 99, 1, 2, 3, 4, 6))
            is_stored = name == "mimetype" or name.endswith(".png")
            info.compress_type = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
            package.writestr(info, content)
    return out.getvalue()


def change_member(package: bytes, name: str, change: Callable[[str], str]) -> bytes:
    """Return a package with another text of a member."""
    with zipfile.ZipFile(io.BytesIO(package)) as old:
        return write_zip([
            (each, change(old.read(each).decode()) if each == name else old.read(each))
            for each in old.namelist()
        ])  # fmt: skip


def read_part(package: bytes, name: str) -> str:
    """Return the text of a member, without the declaration that lxml writes."""
    with zipfile.ZipFile(io.BytesIO(package)) as file:
        text = file.read(name).decode()
    return text.partition("?>\n")[2] if text.startswith("<?xml version='1.0'") else text


def make_word(body: str, inner: Mapping[str, bytes] | None = None) -> bytes:
    """Return a document of Word with a body, and with other members."""
    content = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    part = ("word/document.xml", f"{WORD_TEXT}.document.main", content)
    return write_office_package("word/document.xml", [part], inner=inner)


def make_text(**members: str) -> bytes:
    """Return a text of OpenDocument with the XML files of these names."""
    written = {"content": "<x/>"} | members
    mime = ("mimetype", "application/vnd.oasis.opendocument.text")
    return write_zip([mime, *((f"{name}.xml", content) for name, content in written.items())])


def make_workbook(
    *parts: tuple[str, str, str], relations: Mapping[str, Sequence[tuple[str, str]]] | None = None
) -> bytes:
    """Return a spreadsheet with parts in its folder: the name, the type of content, and the content of each."""
    main = ("xl/workbook.xml", f"{SPREADSHEET}.sheet.main", "<workbook/>")
    others = [(f"xl/{name}.xml", kind, content) for name, kind, content in parts]
    return write_office_package("xl/workbook.xml", [main, *others], relations)


def write_office_package(
    main: str,
    parts: Sequence[tuple[str, str, str]],
    relations: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    inner: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a package of Office Open XML.

    Args:
        main: The name of the main part.
        parts: The name, the end of the type of content, and the content of each part.
        relations: By the names of parts, the types and the targets of what they refer to; the first is rId1.
        inner: Spreadsheets in the package, by their names.
    """
    types = "".join(
        f'<Override PartName="/{name}" ContentType="application/{kind}+xml"/>' for name, kind, _ in parts
    )  # fmt: skip
    members: list[tuple[str, str | bytes]] = [
        ("[Content_Types].xml", f'{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="png" ContentType="image/png"/>'
         f'<Default Extension="xlsx" ContentType="application/{SPREADSHEET}.sheet"/>'
         f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>'),
        ("_rels/.rels", _write_relations([(f"{OFFICE}/relationships/officeDocument", main),
         (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml")])),
    ]  # fmt: skip
    members += [*((name, content) for name, _, content in parts), *(inner or {}).items()]
    for name, targets in (relations or {}).items():
        folder, _, file = name.rpartition("/")
        written = [(f"{OFFICE}/relationships/{kind}", target) for kind, target in targets]
        members.append((f"{folder}/_rels/{file}.rels", _write_relations(written)))
    return write_zip([*members, (f"{main.partition('/')[0]}/media/image1.png", PNG)])


def _write_relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'
