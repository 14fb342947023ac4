"""Office files and electronic books: what is special in each, and packages that are refused."""

import io
import random
import re
import zipfile

import pytest

from headway.errors import HeadwayError
from headway.ext.documents import OFFICE as OFFICE_KINDS
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated, walk
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from support.bounds import grows_less
from support.cases import each_case, own_rows
from support.document_promises import changed, damaged, unchanged
from support.documents import expand, make_file, translate
from support.office_damage import HOSTILE, ILL_FORMED
from support.office_files import OFFICE_MAKERS
from support.office_packages import (
    SPREADSHEET,
    WORD,
    change_member,
    make_text,
    make_word,
    make_workbook,
    read_part,
    write_zip,
)

BOLD = "<w:rPr><w:b/></w:rPr>"
GERMAN = DocumentOptions("en", "de")


def upper(paragraph):
    return translate(paragraph, str.upper)


def reverse(paragraph):
    """Return the words in capitals, the last one first."""
    words = paragraph.text.upper().split()
    target = " ".join(reversed(words))
    pairs = [(n, len(words) - 1 - n) for n in range(len(words))]
    return Translated(target, WordLinks(find_words(paragraph.text), find_words(target), pairs))


def kept_upper(paragraph):
    """Return the text in capitals but for the texts that stay; nothing says which words belong together."""
    marks = KeptMarks(paragraph)
    return expand(marks, Translated(marks.text.upper()))


def link_all_but_c(paragraph):
    assert paragraph.text == "a b c d"
    words, pairs = find_words(paragraph.text), [(0, 1), (1, 0), (3, 3)]
    return Translated("B A C D", WordLinks(words, words, pairs))


HOW = {
    "upper": upper,
    "reverse": reverse,
    "kept_upper": kept_upper,
    "link_all_but_c": link_all_but_c,
}


def translated_word(body, translate=upper):
    document = open_document(make_word(body), "x.docx", GERMAN)
    out = document.write([translate(paragraph) for paragraph in document.paragraphs])
    return read_part(out, "word/document.xml").partition("<w:body>")[2].partition("</w:body>")[0]


@pytest.mark.parametrize("suffix", OFFICE_MAKERS)
@pytest.mark.parametrize("promise", [unchanged, changed, damaged])
def test_packages_keep_the_promises_of_documents(suffix, promise):
    assert [broken for seed in range(2) if (broken := promise(suffix, seed))] == []


@pytest.mark.parametrize("suffix", [".docx", ".epub"])
def test_hostile_packages_are_refused_in_one_line(suffix):
    data = make_file(suffix, 1)
    for hostile in HOSTILE + ([] if suffix == ".epub" else ILL_FORMED):
        with pytest.raises(HeadwayError) as raised:
            open_document(hostile(data, random.Random(1)), f"x{suffix}")
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 250


