"""What is special in each text format, and the encodings of files."""

import codecs
import json
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import pytest
import yaml

from headway.errors import HeadwayError
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from support.cases import each_case, own_rows, read_rows
from support.documents import make_file, translate

XLIFF = '<xliff version="2.0" srcLang="en"><file id="f"><unit id="u"><segment><source>{}</source></segment></unit></file></xliff>'
# Elements of XLIFF that stand for a word.
PLACEHOLDERS = (
    '<x id="INTERPOLATION_1"/>', '<x id="ICU" equiv-text="{n, plural, ...}"/>', '<ph id="0" equiv="INTERPOLATION" disp="{{ a }}"/>',
    '<x id="1" equiv-text=" {{a}} "/>', '<ph id="1">{0}</ph>', '<ph id="1" disp="%s"></ph>', '<ph id="1" type="ui" subType="xlf:var"/>',
)  # fmt: skip
GERMAN = DocumentOptions("en", "de", ("text",))


def upper(paragraph):
    return translate(paragraph, str.upper)


def translated(source, name, options=GERMAN):
    """Return a file with translations that need nobody's review."""
    document = open_document(source.encode(), name, options)
    found = [replace(upper(paragraph), is_finished=True) for paragraph in document.paragraphs]
    return document.write(found).decode()


@each_case
def test_only_texts_change(name, options, source, texts, written):
    columns = tuple(options.get("columns", ()))
    options = DocumentOptions(**options | {"columns": columns}) if options else GERMAN
    document = open_document(source.encode(), name, options)
    assert [paragraph.text for paragraph in document.paragraphs] == texts
    assert translated(source, name, options) == written


def test_columns_that_are_not_there_are_named():
    for table, columns, message in own_rows():
        with pytest.raises(HeadwayError, match=message):
            open_document(table.encode(), "x.csv", DocumentOptions(columns=columns))


def test_what_is_no_json_is_refused():
    for source, message in (('{"a": }', "no JSON: line 1"), ("[" * 100_000, "nested too deeply")):
        with pytest.raises(HeadwayError, match=message):
            open_document(source.encode(), "x.json")


SPELLINGS = (
    lambda words: words[0] + "".join(map(str.capitalize, words[1:])), "_".join, "-".join, ".".join,
    lambda words: "_".join(words).upper(), lambda words: "".join(map(str.capitalize, words)),
)  # fmt: skip


def read_json_texts(values):
    return [each.text for each in open_document(json.dumps(values).encode(), "x.json").paragraphs]


@pytest.mark.parametrize("spell", SPELLINGS)
def test_values_for_programs_stay_and_language_under_the_same_keys_does_not(spell):
    sentences = read_rows(__file__, "sentences")
    cases = [case for keys, values in own_rows() for case in product(keys, values)]
    for key, value in cases:
        words = re.sub("(?<=[a-z])(?=[A-Z])|_", " ", key).lower().split()
        for name in (key, spell(words), spell(["main", *words])):
            written = {"a": {name: value}, "b": [{name: [value]}]}
            assert read_json_texts(written) == [], written
            for text in (*sentences, words[-1].capitalize()):
                assert read_json_texts({name: text}) == [text], (name, text)


@each_case
def test_values_under_keys_of_texts_are_language(key):
    for text in ("save", "Save", "red", "well-known", "the dog"):
        assert read_json_texts({key: text, "type": {key: [text]}}) == [text, text]


def test_a_catalog_whose_keys_are_names_of_messages_is_language():
    names = ("color", "type", "id", "status", "language", "sku", "url", "icon", "action", "event")
    values = {name: name.upper() if len(name) < 4 else name.capitalize() for name in names}
    assert read_json_texts({"a": values, "save": "save"}) == [*values.values(), "save"]


def test_the_text_of_an_attribute_ends_at_a_condition_of_a_template_engine():
    source = '<img alt="a {{ if .B }}{{ .B }}{{ else }}c{{ end }} d">'
    document = open_document(source.encode(), "x.html")
    assert [paragraph.text for paragraph in document.paragraphs] == ["a ", "c", " d"]
    written = document.write([Translated(text) for text in ("x y ", "", " z")]).decode()
    assert written == source.replace("c{", "{").replace("a ", "x y ", 1).replace(" d", " z")


