"""HTML as text: every tag comes back once, around the translations of its words."""

import html
import random
import re

import pytest

from headway.ext.documents import HtmlPage, Translated
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.html.page import scan
from headway.text import WordLinks, find_words
from support.bounds import grows_less
from support.documents import same, translate


def linked(source, target, pairs):
    return WordLinks(find_words(source), find_words(target), list(pairs))


def one_block(source, target, pairs):
    page = HtmlPage(source)
    [block] = page.paragraphs
    return page.write([Translated(target, linked(block.text, target, pairs))])


@pytest.mark.parametrize(
    ("source", "target", "pairs", "expected"),
    [
        ("a <b>red</b> car", "ein rotes Auto", [(0, 0), (1, 1), (2, 2)], "ein <b>rotes</b> Auto"),
        # Words change places, and their tags with them.
        ("<i>x</i> <b>y z</b>", "Z Y X", [(0, 2), (1, 1), (2, 0)], "<b>Z Y</b> <i>X</i>"),
        # A tag inside another stays inside.
        (
            "<a href='#'>one <b>two</b></a> three",
            "drei zwei eins",
            [(0, 2), (1, 1), (2, 0)],
            "drei <a href='#'><b>zwei</b> eins</a>",
        ),
        # Punctuation outside stays outside.
        ("(<b>yes</b>), no.", "(<ja>), nein.", [(0, 0), (1, 1)], "(<b>&lt;ja&gt;</b>), nein."),
        ("<b>Stop!</b> Go", "Halt! Los", [(0, 0), (1, 1)], "<b>Halt!</b> Los"),
        # One stray link does not stretch a tag over everything.
        ("<b>a b</b> c d e", "A B C D E", [(0, 0), (1, 1), (1, 4), (2, 2)], "<b>A B</b> C D E"),
        # What stands for itself goes before the word that followed it, and keeps its space.
        ("a <img src=x> b", "B A", [(0, 1), (1, 0)], "<img src=x> B A"),
        ("a <img src=x>b", "B A", [(0, 1), (1, 0)], "<img src=x>B A"),
        ("a b <img src=x>", "B A", [(0, 1), (1, 0)], "B A <img src=x>"),
        # What is attached to a word follows it, before its punctuation.
        ("a b<img src=x>. c", "B! C A", [(0, 2), (1, 0), (2, 1)], "B<img src=x>! C A"),
        ("a<img src=x> b", "B A", [(0, 1), (1, 0)], "B A<img src=x>"),
        # A word without a link keeps its tag, at its place.
        ("a <b>b</b> c", "A X C", [(0, 0), (2, 2)], "A <b>X</b> C"),
        # A tag without a partner is kept, and closes nothing.
        ("a</i> <b>b", "A B", [(0, 0), (1, 1)], "A</i> <b>B"),
        ("<b></b>a", "A", [(0, 0)], "<b></b>A"),
        ("a <b>b</b>", "", [], "<b></b>"),
    ],
)
def test_tags_follow_their_words(source, target, pairs, expected):
    assert one_block(source, target, pairs) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_breaks_around_a_text_stay(end):
    for source, expected in (
        ("<body>\n<p>a b\n  <p>\n\tc <i>d</i>\n</body>\n", "<body>\n<p>A B\n  <p>\n\tC <i>D</i>\n</body>\n"),
        ("<li>\n a\n b\n<ul>", "<li>\n A B\n<ul>"),
        ("<p> a <p>&#32;\nb  <p>c\n<img>\n</p>", "<p> A <p> B  <p>C <img>\n</p>"),
    ):  # fmt: skip
        page = HtmlPage(source.replace("\n", end))
        written = page.write([translate(block, str.upper) for block in page.paragraphs])
        assert written == expected.replace("\n", end)


def test_blocks_code_and_comments_stay():
    source = (
        "<!DOCTYPE html><!-- a > b --><div class=\"x>y\"><p>One<br/>two</p><script>if (a<b) {}</script>"
        "<p translate=\"no\">Keep <b>me</b></p><pre>x\n y</pre><ul><li>four</ul> &amp; 1 < 2</div>"
    )  # fmt: skip
    page = HtmlPage(source)
    assert [block.text for block in page.paragraphs] == ["One", "two", "four", " & 1 < 2"]
    assert page.write([same(block) for block in page.paragraphs]) == source


