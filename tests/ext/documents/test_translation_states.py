"""Catalogs say that a machine has translated: states of messages, and plural forms from numbers of their own."""

import random
import re
import shutil
import subprocess
from gettext import c2py
from xml.etree import ElementTree

import polib
import pytest
from babel import Locale

from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.ext.documents.plural_forms import (
    _FORMS,
    PluralForms,
    choose_plural_forms,
    find_plural_forms,
)
from support.cases import own_rows
from support.documents import make_file, translate

# 20 languages of all families of rules, and how many forms whole numbers have in each.
LANGUAGES = {
    "de": 2, "fr": 2, "pt_BR": 2, "is": 2, "ja": 1, "tr": 2, "he": 3, "ru": 3, "uk": 3, "hr": 3, "cs": 3, "pl": 3, "lt": 3, "lv": 3,
    "ro": 3, "sl": 4, "gd": 4, "ga": 5, "mt": 5, "cy": 6, "ar": 6,
}  # fmt: skip
# Most catalogs have other rules than the CLDR, which has none for the first three.
WITH_OTHER_RULES = ("guw", "sh", "oc", "lv", "pt", "tr", "vi")
NOUNS = {"house": "h", "dog": "d", "file": "f", "new message": "n", "cat": "k"}
COUNTS = [  # the flag of an entry, and what a program replaces by the number
    ("c-format", "%d"), ("c-format", "%lu"), ("python-format", "%(count)d"), ("python-brace-format", "{n}"),
    ("", "%d"), ("", "{count}"), ("php-format", "%1$d"), ("c-format", "%'d"), ("qt-format", "%n"),
]  # fmt: skip


def write(data, name, target, *, is_finished):
    """Return a file in which every word is another, by a translator with or without a review."""
    document = open_document(data, name, DocumentOptions("en", target))
    found = (translate(each) for each in document.paragraphs)
    return document.write(
        [Translated(t.text, t.links, t.kept, is_finished=is_finished) for t in found]
    )


@pytest.mark.parametrize("is_finished", [False, True])
def test_messages_of_a_catalog_are_marked_until_somebody_has_read_them(is_finished):
    for seed in range(100):
        data = make_file(".po", seed)
        before = polib.pofile(data.decode())
        after = polib.pofile(write(data, "x.po", "de", is_finished=is_finished).decode())
        assert [each.msgid for each in after] == [each.msgid for each in before]
        for old, new in zip(before, after, strict=True):
            if old.obsolete or (old.translated() and not old.fuzzy):
                assert str(new) == str(old)
                continue
            assert new.msgstr or all(new.msgstr_plural.values())
            assert new.fuzzy == (not is_finished)
            # What an older guess was made for stays as long as the entry is one.
            assert new.previous_msgid == (None if is_finished else old.previous_msgid)
            assert {*new.flags} - {"fuzzy"} == {*old.flags} - {"fuzzy"}
            assert (new.comment, new.occurrences) == (old.comment, old.occurrences)


