"""A glossary finds its terms as whole words, the longest first, and its file names what is wrong."""

import re
from unicodedata import normalize

import pytest

from headway.errors import HeadwayError
from headway.ext.protect import (
    Glossary,
    LanguageError,
    ProtectedText,
    parse_glossary,
    read_glossary,
)
from headway.ext.protect.glossary import MOST_RENDERINGS, Term, fold_capitals
from headway.text import is_word_character
from support.bounds import bounded
from support.cases import each_case, read_rows


def found(glossary, text):
    return [text[match.start : match.end] for match in glossary.find(text)]


@each_case
def test_the_longest_term_is_taken_as_whole_words(tmp_path, rows, text, expected):
    (tmp_path / "a.tsv").write_text(rows, encoding="utf-8")
    assert found(read_glossary(tmp_path / "a.tsv"), text) == expected


def test_a_term_is_found_wherever_no_word_goes_on():
    """Also between letters of scripts without spaces, of which Unicode has more blocks than one thinks."""
    every = [c for c in map(chr, range(0x40000)) if c.isalnum() and not is_word_character(c)]
    letters = every[::15]  # a block has at least 16 places
    assert len(letters) > 3_000
    for at in range(0, len(letters), 500):
        some = "".join(letters[at : at + 500])
        glossary = Glossary.of(dict.fromkeys(some, "x"))
        # Case folding makes some letters equal, so that only the places are compared.
        assert len(found(glossary, some)) == len(some), hex(ord(some[0]))


def test_the_time_to_look_for_stars_is_bounded():
    text = " ".join(["a" * 500] * 500)
    with bounded(1):
        for source in ("a* a* a* a* a* zz", "a* b", "* * * * * * zz"):
            assert not found(Glossary([Term(source, ("x",))]), text)


@each_case
def test_an_expression_matches_whole_words_whatever_comes_first(expression, text, expected):
    assert found(Glossary([Term(expression, ("x",), is_regex=True)]), text) == expected
    with pytest.raises(HeadwayError, match="not a regular expression"):
        Term(f"{expression})(?:a", ("x",), is_regex=True)


@pytest.mark.parametrize("word", ["Ångström", "ngữ"])
def test_accents_may_be_written_as_characters_of_their_own(word):
    for form in ("NFC", "NFD"):
        glossary = Glossary.of({normalize(form, word): "x", "cafe": "y"})
        for other in ("NFC", "NFD"):
            text = normalize(other, f"The {word} is one.")
            assert found(glossary, text) == [normalize(other, word)]


@each_case
def test_a_star_stands_for_marks_too(term, text, expected):
    assert found(Glossary.of({term: "x"}), text) == expected
    kept = Glossary([Term(term, (), is_kept=True)]).find(text)
    assert [match.renderings for match in kept] == [(each,) for each in expected]


@pytest.mark.parametrize("word", ["Ökologie*", "ΟΔΟΣ", "İstanbul", "日本語"])
def test_terms_are_compared_only_where_the_text_begins_like_them(word, monkeypatch):
    glossary, compared, match = Glossary.of({word: "x", "nothing": "y"}), [], Term.match
    monkeypatch.setattr(Term, "match", lambda term, *a: compared.append(term) or match(term, *a))
    glossary.find("An other text over the outer streets of old Iran")
    assert not compared
    for form in ("NFC", "NFD"):
        text = normalize(form, f"So {word.strip('*')} it is")
        compared.clear()
        assert found(glossary, text) == [normalize(form, word.strip("*"))]
        assert len(compared) == 1


def test_of_terms_that_match_alike_the_first_is_taken():
    for terms in ({"wall": "A", "wal*": "B"}, {"wal*": "A", "wall": "B"}):
        assert [match.renderings for match in Glossary.of(terms).find("a wall")] == [("A",)]


def test_what_an_expression_matches_in_other_capitals_is_folded_alike():
    for number in range(0x20000):
        letter = chr(number)
        others = {*letter.lower(), *letter.upper(), *letter.title(), *letter.casefold()} - {letter}
        for other in others:
            assert len(fold_capitals(letter)) == 1
            if re.fullmatch(re.escape(letter), other, re.IGNORECASE):
                assert fold_capitals(letter) == fold_capitals(other)
    assert fold_capitals("ΣΑΣ") == fold_capitals("σας") == fold_capitals("σασ")


