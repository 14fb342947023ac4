"""The tokens of HTML are those of the HTML standard."""

import random
import time

import pytest

from headway.ext.documents.html.parsing import parse_html, scan
from headway.ext.documents.html.tokens import tokenize


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b and <3 c", ["text"]),
        ("<a href=x title=it's>one</a>", ["open a", "text", "close a"]),
        ("<a href=x/>", ["open a"]),  # the slash belongs to the value
        ("<img src='x'/>", ["open img /"]),
        ("<b a=\">\" c='>' d>x", ["open b", "text"]),
        ("<b =x>y", ["open b", "text"]),
        ("<B\nID = x\tCLASS=y>", ["open b"]),
        ("<br/ >", ["open br"]),
        ("</p x='>'>y", ["close p", "text"]),
        ("<!-- <b> --> x", ["other", "text"]),
        ("<!--> x --> y", ["other", "text"]),
        ("<!---> x", ["other", "text"]),
        ("<!-- a --!> x", ["other", "text"]),
        ("<!-- a -- > x", ["other"]),
        ("<!DOCTYPE html>x", ["other", "text"]),
        ("<![CDATA[ a ]]>x", ["other", "text"]),
        ("<?x y ?>z", ["other", "text"]),
        ("a</>b</ c>d", ["text", "other", "text", "other", "text"]),
        ("x<", ["text"]),
        ("x</", ["text"]),
        ("x<b y='z>", ["text", "other"]),
        ("<title>a <b></title >x", ["open title", "text", "close title", "text"]),
        ("<style>a</styles></STYLE>x", ["open style", "text", "close style", "text"]),
        ("<textarea><p></textarea>", ["open textarea", "text", "close textarea"]),
        ("<script>if (a</b) '<script>'</script>x", ["open script", "text", "close script", "text"]),
        ("<script><!-- <script> </script> --></script>x",
         ["open script", "text", "close script", "text"]),
        ("<script><!-- </script>x", ["open script", "text", "close script", "text"]),
        ("<script></script>x", ["open script", "close script", "text"]),
        ("<script>x", ["open script", "text"]),
    ],
)  # fmt: skip
def test_tokens_are_those_of_the_standard(source: str, expected: list[str]) -> None:
    tokens = list(tokenize(source))
    found = [f"{t.kind} {t.name}{' /' if t.is_closed else ''}".strip() for t in tokens]
    assert found == expected
    assert "".join(token.text for token in tokens) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ a > b }}x{{{c}}}{% if a <b %}", ["template", "text", "template", "template"]),
        ("{# a <b> #}<% a > b %><?= a->b ?>", ["template"] * 3),
        ("<?php a->b", ["template"]),  # to the end of the file
        ("<div{% if a > b %} c{% endif %}>x", ["open div", "text"]),
        ("<br <?php a->b ?> c={{d > e}} />", ["open br /"]),
        ("<br a=\"{{ \"b>c\" }} 'd'\" e='<?= 'f>g' ?>'>h", ["open br", "text"]),
        ("<a b=\"{{\">c</a> <a b='{% {'>d", ["open a", "text", "close a", "text", "open a", "text"]),
        # A value may speak of such tags; then it ends where it ends without them.
        ("<p a=\"<?php b\"><i c=\"{{\" d=\"e\" f='}}'>g<?php h ?>", ["open p", "open i", "text", "template"]),
        ("<p a='<%\nb'>c%>", ["open p", "text"]),
        # So may text.
        ("a {{ b<p>c }}", ["text", "open p", "text"]),
        ("a {{ b\n}} {% c {%", ["text"]),
        ("{%</b> {% a</b> %} {# a</b> #} {#<b>#}", ["text", "close b", "text", "close b", "text", "close b", "text", "open b", "text"]),
        ("{%1, 2%} {#000} a #}", ["text"]),
        ("{%- a '</b>' <b>c</b> %}{#a#}{#- <b>c</b> #}", ["template"] * 3),
        # Of a title, too, but nothing hides its end.
        ("<title>{% a > b %}<b></title>", ["open title", "template", "text", "close title"]),
        ("<script>'{%'</script>%}", ["open script", "text", "close script", "text"]),
    ],
)  # fmt: skip
def test_tags_of_template_engines_are_no_html(source: str, expected: list[str]) -> None:
    tokens = list(tokenize(source))
    assert [f"{t.kind} {t.name}{' /' if t.is_closed else ''}".strip() for t in tokens] == expected
    assert "".join(token.text for token in tokens) == source


