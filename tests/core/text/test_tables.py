"""Tables: what spreadsheet programs write is read as the cells that were typed."""

import csv
import io

import pytest

from headway.errors import HeadwayError
from headway.text.lines import Damaged
from headway.text.readers import FileForm, Pair, describe_layout, read_pairs
from headway.text.tables import MOST_LINES, SAMPLE
from support.cases import each_case, read_rows
from support.numbered_text import number_pairs

LANGUAGES = ("en", "de")
TYPED = [*read_rows(__file__, "TYPED"), *number_pairs(11)]
READ = [(" ".join(a.split("\n")), " ".join(b.split("\n"))) for a, b in TYPED]


def write(path, rows, delimiter, quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\r\n").writerows(rows)
    path.write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode())
    return path


def read(path, columns=None):
    return [pair[:2] for pair in read_pairs([path], LANGUAGES, form=FileForm(columns=columns))]


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")]
)
def test_a_spreadsheet_is_read_as_its_cells_were_typed(tmp_path, name, delimiter, quoting):
    rows = [("English", "German"), *TYPED]
    assert read(write(tmp_path / name, rows, delimiter, quoting)) == READ
    assert read(write(tmp_path / name, rows[1:], delimiter, quoting)) == READ


def test_the_lines_of_rows_with_line_breaks_are_counted(tmp_path):
    path = write(tmp_path / "a.csv", [("en", "de"), ("a\nb\n\nc", "d"), ("e", "f")], ",")
    assert list(read_pairs([path], LANGUAGES)) == [Pair("a b c", "d", 2), Pair("e", "f", 6)]


@each_case
def test_quotes_of_a_corpus_are_text(tmp_path, lines):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert read(path) == [tuple(line.split("\t")) for line in lines]


@each_case
def test_what_a_quotation_of_a_corpus_cannot_have_shows_that_cells_are_quoted(
    tmp_path, text, expected
):
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    assert read(tmp_path / "a.tsv") == [tuple(pair) for pair in expected]


@each_case
def test_columns_are_found_by_the_header(tmp_path, header):
    rows = [(str(n), *pair, "x") for n, pair in enumerate(TYPED)]
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        path = write(tmp_path / name, [header, *rows], delimiter)
        assert read(path) == READ
        assert header[1] in describe_layout([path], LANGUAGES)


def test_the_order_of_the_columns_is_that_of_the_languages(tmp_path):
    path = write(tmp_path / "a.csv", [("de", "en"), ("ja", "yes"), ("nein", "no")], ",")
    assert read(path) == [("yes", "ja"), ("no", "nein")]


def test_a_first_row_that_is_a_pair_of_words_is_no_header(tmp_path):
    for first in (
        ("it", "es"),
        ("The source of the text", "Die Quelle"),
        ("In English", "In German"),
    ):
        path = write(tmp_path / "a.csv", [first, ("is", "ist")], ",")
        assert read(path) == [first, ("is", "ist")]
    layout = describe_layout([path], LANGUAGES)
    assert "no header (if there is one: --columns 'In English' 'In German')" in layout


@pytest.mark.parametrize(
    "first", [("en", "fr"), ("English", "French"), ("French", "Italian"), ("Es", "de")]
)
def test_a_first_row_that_names_other_languages_is_refused(tmp_path, first):
    path = write(tmp_path / "a.csv", [first, ("cat", "chat")], ",")
    for columns in (None, ("1", "2"), ("2", "1")):
        with pytest.raises(
            HeadwayError, match=r"a\.csv:1: the first row names .*: give --languages"
        ):
            read(path, columns)
    assert read(path, first) == [("cat", "chat")]


def test_a_column_that_is_named_exactly_is_preferred(tmp_path):
    header = ("source language", "target language", "source", "target")
    path = write(tmp_path / "a.csv", [header, ("en", "de", "yes", "ja")], ",")
    assert read(path) == [("yes", "ja")]


def test_the_line_by_which_excel_knows_the_delimiter_is_no_row(tmp_path):
    path = tmp_path / "a.csv"
    for header in ("English;German\n", ""):
        path.write_text(f"sep=;\n{header}a,b;c\n", encoding="utf-8")
        line = 2 + bool(header)
        assert list(read_pairs([path], LANGUAGES)) == [Pair("a,b", "c", line)]


def test_columns_are_chosen_by_name_or_number(tmp_path):
    rows = [
        ("Nr.", "Deutsch", "Englisch"),
        ("1", "ja", "yes"),
        ("2", "b", "a"),
    ]
    path = write(tmp_path / "a.csv", rows, ";")
    assert read(path, ("Englisch", "Deutsch")) == [("yes", "ja"), ("a", "b")]
    assert read(path, ("3", "2")) == [("Englisch", "Deutsch"), ("yes", "ja"), ("a", "b")]


def test_rows_that_are_not_csv_are_damaged_and_the_next_ones_are_read(tmp_path):
    filler = "".join(f"{n},z{n}\n" for n in range(2 * MOST_LINES + SAMPLE))
    path = tmp_path / "a.csv"
    path.write_text(f'en,de\na,b\n"open,c\n"d" e,f\ng,h,i\n\nj,k\n{filler}')
    found = list(read_pairs([path], LANGUAGES, strict=False))
    damaged = {item.line: item.reason for item in found if isinstance(item, Damaged)}
    assert damaged.keys() == {3, 4, 5}
    assert damaged[5] == "3 columns, not 2"
    assert [item for item in found if isinstance(item, Pair)][:2] == [
        Pair("a", "b", 2),
        Pair("j", "k", 7),
    ]
    assert len(found) == 5 + 2 * MOST_LINES + SAMPLE
    path.write_text(f'en,de\na,b\n{filler}"open,c\n{filler}')  # nothing closes it
    found = list(read_pairs([path], LANGUAGES, strict=False))
    assert sum(isinstance(item, Damaged) for item in found) == 1
    assert len(found) == 2 + 2 * (2 * MOST_LINES + SAMPLE)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_empty_lines_are_no_rows(tmp_path, name, quote):
    delimiter = "\t" if name == "a.tsv" else ","
    rows = ("source", "target"), ("a dog", "ein Hund"), ("a cat", "eine Katze")
    lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    path = tmp_path / name
    path.write_text("\n".join(["", lines[0], lines[1], "", "  ", lines[2], "", ""]))
    assert list(read_pairs([path], LANGUAGES)) == [Pair(*rows[1], 3), Pair(*rows[2], 6)]