def upper(text):
    return Translated(text.upper(), WordLinks.identity(text))


def translated(source):
    """Return what is translated; `_` stands for an element that stays."""
    marked = map(KeptMarks, HtmlPage(source).paragraphs)
    return [re.sub("[\ue000-\uf8ff]", "_", marks.text) for marks in marked]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<b translate='no'>one</b> two", ["_ two"]),
        ("<b translate=no>one</b> two", ["_ two"]),
        ('<B id=x TRANSLATE = "No"class="y">one</B> two', ["_ two"]),
        ('<b class="a notranslate b">one</b> two', ["_ two"]),
        ("<code>x<code-y></code> two", ["_ two"]),
        ("<a href=\"/notranslate-info\" class='notranslate-x'>one</a> two", ["one two"]),
        ('<p data-translate="no" title="translate=no" "translate=no">one</p>', ["one"]),
        ("<b translate>one</b> <b translate=yes>two</b>", ["one two"]),
        ("<code translate=yes>one</code> <var translate>two</var> <code>x</code>", ["one two _"]),
        (
            "<code translate=yes class=notranslate>x</code> one <pre translate=yes>x</pre>",
            ["_ one "],
        ),
    ],
)
def test_attributes_say_what_is_left_alone(source, texts):
    assert translated(source) == texts


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        # A text ends at the border of a link beside a link, of a control, and of an embedded object.
        ('<nav><a href="/">Home</a><a href="/a">About us</a><a>Contact</a></nav>', ["Home", "About us", "Contact"]),
        ("<i><a>one</a></i><i><a>two</a></i><!-- x --><b><i><a>three</a></i></b>", ["one", "two", "three"]),
        ("<label>Name<input name=n></label><input type=checkbox>Remember me", ["Name", "Remember me"]),
        ("<select><option>one<option>two</select><button>three</button>four", ["one", "two", "three", "four"]),
        ("<optgroup label=x><option>one</option><option>two</option></optgroup>", ["one", "two"]),
        *((f"one<{name} src=x></{name}>two", ["one", "two"]) for name in ("iframe", "video", "audio", "object", "textarea", "noscript")),
        ("one<pre>x</pre>two<div translate=no>x</div>three<progress value=1></progress>four", ["one", "two", "three", "four"]),
        ("<p>one<button translate=no>x</button>two<label translate=no>x</p>three", ["one", "two", "three"]),
        # Nothing else divides a word or a sentence.
        ("un<b>believ</b>able H<sub>2</sub>O", ["unbelievable H2O"]),
        ("<a>one</a> <a>two</a>, <a>thr</a>ee<a>four</a>", ["one two, threefour"]),
        ("<a name=x></a>one<a>three</a><img> <code>x</code> <a>four</a>", ["onethree _ four"]),
        ("<a>Home</a><a><code>x</code></a><a>About</a>", ["Home", "About"]),
        ("one<a></a><a>two</a>", ["onetwo"]),
        ("<a>one</a><sup><a>[a]</a></sup><sup><a>[1]</a></sup> <a>two</a><a><sup>b</sup></a><a>3</a><a>4</a>.", ["one[a] twob34."]),
        ("<a>one</a><a>1</a><a> <b>two</b></a><a>three</a>", ["one1 two", "three"]),
        # Links of a menu have nothing beside them but white space and signs; some signs stand in no sentence.
        ("<nav>\n<a>one</a>\n<i><a>two</a></i> <a>three</a>\n</nav>", [" one", "two", "three "]),
        ("<a>one</a> · <a>two</a><b> | </b><a>three</a> / <a>four</a>", ["one", "two", "three", "four"]),
        ("see <a>one</a> | <a>two</a>, <a>three</a> <a>four</a> – <a>five</a>", ["see one", "two, three four – five"]),
        ("<a>one</a> <a>two</a>.", ["one two."]),
        # So are elements that a page defines itself, if they have no text beside them.
        ("<x-a>one</x-a><x-b>two</x-b> <x-a>three</x-a>", ["one", "two", "three"]),
        ("<x-a><x-b>one</x-b> <x-c>two</x-c></x-a>\n<x-a><x-b>three</x-b></x-a>", ["one", "two", "three"]),
        ("a <x-b>b</x-b><x-b>c</x-b>", ["a bc"]),
    ],
)  # fmt: skip
def test_texts_that_are_seen_apart_are_translated_one_by_one(source, texts):
    assert translated(source) == texts
    page = HtmlPage(source)
    written = page.write([translate(block, str.upper) for block in page.paragraphs])
    assert re.findall("<.*?>", written) == re.findall("<.*?>", source)


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        # Tags, comments and declarations are those of the HTML standard.
        ("a < b and <3 c", ["a < b and <3 c"]), ("<a href=x title=it's>one</a>", ["one"]), ("<b a=\">\" c='>' d>x<br/ >", ["x"]), ("</p x='>'><b =x>y", ["y"]),
        ("<!-- <b> --> x", [" x"]), ("<!--> x --> y", [" x --> y"]), ("<!---> x", [" x"]), ("<!-- a --!> x", [" x"]), ("<!-- a -- > x", []),
        ("<!DOCTYPE html>x", ["x"]), ("<![CDATA[ a ]]>x", ["x"]), ("<?x y ?>z", ["z"]), ("a</>b</ c>d", ["abd"]), ("x<", ["x<"]), ("x</", ["x</"]), ("x<b y='z>", ["x"]),
        ("<title>a <b></title >x", ["a <b>", "x"]), ("<style>a</styles></STYLE>x", ["x"]), ("<textarea><p></textarea>", []),
        ("<script>if (a</b) '<script>'</script>x", ["x"]), ("<script><!-- <script> </script> --></script>x", ["x"]), ("<script><!-- </script>x", ["x"]),
        ("<script>x", []), ('<script>document.write("<script src=\'x.js\'><\\/script>")</script><p>one</p>', ["one"]),
        # Tags of template engines are no HTML.
        ("{{ a > b }}x{{{c}}}{% if a <b %}", ["{{ a > b }}x{{{c}}}"]), ("{# a <b> #}<% a > b %><?= a->b ?>", []), ("<?php a->b", []), ("<div{% if a > b %} c{% endif %}>x", ["x"]),
        ("<br <?php a->b ?> c={{d > e}} />", []), ("<br a=\"{{ \"b>c\" }} 'd'\" e='<?= 'f>g' ?>'>h", ["h"]), ("<a b=\"{{\">c</a> <a b='{% {'>d", ["c d"]),
        # A value may speak of such tags; then it ends where it ends without them. So may text, and a title, but nothing hides its end.
        ("a {{ b<p>c }}", ["a {{ b", "c }}"]), ("a {{ b\n}} {% c {%", ["a {{ b }} {% c {%"]), ("{%</b> {% a</b> %} {# a</b> #} {#<b>#}", ["{% {% a %} {# a #} {##}"]),
        ("{%1, 2%} {#000} a #}", ["{%1, 2%} {#000} a #}"]), ("{%- a '</b>' <b>c</b> %}{#a#}{#- <b>c</b> #}", []),
        ("<title>{{ a > b }}<b></title>", ["{{ a > b }}<b>"]), ("<script>'{%'</script>%}", ["%}"]),
        ("a <![CDATA[<b> & ]] > c]]> d", ["a  d"]),
        # An element without a closing tag ends where the standard ends it.
        ("<p translate=no>Acme<ul><li translate=no>B</ul><p>one</p>", ["one"]), ("<ul><li class=notranslate>Acme<ul><li>B<li>C</ul>D<li>one</ul>", ["one"]),
        ("<table><tr><td translate=no>Acme<td>one</table>", ["one"]), ("<table><tr translate=no><td>Acme<table><tr><td>B</table><tr><td>one</table>", ["one"]),
        ("<dl><dt translate=no>Acme<dd>one</dl>", ["one"]), ("<select><option translate=no>Acme<option>one</select>", ["one"]), ("<p><code>x = 1</p><p>one</p>", ["one"]),
        ("<div><span translate=no>Acme</div>one", ["one"]), ("<xmp><b></xmp><p>one</p>", ["one"]), ("<noframes><p>x</noframes><p>one</p>", ["one"]),
        ("<script><!--><script>'</script>one", ["one"]),
    ],
)  # fmt: skip
def test_what_browsers_show_as_text_is_text(source, texts):
    page = HtmlPage(source)
    assert [block.text for block in page.paragraphs] == texts
    assert page.write([same(block) for block in page.paragraphs]) == source


