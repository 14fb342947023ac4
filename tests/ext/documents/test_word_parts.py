"""Elements inside a word are around the same part of it in a translation, without the marks beside it, and never empty."""

import random
import re

import pytest

from headway.ext.documents import DocumentOptions, open_document
from headway.ext.documents.paragraph import Translated
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from support.cases import each_case

WORDS = (
    "CO<2> H<2>O C<6>H<12>O<6> H<2>SO<4> m<2> km<2> 10<-3> 10<6> x<i> 1<st> 20<th> NH<4>+ Ca<2+>"
    " a<2>+b<2> T<max> PM<10> E=mc<2> un<believ>able <E>arth Nicht<raucher>"
)
FORMS = {
    ".html": ("<p>{}</p>", "<sub>{}</sub>"),
    ".xhtml": ("<p>{}</p>", '<span class="x">{}</span>'),
    ".htm": ("<p>{}</p>", "<b>{}</b>"),
    ".md": ("{}\n", "<sub>{}</sub>"),
}


def write(suffix, source, target, pairs):
    """Return a document of a sentence with a translation; pairs of words of both; None: no word is linked."""
    document = open_document(
        FORMS[suffix][0].format(source).encode(), f"x{suffix}", DocumentOptions()
    )
    [paragraph] = document.paragraphs
    spans = find_words(paragraph.text), find_words(target)
    links = WordLinks(*spans, pairs or [])
    return document.write([Translated(target, links)]).decode()


@pytest.mark.parametrize("suffix", [*FORMS])
def test_a_word_that_stays_keeps_its_elements(suffix):
    chooser = random.Random(4)
    whole, element = FORMS[suffix]
    for form in WORDS.split() * 3:
        word = re.sub("<(.*?)>", lambda found: element.format(found[1]), form)
        plain = re.sub("[<>]", "", form)
        words = [f"w{number}" for number in range(6)]
        place, other = chooser.randrange(6), chooser.randrange(6)
        before, after = chooser.choice([("", ""), ("", ","), ("(", ")"), ("", "!")])
        source = [*words[:place], f"{before}{word}{after}", *words[place:]]
        marks = chooser.choice([",", "", "?"])
        changed = [each.upper() for each in words]
        target = [*changed[:other], f"{plain}{marks}", *changed[other:]]
        # The model links the word rightly, wrongly or not at all.
        pairs = chooser.choice([[(place, other)], [(place, (other + 2) % 7)], []])
        written = write(suffix, " ".join(source), " ".join(target), pairs)
        expected = [*changed[:other], f"{word}{marks}", *changed[other:]]
        assert written == whole.format(" ".join(expected)), (form, pairs)


@each_case
def test_a_word_that_changes_has_no_empty_element_and_no_mark(source, target, pairs, expected):
    assert write(".html", source, target, [*map(tuple, pairs)]) == f"<p>{expected}</p>"
