"""No look of a source is lost in its translation, and no visible word stands in hidden text."""

import random
import re

import pytest

from headway.ext.documents import Translated, open_document
from headway.text import WordLinks, find_words
from support.office_packages import make_word, read_part, write_office_package

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
LOOKS = {  # of runs, by the kind of file
    ".docx": ["<w:b/>", "<w:i/>", '<w:color w:val="FF0000"/>', '<w:b/><w:sz w:val="48"/>'],
    ".pptx": [
        '<a:hlinkClick id="r1"/>', '<a:hlinkMouseOver id="r2"/>', '<a:latin typeface="A"/>', '<a:ln w="1"/><a:hlinkClick id="r3"/>',
    ],
}  # fmt: skip
PARTS = {".docx": "word/document.xml", ".pptx": "ppt/slides/slide1.xml"}


def make(suffix, runs):
    """Return a file with a paragraph of runs: the text, and the properties of each."""
    if suffix == ".docx":
        source = "".join(
            f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
            for text, look in runs
        )
        return make_word(f"<w:p>{source}</w:p>")
    source = "".join(f"<a:r><a:rPr>{look}</a:rPr><a:t>{text}</a:t></a:r>" for text, look in runs)
    kind = "vnd.openxmlformats-officedocument.presentationml"
    slide = f'<p:sld xmlns:p="p" xmlns:a="{DRAWING}"><a:p>{source}</a:p></p:sld>'
    main = ("ppt/presentation.xml", f"{kind}.presentation.main", '<p:presentation xmlns:p="p"/>')
    return write_office_package(main[0], [main, (PARTS[suffix], f"{kind}.slide", slide)])


def read_runs(data, suffix):
    """Return the text and the properties of each run."""
    source = re.sub(r' xmlns:\w+="[^"]*"', "", read_part(data, PARTS[suffix]))
    runs = re.findall(r"<(?:w|a):r>(.*?)</(?:w|a):r>", source)
    return [
        ("".join(re.findall(r":t(?: [^>]*)?>([^<]*)<", run)), "".join(re.findall(r":rPr>(.*)</\w:rPr", run)))
        for run in runs
    ]  # fmt: skip


def translate(suffix, runs, target, pairs=()):
    """Return the runs of the translation of runs."""
    document = open_document(make(suffix, runs), f"x{suffix}")
    [paragraph] = document.paragraphs
    links = WordLinks(find_words(paragraph.text), find_words(target), [*pairs])
    return read_runs(document.write([Translated(target, links)]), suffix)


@pytest.mark.parametrize("suffix", PARTS)
@pytest.mark.parametrize("seed", range(100))
def test_a_look_has_a_word_of_every_translation(suffix, seed):
    """A link or bold words, with plain text before, behind, around or between, in a translation of few words that are linked anyhow."""
    chooser = random.Random(seed)
    look = chooser.choice(LOOKS[suffix])
    words = [" ".join(chooser.choices("abcdefgh", k=chooser.randint(1, 5))) for _ in range(3)]
    runs = [(f"{words[0]} ", ""), (words[1], look), (f" {words[2]}", "")]
    between = [(f"{words[0]} ", look), (words[1], ""), (f" {words[2]}", look)]
    runs = chooser.choice([runs, runs[:2], runs[1:], between, [*between, (" x", "")]])
    count = len(" ".join(text for text, _ in runs).split())
    target = " ".join(f"W{number}" for number in range(chooser.randint(1, 4)))
    pairs = [
        (s, t) for s in range(count) for t in range(len(target.split())) if chooser.random() < 0.3
    ]
    written = translate(suffix, runs, target, pairs)
    assert "".join(text for text, _ in written) == target
    assert any("W" in text for text, own in written if own == look), written


@pytest.mark.parametrize("seed", range(40))
def test_no_address_on_a_slide_is_lost_however_many_there_are(seed):
    chooser = random.Random(seed)
    links = [f'<a:hlinkClick id="r{number}"/>' for number in range(chooser.randint(2, 4))]
    runs = [(f"{chooser.choice('abc')} ", look) for link in links for look in (link, "")]
    target = " ".join(f"W{number}" for number in range(chooser.randint(1, 5)))
    pairs = [(s, t) for s in range(len(runs)) for t in range(len(target.split()))]
    chosen = [pair for pair in pairs if chooser.random() < 0.3]
    written = translate(".pptx", runs, target, chosen)
    assert "".join(text for text, _ in written).strip() == target
    assert {look for _, look in written} >= {*links}, written


@pytest.mark.parametrize("seed", range(20))
def test_hidden_text_of_word_stays_and_has_no_visible_word(seed):
    chooser = random.Random(seed)
    runs = [
        (f"{word} ", chooser.choice(["", "<w:b/>", "<w:vanish/>", '<w:b/><w:vanish w:val="1"/>']))
        for word in chooser.choices("abcdefgh", k=chooser.randint(2, 7))
    ]
    runs += [("seen", '<w:vanish w:val="0"/>')]
    shown, hidden = ([run for run in runs if ("vanish" in run[1] and '"0"' not in run[1]) == is_hidden] for is_hidden in (False, True))  # fmt: skip
    target = " ".join(f"W{number}" for number in range(chooser.randint(1, 6)))
    pairs = [(s, t) for s in range(len(shown)) for t in range(6) if chooser.random() < 0.3]
    pairs = [pair for pair in pairs if pair[1] < len(target.split())]
    written = translate(".docx", runs, target, pairs)
    assert sorted(run for run in written if run in hidden) == sorted(hidden)
    visible = "".join(text for text, own in written if (text, own) not in hidden)
    assert visible.split() == target.split()
