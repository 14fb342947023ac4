"""The files of the translation page contain no inline code and request nothing from other servers.

tests/outside/browser.py tests the page in a browser.
"""

import re
from pathlib import Path

import pytest

from headway.ext.pictures.html_page import style_sheet, view_script
from headway.ext.server.page_files import page_files
from headway.text.words import find_words
from support.pages import (
    PICTURE_SCRIPTS,
    SERVER_SCRIPTS,
    Page,
    evaluate,
    foreign_addresses,
)

WORDS = [SERVER_SCRIPTS / "words.js"]


def test_the_page_requests_nothing_from_other_servers():
    for content, _ in page_files().values():
        assert not foreign_addresses(content.decode())


def test_the_page_names_existing_files_and_has_no_inline_code():
    found = page_files()
    page = Page(found["/"][0].decode())
    named = [
        a.get("src") or a.get("href") for _, a, _ in page.elements if "src" in a or "href" in a
    ]
    assert set(named) == {path.removeprefix("/") for path in found} - {""}
    for tag, attributes, text in page.elements:
        assert tag != "style"
        assert tag != "script" or not text.strip()
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", "": "text/html"}
    for path, (content, kind) in found.items():
        assert kind.startswith(kinds[Path(path).suffix])
        assert content
    assert found["/attention.js"][0].decode() == view_script()
    assert found["/attention.css"][0].decode() == style_sheet()


def test_scripts_never_turn_text_into_markup_or_code():
    never = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    never += r'|"style"|cssText|javascript:'
    for path in (*PICTURE_SCRIPTS.glob("*.js"), *SERVER_SCRIPTS.glob("*.js")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(never, text), path.name
        assert "</" not in text.replace("</s>", "")  # the file holds the script as it is


@pytest.mark.slow
def test_the_browser_counts_words_as_the_server_does():
    spaced = "  Ein\u00a0Hund,\u2003der\x1cläuft \x85 …\n\n🐶🐶\u3000x\u2028y z\t"
    for text in (
        spaced,
        "a\u200bb \u200e \u00adc\u2060d \ufeff\u200c 「\u2060犬\u200eカ\u00adカ\u200bカ e\ufe0f\u200d",
        "犬は「猫」を見た。GPT-4（Hello「か\u3099」)コンピューター ส วัสดี\U00020001[x] 한국어",
    ):
        words = [text[start:end] for start, end in find_words(text)]
        assert evaluate(WORDS, "headway.words(given).map((word) => word.text)", text) == words
    assert [spaced[start:end] for start, end in find_words(spaced)] == spaced.split()


def test_lines_of_the_glossary_become_rows():
    text = "house = Haus|Gebäude\n\n# = x\na b\tc = d\n# a comment\nPeter Miller\t\tkeep\n \t \nC++=C\r"
    rows = ["house\tHaus|Gebäude", "#\tx", "a b\tc = d", "Peter Miller\t\tkeep", "C++\tC"]
    found = evaluate([SERVER_SCRIPTS / "glossary.js"], "headway.glossaryRows(given)", text)
    assert found == "\n".join(rows)


def test_a_line_of_the_glossary_that_is_no_term_is_named():
    lines = ["house: Haus", "house,Haus", "= y", "z ="]
    code = (
        "const message = (text) => {"
        " try { return headway.glossaryRows(text) } catch (error) { return error.message } };"
        " given.map(message)"
    )
    texts = [f"a = b\n\n {line} \nno\n" for line in lines]
    assert evaluate([SERVER_SCRIPTS / "glossary.js"], code, texts) == [
        f"Line 3 of the glossary, “{line}”, must have a term, “=” and a translation."
        for line in lines
    ]


def test_a_key_of_any_letters_is_sent_as_utf_8():
    sent = "headway.request('translate', {}, {key: given}).catch(() => 0), sent.Authorization"
    code = f"let sent; globalThis.fetch = (path, {{headers}}) => (sent = headers, null); {sent}"
    found = evaluate([SERVER_SCRIPTS / "server.js"], code, "Schlüssel€")
    assert found == "Bearer Schlüssel€".encode().decode("latin-1")


@pytest.mark.slow
def test_sentences_have_their_translations():
    text = "One man. Two dogs run! Three?\nNo end here\n\n  Last one.  "
    matched = {
        ("One man. Two dogs.", "Ein Mann. Zwei Hunde."): ["Ein Mann.", "Zwei Hunde."],
        ("One man.\n\n Two dogs.", "Ein Mann. Er.\n\n Zwei"): ["Ein Mann. Er.", "Zwei"],
        ("A! B?\nC", "Ein Satz.\nD"): ["", "", "D"],
        ("A! B?\nC", ""): ["", "", ""],
    }
    code = (
        "[headway.sentences(given[0], 'en'), headway.sentences(given[0], 'no such_code'),"
        " given[1].map(([a, b]) => headway.matchSentences(a, 'en', b, 'de'))]"
    )
    found, again, answers = evaluate(WORDS, code, [text, [*matched]])
    assert [part["text"] for part in found] == [
        "One man.", "Two dogs run!", "Three?", "No end here", "Last one.",
    ]  # fmt: skip
    assert all(text[part["start"] : part["end"]].strip() == part["text"] for part in found)
    assert again == found
    assert answers == [*matched.values()]