def test_members_that_overlap_are_refused_before_one_is_read():
    """Python 3.14 would warn of them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name in ("mimetype", "content.xml"):
            package.writestr(name, "application/vnd.oasis.opendocument.text")
        package.filelist[1].header_offset = package.filelist[0].header_offset
    with pytest.raises(HeadwayError, match="its members overlap"):
        open_document(out.getvalue(), "x.odt")


def test_a_file_of_another_kind_is_named():
    for name, suffix, message in (
        (".docx", ".xlsx", "is no .xlsx file"), (".odt", ".ods", "is no .ods file"), (".odt", ".docx", "is no office file"),
        (".docx", ".epub", "is no electronic book"), (".epub", ".odt", "is no .odt file"), (".txt", ".docx", "is no ZIP package"),
    ):  # fmt: skip
        with pytest.raises(HeadwayError, match=message):
            open_document(make_file(name, 1), f"x{suffix}")
    protected = make_text(**{"META-INF/manifest": "<x><encryption-data/></x>"})
    drm = '<encryption><CipherReference URI="OEBPS/chapter%200.xhtml"/></encryption>'
    book = zipfile.ZipFile(io.BytesIO(make_file(".epub", 1)))
    members = [(name, book.read(name)) for name in book.namelist()]
    locked = write_zip([*members, ("META-INF/encryption.xml", drm)])
    for data, name, message in ((protected, "x.odt", "is encrypted"), (locked, "x.epub", "is protected")):  # fmt: skip
        with pytest.raises(HeadwayError, match=message):
            open_document(data, name)


def run(text, properties="", more=""):
    space = ' xml:space="preserve"' if text != text.strip() else ""
    return f"<w:r{more}>{properties}<w:t{space}>{text}</w:t></w:r>"


def field(instruction, result):
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]  # fmt: skip
    code = f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    return f"{marks[0]}{code}{marks[1]}{result}{marks[2]}"


def merged(content):
    """Return the source of runs without borders between those without properties."""
    return content.replace("</w:r><w:r>", "")


@pytest.mark.parametrize("mark", ["br", "tab", "noBreakHyphen", "footnoteReference"])
def test_the_time_for_a_paragraph_grows_with_its_runs(mark):
    unit = f"{run('a')}<w:r><w:{mark}/></w:r>"

    def write(count):
        document = open_document(make_word(f"<w:p>{unit * count}</w:p>"), "x.docx")
        document.write([upper(paragraph) for paragraph in document.paragraphs])

    assert grows_less(write, 3000, 8)


@each_case
def test_runs_of_word_processing(source, expected):
    assert merged(translated_word(f"<w:p>{source}</w:p>")) == f"<w:p>{merged(expected)}</w:p>"


@each_case
def test_texts_of_word_and_what_becomes_of_them(how, source, texts, written):
    document = open_document(make_word(source), "x.docx", GERMAN)
    assert [paragraph.text for paragraph in document.paragraphs] == texts
    assert merged(translated_word(source, HOW[how])) == written


def test_a_unit_keeps_its_raised_number():
    squared = run("4 m") + run("2", '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>') + run(" a")

    def keep_unit(paragraph):
        return Translated("4 m ein", WordLinks.identity(paragraph.text))

    expected = squared.replace(" a<", " ein<")
    assert translated_word(f"<w:p>{squared}</w:p>", keep_unit) == f"<w:p>{expected}</w:p>"


def test_a_field_in_the_result_of_a_field_stays_in_it():
    inner = field(" PAGEREF a ", run("7"))
    outer = field(" HYPERLINK a ", run("on ") + inner + run(" so"))
    [paragraph] = open_document(make_word(f"<w:p>{run('See ')}{outer}</w:p>"), "x.docx").paragraphs
    assert paragraph.text == "See on 7 so"
    assert [(each.start, each.end) for each in walk(paragraph.elements)] == [(4, 11), (7, 8)]


def test_a_bold_clause_stays_together_although_most_text_is_bold():
    big = '<w:rPr><w:sz w:val="48"/></w:rPr>'
    runs = [run("It is far away", BOLD), run(" from "), run("A", big), run(" to "), run("B", big)]
    target = "Von A nach B ist es weit"

    def turn(paragraph):
        pairs = [(4, 0), (5, 1), (6, 2), (7, 3), (1, 4), (0, 5), (2, 6)]
        links = WordLinks(find_words(paragraph.text), find_words(target), pairs)
        return Translated(target, links)

    moved = [run("Von "), run("A", big), run(" nach "), run("B", big), run(" "), run("ist es weit", BOLD)]  # fmt: skip
    assert translated_word(f"<w:p>{''.join(runs)}</w:p>", turn) == f"<w:p>{''.join(moved)}</w:p>"
    # Bold text with plain words in it is no clause: these are the elements.
    around = [run("It is ", BOLD), run("far"), run(" away from ", BOLD), run("A"), run(" to B", BOLD)]  # fmt: skip
    moved = [run("Von ", BOLD), run("A"), run(" nach B ist es ", BOLD), run("weit")]

    assert translated_word(f"<w:p>{''.join(around)}</w:p>", turn) == f"<w:p>{''.join(moved)}</w:p>"


def test_a_formula_stands_for_a_word():
    formula = "<m:oMath><m:r><w:rPr/><m:t>x+</m:t></m:r> <m:r><m:t>1 &lt; a</m:t></m:r></m:oMath>"
    formula = formula.replace("<m:oMath", '<m:oMath xmlns:m="m"', 1)
    source = f"<w:p>{run('a is ')}{formula}{run(' here')}</w:p><w:p>{formula}</w:p>"
    [paragraph] = open_document(make_word(source), "x.docx").paragraphs
    assert paragraph.text == "a is x+ 1 < a here"
    assert KeptMarks(paragraph).text == "a is \ue000 here"


@each_case
def test_a_range_of_open_document_stays_around_its_words(start, end):
    source = f'<w:p xmlns:w="{WORD}">a b <w:{start}/>c<w:{end}/> d</w:p>'
    document = open_document(make_text(content=source), "x.odt")
    out = document.write([link_all_but_c(paragraph) for paragraph in document.paragraphs])
    assert f">B A <w:{start}/>C<w:{end}/> D<" in read_part(out, "content.xml")


def test_numbers_formulas_and_names_of_sheets_stay():
    data = make_file(".xlsx", 1)
    document = open_document(data, "x.xlsx")
    out = document.write([translate(paragraph) for paragraph in document.paragraphs])
    assert "rPh" not in read_part(out, "xl/sharedStrings.xml")  # how the old text is pronounced
    sheets = [read_part(each, "xl/worksheets/sheet1.xml") for each in (data, out)]
    cells = [re.findall('<f>.*?</f>(?:<v>.*?</v>)?|(?<!str">)<v>.*?</v>', each) for each in sheets]
    assert cells[0] == cells[1] != []
    assert read_part(out, "xl/workbook.xml") == read_part(data, "xl/workbook.xml")
    odf = make_file(".ods", 1)
    document = open_document(odf, "x.ods")
    written = read_part(
        document.write([upper(each) for each in document.paragraphs]), "content.xml"
    )
    for kept in ("<text:p>42 things<", "<text:p>a cached text<", 'table:name="Sheet one"'):
        assert kept in written


def test_headers_that_a_pivot_table_names_stay():
    cells = "<table:table-cell><text:p>{}</text:p></table:table-cell>" * 2
    field = '<table:data-pilot-field table:source-field-name="Animal"/>'
    content = (
        f'<office:text xmlns:office="o" xmlns:text="t" xmlns:table="b">{cells}{field}</office:text>'
    )
    written = translated_part(".ods", "content.xml", content.format("Animal", "dog"))
    assert written == content.format("Animal", "DOG")


def make_sheet(content):
    names = 'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = f"<x:worksheet {names}>{content}</x:worksheet>"
    return make_workbook(("worksheets/sheet1", f"{SPREADSHEET}.worksheet", sheet))


def translated_sheet(content, translate):
    document = open_document(make_sheet(content), "x.xlsx")
    out = document.write([translate(paragraph) for paragraph in document.paragraphs])
    return read_part(out, "xl/worksheets/sheet1.xml").partition(">")[2].rpartition("</")[0]


@each_case
def test_a_cell_has_its_text_in_itself_if_it_is_no_result_of_a_formula(cell, expected):
    assert translated_sheet(cell, upper) == expected


@pytest.mark.parametrize(("name", "most"), [("promptTitle", 32), ("error", 255)])
def test_a_message_of_an_input_check_that_would_be_too_long_stays(name, most):
    content = f'<x:dataValidation {name}="a b"/>'
    for size, written in ((most, "b" * most), (most + 1, "a b")):
        out = translated_sheet(content, lambda _, size=size: Translated("b" * size))
        assert out == content.replace("a b", written)


def test_a_cell_that_would_be_too_long_stays():
    for length in (32_767, 32_768):
        document = open_document(make_table(["a b"]), "x.xlsx")
        out = document.write([Translated("x" * length) for _ in document.paragraphs])
        strings = read_part(out, "xl/sharedStrings.xml")
        assert ("<t>a b</t>" in strings) == (length > 32_767)


def make_table(names, formula="", more=""):
    """Return a spreadsheet with a table; the texts of its header are shared strings."""
    strings = "".join(f"<si><t>{name}</t></si>" for name in names)
    columns = "".join(f'<tableColumn id="{n}" name="{name}"/>' for n, name in enumerate(names, 1))
    sheet = f'<sheetData><row r="2"><c r="A2"><f>{formula}</f><v>3</v></c></row></sheetData>'
    return make_workbook(
        ("worksheets/sheet1", f"{SPREADSHEET}.worksheet", f"<worksheet>{sheet}</worksheet>"),
        ("sharedStrings", f"{SPREADSHEET}.sharedStrings", f"<sst>{strings}</sst>"),
        ("tables/table1", f"{SPREADSHEET}.table", f"<table><tableColumns>{columns}</tableColumns></table>"),
        *([("more", more, "<more/>")] if more else []),
    )  # fmt: skip


@each_case
def test_the_header_of_a_table_is_translated_with_its_columns_if_no_formula_names_it(
    names, formula, more, expected
):
    words = {"big": "LARGE", "great": "LARGE", "nothing": ""}
    document = open_document(make_table(names, formula, more), "x.xlsx")
    texts = [words.get(each.text, each.text.upper()) for each in document.paragraphs]
    out = document.write([Translated(text) for text in texts])
    assert re.findall("<t>(.*?)</t>", read_part(out, "xl/sharedStrings.xml")) == expected
    assert re.findall(' name="(.*?)"', read_part(out, "xl/tables/table1.xml")) == expected


def test_a_table_whose_header_has_no_translation_keeps_its_bytes():
    data = make_table(["Name", "name "])
    document = open_document(data, "x.xlsx")
    assert document.write([Translated(each.text) for each in document.paragraphs]) == data


def test_files_in_a_file_are_translated_unless_they_are_damaged():
    data = make_word("", {"word/embeddings/a.xlsx": make_table(["Name"]), "word/embeddings/b.xlsx": b"PK damaged"})  # fmt: skip
    document = open_document(data, "x.docx")
    out = zipfile.ZipFile(io.BytesIO(document.write([upper(p) for p in document.paragraphs])))
    assert "<t>NAME</t>" in read_part(out.read("word/embeddings/a.xlsx"), "xl/sharedStrings.xml")
    assert out.read("word/embeddings/b.xlsx") == b"PK damaged"


def test_files_in_a_file_share_its_limits(monkeypatch):
    inner = {f"word/embeddings/{number}.xlsx": make_table(["Name"] * 50) for number in range(9)}
    data = make_word("", inner)
    monkeypatch.setattr("headway.ext.documents.office.package.Package.__init__.__defaults__", (500, None))  # fmt: skip
    document = open_document(data, "x.docx")
    assert 0 < len(document.paragraphs) < 9 * 2 * 50
    written = document.write([upper(paragraph) for paragraph in document.paragraphs])
    assert len(open_document(written, "x.docx").paragraphs) == len(document.paragraphs)


@each_case
def test_a_file_without_its_main_part_is_damaged(suffix, missing):
    package = zipfile.ZipFile(io.BytesIO(make_file(suffix, 1)))
    left = [(name, package.read(name)) for name in package.namelist() if name != missing]
    with pytest.raises(HeadwayError, match=r"is damaged: it has no main part$"):
        open_document(write_zip(left), f"x{suffix}")


def test_templates_and_files_with_macros_are_read_as_documents():
    for made, suffixes in OFFICE_KINDS.items():
        data = make_file(made, 1)
        for suffix in suffixes:
            document = open_document(data, f"x{suffix}")
            assert len(document.paragraphs) == len(open_document(data, f"x{made}").paragraphs)


@each_case
def test_the_main_part_of_a_template_or_of_a_file_with_macros_has_another_type(name, kind, other):
    made = {"d": ".docx", "p": ".pptx", "x": ".xlsx", "o": ".odt"}[name[0]]
    data = make_file(made, 1)
    package = zipfile.ZipFile(io.BytesIO(data))
    pattern = rf'(?<=[/."])[\w.-]*{re.escape(kind)}(?=["+]|$)'
    members = [
        (each, re.sub(pattern, f"vnd.{other}" if made != ".odt" else f"vnd.oasis.{other}", package.read(each).decode())
         if each in ("[Content_Types].xml", "mimetype") else package.read(each))
        for each in package.namelist()
    ]  # fmt: skip
    changed_file = write_zip(members)
    assert changed_file != data
    texts = [
        [p.text for p in open_document(file, f"x.{name}").paragraphs]
        for file in (data, changed_file)
    ]
    assert texts[0] == texts[1] != []


def translated_part(suffix, part, content):
    """Return the translation of what stands in a part instead of the one that a generated file has."""
    data = change_member(make_file(suffix, 1), part, lambda _: content)
    document = open_document(data, f"x{suffix}", GERMAN)
    return read_part(document.write([upper(paragraph) for paragraph in document.paragraphs]), part)


@each_case
def test_what_a_reader_sees_in_the_language_of_the_text_is_translated(
    suffix, part, source, expected
):
    root = f'<w:root xmlns:w="{WORD}">{{}}</w:root>'
    assert translated_part(suffix, part, root.format(source)) == root.format(expected)


def translated_comments(kind, content):
    document = open_document(make_workbook(("more", kind, content)), "x.xlsx")
    marks = [KeptMarks(paragraph) for paragraph in document.paragraphs]
    found = [expand(each, reverse(Paragraph(each.text))) for each in marks]
    return read_part(document.write(found), "xl/more.xml")


def test_a_comment_that_mentions_somebody_stays():
    comment = "<x><threadedComment><text>{}</text>{}</threadedComment></x>"
    mention = '<mentions><mention mentionId="1" startIndex="0" length="5"/></mentions>'
    source = comment.format("a b", "") + comment.format("@Anna a", mention)
    written = translated_comments("vnd.ms-excel.threadedcomments", f"<y>{source}</y>")
    assert written == f"<y>{source.replace('a b', 'B A')}</y>"


def test_a_file_names_the_new_language():
    for suffix, part, expected in own_rows():
        document = open_document(make_file(suffix, 1), f"x{suffix}", GERMAN)
        out = document.write([translate(paragraph) for paragraph in document.paragraphs])
        assert expected in read_part(out, part), suffix


def test_spaces_of_open_document_are_those_of_a_reader():
    namespaces = 'xmlns:office="o" xmlns:text="t"'
    for source, text, expected in own_rows():
        content = f"<office:text {namespaces}><text:p>{source}</text:p></office:text>"
        document = open_document(make_text(content=content), "x.odt")
        assert [paragraph.text for paragraph in document.paragraphs] == [text]
        out = document.write([upper(paragraph) for paragraph in document.paragraphs])
        assert f"<text:p>{expected}</text:p>" in read_part(out, "content.xml")
