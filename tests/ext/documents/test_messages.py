"""Every text in an ICU message is translated, and nothing else changes."""

import json
import random
import re

import pytest
from babel import Locale

from headway.ext.documents.icu_message import MOST_SENTENCES, parse_message
from headway.ext.documents.opening import list_notices, open_document
from headway.ext.documents.paragraph import DocumentOptions, Translated
from support.bounds import bounded
from support.cases import each_case, read_rows

WITH_MORE_FORMS = "pl ru uk cs hr lt ro sl lv he ga mt cy ar gd sr_Latn pl-PL"


def sentences(text):
    message = parse_message(text)
    assert message is not None, text
    return list_sentences(message)


def list_sentences(message):
    return [paragraph.text for paragraph in message.paragraphs]


def write(message, texts):
    return message.write([*map(Translated, texts)]).text


def identity(text):
    message = parse_message(text)
    assert message is not None, text
    return write(message, list_sentences(message))


@each_case
def test_each_case_is_a_whole_sentence(text, found, texts, written):
    """Translated by other texts, it is another message; by its own ones it means the same."""
    message = parse_message(text)
    assert list_sentences(message) == found
    assert write(message, texts or found) == written


@pytest.mark.parametrize(
    "text",
    [
        *read_rows(__file__, "test_other_text_is_no_message"),
        " ".join(["{n, select, other {a}}"] * 900),
        "{" * 9000,
        "{n, plural, other {" * 900,
    ],
)
def test_other_text_is_no_message(text):
    with bounded(1):
        assert parse_message(text) is None


@pytest.mark.parametrize("language", WITH_MORE_FORMS.split())
def test_a_language_with_more_forms_gets_a_case_of_its_own_for_each(language):
    """Each is made from a number that the form serves, as the Unicode CLDR says."""
    rule = Locale.parse(language.replace("-", "_")).plural_form
    names = {rule(number) for number in range(200)}
    for argument in ("n", "count"):
        text = f"You have {{{argument}, plural, =0 {{nothing}} one {{# dog}} other {{# dogs}}}} in {{place}}."
        message = parse_message(text, language)
        assert message is not None

        def decline(sentence):
            found = re.search(r"\d+", sentence)
            return f"{sentence} ({rule(int(found[0]))})" if found else f"{sentence} (?)"

        written = write(message, [decline(each) for each in list_sentences(message)])
        again = parse_message(written)
        assert again is not None
        cases = dict(
            re.findall(r"(\w+) \{([^{}]*(?:\{[^{}]*\})*[^{}]*)\}", written.partition("plural,")[2])
        )
        assert {*cases} == names | {"0", "one", "other"}
        for name in names - {"one", "other"}:
            assert f"({name})" in cases[name]
            assert "# dogs" in cases[name]
        # A translation without the number leaves the case out; programs show "other" then.
        lost = write(message, [re.sub(r"\d+", "some", each) for each in list_sentences(message)])
        assert {*re.findall(r"(\w+) \{(?!place)", lost)} == {"0", "one", "other"}


def random_message(chooser, depth):
    """Return a random ICU message; no two of its texts have the same word."""
    parts = []
    for _ in range(chooser.randrange(1, 4)):
        if depth and chooser.random() < 0.5:
            kind = chooser.choice(["plural", "select", "selectordinal"])
            names = [*chooser.sample(["one", "=0", "few", "male"], chooser.randrange(3)), "other"]
            cases = " ".join(f"{name} {{{random_message(chooser, depth - 1)}}}" for name in names)
            parts.append(f"{{a{chooser.randrange(9)}, {kind}, {cases}}}")
        else:
            parts.append(
                chooser.choice([f" w{chooser.randrange(10**9)} ", " {name} ", " # ", " it's "])
            )
    return "".join(parts)


def test_what_was_written_is_read_again_with_the_same_sentences():
    chooser = random.Random(1)
    seen = 0
    for _ in range(600):
        text = random_message(chooser, 3)
        if (message := parse_message(text)) is None:
            continue
        seen += 1
        found = list_sentences(message)
        assert len(found) <= MOST_SENTENCES
        assert set(re.findall(r"w\d+", "".join(found))) == set(re.findall(r"w\d+", text))
        again = write(message, found)
        assert sentences(again) == found
        assert identity(again) == again
    assert seen > 100


@pytest.mark.parametrize("suffix", [".json", ".po", ".xlf", ".csv"])
def test_every_text_of_a_file_is_translated(suffix):
    text = "{n,plural, one{# dog}  other{# dogs}} of {name}"
    content = {
        ".json": json.dumps({"a": text, "b": "a cat"}),
        ".po": f'msgid "{text}"\nmsgstr ""\n\nmsgid "a cat"\nmsgstr ""\n',
        ".xlf": '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"'
        ' target-language="de" datatype="plaintext" original="a"><body>'
        f'<trans-unit id="1"><source>{text}</source></trans-unit>'
        '<trans-unit id="2"><source>a cat</source></trans-unit></body></file></xliff>',
        ".csv": f'id,text\n1,"{text}"\n2,a cat\n',
    }
    options = DocumentOptions("en", "de", columns=("text",) if suffix == ".csv" else ())
    document = open_document(content[suffix].encode(), f"a{suffix}", options)
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == ["{n, number} dog of {name}", "{n, number} dogs of {name}", "a cat"]
    same = document.write([Translated(each) for each in texts]).decode()
    if suffix in (".json", ".csv"):  # the others write a translation beside the source
        assert same == content[suffix]
    else:
        assert same.count(text) == 2
    written = document.write(
        [Translated(text.upper().replace("{N, NUMBER}", "{n, number}")) for text in texts]
    )
    assert "{n, plural, one {# DOG OF {NAME}} other {# DOGS OF {NAME}}}" in written.decode()
    assert "A CAT" in written.decode()


def test_a_message_with_inline_elements_stays():
    """As Angular writes them: the element is a number in one of the cases."""
    source = (
        '<xliff version="1.2"><file><body><trans-unit id="1"><source>It has {VAR, plural, =0 {none} other '
        '{<x id="1"/> balls}}.</source></trans-unit><trans-unit id="2"><source>a ball</source></trans-unit>'
        "</body></file></xliff>"
    )
    document = open_document(source.encode(), "x.xlf", DocumentOptions("en", "de"))
    assert [paragraph.text for paragraph in document.paragraphs] == ["a ball"]
    written = document.write([Translated("ein Ball")]).decode()
    targets = re.findall("<target[^>]*>(.*?)</target>", written)
    assert targets == ["ein Ball"]
    assert list_notices(document) == ["messages of ICU that stay as they are: 1"]


@each_case
def test_a_message_that_is_too_complicated_stays(text):
    for source, name in (
        (json.dumps({"a": text, "b": "{n} dogs"}), "x.json"),
        (f'#, fuzzy\nmsgid "{text}"\nmsgstr "z"\n\nmsgid "{{n}} dogs"\nmsgstr ""\n', "x.po"),
    ):
        document = open_document(source.encode(), name, DocumentOptions("en", "de"))
        assert [paragraph.text for paragraph in document.paragraphs] == ["{n} dogs"]
        assert list_notices(document) == ["messages of ICU that stay as they are: 1"]
        written = document.write([Translated("{n} Hunde", is_finished=True)]).decode()
        if name == "x.po":  # without a translation, and marked as fuzzy still
            assert written == source.replace('msgstr ""', 'msgstr "{n} Hunde"')
        else:
            assert json.loads(written) == {"a": text, "b": "{n} Hunde"}
