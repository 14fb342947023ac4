"""`headway translate --input report.md --output report.de.md`: a whole file, or nothing."""

import codecs
import csv
import re
import shutil
from pathlib import Path

import polib
import pytest

from headway import Glossary, Translator, translate_file
from headway.cli.main import dispatch
from headway.errors import HeadwayError, UsageError
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from headway.ext.documents.quality_table import name_places
from headway.ext.quality.quality_model import FEATURES, QualityModel
from support.cases import own_rows
from support.documents import make_file
from support.office_packages import change_member
from support.toy_models import sentences

PAGE = "# {0}\n\n{1} **{2}**\n\n```\n{3}\n```\n"


def run(model, source, out, *words):
    names = ["--input", str(source), "--output", str(out), "--search.max-extra", "7"]
    dispatch(["translate", str(model), *names, "--threads", "1", *words])


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE.format(*sentences(4, 9)), encoding="utf-8")
    return path


def test_a_document_is_written_whole(page, model_directory, capsys):
    out = page.with_name("page.de.md")
    run(model_directory, page, out)
    assert "2 paragraphs" in capsys.readouterr().err
    written = out.read_text(encoding="utf-8")
    assert written.endswith(f"\n```\n{sentences(4, 9)[3]}\n```\n")
    assert written.startswith("# ")
    # Emphasis stands at words, of which the random translation may have none.
    has_words = re.search(r"\w", written.split("\n\n")[1]) is not None
    assert written.count("**") == 2 * has_words


def test_a_document_that_cannot_be_read_leaves_nothing(model_directory, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out.csv"
    table.write_text("id,text\n1,a dog\n")
    with pytest.raises(HeadwayError, match=r"table\.csv: give the columns"):
        run(model_directory, table, out)
    run(model_directory, table, out, "--columns", "text")
    assert out.read_text().startswith("id,text\n1,")
    out.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv"]


def test_in_python_columns_are_one_string_or_several(model_directory, tmp_path):
    (tmp_path / "a.csv").write_text("id,body text,kept\n1,the man sees a dog,a cat\n")
    translator = Translator.load(model_directory)
    written = set()
    for columns in ("body text,id", ["body text", "id"], ("body text,id",)):
        translate_file(translator, tmp_path / "a.csv", tmp_path / "b.csv", columns=columns)
        written.add((tmp_path / "b.csv").read_text())
    assert len(written) == 1
    with pytest.raises(HeadwayError, match="has no column 'bodytext'"):
        translate_file(translator, tmp_path / "a.csv", tmp_path / "b.csv", columns="bodytext")


def test_in_python_the_output_is_another_file_of_the_same_kind(page, model_directory, tmp_path):
    translator, before = Translator.load(model_directory), page.read_bytes()
    for source, out, message in (
        (page, page, "is the document itself"),
        (page, tmp_path / "page.html", r"must end in \.md"),
        (tmp_path / "none.md", tmp_path / "out.md", "No such file"),
    ):
        with pytest.raises(HeadwayError, match=message):
            translate_file(translator, source, out)
    assert page.read_bytes() == before
    assert [*tmp_path.iterdir()] == [page]


def test_a_document_that_is_stopped_leaves_nothing(page, model_directory, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("headway.ext.documents.document_translation.translate_document", stop)
    out = page.with_name("page.de.md")
    with pytest.raises(KeyboardInterrupt):
        run(model_directory, page, out)
    assert [path.name for path in page.parent.iterdir()] == ["page.md"]


def test_other_files_are_lines(model_directory, tmp_path):
    source = "# a dog\n**the house**\n"
    for name in ("a.txt", "a.en"):
        (tmp_path / name).write_text(source)
        run(model_directory, tmp_path / name, tmp_path / f"out{name}")
    lines = Translator.load(model_directory).translate(source.splitlines())
    assert len(lines) == 2
    assert (tmp_path / "outa.txt").read_text() == (tmp_path / "outa.en").read_text()


def test_lines_do_not_get_the_name_of_a_document(model_directory, tmp_path):
    (tmp_path / "a.txt").write_text("a dog\n")
    with pytest.raises(UsageError, match=r"has lines of text, which are no \.docx"):
        run(model_directory, tmp_path / "a.txt", tmp_path / "b.docx")
    run(model_directory, tmp_path / "a.txt", tmp_path / "b.tsv", "--scores")
    assert (tmp_path / "b.tsv").read_text().count("\t") == 1


@pytest.fixture(scope="module")
def rated(model_directory, tmp_path_factory):
    """A model that knows how good its translations are."""
    folder = shutil.copytree(model_directory, tmp_path_factory.mktemp("rated") / "model")
    QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5)).save(folder)
    return folder


def test_the_table_begins_with_what_a_person_checks_first(rated, tmp_path, capsys):
    source, out, terms = (tmp_path / name for name in ("a.csv", "b.csv", "terms.tsv"))
    cells = [f"{each.capitalize()}." for each in sentences(12, 3)]
    source.write_text("id,text\n" + "".join(f'{n},"{cell}"\n' for n, cell in enumerate(cells)))
    words = ["--columns", "text", "--quality", "--glossary", str(terms)]
    first, *_ = cells[4].split()
    terms.write_text(f"{first}\t=Größe\n", encoding="utf-8")
    run(rated, source, out, *words)
    table = tmp_path / "b.csv.quality.tsv"
    assert table.read_bytes().startswith(codecs.BOM_UTF8)
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    assert sorted(float(row["quality"]) for row in rows) == [float(row["quality"]) for row in rows]
    assert {row["place"]: row["source"] for row in rows} == {
        f"cell B{n + 2}": cell for n, cell in enumerate(cells)
    }
    [said] = [row["terms"] for row in rows if row["place"] == "cell B6"]
    assert said.startswith(f"{first} = =Größe")
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    bad = sum(float(row["quality"]) < 0.4 for row in rows)
    doubtful = sum(0.4 <= float(row["quality"]) < 0.55 for row in rows)
    *_, last = capsys.readouterr().err.splitlines()
    counts = f"{bad} of 12 sentences are below 0.4, and {doubtful} more below 0.55"
    places = list(dict.fromkeys(row["place"] for row in rows))[: min(3, bad + doubtful)]
    assert last == f"{out}: {counts}: see {table} (first {'; '.join(places)})"