# What Markdown becomes if every text is written in capitals.
MARKDOWN = read_rows(__file__, "MARKDOWN") | {
    "long lines": [(f"!!! {'a ' * 999}", f"!!! {'A ' * 999}")],
    # Boxes in boxes are read to some depth.
    "nesting": [
        ["".join(f"{'    ' * n}!!! note\n" for n in range(500)) + each for each in ("a\n", "A\n")]
    ],
}


@pytest.mark.parametrize("topic", MARKDOWN)
def test_only_the_texts_of_markdown_change(topic):
    for source, expected in MARKDOWN[topic]:
        assert translated(source, "x.md") == expected, source
        data = source.replace("\n", "\r\n").encode()
        document = open_document(data, "x.md")
        assert document.write([Translated(each.text) for each in document.paragraphs]) == data


def test_links_follow_the_headings_of_their_file():
    source = (
        "# A *b* c!\n\n## D\n\nD\n=\n\n# é\n\n# f {#i}\n\n"
        "[A](#a-b-c) [D](#d 't') [é](<#%C3%A9>) [x](y#d) [x](#i) <a href='#d-1'>D</a>\n\n[x]: #d-1\n"
    )
    document = open_document(source.encode(), "x.md")
    written = document.write([Translated(f"x {each.text}") for each in document.paragraphs])
    *_, links, definition = written.decode().split("\n\n")
    followed = ["](#x-a-b-c)", "](#x-d 'x t')", "](<#x-é>)", "<a href='#x-d-1'>"]
    for link in (*followed, "](y#d)", "](#i)"):
        assert link in links, link
    assert definition == "[x]: #x-d-1\n"
    unchanged = document.write([Translated(each.text) for each in document.paragraphs])
    assert unchanged == source.encode()


@pytest.mark.parametrize("name", ["{#a-b}", "{.c #a-b d=e} ", "{: #a-b }"])
def test_links_to_a_heading_with_a_name_of_its_own_stay(name):
    document = open_document(f"# A b {name}\n\n[c](#a-b)\n".encode(), "x.md")
    written = document.write([Translated(f"x {each.text}") for each in document.paragraphs])
    assert written.decode() == f"# x A b {name}\n\n[x c](#a-b)\n"


def test_alternative_texts_of_markdown_are_no_part_of_a_sentence():
    source = "a ![b *c* ![d](e)](f 'g') h [![i](j)](k) ![l\nm][]\n\n[![n](o)](p) [![q](r)](s)\n\n[l m]: t\n"
    document = open_document(source.encode(), "x.md")
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == ["b c d", "g", "i", "l m", "a  h  ", "n", "q"]
    written = document.write([Translated(f"{text}!") for text in texts]).decode()
    for expected in ("(f 'g!')", "[![i!](j)](k)", "![l m!][l\nm]", "\n\n[![n!](o)](p) [![q!](r)](s)\n\n"):  # fmt: skip
        assert expected in written


@pytest.mark.parametrize("form", ["title: a", 'title: "a"', "title: 'a'"])
def test_a_title_of_front_matter_is_read_again_as_it_was_written(form):
    titles = "b: c|b #c|# b|- b|'b'|\"b\" c|b \\ c|it's b|[b]|b:|Nein|no|@b|ä b| b|1.5|null"
    for title in titles.split("|"):
        document = open_document(f"---\n{form}\n---\n".encode(), "x.md")
        out = document.write([Translated(title)])
        loaded = yaml.safe_load(out.decode().split("---")[1])
        assert loaded == {"title": title}


