"""An office file that is translated into a language of the other direction is read in that direction."""

import re

import pytest

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from support.bounds import grows_less
from support.cases import each_case
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
BIDI = "<w:pPrDefault><w:pPr><w:bidi/></w:pPr></w:pPrDefault>"


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


@each_case
def test_paragraphs_of_word_get_the_direction_by_default(before, after):
    assert turn_word(before, ARABIC, "styles") == after
    assert turn_word(before, GERMAN, "styles") == before


@each_case
def test_what_names_a_direction_is_turned_and_turned_back(ltr, rtl):
    assert turn_word(ltr, ARABIC) == rtl
    assert turn_word(rtl, ENGLISH) == ltr
    assert turn_word(rtl, ARABIC) == rtl
    assert turn_word(ltr, GERMAN) == ltr


def test_elements_without_a_value_are_on():
    row = "<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t>a</w:t></w:r></w:p>"
    off = row.replace("bidi/", 'bidi w:val="0"/').replace("rtl/", 'rtl w:val="0"/')
    assert turn_word(row, ENGLISH) == off
    assert turn_word(row, ENGLISH, change=str.upper) == off.replace(">a<", ">A<")
    assert turn_word(row, ARABIC) == row


def test_recorded_changes_and_strange_tables_keep_their_form():
    old = "<w:tblPrChange><w:tblPr><w:tblW/></w:tblPr></w:tblPrChange>"
    for before, after in (
        (f"<w:tblPr><w:tblW/>{old}</w:tblPr>", f"<w:tblPr><w:bidiVisual/><w:tblW/>{old}</w:tblPr>"),
        ("<w:tblPr><!-- </w:tblPr> --></w:tblPr>", "<w:tblPr><w:bidiVisual/></w:tblPr>"),
        ("<w:tblPr />", "<w:tblPr><w:bidiVisual/></w:tblPr>"),
        ("<w:tblPr><w:tblStyle/></w:tblPr><w:tr><w:tc><w:tbl><w:tblPr><w:bidiVisual/></w:tblPr></w:tbl></w:tc></w:tr>",
         "<w:tblPr><w:tblStyle/><w:bidiVisual/></w:tblPr><w:tr><w:tc><w:tbl><w:tblPr><w:bidiVisual/></w:tblPr></w:tbl></w:tc></w:tr>"),
        ('<a:tblPr xmlns:a="a"/>', '<a:tblPr xmlns:a="a"/>'),
    ):  # fmt: skip
        assert turn_word(f"<w:tbl>{before}</w:tbl>", ARABIC) == f"<w:tbl>{after}</w:tbl>"
    style = "<w:style><w:tblPr><w:tblW/></w:tblPr></w:style>"
    assert turn_word(style, ARABIC, "styles").endswith(style)


def test_the_time_grows_with_the_length():
    def turn(count):
        return turn_word("<w:styles></w:styles>" * count, ARABIC, "styles")

    assert grows_less(turn, 1_200, 10)


def test_a_language_that_is_not_known_from_the_start_turns_nothing():
    body = '<w:tbl><w:tblPr/></w:tbl><w:p><w:r><w:rPr><w:lang w:val="en"/></w:rPr><w:t>a</w:t></w:r></w:p>'
    unknown = DocumentOptions("", "ar")
    assert turn_word(body * 2, unknown) == body.replace('"en"', '"ar"') * 2


def test_tables_of_word_begin_at_the_right():
    table = '<w:tbl><w:tblPr><w:tblStyle w:val="x"/><w:tblW w:w="0"/></w:tblPr></w:tbl>'
    turned = table.replace("<w:tblW", "<w:bidiVisual/><w:tblW")
    assert turn_word(table * 2, ARABIC) == turned * 2
    assert turn_word(table, ENGLISH) == table


def test_slides_are_mirrored():
    def make(levels):
        content = f'<p:sldMaster xmlns:p="p" xmlns:a="a">{levels}</p:sldMaster>'
        master = ("ppt/slideMasters/slideMaster1.xml", f"{SLIDES}slideMaster", content)
        main = ("ppt/presentation.xml", f"{SLIDES}presentation.main", '<p:presentation xmlns:p="p"/>')  # fmt: skip
        return write_office_package("ppt/presentation.xml", [main, master])

    wordy = make('<a:lvl1pPr rtl="false"/><a:tblPr/>')
    expected = '<a:lvl1pPr rtl="1"/><a:tblPr rtl="1"/>'
    assert expected in turn(wordy, ".pptx", "ppt/slideMasters/slideMaster1.xml", ARABIC)
    levels = '<a:lvl1pPr algn="l" rtl="0"/><a:lvl9pPr rtl="0" algn="r"/><a:pPr algn="ctr"/><a:tblPr rtl="0"/>'
    mirrored = '<a:lvl1pPr algn="r" rtl="1"/><a:lvl9pPr rtl="1" algn="l"/><a:pPr algn="ctr"/><a:tblPr rtl="1"/>'
    part = "ppt/slideMasters/slideMaster1.xml"
    assert mirrored in turn(make(levels), ".pptx", part, ARABIC)
    assert levels in turn(make(mirrored), ".pptx", part, ENGLISH)