def test_a_person_finds_each_place():
    for name, source, places in own_rows():
        document = open_document(source.encode(), name, DocumentOptions("en", "de", ("text",)))
        name_places(document)
        assert [paragraph.place for paragraph in document.paragraphs] == places, name


@pytest.mark.parametrize(
    ("suffix", "pattern"),
    [(".docx", r"(?:[\w ]+, )?paragraph \d+"), (".pptx", r"[\w ]+, paragraph \d+"), (".xlsx", r".+![A-Z]+\d+|.+, paragraph \d+"), (".odt", r"(?:[\w ]+, )?paragraph \d+"), (".ods", r".+![A-Z]+\d+|(?:.+, )?paragraph \d+"), (".epub", r"[\w ]+, paragraph \d+")],
)  # fmt: skip
def test_a_person_finds_each_place_of_an_office_file(suffix, pattern):
    seen = set()
    for seed in range(6):
        document = open_document(make_file(suffix, seed), f"x{suffix}", DocumentOptions("en", "de"))
        name_places(document)
        places = [paragraph.place for paragraph in document.paragraphs]
        assert all(re.fullmatch(pattern, place) for place in places), places
        seen |= {*places}
    assert any(
        re.match(
            {".pptx": "slide 1,", ".xlsx": ".+!A2", ".ods": ".+!A1"}.get(suffix, ".*paragraph 2"),
            place,
        )
        for place in seen
    ), seen


def test_a_text_that_its_cell_holds_itself_is_found_there():
    cells = "".join(
        f'<c r="{ref}" t="inlineStr"><is><t>{text}</t></is></c>'
        for ref, text in (("C900", "Of its own"), ("D900", "Another"), ("E900", "Of its own"))
    )
    row = f'<row r="900">{cells}</row></sheetData>'
    data = change_member(
        make_file(".xlsx", 1), "xl/worksheets/sheet1.xml", lambda s: s.replace("</sheetData>", row)
    )
    document = open_document(data, "x.xlsx", DocumentOptions("en", "de"))
    name_places(document)
    places = [
        p.place.partition("!")[2]
        for p in document.paragraphs
        if p.text in ("Of its own", "Another")
    ]
    assert places == ["C900", "D900", "E900"]


def test_what_is_finished_depends_on_its_quality(rated, tmp_path):
    source, out = tmp_path / "a.po", tmp_path / "b.po"
    texts = sentences(12, 4)
    source.write_text("\n".join(f'msgid "{each}"\nmsgstr ""\n' for each in texts))
    run(rated, source, out, "--quality")
    table = tmp_path / "b.po.quality.tsv"
    rows = [row.split("\t") for row in table.read_text("utf-8-sig").splitlines()[1:]]
    middle = rows[6][0]
    defects = [re.sub(r"\w+ repaired,? ?", "", row[2]) for row in rows]
    both = zip(rows, defects, strict=True)
    bad = sorted(row[4] for row, notes in both if float(row[0]) < float(middle) or notes)
    assert bad
    for finished, count in (
        ([], 12),
        (["--finished"], 0),
        (["--finished", "0.0", "--quality"], 0),
        (["--finished", middle, "--quality"], len(bad)),
        (["--finished", "1", "--quality"], 12),
    ):
        run(rated, source, out, *finished)
        fuzzy = sorted(entry.msgid for entry in polib.pofile(str(out)) if entry.fuzzy)
        assert len(fuzzy) == count, finished
        assert count != len(bad) or fuzzy == bad
    for name, words, problem in own_rows():
        (tmp_path / name).touch()
        with pytest.raises(UsageError, match=problem):
            run(rated, tmp_path / name, tmp_path / f"out{Path(name).suffix}", *words)


def test_messages_that_stay_are_counted(model_directory, tmp_path, capsys):
    (tmp_path / "a.json").write_text('["{n, plural, offset:1 one {a dog} other {dogs}}"]')
    run(model_directory, tmp_path / "a.json", tmp_path / "b.json")
    assert "b.json: messages of ICU that stay as they are: 1\n" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".yaml", ".pdf", ".tmx", ".lrc"])
def test_a_file_that_lines_would_ruin_is_refused_before_the_model_is_loaded(
    suffix, model_directory, tmp_path, monkeypatch
):
    monkeypatch.setattr(Translator, "load", None)
    (tmp_path / f"a{suffix}").write_text("title: a dog\n")
    with pytest.raises(HeadwayError, match=rf"a\{suffix}: .*: convert it to \."):
        run(model_directory, tmp_path / f"a{suffix}", tmp_path / f"b{suffix}")


def test_a_text_that_is_a_term_gets_its_rendering(model_directory, tmp_path):
    terms = Glossary.of({"Yes": "Ja", "the cat": ["Kater", "Katze"], "Open": "Auf"})
    translator = Translator.load(model_directory).with_glossary(terms)
    for name, text, expected in own_rows():
        source, out = tmp_path / name, tmp_path / f"out-{name}"
        source.write_text(text, encoding="utf-8")
        translate_file(translator, source, out, columns="text" if name == "a.csv" else ())
        assert out.read_text(encoding="utf-8").replace("#, fuzzy\n", "") == expected