@pytest.mark.parametrize(("quotes"), ['""', "''", "()"])
def test_a_title_does_not_end_before_its_quote(quotes):
    document = open_document(f"[a](b {quotes[0]}c{quotes[1]})".encode(), "x.md")
    for title in ('"', "'", "()", ")", "x\\", "\\)", "&amp;", "a \\b"):
        out = document.write([Translated(f"{title} d"), Translated("e")])
        again = open_document(out, "x.md")
        assert [paragraph.text for paragraph in again.paragraphs] == [f"{title} d", "e"]


def test_an_attribute_in_a_table_does_not_end_its_cell():
    document = open_document(b"| <img alt=a> | b |\n|--|--|\n", "x.md")
    out = document.write([Translated("c | d"), Translated("e")])
    assert out == b'| <img alt="c \\| d"> | e |\n|--|--|\n'


def test_a_translation_does_not_become_markup_of_markdown():
    marks = ("a *b* `c` [d](e) <b>", "a_ _b_", "&amp; ~~x~~", "a|b", "=== a", "$a$ $$ b $$")
    for text in ("1. a", "- a", "# a", *marks):
        document = open_document(b"x | y\n--|--\nx | y\n\nx\n", "x.md")
        out = document.write([Translated(text) for _ in document.paragraphs])
        again = open_document(out, "x.md")
        assert [paragraph.text for paragraph in again.paragraphs] == [text] * 5
        assert not any(paragraph.elements for paragraph in again.paragraphs)


@each_case
def test_a_backslash_stands_where_a_translation_would_become_markup(source, target, expected):
    document = open_document(source.encode(), "x.md")
    assert document.write([Translated(target)]).decode().rstrip() == expected


def test_a_translation_does_not_become_code_or_lose_its_end():
    starts = ("    a", " \t a", "  # a", "   - a", " 1) a")
    for text in ("a #", "C ##  ", "     > a #", *starts):
        document = open_document(b"# x\n\n## x ##\n\nx\n\n- x\n\nx\n===\n", "x.md")
        out = document.write([Translated(text) for _ in document.paragraphs])
        again = open_document(out, "x.md")
        assert [paragraph.text for paragraph in again.paragraphs] == [text.strip()] * 5
    assert translated("a #b # c#\n", "x.md") == "A #B # C#\n"
    heading = open_document(b"# x\n\ny\n---\n", "x.md")
    out = heading.write([Translated(text) for text in (" ##", "===")])
    assert out == b"#  \\##\n\n\\===\n---\n"


def test_marks_of_emphasis_are_written_at_words_only():
    """Markdown shows ``****`` and ``** a**`` as they are."""
    document = open_document(b"a **b** ~~*c*~~ **`d`** __![](e)__ <b>f</b>", "x.md")
    for text in ("x", "x y", "x y z d f"):
        out = document.write([Translated(text)])
        again = open_document(out, "x.md")
        assert [paragraph.text.split() for paragraph in again.paragraphs] == [
            [*text.split(), *([] if "d" in text else ["d"])]
        ]
        assert b"**`d`**" in out  # these have something else inside
        assert b"__![](e)__" in out


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_mistyped_time_line_is_no_text(end):
    for line in own_rows():
        cues = f"1\n00:00:01,000 --> 00:00:02,000\nA dog.\n\n2\n{line}\nA cat.\n"
        for first, name, number in (("", "x.srt", 6), ("WEBVTT\n\n", "x.vtt", 8)):
            with pytest.raises(HeadwayError, match=f"^{name}: line {number}: .*is no time line"):
                open_document((first + cues).replace("\n", end).encode(), name)