def test_no_character_is_lost_in_random_markup():
    chooser = random.Random(3)
    bits = [*["{{", "}}", "{%", "%}", "<%", "%>", "?>", "<", ">", "/", "!", "--", "-", "=", "'", '"', "a", "b", "script", "title", "?"], "<?php ", " ", "\n"]  # fmt: skip
    for _ in range(1_000):
        source = "".join(chooser.choices(bits, k=chooser.randrange(1, 30)))
        page = HtmlPage(source)
        assert page.write([same(block) for block in page.paragraphs]) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # What is shown under a condition stays under it.
        ("<p>{% if a > 5 %}one two{% else %}three{% endif %}</p>", "<p>{% if a > 5 %}two one{% else %}three{% endif %}</p>"),
        ("one two <?php if ($a > 5): ?>three four<?php endif ?>", "two one<?php if ($a > 5): ?>four three<?php endif ?>"),
        ("{{#each a}}one {{b}} two{{/each}} <% a.each do |b| %>c d<% end %>", "{{#each a}}two {{b}} one{{/each}} <% a.each do |b| %>d c<% end %>"),
        ("{{ if .A }}one two{{ else }}three four{{- end }}", "{{ if .A }}two one{{ else }}four three{{- end }}"),
        # A value goes with its words, and is written as it stood.
        ("one {{ start }} to {{ range_min }}", "{{ range_min }} to {{ start }} one"),
        ('one two {% format_price a %} <?php forms(); ?> three', 'two one{% format_price a %} <?php forms(); ?>three'),
        ('one {{ a|default:"x>y" }} <b>two</b>', '<b>two</b> {{ a|default:"x>y" }} one'),
        ("one <?= $a->b ?> two <%= a > b && c %> three", "three <%= a > b && c %> two <?= $a->b ?> one"),
        ("<code>{{ a }}</code> one", "one <code>{{ a }}</code>"),
    ],
)  # fmt: skip
def test_tags_of_template_engines_stay(source, expected):
    page = HtmlPage(source)
    marked = [KeptMarks(block) for block in page.paragraphs]
    assert page.write([each.expand(reverse(each.text)) for each in marked]) == expected


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("a <ruby>tokyo<rt>toukyou</rt></ruby> b", "a tokyo b", "A <ruby>TOKYO</ruby> B"),
        ("<ruby>to<rp>(</rp><rt>tou</rt><rp>)</rp>kyo<rt>kyou</rt></ruby>", "tokyo", "<ruby>TOKYO</ruby>"),
        # Closing tags may be left out.
        ("<ruby><rb>to<rt>tou<rb>kyo<rp>(<rt>kyou</ruby>.", "tokyo.", "<ruby><rb><rb>TOKYO</ruby>."),
        ("<p><ruby>to<rtc><rt>tou<rt>x</rtc>kyo<rt>kyou</p>", "tokyo", "<p><ruby>TOKYO</p>"),
        ("<ruby>a<rt>x<p>", "a", "<ruby>A<p>"),
        ("<ruby>1<rt>x</rt></ruby>", "1", "<ruby>1<rt>x</rt></ruby>"),
    ],
)  # fmt: skip
def test_a_reading_belongs_to_the_old_word(source, text, expected):
    page = HtmlPage(source)
    assert [block.text for block in page.paragraphs] == [text]
    assert page.write([Translated(text, WordLinks.identity(text))]) == source
    assert page.write([upper(text)]) == expected


