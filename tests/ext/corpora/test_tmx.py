"""Translation memories: the pairs of their units, in constant memory, whatever their encoding, and no hostile file."""

import gzip

import pytest

from headway.errors import HeadwayError
from headway.ext.corpora.tmx import read_units
from headway.text import Damaged, Pair, read_pairs
from support.cases import each_case
from support.numbered_text import DOCTYPE, HEAD, number_pairs, units, write_tmx
from support.reading import peak

LANGUAGES = ("en", "de")
PAIRS = number_pairs(17)
ENGLISH = '<tuv xml:lang="en"><seg>a</seg></tuv>'
GERMAN = '<tuv xml:lang="de"><seg>A</seg></tuv>'


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_memory_gives_the_pairs_of_its_units(is_packed, tmp_path):
    text = (HEAD + DOCTYPE + "<tmx><body>" + "".join(units(PAIRS)) + "</body></tmx>").encode()
    path = tmp_path / f"a.tmx{'.gz' * is_packed}"
    path.write_bytes(gzip.compress(text) if is_packed else text)
    # Two other lines come first.
    expected = [Pair(source, target, line) for line, (source, target) in enumerate(PAIRS, 3)]
    for strict in (True, False):
        assert list(read_pairs([path], LANGUAGES, strict)) == expected
    with pytest.raises(HeadwayError, match=r"a\.tmx.*plain text"):
        read_pairs([path, path])


def test_memory_does_not_grow_with_the_file(tmp_path):
    found = []
    for size in (211, 4_201):
        (tmp_path / f"{size}").mkdir()
        path = write_tmx(tmp_path / f"{size}", units(PAIRS * (size // len(PAIRS))))
        found.append(peak(path, lambda path: sum(1 for _ in read_pairs([path]))))
    (few, little), (many, much) = found
    assert many > 15 * few
    assert much < little + 600_000  # the pairs themselves take more than a million bytes


def tmx_of(folder, *texts):
    """Write a TMX file with one unit in each line from line 4 on."""
    return write_tmx(
        folder,
        [
            "<tu>"
            + "".join(
                f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in unit.items()
            )
            + "</tu>\n"
            for unit in texts
        ],
    )


def test_tmx_languages_match_by_prefix_in_any_case(tmp_path):
    path = tmx_of(tmp_path, {"DE-at": "Jänner", "eng": "wrong", "EN-GB": "January", "en": "Jan"})
    assert list(read_pairs([path], ("EN", "de"))) == [Pair("Jan", "Jänner", 4)]
    assert list(read_pairs([path], ("en_gb", "de-AT"))) == [Pair("January", "Jänner", 4)]
    assert list(read_pairs([path], ("en-gb", "DE"))) == [Pair("January", "Jänner", 4)]
    with pytest.raises(HeadwayError, match=r"corpus\.tmx:4: no text in 'nl'; .*de-at, eng, en-gb"):
        list(read_pairs([path], ("en", "nl")))
    assert [type(pair) for pair in read_pairs([path], ("en", "nl"), strict=False)] == [Damaged]
    path = tmx_of(tmp_path, {"eng": "wrong", "en-GB": "January", "en-IE": "second", "de": "Januar"})
    assert list(read_pairs([path], LANGUAGES)) == [Pair("January", "Januar", 4)]


def test_without_languages_tmx_is_read_in_the_order_of_its_first_unit(tmp_path):
    path = tmx_of(tmp_path, {"nl": "een", "af": "een "}, {"af": "twee a", "nl": "twee n"})
    assert [pair[:2] for pair in read_pairs([path])] == [("een", "een "), ("twee n", "twee a")]
    path = tmx_of(tmp_path, {"nl": "een", "af": "een", "de": "eins"})
    with pytest.raises(HeadwayError, match=r"corpus\.tmx:4: .*nl, af, de"):
        list(read_pairs([path]))


@each_case
def test_tmx_whose_elements_stand_in_the_wrong_place_is_refused(unit, said, tmp_path):
    path = tmp_path / "corpus.tmx"
    path.write_text(f"<tmx><body>{unit}</body></tmx>", encoding="utf-8")
    with pytest.raises(HeadwayError, match=rf"corpus\.tmx:2: {said}"):
        list(read_pairs([path], ("en", "de")))


def test_tmx_in_another_encoding_than_it_declares_is_told_how_to_declare_it(tmp_path):
    path = tmp_path / "corpus.tmx"
    unit = '<tu><tuv lang="en"><seg>\nMüller</seg></tuv></tu>'
    path.write_bytes(f"<tmx><body>{unit}</body></tmx>".encode("cp1252"))
    with pytest.raises(HeadwayError, match=r'corpus\.tmx:2: byte 0xfc .*encoding="windows-1252"'):
        list(read_pairs([path], ("en", "de")))


def test_tmx_keeps_text_inside_tags_and_omits_formatting_codes(tmp_path):
    source = 'a<bpt i="1">{\\b <sub>x</sub></bpt> <hi>b<hi>c</hi></hi>d<ept i="1">}</ept><ph/> &lt;'
    path = tmx_of(tmp_path, {"en": source, "de": "<![CDATA[1 < 2]]>\n   \r\n und\tso "})
    assert list(read_pairs([path], LANGUAGES)) == [Pair("a bcd <", "1 < 2 und\tso", 4)]


@pytest.mark.parametrize(
    "bomb",
    [
        f"<tu><!--{'x' * 3_000_000}--></tu>",
        f"<tu a='{'x' * 3_000_000}'/>",
        f"<tu><tuv xml:lang='en'><seg>{'x ' * 1_500_000}</seg></tuv></tu>",
        "<prop>" * 1_000_000,
    ],
)
def test_tmx_of_unreasonable_size_is_rejected(tmp_path, bomb):
    with pytest.raises(HeadwayError, match=r"corpus\.tmx:\d+: (a|more) .*(longer|nested)"):
        list(read_units(write_tmx(tmp_path, [bomb])))


def test_a_document_type_is_not_fetched_and_escapes_are_resolved(tmp_path):
    head = HEAD + f'<!DOCTYPE tmx SYSTEM "{(tmp_path / "no.dtd").as_uri()}">\n'
    path = write_tmx(tmp_path, units([("a &#65; < b", "ä")]), head)
    assert [pair[:2] for pair in read_pairs([path], LANGUAGES)] == [("a &#65; < b", "ä")]
