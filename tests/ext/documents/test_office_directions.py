"""An office file that is translated into a language of the other direction is read in that direction."""

import re

import pytest

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from support.bounds import grows_less
from support.cases import each_case, read_rows
from support.documents import make_file, translate
from support.office_packages import (
    SPREADSHEET,
    WORD_TEXT,
    change_member,
    make_text,
    make_workbook,
    read_part,
    write_office_package,
)

ARABIC, ENGLISH, GERMAN = (
    DocumentOptions(*pair) for pair in (("en", "ar"), ("ar", "en"), ("en", "de"))
)
SLIDES = "vnd.openxmlformats-officedocument.presentationml."
MASTER = "ppt/slideMasters/slideMaster1.xml"
# What stands around the content of each part.
FRAMES = read_rows(__file__, "FRAMES")


def turn(data, suffix, part, options, change=str):
    """Return a part of a translated file; the texts stay, or are changed."""
    document = open_document(data, f"x{suffix}", options)
    out = document.write([translate(paragraph, change) for paragraph in document.paragraphs])
    return read_part(out, part)


def turn_word(content, options, part="document", change=str):
    contents = {"document": "", part: content}
    parts = [
        (f"word/{name}.xml", f"{WORD_TEXT}.{name}{'.main' * (name == 'document')}", f'<w:{name} xmlns:w="w">{text}</w:{name}>')
        for name, text in contents.items()
    ]  # fmt: skip
    data = write_office_package("word/document.xml", parts)
    found = turn(data, ".docx", f"word/{part}.xml", options, change)
    return found.removeprefix(f'<w:{part} xmlns:w="w">').removesuffix(f"</w:{part}>")


def turn_part(kind, content, options):
    """Return what becomes of the content of a part of a file."""
    if kind in ("document", "styles"):
        return turn_word(content, options, kind)
    xml = FRAMES[kind][0] + content + FRAMES[kind][1]
    if kind == "slides":
        main = "ppt/presentation.xml", f"{SLIDES}presentation.main", '<p:presentation xmlns:p="p"/>'
        data = write_office_package(main[0], [main, (MASTER, f"{SLIDES}slideMaster", xml)])
        found = turn(data, ".pptx", MASTER, options)
    elif kind == "odf":
        found = turn(make_text(styles=xml), ".odt", "styles.xml", options)
    else:
        name, last = ("worksheets/sheet1", "worksheet") if kind == "sheet" else ("styles", "styles")
        data = make_workbook((name, f"{SPREADSHEET}.{last}", xml))
        found = turn(data, ".xlsx", f"xl/{name}.xml", options)
    return found.removeprefix(FRAMES[kind][0]).removesuffix(FRAMES[kind][1])


@each_case
def test_what_names_a_direction_is_turned(kind, given, arabic, english):
    for options, expected in ((ARABIC, arabic), (ENGLISH, english), (GERMAN, given)):
        assert turn_part(kind, given, options) == expected


def test_what_is_turned_may_have_another_text():
    row = "<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t>a</w:t></w:r></w:p>"
    turned = turn_word(row, ENGLISH)
    assert turn_word(row, ENGLISH, change=str.upper) == turned.replace(">a<", ">A<")


def test_the_time_grows_with_the_length():
    def turn(count):
        return turn_word("<w:styles></w:styles>" * count, ARABIC, "styles")

    assert grows_less(turn, 1_200, 10)


def test_a_language_that_is_not_known_from_the_start_turns_nothing():
    body = '<w:tbl><w:tblPr/></w:tbl><w:p><w:r><w:rPr><w:lang w:val="en"/></w:rPr><w:t>a</w:t></w:r></w:p>'
    unknown = DocumentOptions("", "ar")
    assert turn_word(body * 2, unknown) == body.replace('"en"', '"ar"') * 2


def test_the_rows_of_a_large_sheet_are_not_read():
    cells = (
        "<sheetViews><sheetView/></sheetViews><sheetData><row>"
        + "<c/>" * 700_000
        + "</row></sheetData>"
    )
    assert 'rightToLeft="1"' in turn_part("sheet", cells, ARABIC)


def test_a_default_style_gets_no_side_that_has_no_prefix():
    default = '<style:default-style style:family="paragraph"><style:paragraph-properties/></style:default-style>'
    data = make_text(styles=f'<x xmlns:style="s">{default}</x>')
    assert default in turn(data, ".odt", "styles.xml", ARABIC)


def test_the_pages_of_a_book_follow_from_right_to_left():
    data = make_file(".epub", 1)
    turned = turn(data, ".epub", "OEBPS/book.opf", ARABIC)
    assert 'page-progression-direction="rtl"' in turned
    old = change_member(data, "OEBPS/book.opf", lambda text: re.sub(r'version="3[.\d]*"', 'version="2.0"', text))  # fmt: skip
    assert "page-progression" not in turn(old, ".epub", "OEBPS/book.opf", ARABIC)
    assert "page-progression-direction" not in turn(data, ".epub", "OEBPS/book.opf", GERMAN)


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods", ".epub"])
def test_a_turned_file_can_be_read_again(suffix):
    for seed in range(8, 10):
        document = open_document(make_file(suffix, seed), f"x{suffix}", ARABIC)
        out = document.write([translate(each, str.upper) for each in document.paragraphs])
        again = open_document(out, f"x{suffix}", DocumentOptions("ar", "en"))
        assert [each.text.upper() for each in again.paragraphs] == [
            each.text.upper() for each in document.paragraphs
        ]


def test_the_language_of_a_text_is_named_with_its_country():
    tag = '<w:lang w:val="en-US" w:eastAsia="x" w:bidi="y"/>'
    assert turn_word(tag, DocumentOptions("en", "th")) == tag.replace("en-US", "th")
    assert turn_word(tag, DocumentOptions("fr", "de")) == tag
    for target, expected in (("de", 'fo:language="de" fo:country="none"'), ("zh-TW", 'fo:language="zh" fo:country="TW"')):  # fmt: skip
        content = '<office:styles xmlns:office="o" xmlns:style="s" xmlns:fo="f"><style:text-properties fo:language="en" fo:country="US" style:country-asian="none"/></office:styles>'
        data = make_text(styles=content)
        assert f'{expected} style:country-asian="none"' in turn(data, ".odt", "styles.xml", DocumentOptions("en", target))  # fmt: skip