def test_numbers_of_characters_mean_what_they_do_in_html():
    for number in ("65", "0065", "0", "128512", "1114111", "1114112", "99999999999"):
        for text in (f"a&#{number};b", f"a&#{number} b", f"a&#x{number};b"):
            assert translated(text) == [html.unescape(text)]
    assert translated(f"a&#{'1' * 5000};b&#{'0' * 5000}65;") == ["a\ufffdbA"]


def reverse(text):
    """Return a translation that turns the words round: links are known."""
    found = text.split()
    target = " ".join(reversed(found))
    pairs = [(i, len(found) - 1 - i) for i in range(len(found))]
    return Translated(target, linked(text, target, pairs))


def reverse_page(source):
    page = HtmlPage(source)
    return page.write([reverse(block.text) for block in page.paragraphs])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<b>one two<br>three four</b>", "<b>two one<br>four three</b>"),
        ("<p> <i>\n<b>one two<p>a b</i> </b> ", "<p> <i>\n<b>two one<p>b a</i> </b> "),
        ("<b><a>one two</a><a>a b</a></b>", "<b><a>two one</a><a>b a</a></b>"),
    ],
)
def test_an_element_around_several_texts_stays_around_them(source, expected):
    assert reverse_page(source) == expected


def random_html(chooser):
    nodes = [
        "<b>", "</b>", "<i>", "</i>", "<a href=\"?a=1&b=2\">", "</a>", "<br>", "<p>", "</p>", "<img>",
        "<", ">", "&amp;", "&lt;", "&", "word", "two words", " ", "\n", ".", "<code>", "</code>",
        "<!--", "-->", "<span class='x>y'>", "</span>", "\"", "'", "<b", "é", "\u202e", "🎉",
    ]  # fmt: skip
    return "".join(chooser.choices(nodes, k=chooser.randrange(40)))