XHTML = '<html xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a <![CDATA[<b> & ]] > c]]> d", ["text", "text", "text"]),
        ("<title><![CDATA[</title>]]></title>", ["open title", "text", "close title"]),
        ("<script>a<![CDATA[<b>]]></script>", ["open script", "text", "close script"]),
        ("<?x y>z?>a", ["other", "text"]),
        ("<?x>a", ["other"]),
        ("<![CDATA[a>b]]", ["other"]),
    ],
)
def test_tokens_of_xhtml_are_those_of_xml(source: str, expected: list[str]) -> None:
    tokens = list(tokenize(XHTML + source))[1:]
    assert [f"{token.kind} {token.name}".strip() for token in tokens] == expected
    assert "".join(token.text for token in tokens) == source


def test_attributes_are_read_with_any_quotes_and_without() -> None:
    [token] = tokenize("<a B=1 c='2\"' d=\"3'\" e f= 4 b=5 g=it's =h=6>")
    assert token.attributes == {
        "b": "1", "c": "2\"", "d": "3'", "e": "", "f": "4", "g": "it's", "=h": "6",
    }  # fmt: skip


def test_no_character_is_lost_in_random_markup() -> None:
    chooser = random.Random(3)
    bits = [
        "{{",
        "}}",
        "{%",
        "%}",
        "<%",
        "%>",
        "<?php ",
        "?>",
        "<",
        ">",
        "/",
        "!",
        "--",
        "-",
        "=",
        "'",
        '"',
        " ",
        "a",
        "b",
        "script",
        "title",
        "?",
        "\n",
    ]
    for _ in range(5_000):
        source = "".join(chooser.choices(bits, k=chooser.randrange(1, 30)))
        assert "".join(token.text for token in tokenize(source)) == source


def test_tags_inside_a_script_do_not_hide_the_rest_of_the_page() -> None:
    page = """<script>document.write("<script src='x.js'><\\/script>")</script><p>one</p>"""
    assert [node.text for node in parse_html(page) if not isinstance(node, str)] == ["one"]


def texts(page: str) -> list[str]:
    """Return the texts of a page that are translated."""
    return [node.text for node in parse_html(page) if not isinstance(node, str)]


@pytest.mark.parametrize(
    "page",
    [
        "<p translate=no>Acme<p>one</p>",
        "<p translate=no>Acme<ul><li translate=no>B</ul><p>one</p>",
        "<ul><li class=notranslate>Acme<ul><li>B<li>C</ul>D<li>one</ul>",
        "<table><tr><td translate=no>Acme<td>one</table>",
        "<table><tr translate=no><td>Acme<table><tr><td>B</table><tr><td>one</table>",
        "<dl><dt translate=no>Acme<dd>one</dl>",
        "<select><option translate=no>Acme<option>one</select>",
        "<p><code>x = 1</p><p>one</p>",
        "<div><span translate=no>Acme</div>one",
        "<xmp><b></xmp><p>one</p>",
        "<noframes><p>x</noframes><p>one</p>",
        "<script><!--><script>'</script>one",
    ],
)
def test_an_element_without_a_closing_tag_ends_where_the_standard_ends_it(page: str) -> None:
    assert texts(page) == ["one"]
    joined = "".join(token.text for _, tokens in scan(page) for token in tokens)
    assert joined == page


@pytest.mark.slow
def test_deep_unclosed_elements_are_read_in_linear_time() -> None:
    page = "<div translate=no>" + "<div>" * 50_000 + "</p>" * 50_000 + "<li translate=no>" * 50_000
    started = time.process_time()
    assert "".join(token.text for _, tokens in scan(page) for token in tokens) == page
    assert time.process_time() - started < 10