def test_spaces_of_a_term_stand_for_any_white_space():
    for source in ("young boy", "young  boy", "young\u00a0boy"):
        glossary = Glossary([Term(source, ("Bub",))])
        for text in ("A young boy runs.", "A young   boy", "A young\u202fboy"):
            assert len(found(glossary, text)) == 1


def test_a_rendering_at_the_beginning_of_a_sentence_may_have_a_capital():
    [match] = Glossary.of({"dog": ["hund", "rüde"]}).find("Dog!")
    assert match.renderings == ("hund", "rüde", "Hund", "Rüde")
    glossary = Glossary.of({"us": "USA"})
    assert [match.renderings for match in glossary.find("for us")] == [("USA",)]


def test_terms_stay_outside_some_ranges_and_contain_others_wholly_or_not_at_all():
    glossary = Glossary.of({"a b": "x", "b": "y"})
    assert [
        match.start
        for match in glossary.find(
            "b b a b b", [ProtectedText(2, 3, "tag"), ProtectedText(4, 5, "name")]
        )
    ] == [0, 6, 8]
    glossary = Glossary.of({"A4 paper": "x", "A4-b": "y", "A4": "z", "b": "v", "a A4": "w"})
    # A term that contains a part of the range hides no other one.
    assert found(glossary, "a A4 A4-b b") == ["a A4", "A4-b", "b"]
    matches = glossary.find(
        "A4-b-c b A4 paper A4",
        [ProtectedText(*span, "literal") for span in ((0, 6), (9, 11), (18, 20))],
    )
    assert [match.start for match in matches] == [7, 9, 18]


@pytest.mark.parametrize("mark", ["™", "®", "©", "®\ufe0f"])
@pytest.mark.parametrize("name", ["Acme", "Acme Foods", "X-Tool", "adidas", "AT&T"])
def test_the_mark_of_a_name_belongs_to_its_term(name, mark):
    """Whether the glossary has it or not; and what is translated keeps it."""
    for text in (
        f"by {name}{mark} here",
        f"{name}{mark}.",
        f"({name}{mark})",
        f"{name}{mark}-ready",
    ):
        for source in (name, name + mark):
            [kept] = Glossary([Term(source, (), is_kept=True)]).find(text)
            [other] = Glossary([Term(source, (f"Etwas{source.removeprefix(name)}",))]).find(text)
            assert text[kept.start : kept.end] == name + mark
            assert kept.renderings == (name + mark,)
            assert text[other.start : other.end] == name + mark
            assert other.renderings[0] == f"Etwas{mark}"
    assert not Glossary([Term(name + mark, (), is_kept=True)]).find(f"by {name} here")


TABLE = "# comment\nsource{0}target{0}flags\n\nhouse{0}Haus|Gebäude\nAcme{0}Acme{0}keep\nUS{0}USA{0}case\n"
TBX = """<?xml version='1.0'?><martif><text><body>
<termEntry><langSet xml:lang="en-GB"><tig><term>house</term></tig></langSet>
<langSet xml:lang="de"><tig><term>Haus</term></tig><tig><term>Gebäude</term></tig></langSet></termEntry>
</body></text></martif>"""