@pytest.mark.slow
def test_every_tag_comes_back_once_and_no_word_is_lost():
    chooser = random.Random(4)
    for _ in range(300):
        source = random_html(chooser)
        found = reverse_page(source)
        parts = [(kind, "".join(token.text for token in tokens)) for kind, tokens in scan(source)]
        tags = [text for kind, text in parts if kind != "text"]
        remaining = found
        for tag in sorted(tags, key=len, reverse=True):
            assert tag in remaining, source
            remaining = remaining.replace(tag, " ", 1)
        plain = [text for kind, text in parts if kind == "text"]
        letters = sorted(re.sub(r"\s", "", html.unescape("".join(plain))))
        if "code" not in source:
            assert sorted(re.sub(r"\s", "", html.unescape(remaining))) == letters, source


@pytest.mark.slow
def test_well_formed_html_stays_well_formed():
    chooser = random.Random(5)

    def tree(depth):
        parts = []
        for _ in range(chooser.randrange(1, 4)):
            name, has_more = chooser.choice(["b", "i", "em", "a"]), depth and chooser.random() < 0.6
            inner = tree(depth - 1) if has_more else chooser.choice("pqrst") * 3
            parts.append(f"<{name}>{inner}</{name}>" if chooser.random() < 0.5 else inner)
        return " ".join(parts)

    for _ in range(100):
        source = tree(3)
        found = reverse_page(source)
        stack = []
        for closing, name in re.findall(r"<(/?)(\w+)>", found):
            if closing:
                assert stack.pop() == name, (source, found)
            else:
                stack.append(name)
        assert not stack
        assert found.count("<") == source.count("<")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "link"),
    [
        ("{0}{2}a", ()),
        ("{0}a{2}", (0,)),
        ("<b>{0}{2}</b> a", (-1,)),
        ("a {1}", (1,)),
        ("{1}", (0, 1)),
    ],
)
def test_the_time_for_words_with_few_links_or_all_is_linear(source, link):
    """Tags between words of which none, or one, became all that there is."""

    def write(count):
        page = HtmlPage(source.format("<wbr>" * count, "<b>x</b> " * count, " ." * 2 * count))
        target = "A " * 2 * count
        links = linked(page.paragraphs[0].text, target, [])
        own = range(len(links.source))
        links.pairs = [(own[at], word) for at in link for word in range(2 * count)]
        page.write([Translated(target, links)])

    assert grows_less(write, 300, 10)