def test_a_subtitle_has_lines_also_where_no_spaces_separate_words():
    source = "1\n00:01:02,000 --> 00:01:03,000\nThe <i>dog</i> sees\na cat.\n"
    document = open_document(source.encode(), "x.srt")
    [paragraph] = document.paragraphs
    target = "犬は、とても小さい猫を見る。"
    links = WordLinks(find_words(paragraph.text), find_words(target), [(1, 0)])
    written = document.write([Translated(target, links)]).decode().split("\n", 2)[2]
    assert written == "<i>犬</i>は、とても小\nさい猫を見る。\n"
    # A long one gets a second line: a Chinese character is as wide as two letters.
    source = source.replace("\na cat", " a cat")
    [long, short] = [
        open_document(source.encode(), "x.srt").write([Translated("猫" * count)]).decode()
        for count in (30, 20)
    ]
    assert "猫" * 15 + "\n" + "猫" * 15 + "\n" in long.replace("<i>", "").replace("</i>", "")
    assert "猫" * 20 + "\n" in short.replace("<i>", "").replace("</i>", "")


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="msgfmt is not installed")
def test_translated_catalogs_are_accepted_by_msgfmt(tmp_path):
    template = (
        '#, fuzzy\nmsgid ""\nmsgstr ""\n"Language: \\n"\n"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=CHARSET\\n"\n'
        '"Content-Transfer-Encoding: 8bit\\n"\n"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n\n'
        'msgid "one\\n"\nmsgid_plural "many\\n"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    )  # fmt: skip
    counts = {"de": 2, "pl": 3, "ja": 1, "ar": 6, "pt-BR": 2, "zh_Hans": 1, "mt": 5, "gd": 4}
    for target, count in counts.items():
        options = DocumentOptions("en", target)
        generated = [make_file(".po", seed).decode() for seed in range(3)]
        for number, source in enumerate([template, *generated] if target == "de" else [template]):
            out = tmp_path / f"{target}{number}.po"
            out.write_text(translated(source, "x.po", options), encoding="utf-8")
            done = subprocess.run(
                ["msgfmt", "--check-format", "--check-header", "--check-domain", "--use-fuzzy", "-o", "/dev/null", str(out)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        written = (tmp_path / f"{target}0.po").read_text()
        assert written.count("msgstr[") == count
        assert f"Language: {target.replace('-', '_')}\\n" in written
        # Which form serves which numbers, a text without a number does not say.
        assert ("fuzzy" in written) == (count > 2)


HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
PLURAL = '# A note.\nmsgid "ä"\nmsgid_plural "ö"\nmsgstr[0] ""\nmsgstr[1] ""\n'


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="msgfmt is not installed")
@pytest.mark.parametrize(
    "header",
    ["", 'msgid ""\nmsgstr ""\n\n', f"{HEADER}\n", f'{HEADER}"Plural-Forms: \\n"\n\n', 'msgid ""\nmsgstr "Language: "\n\n'],
)  # fmt: skip
def test_a_catalog_whose_header_has_no_plural_forms_gets_those_of_its_language(header, tmp_path):
    for target, count, line_end in (("de", 2, "\n"), ("pl", 3, "\n"), ("ja", 1, "\r\n")):
        source = (header + PLURAL).replace("\n", line_end)
        written = translated(source, "x.po", DocumentOptions("en", target))
        assert written.count("msgstr[") == count
        assert written.count("Plural-Forms: ") == 1
        assert f'"Language: {target}\\n"' in written
        assert written.count(line_end) == written.count("\n")
        (tmp_path / "x.po").write_bytes(written.encode())
        subprocess.run(["msgfmt", "-c", "-o", "/dev/null", str(tmp_path / "x.po")], check=True)
    # Of a language that is not known, or of which no forms are, nothing is said.
    assert "Plural-Forms: n" not in translated(source, "x.po", DocumentOptions("en", "xx"))
    assert translated(source, "x.po", DocumentOptions()).startswith(
        source[: source.find("# A note")]
    )


def test_a_new_header_of_a_catalog_names_the_encoding_of_the_file():
    document = open_document(PLURAL.encode("cp1252"), "x.po", GERMAN)
    written = document.write([upper(paragraph) for paragraph in document.paragraphs])
    assert "charset=CP1252\\n" in written.decode("cp1252")
    assert 'msgstr[0] "Ä"' in written.decode("cp1252")


def test_the_encoding_of_a_catalog_is_that_of_its_header():
    comment = "# Müller: from charset=ISO-8859-1\n"
    header = HEADER.replace("\nmsgstr", "\n  msgstr")
    for source in (
        f'{comment}{header}\nmsgid "ä"\nmsgstr ""\n',
        f'msgid "charset=cp1252 ä"\nmsgstr ""\n\n{header}',
    ):
        document = open_document(source.encode(), "x.po", GERMAN)
        written = document.write([Translated("ß") for _ in document.paragraphs]).decode()
        assert 'msgstr "ß"' in written


@pytest.mark.parametrize(
    ("source", "expected"), [("a\\n\\n", "x\\n\\n"), ("\\n\\na\\n", "\\n\\nx\\n"), ("\\na\\n\\nb", "\\nx")]
)  # fmt: skip
def test_empty_lines_at_both_ends_of_a_message_stay(source, expected):
    document = open_document(f'msgid "{source}"\nmsgstr ""\n'.encode(), "x.po")
    for text in ("x", "\nx\n"):
        written = document.write([Translated(text)]).decode().partition("msgstr ")[2]
        assert "".join(re.findall('"(.*)"', written)) == expected


@each_case
def test_escapes_in_a_catalog_are_bytes_in_its_encoding(encoding, message, text):
    source = f'{HEADER.replace("UTF-8", encoding)}\nmsgid {message}\nmsgstr ""\n'
    document = open_document(source.encode(), "x.po")
    assert [paragraph.text for paragraph in document.paragraphs] == [text]
    written = document.write([Translated(text.upper())]).decode(encoding)
    assert f"msgid {message}\nmsgstr " in written


def test_escaped_bytes_of_a_catalog_that_are_no_text_are_refused():
    for message in (r"a \303 b", r"a \303", r"\xff"):
        source = (
            f'{HEADER}\nmsgid "a"\nmsgstr ""\n\nmsgid "b"\nmsgid_plural "{message}"\nmsgstr[0] ""\n'
        )
        with pytest.raises(HeadwayError, match="line 9: an entry has bytes that are no text"):
            open_document(source.encode(), "x.po")


def test_targets_of_xliff_have_a_language_and_the_elements_of_their_sources():
    for seed in range(20):
        source = re.sub(rb' (trgLang|target-language)="de"', b"", make_file(".xlf", seed))
        options = DocumentOptions("en", "fr")
        document = open_document(source, "x.xlf", options)
        out = document.write([translate(paragraph) for paragraph in document.paragraphs])
        before, after = (
            ElementTree.fromstring(data.decode("utf-8-sig").encode()) for data in (source, out)
        )
        sources = [["".join(e.itertext()) for e in tree.iter() if e.tag.endswith("}source")] for tree in (before, after)]  # fmt: skip
        assert sources[0] == sources[1]
        languages = [v for e in after.iter() for k, v in e.items() if k in ("trgLang", "target-language")]  # fmt: skip
        assert languages == ["fr"]
        for unit in after.iter():
            if not unit.tag.endswith(("}trans-unit", "}segment")):
                continue
            parts = {child.tag.rpartition("}")[2]: child for child in unit}
            if "target" not in parts or parts["target"].text == "Fertig":
                continue
            # Marks of segments in a target belong to those of a seg-source.
            tags = [sorted((e.tag, e.get("id")) for e in parts[name].iter() if e.get("mtype") != "seg") for name in ("source", "target")]  # fmt: skip
            assert tags[0][:-1] == tags[1][:-1] or len(tags[0]) == len(tags[1])


def test_code_of_xliff_that_an_element_refers_to_tells_breaks_from_placeholders():
    data = '<originalData><data id="1">&lt;br/&gt;</data><data id="2">{0}</data></originalData>'
    text = 'a<ph id="1" dataRef="1"/>b <ph id="2" dataRef="2"/> c'
    source = XLIFF.format(text).replace("<segment>", f"{data}<segment>")
    paragraphs = open_document(source.encode(), "x.xlf").paragraphs
    assert [KeptMarks(each).text for each in paragraphs] == ["a", "b \ue000 c"]
    # The code is of this unit only.
    other = (
        '</unit><unit id="v"><segment><source>a<ph id="1" dataRef="1"/>b</source></segment></unit>'
    )
    paragraphs = open_document(source.replace("</unit>", other).encode(), "x.xlf").paragraphs
    assert len(paragraphs) == 3


@each_case
def test_a_catalog_of_another_language_is_refused(name, source):
    with pytest.raises(HeadwayError, match="into 'fr_CA', and not 'de'"):
        open_document(source.encode(), name, GERMAN)
    for options in (DocumentOptions("en", "fr"), DocumentOptions(), DocumentOptions("en", "de", is_complete=True)):  # fmt: skip
        open_document(source.encode(), name, options)
    for own in ("de", "de-AT", ""):
        open_document(source.replace("fr_CA", own).encode(), name, GERMAN)


@each_case
def test_texts_of_another_language_are_refused(source):
    for options in (GERMAN, DocumentOptions("en", "de", is_complete=True)):
        with pytest.raises(HeadwayError, match="texts in 'fr_CA', and not 'en'"):
            open_document(source.encode(), "x.xlf", options)
    for options in (DocumentOptions("fr", "de"), DocumentOptions()):
        open_document(source.encode(), "x.xlf", options)
    for own in ("en", "en-US", "eng", ""):
        open_document(source.replace("fr_CA", own).encode(), "x.xlf", GERMAN)


@pytest.mark.parametrize("cell", [r'"34 \"a, b\" two"', '"a" b', '"a', '"a" b"'])
def test_a_quote_that_does_not_enclose_a_cell_is_refused(cell):
    with pytest.raises(HeadwayError, match="row 2: a quote is not closed, or followed by text"):
        open_document(f"id,text\n1,{cell}\n".encode(), "x.csv", GERMAN)


@each_case
def test_a_cell_without_quotes_around_it_gets_them_only_where_it_needs_them(
    cell, translation, expected
):
    document = open_document(f"text\n{cell}".encode(), "x.tsv", GERMAN)
    assert document.write([Translated(translation)]).decode() == f"text\n{expected}"


@each_case
def test_a_row_with_more_texts_than_the_first_row_is_refused(table, line):
    """A text with a delimiter that is not in quotes would be translated in parts, or one of another column."""
    for columns in ("text", "1"):
        with pytest.raises(HeadwayError, match=f"^x.csv: line {line}: has more cells than the first row"):  # fmt: skip
            open_document(table.encode(), "x.csv", DocumentOptions("en", "de", (columns,)))


@pytest.mark.parametrize(
    ("name", "source"), [("x.json", "[1" + ",1" * 100_001 + "]"), ("x.srt", "1\n00:00:01,000 --> 00:00:02,000\n" + "[a] " * 100_001)]
)  # fmt: skip
def test_values_and_notes_count_as_parts_of_a_file(name, source):
    with pytest.raises(HeadwayError, match=r"has 100,00\d .*: split it into files below 100,000$"):
        open_document(source.encode(), name)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8"])
def test_the_encoding_stays(encoding):
    mark = "\ufeff".encode(encoding)
    data = mark + "1\n00:00:01,000 --> 00:00:02,000\nstraße\n".encode(encoding)
    document = open_document(data, "x.srt")
    assert document.paragraphs[0].text == "straße"
    written = document.write([upper(document.paragraphs[0])])
    assert written == data.replace("straße".encode(encoding), "STRASSE".encode(encoding))


def test_utf_8_with_a_damaged_byte_is_not_read_in_an_older_encoding():
    for name, end in (("x.md", "\n"), ("x.txt", "\r\n"), ("x.srt", "\r"), ("x.csv", "\n")):
        data = f"Café – naïve{end}{end}日本 \ufffd".encode() + b"\xff\xc3"
        with pytest.raises(HeadwayError, match=f"^{name}: line 3: a byte is no UTF-8"):
            open_document(data, name, DocumentOptions("fr", columns=("1",)))


@each_case
def test_text_in_an_older_encoding_is_read_in_that_of_its_language(language, encoding, text):
    [paragraph] = open_document(
        text.encode(encoding), "x.txt", DocumentOptions(language)
    ).paragraphs
    assert paragraph.text == text


XML = '<?xml version="1.0" encoding="{}"?><p>{}</p>'


@each_case
def test_a_page_is_read_in_the_encoding_that_browsers_take(page, encoding, text):
    document = open_document(page.encode(encoding), "x.html", DocumentOptions("fr"))
    assert [paragraph.text for paragraph in document.paragraphs] == [text]
    assert document.write([Translated("ﬀ")]).decode(encoding) == page.replace(text, "ﬀ" if encoding == "utf-8" else "&#64256;")  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "text"), [("US-ASCII", "a"), ("ISO-8859-1", "é"), ("iso-8859-9", "ş")]
)
def test_xml_gets_only_characters_of_its_encoding(encoding, text):
    document = open_document(XML.format(encoding, text).encode(encoding), "x.xhtml")
    written = document.write([Translated("„Hund“ – €")])
    assert ElementTree.fromstring(written).text == "„Hund“ – €"
    assert not re.search(rb"[\x80-\x9f]", written)