@pytest.mark.parametrize("text", ["", "<c t='inlineStr'><is><t>a</t></is></c>"])
def test_sheets_begin_at_the_right(text):
    def make(view, rows=f"<row>{text}</row>"):
        sheet = f'<worksheet><sheetViews>{view}</sheetViews><sheetData>{rows}</sheetData></worksheet>'  # fmt: skip
        return make_workbook(("worksheets/sheet1", f"{SPREADSHEET}.worksheet", sheet))

    part = "xl/worksheets/sheet1.xml"
    if not text:  # the rows are not read, of which there may be many
        cells = "<row>" + "<c/>" * 700_000 + "</row>"
        assert 'rightToLeft="1"' in turn(make("<sheetView a=''/>", cells), ".xlsx", part, ARABIC)
    for view, turned in (
        ('<sheetView tabSelected="1"/>', '<sheetView tabSelected="1" rightToLeft="1"/>'),
        ('<sheetView a="b" rightToLeft="0"><x/></sheetView>', '<sheetView a="b" rightToLeft="1"><x/></sheetView>'),
        ("<sheetView rightToLeft='false' />", '<sheetView rightToLeft="1" />'),
    ):  # fmt: skip
        assert turned in turn(make(view), ".xlsx", part, ARABIC)
        assert view in turn(make(view), ".xlsx", part, GERMAN)
        plain = re.sub(r"\srightToLeft=\S\w+\S", "", view)
        for each in (view, turned):
            assert plain in turn(make(each), ".xlsx", part, ENGLISH)


def test_the_sides_of_cells_are_turned():
    def make(side):
        styles = f'<styleSheet><cellXfs><xf><alignment horizontal="{side}" vertical="top"/></xf></cellXfs></styleSheet>'
        return make_workbook(("styles", f"{SPREADSHEET}.styles", styles))

    for side, other in (("left", "right"), ("right", "left"), ("center", "center")):
        for options, expected in ((ARABIC, other), (ENGLISH, other), (GERMAN, side)):
            turned = turn(make(side), ".xlsx", "xl/styles.xml", options)
            assert f'<alignment horizontal="{expected}" vertical="top"/>' in turned


ODF_ROOT = (
    '<x xmlns:office="o" xmlns:style="s" xmlns:fo="f" xmlns:table="t" xmlns:draw="d" xmlns:ns1="n">'
)


def turn_odf(styles, options, root=ODF_ROOT):
    """Return styles of OpenDocument in a translated file."""
    turned = turn(make_text(styles=f"{root}{styles}</x>"), ".odt", "styles.xml", options)
    return turned.removeprefix(root).removesuffix("</x>")


@pytest.mark.parametrize(
    "name", ["page-layout", "paragraph", "table", "table-cell", "section", "graphic"]
)
def test_directions_of_open_document_are_turned(name):
    ltr = f'<style:{name}-properties fo:x="1" style:writing-mode="lr-tb"/>'
    rtl = ltr.replace("lr-tb", "rl-tb")
    assert turn_odf(ltr, ARABIC) == turn_odf(ltr.replace("lr-tb", "lr"), ARABIC) == rtl
    assert turn_odf(rtl, ENGLISH) == turn_odf(rtl.replace("rl-tb", "rl"), ENGLISH) == ltr
    assert turn_odf(ltr, GERMAN) == ltr
    page = ltr.replace("lr-tb", "page")
    assert turn_odf(page, ARABIC) == page
    added = rtl if name == "page-layout" else ltr.replace(' style:writing-mode="lr-tb"', "")
    assert turn_odf(f'<style:{name}-properties fo:x="1"/>', ARABIC) == added


def test_pages_with_another_prefix_are_turned():
    expected = '<ns1:page-layout-properties ns1:writing-mode="rl-tb"/>'
    assert turn_odf("<ns1:page-layout-properties/>", ARABIC) == expected


@each_case
def test_sides_in_open_document_are_turned(element, left, right):
    for side, other in ((left, right), (right, left), ("center", "center")):
        for options, expected in ((ARABIC, other), (ENGLISH, other), (GERMAN, side)):
            assert turn_odf(f'<{element}="{side}"/>', options) == f'<{element}="{expected}"/>'


@pytest.mark.parametrize("family", ["paragraph", "graphic", "presentation", "table-cell"])
def test_open_document_names_sides_as_libre_office_reads_them(family):
    def make(name, side, child="<x/>"):
        properties = f"<style:paragraph-properties{side and f' fo:text-align={side}'}>{child}</style:paragraph-properties>"
        return f'<style:{name} style:family="{family}">{properties}</style:{name}>'

    left, right = ('"start"', '"end"') if family == "table-cell" else ('"left"', '"right"')
    default = "" if family == "table-cell" else right
    for name, side, arabic, english in (
        ("style", "'start'", right, right),
        ("style", '"left"', right, right),
        ("style", '"end"', left, left),
        ("style", '"right"', left, left),
        ("style", '"center"', '"center"', '"center"'),
        ("style", "", "", ""),
        ("default-style", "", default, ""),
        ("default-style", '"justify"', '"justify"', '"justify"'),
        ("default-style", '"start"', right, right),
    ):
        given, other = make(name, side), make("style", "")
        for options, expected in ((ARABIC, arabic), (ENGLISH, english), (GERMAN, side)):
            turned = turn_odf(given + other, options)
            assert turned == make(name, expected) + other, (name, side, options)


def test_default_styles_of_open_document_get_a_side_only_where_it_can_be_written():
    empty = '<style:default-style style:family="paragraph"/>'
    properties = "<style:paragraph-properties/>"
    assert turn_odf(empty, ARABIC) == empty
    assert turn_odf(f'<style:style style:family="paragraph"/>{properties}', ARABIC).endswith(
        properties
    )
    default = f'<style:default-style style:family="paragraph">{properties}</style:default-style>'
    assert turn_odf(default, ARABIC, '<x xmlns:style="s">') == default
    after = f'{default}<style:style style:family="paragraph"/>{properties}'
    assert turn_odf(after, ARABIC).endswith(properties)


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