@pytest.mark.parametrize(("suffix", "delimiter"), [("tsv", "\t"), ("csv", ","), ("csv", ";")])
def test_tables_are_read(tmp_path, suffix, delimiter):
    file = tmp_path / f"terms.{suffix}"
    file.write_text("\ufeff" + TABLE.format(delimiter), encoding="utf-8")
    house, acme, us = read_glossary(file).terms
    assert house == Term("house", ("Haus", "Gebäude"))
    assert acme.is_kept
    assert us.is_case_sensitive


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        *read_rows(__file__, "test_headers_comments_and_quotes_are_told_from_terms"),
        ("a\tb\n" * 300 + '"dog\tHund\n', [["a", "b", False], ['"dog', "Hund", False]]),
    ],
)
def test_headers_comments_and_quotes_are_told_from_terms(tmp_path, rows, expected):
    (tmp_path / "terms.tsv").write_text(rows, encoding="utf-8")
    assert read_glossary(tmp_path / "terms.tsv", ("en", "de")).terms == [
        Term(source, (target,), is_case_sensitive=flag) for source, target, flag in expected
    ]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.tsv", "power\u2028supply\tNetzteil\npage\x0cbreak\tUmbruch\n".encode(), {"power\u2028supply", "page\x0cbreak"}),
        ("a.csv", b"sep=;\r\nsource;target\r\na, b;c, d, e, f\r\n", {"a, b"}),
        ("a.tsv", b"sep=;\nsource\ttarget\ndog\tHund\n", {"dog"}),
        ("a.csv", b'source,target\n"power\nsupply",Netzteil\n# a "comment\ndog,Hund\n', {"power supply", "dog"}),
        ("a.tsv", "source\ttarget\r\ndog\tHund\r\n".encode("utf-16"), {"dog"}),
    ],
)  # fmt: skip
def test_tables_are_read_as_those_of_a_corpus(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert {term.source for term in read_glossary(tmp_path / name, ("en", "de")).terms} == expected


def test_rows_of_one_term_are_merged(tmp_path):
    rows = (
        "hot  dog\tWurst|Würstchen\nDOG\tHund\nHot dog\tHotdog|Wurst\ndog\tRüde\tcase\ndog\tKöter\n"
    )
    assert parse_glossary("glossary", rows).terms == [
        Term("hot  dog", ("Wurst", "Würstchen", "Hotdog")),
        Term("DOG", ("Hund", "Köter")),
        Term("dog", ("Rüde",), is_case_sensitive=True),
    ]
    kept = parse_glossary("glossary", "dog\tdog\tkeep\nDog\tDog\tkeep\nDOG\t\tkeep\n")
    assert kept.terms == [Term("dog", ("dog",), is_kept=True)]


def test_renderings_are_stripped():
    assert Glossary.of({"dog": [" Hund ", " "]}).terms == [Term("dog", ("Hund",))]
    with pytest.raises(HeadwayError, match="'dog' has no target"):
        Glossary.of({"dog": [" "]})


def test_tbx_of_both_versions_is_read(tmp_path):
    new = (
        TBX.replace("termEntry", "conceptEntry")
        .replace("langSet", "langSec")
        .replace("tig", "termSec")
    )
    for text in (TBX, new):
        (tmp_path / "terms.tbx").write_text(text, encoding="utf-8")
        assert read_glossary(tmp_path / "terms.tbx", ("en", "de")).terms == [
            Term("house", ("Haus", "Gebäude"))
        ]


def read_tbx(tmp_path, languages, **terms):
    """Read a concept: for each code the terms and whatever else stands in its ``langSet``."""
    sets = "".join(
        f'<langSet xml:lang="{code.replace("_", "-")}">{text}</langSet>'
        for code, text in terms.items()
    )
    file = tmp_path / "concept.tbx"
    file.write_text(
        f"<martif xmlns='urn:iso:std:iso:30042:ed-2' xmlns:min='min'><termEntry>{sets}</termEntry></martif>",
        encoding="utf-8",
    )
    return read_glossary(file, languages).terms


def test_terms_of_tbx_that_are_not_in_use_are_not_written(tmp_path):
    term = "<tig><term>{}</term>{}</tig>"
    status = '<termNote type="administrativeStatus">{}-admn-sts</termNote>'
    german = [
        term.format("Hund", status.format("preferredTerm")),
        term.format("Köter", status.format("deprecatedTerm")),
        term.format("Tier", '<termNote type="usageNote">deprecated by nobody</termNote>'),
        term.format("Vieh", "<min:administrativeStatus>supersededTerm</min:administrativeStatus>"),
        term.format("Gas", status.format("<hi>super</hi>seded")),
    ]
    english = term.format("dog<hi>2</hi>", "") + term.format("cur", status.format("supersededTerm"))
    found = read_tbx(tmp_path, ("en", "de"), en=english, de="".join(german))
    assert found == [Term("dog2", ("Hund", "Tier")), Term("cur", ("Hund", "Tier"))]
    for useless in (german[1], term.format("", "")):
        with pytest.raises(HeadwayError, match="no terms in en and de"):
            read_tbx(tmp_path, ("en", "de"), en=english, de=useless)


def test_languages_of_tbx_are_told_apart_by_script_and_country(tmp_path):
    def renderings(target, *codes):
        terms = {code: f"<tig><term>{code}</term></tig>" for code in codes}
        try:
            [term] = read_tbx(tmp_path, ("en", target), eng="<term>dog</term>", **terms)
        except HeadwayError:
            return []
        return list(term.renderings)

    assert renderings("zh-Hant", "zh_Hans", "zh_Hant") == ["zh_Hant"]
    assert renderings("zh-Hant", "zh_Hans", "zh") == ["zh"]
    assert renderings("zh", "zh_Hans", "zh_Hant") == ["zh_Hans", "zh_Hant"]
    assert renderings("zh-Hant", "zh_Hans") == []
    assert renderings("de", "deu") == renderings("de-AT", "deu") == ["deu"]
    assert renderings("pt_BR", "pt_br", "pt") == ["pt_br"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *read_rows(__file__, "test_a_mistake_in_a_file_is_named"),
        ("a.tsv", "(" * 5000 + "a" + ")" * 5000 + "\tb\tregex\n", "1: .*not a regular expression"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(HeadwayError, match=f"{name}:{message}"):
        read_glossary(tmp_path / name, ("fr", "de"))


@each_case
def test_a_header_of_other_languages_is_refused(tmp_path, header, languages, terms):
    file = tmp_path / "terms.csv"
    file.write_text(f"{header}\nhouse,Haus\n", encoding="utf-8")
    assert len(read_glossary(file, languages)) == terms
    file.write_text("en,fr\nhouse,Haus\n", encoding="utf-8")
    with pytest.raises(LanguageError, match="csv:1: the first row names en"):
        read_glossary(file, ("en", "de"))


def test_a_term_has_a_bounded_number_of_renderings():
    many = tuple(f"w{number}" for number in range(MOST_RENDERINGS + 1))
    assert len(Term("dog", many[1:]).renderings) == MOST_RENDERINGS
    message = "'dog' has 101 renderings: a term may have 100 at most"
    with pytest.raises(HeadwayError, match=f"^{message}$"):
        Term("dog", many)
    rows = "".join(f"dog\t{word}\n" for word in many)
    with pytest.raises(HeadwayError, match=f"^glossary:101: {message}$"):
        parse_glossary("glossary", rows)


def test_terms_that_no_text_has_are_named_and_of_many_the_first(capsys):
    glossary = Glossary.of({f"term{number}": "x" for number in range(30)} | {"name": "y"})
    texts = [["a TERM3 and {name}"], ["term5, `term6`", ""]]
    assert [*glossary.watch("terms.tsv", texts)] == texts
    said = capsys.readouterr().err
    first = ", ".join(f"term{number}" for number in range(22) if number not in (3, 5))
    assert said == f"terms.tsv: 29 of 31 terms do not occur in the text: {first} and 9 more\n"
    for terms, some in (({"a": "b"}, [["a"], ["c"]]), ({"a": "b"}, [["", " "]])):
        assert [*Glossary.of(terms).watch("terms.tsv", some)] == some
        assert not capsys.readouterr().err


def test_terms_are_found_with_typographic_apostrophes_and_hyphens_and_without():
    forms = [
        ("don't", "don\u2019t"),
        ("e-mail", "e\u2010mail", "e\u2011mail"),
        ("l'eau-de-vie", "l\u2019eau\u2011de\u2011vie"),
    ]
    for group in forms:
        for source in group:
            glossary = Glossary.of({source: "X"})
            for written in group:
                [found] = glossary.find(f"I see {written} here")
                assert (found.start, found.end) == (6, 6 + len(written))