@pytest.mark.parametrize("name", ["idna", "x-y", "hex", "undefined"])
def test_an_encoding_in_which_no_page_can_be_written_is_refused(name):
    with pytest.raises(HeadwayError, match=f"names the encoding '{name}', which is not known"):
        open_document(f"<meta charset={name}><p>a</p>".encode(), "x.html")


def test_an_encoding_that_lacks_a_character():
    page = "<meta charset=iso-8859-2><p>zażółć</p>"
    document = open_document(page.encode("iso-8859-2"), "x.html")
    assert document.paragraphs[0].text == "zażółć"
    assert document.write([Translated("日")]) == b"<meta charset=iso-8859-2><p>&#26085;</p>"
    srt = "1\n00:00:01,000 --> 00:00:02,000\né\n"
    document = open_document(srt.encode("cp1252"), "x.srt", DocumentOptions("fr"))
    assert document.write([Translated("ł")]) == codecs.BOM_UTF8 + srt.replace("é", "ł").encode()
    catalog = 'msgid ""\nmsgstr "charset=iso-8859-1\\n"\n\nmsgid "a"\nmsgstr ""\n'
    with pytest.raises(HeadwayError, match="convert the catalog"):
        open_document(catalog.encode(), "x.po").write([Translated("ł")])
    # Browsers read ISO 8859-1 as cp1252, which has quotation marks; programs of catalogs and XML do not.
    latin = "<meta charset=ISO-8859-1><p>\x93a\x94</p>".encode("latin-1")
    assert [p.text for p in open_document(latin, "x.html").paragraphs] == ["“a”"]
    with pytest.raises(HeadwayError, match="convert the catalog"):
        open_document(catalog.encode(), "x.po").write([Translated("„é“")])
    xliff = '<?xml version="1.0" encoding="ISO-8859-1"?><xliff version="1.2"><file><body><trans-unit id="1"><source>a</source></trans-unit></body></file></xliff>'
    written = open_document(xliff.encode(), "x.xlf").write([Translated("„é“")])
    assert ElementTree.fromstring(written)[0][0][0][1].text == "„é“"
    with pytest.raises(HeadwayError, match="names the encoding 'x-y'"):
        open_document(b"<meta charset=x-y>", "x.html")


@each_case
def test_an_element_with_text_that_stays_stands_for_a_word(name, source, read):
    document = open_document(source.encode(), name, DocumentOptions("en", "de"))
    [paragraph] = document.paragraphs
    assert re.sub("[\ue000-\uf8ff]", "_", KeptMarks(paragraph).text) == read
    # What follows the word also follows it in the translation.
    written = document.write([translate(paragraph, str.upper)]).decode()
    kept = re.findall(
        r"<code>.*?</code>|<i lang.*?</i>|`[^`]*`|\$.*?\$|\{\{.*?\}\}|<var>.*?</var>|<mrk.*</mrk>|<x .*?/>|<ph .*?(?:/>|</ph>)",
        source,
        re.DOTALL,
    )
    assert [each for each in kept if each in written] == kept
