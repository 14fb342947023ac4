"""A spreadsheet computes the same numbers when its texts are translated."""

import io
import random
import re
import zipfile
from html import escape

import pytest

from headway.ext.documents import DocumentOptions, Translated, open_document
from headway.ext.documents.opening import list_notices
from support.cases import each_case, read_rows
from support.office_packages import SPREADSHEET, change_member, make_workbook, read_part, write_zip

GERMAN = DocumentOptions("en", "de")
WORDS = read_rows(__file__, "WORDS")


def make_cells(texts, more="", *others):
    """Return a workbook with texts in A1, A2 and so on: each second one is a shared string."""
    cells = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>{n - 1}</v></c></row>' if n % 2
        else f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{escape(text)}</t></is></c></row>'
        for n, text in enumerate(texts, 1)
    )  # fmt: skip
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    return make_workbook(
        ("worksheets/sheet1", f"{SPREADSHEET}.worksheet", f"<worksheet><sheetData>{cells}</sheetData>{more}</worksheet>"),
        ("sharedStrings", f"{SPREADSHEET}.sharedStrings", f"<sst>{strings}</sst>"),
        *others,
    )  # fmt: skip


def read_cells(data, count):
    strings = re.findall("<t>(.*?)</t>", read_part(data, "xl/sharedStrings.xml"))
    inline = re.findall("<t>(.*?)</t>", read_part(data, "xl/worksheets/sheet1.xml"))
    return [strings[n] if n % 2 == 0 else inline[n // 2] for n in range(count)]


def translate_cells(texts, more="", *others):
    document = open_document(make_cells(texts, more, *others), "x.xlsx", GERMAN)
    out = document.write(
        [Translated(WORDS.get(each.text, each.text.upper())) for each in document.paragraphs]
    )
    return read_cells(out, len(texts))


def formula(source):
    return f'<sheetData><row r="9"><c r="C9"><f>{escape(source)}</f></c></row></sheetData>'


@each_case
def test_texts_that_a_workbook_compares_stay(more, kept):
    texts = ["Yes", "No", "Yes, sir", "done", "a cat", "dog"]
    found = translate_cells(texts, more)
    assert found == [text if text in kept else WORDS.get(text, text.upper()) for text in texts]


def test_texts_of_pivot_tables_stay():
    cache = '<pivotCacheDefinition><cacheField name="done"><sharedItems><s v="dog"/></sharedItems></cacheField></pivotCacheDefinition>'
    part = ("pivotCache/pivotCacheDefinition1", f"{SPREADSHEET}.pivotCacheDefinition", cache)
    assert translate_cells(["done", "dog", "a cat"], "", part) == ["done", "dog", "A CAT"]


def test_texts_that_are_compared_with_each_other_stay_equal_or_different():
    """`dog` and `hound` have one translation, and a count of one would count the other, too."""
    texts = ["dog", "hound", "dog", "Dog", "Yes"]
    assert translate_cells(texts) == ["Hund", "Hund", "Hund", "DOG", "Ja"]
    first, other, *same, last = translate_cells(texts, formula("COUNTIF(A:A,A1)"))
    assert {each.casefold() for each in same} == {first.casefold()} != {other.casefold()}
    assert last == "Ja"
    # No translation becomes what a formula looks for.
    assert translate_cells(["dog", "a cat"], formula('COUNTIF(A:A,"hund")')) == ["dog", "A CAT"]


def test_what_stays_is_counted_and_named():
    texts = ["Yes", "Yes", "a cat", "7"]
    document = open_document(make_cells(texts, formula('COUNTIF(A:A,"Yes")')), "x.xlsx", GERMAN)
    assert list_notices(document) == [
        "cells that stay, because the file compares their texts: 2 (sheet1.xml!A1, sheet1.xml!A2)"
    ]
    assert list_notices(open_document(make_cells(texts), "x.xlsx", GERMAN)) == []


def make_ods(rows, more=""):
    """Return a spreadsheet of OpenDocument; a cell that begins with ``=`` is a formula."""

    def cell(text):
        if text.startswith("="):
            return (
                f'<table:table-cell table:formula="of:{escape(text)}" office:value-type="float"/>'
            )
        return f'<table:table-cell office:value-type="string"><text:p>{escape(text)}</text:p></table:table-cell>'

    table = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    content = f'<x xmlns:office="o" xmlns:table="b" xmlns:text="t"><table:table table:name="S">{table}</table:table>{more}</x>'
    mime = ("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    return write_zip([mime, ("content.xml", content)])


@each_case
def test_texts_that_a_spreadsheet_of_open_document_compares_stay(source, more, kept):
    texts = ["Yes", "a cat", "done"]
    document = open_document(
        make_ods([*([text] for text in texts), [source]], more), "x.ods", GERMAN
    )
    out = document.write([Translated(each.text.upper()) for each in document.paragraphs])
    found = re.findall("<text:p>(.*?)<", read_part(out, "content.xml"))
    assert found == [text if f"S!A{n}" in kept else text.upper() for n, text in enumerate(texts, 1)]
    notices = [
        f"cells that stay, because the file compares their texts: {len(kept)} ({', '.join(kept)})"
    ]
    assert list_notices(document) == notices * bool(kept)


@pytest.mark.parametrize("seed", range(20))
def test_generated_workbooks_count_the_same(seed):
    """Counts of literals and of other cells, as programs make them: without capitals, and with wildcards."""
    chooser = random.Random(seed)
    texts = chooser.choices([*WORDS, "a cat", "cat", "the cat", "hund", "ja"], k=12)
    literals = chooser.sample([*WORDS, "cat", "c*t", "*cat", "ja"], 3)
    source = "+".join(f'COUNTIF(A:A,"{each}")' for each in literals) + "+COUNTIF(A:A,A1)"

    def count(cells, looked_for):
        pattern = re.escape(looked_for.casefold()).replace(r"\*", ".*")
        return sum(re.fullmatch(pattern, cell.casefold()) is not None for cell in cells)

    found = translate_cells(texts, formula(source))
    for each in literals:
        assert count(texts, each) == count(found, each), (texts, found, each)
    for before, after in zip(texts, found, strict=True):
        assert count(texts, before) == count(found, after), (texts, found, before)


def test_a_sheet_is_named_by_its_title():
    book = make_cells(["Yes"], formula('COUNTIF(A:A,"Yes")'))
    sheet = '<workbook xmlns:r="r"><sheets><sheet name="Orders" r:id="a"/></sheets></workbook>'
    relations = (
        '<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/></Relationships>'
    )
    named = change_member(book, "xl/workbook.xml", lambda _: sheet)
    with zipfile.ZipFile(io.BytesIO(named)) as old:
        members = [(name, old.read(name)) for name in old.namelist()]
    named = write_zip([*members, ("xl/_rels/workbook.xml.rels", relations)])
    [notice] = list_notices(open_document(named, "x.xlsx", GERMAN))
    assert notice.endswith("1 (Orders!A1)")