@pytest.mark.parametrize(
    "comments", ["", "# a\n", "#, c-format\n", '# a\n#: b.c:1\n#| msgid "z"\n', "#,fuzzy\n"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_mark_of_a_guess_stands_where_gettext_writes_it(comments, end):
    source = f'{comments}msgctxt "m"\nmsgid "a"\nmsgstr ""\n'.replace("\n", end)
    written = write(source.encode(), "x.po", "", is_finished=False).decode()
    lines = written.split(end)
    flags = [number for number, line in enumerate(lines) if line.startswith("#,")]
    assert len(flags) == 1
    assert "fuzzy" in re.split(r"[\s,]+", lines[flags[0]])
    following = lines[flags[0] + 1]
    assert following.startswith(("#|", "msgctxt"))
    assert "\n" not in written.replace(end, "")
    if comments != "#,fuzzy\n":  # which polib does not read
        assert polib.pofile(written.replace(end, "\n"))[0].fuzzy


@pytest.mark.parametrize("is_finished", [False, True])
def test_targets_of_translation_files_say_who_has_translated(is_finished):
    for seed in range(100):
        data = make_file(".xlf", seed)
        written = write(data, "x.xlf", "de", is_finished=is_finished)
        root = ElementTree.fromstring(written.decode("utf-8-sig"))
        for unit in root.iter():
            if not unit.tag.endswith(("}trans-unit", "}segment")):
                continue
            [target] = [each for each in unit if each.tag.endswith("}target")] or [None]
            if target is None or target.text == "Fertig":
                continue
            is_first = unit.tag.endswith("}trans-unit")
            state, closer = (
                (target.attrib if is_first else unit.attrib),
                ("state-qualifier" if is_first else "subState"),
            )
            found = state.get("state"), state.get(closer)
            guess = (
                ("needs-review-translation", "mt-suggestion")
                if is_first
                else ("initial", "headway:mt")
            )
            assert found == (("translated", None) if is_finished else guess)
        # A translation that is marked is not translated again.
        assert open_document(written, "x.xlf", DocumentOptions("en", "de")).paragraphs == []


def test_a_new_translation_is_not_approved():
    source = '<xliff version="1.2"><file><body><trans-unit id="1" approved="yes"><source>a</source></trans-unit></body></file></xliff>'
    for is_finished, approved in ((False, "no"), (True, "yes")):
        written = write(source.encode(), "x.xlf", "", is_finished=is_finished).decode()
        assert f'approved="{approved}"' in written


def form_of(language):
    """Return what a text of one noun ends with for a number: the name of the Unicode CLDR for its form."""
    locale = Locale.parse(language)
    return lambda number: str(locale.plural_form(number))


def decline(paragraph, language):
    """Translate a text with a number by a translator that knows the forms of a language; it writes 2 as a word."""
    found = re.match(r"\d+", paragraph.text)
    number = int(found[0]) if found else 9 if paragraph.text.endswith("s") else 1
    form = form_of(language)(number) if found or number == 1 else "?"
    text = re.sub(r"^2(?!\d)", "two", f"{paragraph.text}-{form}")
    kept = {each.start: (each.start, each.end) for each in paragraph.elements}
    return Translated(text, kept=kept, is_finished=True)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("declares", ["", "English", "right"])
def test_each_plural_form_is_made_from_a_number_of_its_own(language, declares, tmp_path):
    chooser = random.Random(language)
    field = {
        "": "",
        "English": "nplurals=2; plural=(n != 1);",
        "right": find_plural_forms(language),
    }[declares]
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    header += f'"Plural-Forms: {field}\\n"\n' if field else ""
    entries = []
    for number, (flag, count) in enumerate(COUNTS):
        noun = chooser.choice(list(NOUNS))
        comment = f"#, {flag}\n" if flag else ""
        entries.append(
            f'{comment}msgctxt "{number}"\nmsgid "{count} {noun}"\nmsgid_plural "{count} {noun}s"\nmsgstr[0] ""\nmsgstr[1] ""\n'
        )
    document = open_document(
        "\n".join([header, *entries]).encode(), "x.po", DocumentOptions("en", language)
    )
    written = document.write([decline(each, language) for each in document.paragraphs])
    out = tmp_path / "x.po"
    out.write_bytes(written)
    catalog = polib.pofile(str(out))
    declared = re.fullmatch(r"nplurals=(\d); plural=(.*);", catalog.metadata["Plural-Forms"])
    assert declared is not None
    assert int(declared[1]) == LANGUAGES[language]
    rule = c2py(declared[2])
    for entry, (_, count) in zip(catalog, COUNTS, strict=True):
        assert [*entry.msgstr_plural] == [*range(LANGUAGES[language])]
        assert all(text.count(count) == 1 for text in entry.msgstr_plural.values()), (
            entry.msgstr_plural
        )
        assert not re.search(r"\d", "".join(entry.msgstr_plural.values()).replace(count, ""))
        served = {}
        for number in range(200):
            served.setdefault(rule(number), set()).add(form_of(language)(number))
        for number, text in entry.msgstr_plural.items():
            form = text.rpartition("-")[2]
            # Without a number of its own: the only one is 2, or the language has the two forms of English, or one.
            is_guess = served[number] == {"two"} and form == "?"
            assert form in served[number] or is_guess or (form == "?" and LANGUAGES[language] <= 2)
        assert entry.fuzzy == ("?" in str(entry.msgstr_plural) and LANGUAGES[language] > 2)
    if shutil.which("msgfmt"):
        command = ["msgfmt", "-c", "--use-fuzzy", "-o", "/dev/null", str(out)]
        subprocess.run(command, check=True, capture_output=True)


def test_a_plural_without_its_number_is_a_guess_where_a_language_has_more_forms():
    for number in ("", "%s of %s"):
        source = f'#, c-format\nmsgid "a dog {number}"\nmsgid_plural "dogs {number}"\nmsgstr[0] ""\nmsgstr[1] ""\n'
        for target, is_guess in own_rows():
            written = write(source.encode(), "x.po", target, is_finished=True).decode()
            assert ("fuzzy" in written) == is_guess, target


def test_the_plural_forms_of_a_header_are_those_of_the_language_or_finer():
    polish, english = find_plural_forms("pl"), find_plural_forms("en")
    unused = "nplurals=4; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
    for declared, language, expected in (
        ("", "pl", polish), (english, "pl", polish), ("nplurals=INTEGER; plural=EXPRESSION;", "pl", polish), (polish, "pl", polish),
        (english, "ja", "nplurals=1; plural=0;"), (english, "de", english), (unused, "ru", unused), ("nplurals=2; plural=n%0;", "pl", polish),
        ("nplurals=2; plural=n>1 ? 5 : 0;", "pl", polish), ("nplurals=2; plural=abs(n);", "pl", polish), (f"nplurals=2; plural={'(' * 900}n;", "pl", polish),
        ("nplurals=1; plural=0;", "tr", find_plural_forms("tr")), (english, "xx", english), ("", "xx", ""), (english, "", english),
    ):  # fmt: skip
        assert choose_plural_forms(declared, language, may_change=True) == expected, declared
    # Translations that are there were made for the forms that the header names.
    assert choose_plural_forms(english, "pl", may_change=False) == english
    done = f'msgid ""\nmsgstr "Plural-Forms: {english}\\n"\n\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[1] ""\n'
    written = write(done.encode(), "x.po", "pl", is_finished=True).decode()
    assert "nplurals=2" in written
    assert '#, fuzzy\nmsgid "a"' in written
    assert 'msgstr[0] "c"' in written


def test_the_rules_of_plurals_are_those_of_the_cldr():
    """But for some languages in which most catalogs have others."""
    for code, field in _FORMS.items():
        if code in WITH_OTHER_RULES:
            continue
        own, form = PluralForms.parse(field), form_of("pt_BR" if code == "pt-br" else code)
        assert own is not None
        for numbers in own.numbers:
            assert len({form(number) for number in numbers if number < 200}) == 1, code
