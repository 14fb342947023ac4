"""A glossary finds its terms as whole words, the longest first, and its file names what is wrong."""

import random
import re
import time
from pathlib import Path
from unicodedata import normalize

import pytest

from headway.errors import HeadwayError
from headway.ext.protect.glossary import MOST_RENDERINGS, Glossary, Term, fold_capitals
from headway.ext.protect.glossary_file import LanguageError, parse_glossary, read_glossary
from headway.ext.protect.protected_text import find_protected_text, has_words, is_symbol
from headway.text.words import is_word_character
from support.bounds import bounded, grows_less


def found(glossary: Glossary, text: str) -> list[str]:
    return [text[match.start : match.end] for match in glossary.find(text)]


def test_the_longest_term_is_taken_as_whole_words() -> None:
    glossary = Glossary.of({"house": "Haus", "house door": "Haustür", "door": "Tür", "猫": "Katze"})
    assert found(glossary, "The house  door, a house, an outhouse, houses, door.") == [
        "house  door", "house", "door",
    ]  # fmt: skip
    assert found(glossary, "黒猫が好き") == ["猫"]


@pytest.mark.slow
def test_a_term_is_found_wherever_no_word_goes_on() -> None:
    """Also between letters of scripts without spaces, of which Unicode has more blocks than one thinks."""
    every = [c for c in map(chr, range(0x40000)) if c.isalnum() and not is_word_character(c)]
    assert len(every) > 50_000
    letters = every[::5]  # a block has at least 16 places
    for at in range(0, len(letters), 500):
        some = "".join(letters[at : at + 500])
        glossary = Glossary.of(dict.fromkeys(some, "x"))
        # Case folding makes some letters equal, so that only the places are compared.
        assert len(found(glossary, some)) == len(some), hex(ord(some[0]))


def test_case_patterns_and_expressions() -> None:
    terms = [
        Term("US", ("USA",), is_case_sensitive=True),
        Term("hous*", ("Haus",)),
        Term(r"\d+ items?", ("Artikel",), is_regex=True),
        Term("Acme", (), is_kept=True),
    ]
    glossary = Glossary(terms)
    assert found(glossary, "US tells us of HOUSES and 12 items of ACME.") == [
        "US", "HOUSES", "12 items", "ACME",
    ]  # fmt: skip
    [kept] = [match for match in glossary.find("by ACME") if match.is_kept]
    assert kept.renderings == ("ACME",)


@pytest.mark.slow
def test_stars_take_no_longer_than_the_text_and_find_what_a_plain_expression_finds() -> None:
    text = " ".join(["a" * 500] * 50)
    with bounded(1):
        for source in ("*a* *a* *a* *a* *a* zz", "*a* b", "*a*b", "a*a*c b", "* * * * * * zz"):
            assert not found(Glossary([Term(source, ("x",))]), text)
    chooser = random.Random(1)
    matches = 0
    for _ in range(3000):
        words = ["".join(chooser.choices("ab*-", k=chooser.randint(1, 4))) for _ in range(2)]
        text = " ".join("".join(chooser.choices("aab-", k=3)) for _ in range(3))
        if any(word.count("*") > 2 for word in words) or not "".join(words).strip("*"):
            continue
        plain = r"\s+".join(r"\w*".join(map(re.escape, word.split("*"))) for word in words)
        ours = Term(" ".join(words), ("x",)).pattern.pattern
        one, other = (re.match(rf"(?:{each})(?!\w)", text) for each in (plain, ours))
        assert (one and one.end()) == (other and other.end()), (words, text)
        matches += one is not None
    assert matches > 20


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        ("dog|dogs", "Two dogs, a dog, dogsled", ["dogs", "dog"]),
        ("dogs|dog", "Two dogs, a dog, dogsled", ["dogs", "dog"]),
        ("(?i)DOG|DOGS", "two dogs", ["dogs"]),
        (r"(a)\w?b\1*", "aba abc ab", ["aba", "ab"]),
        ("किताब|किताबें", "ये किताबें हैं", ["किताबें"]),
        ("犬|犬猫", "犬猫", ["犬"]),  # no spaces separate words
    ],
)
def test_an_expression_matches_whole_words_whatever_comes_first(
    expression: str, text: str, expected: list[str]
) -> None:
    assert found(Glossary([Term(expression, ("x",), is_regex=True)]), text) == expected
    with pytest.raises(HeadwayError, match="not a regular expression"):
        Term(f"{expression})(?:a", ("x",), is_regex=True)


@pytest.mark.parametrize("word", ["café", "été", "Ångström", "ngữ"])
def test_accents_may_be_written_as_characters_of_their_own(word: str) -> None:
    for form in ("NFC", "NFD"):
        glossary = Glossary.of({normalize(form, word): "x", "cafe": "y"})
        for other in ("NFC", "NFD"):
            text = normalize(other, f"The {word} is one.")
            assert found(glossary, text) == [normalize(other, word)]


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("किताब*", "ये किताबें हैं, किताब", ["किताबें", "किताब"]),
        ("*ताब", "किताब ताब", ["किताब", "ताब"]),
        ("कि*ब", "किताब कि ब", ["किताब"]),
        ("বই*", "বইয়ের বইটি", ["বইয়ের", "বইটি"]),
        ("كِت*", "كِتَابٌ", ["كِتَابٌ"]),
        ("שָׁל*", "שָׁלוֹם", ["שָׁלוֹם"]),
        (
            "caf*",
            normalize("NFD", "Le café, les cafés"),
            [normalize("NFD", w) for w in ("café", "cafés")],
        ),
    ],
)
def test_a_star_stands_for_marks_too(term: str, text: str, expected: list[str]) -> None:
    assert found(Glossary.of({term: "x"}), text) == expected
    kept = Glossary([Term(term, (), is_kept=True)]).find(text)
    assert [match.renderings for match in kept] == [(each,) for each in expected]


@pytest.mark.parametrize(
    "word", ["Übergangsregelung", "Ökologie*", "straße", "ΟΔΟΣ", "İstanbul", "日本語"]
)
def test_terms_are_compared_only_where_the_text_begins_like_them(word: str) -> None:
    glossary = Glossary.of({word: "x", "nothing": "y"})
    assert glossary.count_tries("An other text over the outer streets of old Iran") == 0
    for form in ("NFC", "NFD"):
        text = normalize(form, f"So {word.strip('*')} it is")
        assert glossary.count_tries(text) == 1
        assert found(glossary, text) == [normalize(form, word.strip("*"))]


def test_of_terms_that_match_alike_the_first_is_taken() -> None:
    for terms in ({"wall": "A", "wal*": "B"}, {"wal*": "A", "wall": "B"}):
        assert [match.renderings for match in Glossary.of(terms).find("a wall")] == [("A",)]


def test_what_an_expression_matches_in_other_capitals_is_folded_alike() -> None:
    for number in range(0x2FFFF):
        letter = chr(number)
        assert len(fold_capitals(letter)) == 1
        others = {*letter.lower(), *letter.upper(), *letter.title(), *letter.casefold()} - {letter}
        for other in others:
            if re.fullmatch(re.escape(letter), other, re.IGNORECASE):
                assert fold_capitals(letter) == fold_capitals(other)
    assert fold_capitals("ΣΑΣ") == fold_capitals("σας") == fold_capitals("σασ")


@pytest.mark.slow
def test_many_terms_with_stars_are_read_fast() -> None:
    started = time.process_time()
    assert len(Glossary.of({f"{n}*": "x" for n in range(5000)})) == 5000
    assert time.process_time() - started < 1.5


def test_spaces_of_a_term_stand_for_any_white_space() -> None:
    for source in ("young boy", "young  boy", "young\u00a0boy"):
        glossary = Glossary([Term(source, ("Bub",))])
        for text in ("A young boy runs.", "A young   boy", "A young\u202fboy"):
            assert len(found(glossary, text)) == 1


def test_a_term_at_the_beginning_of_a_sentence_may_have_a_capital() -> None:
    [match] = Glossary.of({"dog": ["hund", "rüde"]}).find("Dog!")
    assert match.renderings == ("hund", "rüde", "Hund", "Rüde")


def test_a_capital_is_for_the_beginning_of_a_sentence_if_the_small_letter_is_offered_too() -> None:
    glossary = Glossary.of({"A man": ["Ein Herr", "Mann", "ein Herr"], "us": "USA"})
    text = f"A man sees a man. (A man) and {'-' * 9} a man"
    assert [match.renderings for match in glossary.find(text)] == [
        ("Mann", "ein Herr", "Ein Herr"), ("Mann", "ein Herr"),
        ("Mann", "ein Herr", "Ein Herr"), ("Mann", "ein Herr"),
    ]  # fmt: skip
    assert [match.renderings for match in glossary.find("for us")] == [("USA",)]


def test_terms_do_not_reach_into_taken_ranges() -> None:
    glossary = Glossary.of({"a b": "x", "b": "y"})
    assert [match.start for match in glossary.find("a b b", [(2, 3)])] == [4]
    assert [match.start for match in glossary.find("b b b b b", [(2, 3), (3, 5)])] == [0, 6, 8]


def test_terms_contain_some_ranges_wholly_or_not_at_all() -> None:
    glossary = Glossary.of({"A4 paper": "x", "A4-b": "y", "A4": "z", "b": "v", "a A4": "w"})
    # A term that contains a part of the range hides no other one.
    assert found(glossary, "a A4 A4-b b") == ["a A4", "A4-b", "b"]
    matches = glossary.find("A4-b-c b A4 paper A4", (), [(0, 6), (9, 11), (18, 20)])
    assert [match.start for match in matches] == [7, 9, 18]


TABLE = "# comment\nsource{0}target{0}flags\n\nhouse{0}Haus|Gebäude\nAcme{0}Acme{0}keep\nUS{0}USA{0}case\n"
TBX = """<?xml version='1.0'?><martif><text><body>
<termEntry><langSet xml:lang="en-GB"><tig><term>house</term></tig></langSet>
<langSet xml:lang="de"><tig><term>Haus</term></tig><tig><term>Gebäude</term></tig></langSet></termEntry>
</body></text></martif>"""


@pytest.mark.parametrize(("suffix", "delimiter"), [("tsv", "\t"), ("csv", ","), ("csv", ";")])
def test_tables_are_read(tmp_path: Path, suffix: str, delimiter: str) -> None:
    file = tmp_path / f"terms.{suffix}"
    file.write_text("\ufeff" + TABLE.format(delimiter), encoding="utf-8")
    house, acme, us = read_glossary(file).terms
    assert house == Term("house", ("Haus", "Gebäude"))
    assert acme.is_kept
    assert us.is_case_sensitive


def test_a_byte_order_mark_before_rows_is_no_part_of_a_term() -> None:
    assert [term.source for term in parse_glossary("glossary", "\ufeffcat\tKatze").terms] == ["cat"]


def test_semicolons_separate_cells_that_have_commas(tmp_path: Path) -> None:
    file = tmp_path / "terms.csv"
    file.write_text("salt, pepper;Salz und Pfeffer\nsugar;Zucker\n", encoding="utf-8")
    assert [term.source for term in read_glossary(file).terms] == ["salt, pepper", "sugar"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("en\tde\tflags\ndog\tHund\tcase\n", [Term("dog", ("Hund",), is_case_sensitive=True)]),
        ("English\tGerman\ndog\tHund\n", [Term("dog", ("Hund",))]),
        ("Deutsch\tEnglisch\ndog\tHund\n", [Term("Deutsch", ("Englisch",)), Term("dog", ("Hund",))]),
        ("target\tsource\nHund\tdog\n", [Term("dog", ("Hund",))]),
        ("de-DE\ten_GB\nHund\tdog\tcase\n", [Term("dog", ("Hund",), is_case_sensitive=True)]),
        ("# a comment\n#1\tNr. 1\n# en\tde\n#\tx\n#---\n", [Term("#1", ("Nr. 1",))]),
        ('"dog"\t"Hund"\n"""A"" b"\t"C"\n', [Term("dog", ("Hund",)), Term('"A" b', ("C",))]),
        ('letter\tSchreiben\n"dog"\tHund\n', [Term("letter", ("Schreiben",)), Term("dog", ("Hund",))]),
        ("a\tb\n" * 300 + '"dog"\tHund\n', [Term("a", ("b",)), Term("dog", ("Hund",))]),
        ("a\tb\n" * 300 + '"dog\tHund\n', [Term("a", ("b",)), Term('"dog', ("Hund",))]),
        ('5" pipe\tRohr\n“dog”\t„Hund“\n', [Term('5" pipe', ("Rohr",)), Term("“dog”", ("„Hund“",))]),
        ('a "dog"\tHund\n"b"\tc\n', [Term('a "dog"', ("Hund",)), Term('"b"', ("c",))]),
    ],
)  # fmt: skip
def test_headers_comments_and_quotes_are_told_from_terms(
    tmp_path: Path, rows: str, expected: list[Term]
) -> None:
    (tmp_path / "terms.tsv").write_text(rows, encoding="utf-8")
    assert read_glossary(tmp_path / "terms.tsv", ("en", "de")).terms == expected


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
def test_tables_are_read_as_those_of_a_corpus(
    tmp_path: Path, name: str, content: bytes, expected: set[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert {term.source for term in read_glossary(tmp_path / name, ("en", "de")).terms} == expected


def test_a_row_with_line_breaks_counts_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('# terms\n\n"a\nb",c\nd,e,f\n', encoding="utf-8")
    with pytest.raises(HeadwayError, match=r"a\.csv:5: 'f' is not a flag"):
        read_glossary(tmp_path / "a.csv")


def test_a_table_larger_than_any_glossary_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.ext.protect.glossary_file.MAX_BYTES", 1 << 20)
    (tmp_path / "a.tsv").write_text("# a comment\n" * 100_000, encoding="utf-8")
    with pytest.raises(HeadwayError, match=r"a\.tsv: larger than any glossary \(1 MB\)"):
        read_glossary(tmp_path / "a.tsv")


def test_rows_of_one_term_are_merged(tmp_path: Path) -> None:
    file = tmp_path / "terms.tsv"
    rows = [
        "hot  dog\tWurst|Würstchen",
        "DOG\tHund",
        "Hot dog\tHotdog|Wurst",
        "dog\tRüde\tcase",
        "dog\tKöter",
    ]
    file.write_text("\n".join(rows), encoding="utf-8")
    assert read_glossary(file).terms == [
        Term("hot  dog", ("Wurst", "Würstchen", "Hotdog")),
        Term("DOG", ("Hund", "Köter")),
        Term("dog", ("Rüde",), is_case_sensitive=True),
    ]


def test_renderings_are_stripped_and_kept_terms_of_one_spelling_are_one(tmp_path: Path) -> None:
    assert Glossary.of({"dog": [" Hund ", " "]}).terms == [Term("dog", ("Hund",))]
    for blank in (" ", [" "], []):
        with pytest.raises(HeadwayError, match="'dog' has no target"):
            Glossary.of({"dog": blank})
    file = tmp_path / "terms.csv"
    file.write_text("dog,dog,keep\nDog,Dog,keep\nDOG,,keep\n", encoding="utf-8")
    assert read_glossary(file).terms == [Term("dog", ("dog",), is_kept=True)]


def test_tbx_of_both_versions_is_read(tmp_path: Path) -> None:
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


def read_tbx(tmp_path: Path, languages: tuple[str, str], **terms: str) -> list[Term]:
    """Read a concept: for each code the terms and whatever else stands in its ``langSet``."""
    sets = "".join(
        f'<langSet xml:lang="{code.replace("_", "-")}">{text}</langSet>'
        for code, text in terms.items()
    )
    file = tmp_path / "concept.tbx"
    file.write_text(f"<martif><termEntry>{sets}</termEntry></martif>", encoding="utf-8")
    return read_glossary(file, languages).terms


def test_terms_of_tbx_that_are_not_in_use_are_not_written(tmp_path: Path) -> None:
    term = "<tig><term>{}</term>{}</tig>"
    status = '<termNote type="administrativeStatus">{}-admn-sts</termNote>'
    german = [
        term.format("Hund", status.format("preferredTerm")),
        term.format("Köter", status.format("deprecatedTerm")),
        term.format("Tier", '<termNote type="usageNote">deprecated by nobody</termNote>'),
        term.format("Vieh", "<min:administrativeStatus>supersededTerm</min:administrativeStatus>"),
        term.format("", ""),
    ]
    english = term.format("dog", "") + term.format("cur", status.format("supersededTerm"))
    found = read_tbx(tmp_path, ("en", "de"), en=english, de="".join(german))
    assert found == [Term("dog", ("Hund", "Tier")), Term("cur", ("Hund", "Tier"))]
    for useless in (german[1], german[4]):
        with pytest.raises(HeadwayError, match="no terms in en and de"):
            read_tbx(tmp_path, ("en", "de"), en=english, de=useless)


def test_elements_in_a_term_of_tbx_are_parts_of_it(tmp_path: Path) -> None:
    term = "<tig><term>{}</term><termNote type='administrativeStatus'>{}</termNote></tig>"
    english = term.format("CO<hi>2</hi> level", "preferred")
    german = term.format("CO<hi>2</hi>-Gehalt", "") + term.format("Gas", "<hi>super</hi>seded")
    assert read_tbx(tmp_path, ("en", "de"), en=english, de=german) == [
        Term("CO2 level", ("CO2-Gehalt",))
    ]


def test_languages_of_tbx_are_told_apart_by_script_and_country(tmp_path: Path) -> None:
    def renderings(target: str, *codes: str) -> list[str]:
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
        ("a.tsv", b"house\tHaus\ndog\n", "a.tsv:2: 'dog' has no target"),
        ("a.tsv", b"a\tb\n\tHaus\n", "a.tsv:2: no source term"),
        ("a.tsv", b"a\tb\tc\td\n", "a.tsv:1: 4 columns"),
        ("a.tsv", b"a\tb\nc\td\tcase,keep\n", "a.tsv:2: 'c' has a target and the flag keep"),
        ("a.tsv", b"a\tb\tkep\n", "a.tsv:1: 'kep' is not a flag \\(did you mean 'keep'"),
        (
            "a.csv",
            b"term,translation,note\n",
            "a.csv:1: 'note' is not a flag; the third column is for flags",
        ),
        (
            "a.csv",
            "house,Haus\nbig, red piano,großer Flügel\n".encode(),
            "a.csv:2: 'großer' is not .*; in a .csv file, a cell with a comma needs quotes",
        ),
        ("a.csv", b"a, b, c,d\n", "a.csv:1: 4 columns; .* a cell with a comma needs quotes"),
        ("a.tsv", b"a\tb\n\nA\t\tkeep\n", "a.tsv:3: 'A' has the flag keep in one row and a target"),
        ("a.tsv", b"a(\tb\tregex\n", "a.tsv:1: 'a\\(' is not a regular expression"),
        ("a.tsv", b"a{99999999999}\tb\tregex\n", "a.tsv:1: .*is not a regular expression"),
        (
            "a.tsv",
            b"(" * 5000 + b"a" + b")" * 5000 + b"\tb\tregex\n",
            "a.tsv:1: .*is not a regular expr",
        ),
        ("a.tsv", b"a*\tb\tregex\n", "a.tsv:1: 'a\\*' matches a text without characters"),
        ("a.tsv", b"a\tb\nc\xff\td\n", "a.tsv:2: not UTF-8"),
        ("a.csv", b'a,b\n"c,d\n', "a.csv:2: not a row of a table"),
        ("a.tbx", b"<martif>\n<a></b></martif>", "a.tbx:2: not well-formed XML"),
        ("a.tbx", b'<!DOCTYPE a [\n<!ENTITY b "c">]><a/>', "a.tbx:2: declares the entity 'b'"),
        ("a.tbx", TBX.encode(), "a.tbx: no terms in fr and de"),
        ("a.doc", b"", "a.doc: a glossary must be a .tsv, .csv or .tbx file"),
        ("none.tsv", None, "none.tsv: No such file"),
    ],
)
def test_a_mistake_in_a_file_is_named(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(HeadwayError, match=message):
        read_glossary(tmp_path / name, ("fr", "de"))


@pytest.mark.parametrize(
    ("header", "languages", "terms"),
    [
        ("en,fr", ("en", "de"), None),
        ("French,Italian", ("en", "de"), None),
        ("EN,de", ("en", "de"), 1),
        ("German,English", ("en", "de"), 1),
        ("en,de", ("eng", "deu"), 1),  # an imported model's codes
        ("it,es", ("en", "de"), 2),  # which may be a term
        ("en,fr", ("", ""), 2),  # nothing is known of the translation
    ],
)
def test_a_header_of_other_languages_is_refused(
    tmp_path: Path, header: str, languages: tuple[str, str], terms: int | None
) -> None:
    file = tmp_path / "terms.csv"
    file.write_text(f"{header}\nhouse,Haus\n", encoding="utf-8")
    if terms is not None:
        assert len(read_glossary(file, languages)) == terms
        return
    with pytest.raises(LanguageError, match=f"csv:1: the first row names {header[:2]}"):
        read_glossary(file, languages)


def test_what_must_stay_is_found() -> None:
    numbers = [
        "5 km/h",
        "3.5kg",
        "50%",
        "1,000 MB",
        "-20 °C",
        "8.50 EUR",
        "USD 1,250.00",
        "90°",
        "24h",
    ]
    kept = [
        "{}", "{{{x}}}", "$(x)", "%%", "%.1f%%", "%1", "%L2", "<%= user.name %>", "[[Page]]", "__NAME__",
        "{name}", "{{a.b}}", "${x}", "$VAR", "${HOME}/bin/$USER", "$HOME/.config/a.b", "%1$s", "%d", "%.2f", "%(count)s", "%name%", "%@",
        "https://example.org/a?b=c&d", "www.example.org", "joe.doe@example.com", "`rm -rf /`",
        "/etc/hosts", "~/notes.txt", "./run.sh", r"C:\temp\a.txt", '<x id="1"/>', "<b>", "</b>", "{0}", "{count, number}",
        "{n, plural, one {# file of {name}} other {# files}}",
    ]  # fmt: skip
    for text in kept + numbers:
        for sentence in (f"Look at {text} now.", f"{text}", f"(x {text})", f"See {text}."):
            spans = [sentence[k.start : k.end] for k in find_protected_text(sentence)]
            is_alone = sentence in numbers
            assert spans == ([] if is_alone else [text]), sentence


def test_words_beside_numbers_are_no_units() -> None:
    for text in (
        "cars of the 1990s",
        "the 80s",
        "TRY 5 TIMES",
        "MAD 3",
        "25 EURO",
        "5 hours",
        "for CHF9.12",
        "183M",
        "12B people",
    ):
        assert find_protected_text(text) == [], text
    assert len(find_protected_text("after 5 s or 5ms, 7 TRY, EUR 3")) == 4
    assert len(find_protected_text("A4, 4K-TV, M3.")) == 3


def test_a_sign_of_a_currency_before_a_number_is_left_to_the_model() -> None:
    """Many languages write it behind the number, which a constraint would forbid."""
    for text in ("It cost $5.99.", "for €1,000", "US$7 each", "$5k or $10and", "£870.68."):
        assert find_protected_text(text) == []
    assert len(find_protected_text("It cost 5.99 €.")) == 1


@pytest.mark.parametrize(
    "text",
    ["x", "A", "II", "(XII)", "kg", "m²", "°C", "a)", "5 x 3", "к", "km/h:", "[GB]", "A & B", "É"],
)
def test_letters_units_and_roman_numbers_alone_are_symbols(text: str) -> None:
    assert is_symbol(text)


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "OK",
        "I'm",
        "a b cd",
        "犬",
        "나",
        "में",
        "MIX",
        "bar",
        "TRY",
        "A man",
        "{name} x",
        "C'è",
        "kg of",
    ],
)
def test_words_alone_are_no_symbols(text: str) -> None:
    assert not is_symbol(text)


def test_references_to_characters_are_kept() -> None:
    text = "AT&amp;T&nbsp;Ger&auml;t &#8217;&#x2019; &copy; &#10; &foo; R&D; A&B"
    found = [(text[k.start : k.end], k.kind) for k in find_protected_text(text)]
    assert [each for each, kind in found if kind == "reference"] == [
        "&amp;",
        "&nbsp;",
        "&auml;",
        "&#8217;",
        "&#x2019;",
    ]
    assert [each for each, kind in found if kind == "tag"] == ["&copy;", "&#10;"]
    assert not has_words("&nbsp;&hellip;")


def test_symbols_and_codes_are_kept() -> None:
    for text in (
        "♪ A man sings ♪",
        "• A man",
        "A man → a dog",
        "★★★",
        "😀 A man ☐",
        "©",
        "👨‍👩‍👧 A family",
    ):
        kept = find_protected_text(text)
        assert {each.kind for each in kept} == {"tag"}
        rest = "".join(c for n, c in enumerate(text) if not any(k.start <= n < k.end for k in kept))
        assert all(character.isalpha() or character.isspace() for character in rest), text
    for code in ("A4", "DE-2301", "COVID-19", "H2O", "3D", "ISO/IEC-27001"):
        [kept] = find_protected_text(f"See {code}, please.")
        assert kept == (4, 4 + len(code), "literal")
        assert [k[:2] for k in find_protected_text(code)] == [(0, len(code))]  # alone, too
    for text in ("NASA", "17 dogs", "a4", "Type-2", "2nd", "1990-1995", "X"):
        assert find_protected_text(text) == [], text


def test_numbers_with_units_alone_are_translated() -> None:
    """Languages write them differently: "1.5%" is "1,5 %" in German."""
    assert find_protected_text("1.5% – 3 km") == []
    assert find_protected_text("1.5% {name}")
    assert not has_words("3 km")


def test_protected_text_that_is_no_part_of_its_sentence_is_like_a_tag() -> None:
    for text, aside in (
        ("A man ({url}) runs.", "({url})"),
        ("A man [5 km/h].", "[5 km/h]"),
        ("A man runs - {url}", "- {url}"),
        ("A man runs \u2013 5 km/h", "\u2013 5 km/h"),
    ):
        [kept] = find_protected_text(text)
        assert (text[kept.start : kept.end], kept.kind) == (aside, "tag")
    assert [k.kind for k in find_protected_text("f({x}, {y}) {x}")] == ["name"] * 3


@pytest.mark.parametrize(
    ("text", "apart", "others"),
    [
        ("{name}: A man runs.", ["{name}: "], []),
        ("A man runs. {name}", ["{name}"], []),
        ("Deleted: {file}.", ["{file}."], []),
        ("{a} {b}: {c} - Deleted {d}", ["{a} {b}: {c} - "], ["{d}"]),
        ("{a} runs! %s | `x`?", ["%s | `x`?"], ["{a}"]),
        ("<b>{name}: A man</b> runs", ["<b>", "{name}: ", "</b>"], []),
        ("{name}, a man, runs", [], ["{name}"]),
        ("A man {name} runs: here", [], ["{name}"]),
        ("At {time}: {name} runs", [], ["{time}", "{name}"]),
    ],
)
def test_protected_text_before_and_after_a_sentence_is_no_part_of_it(
    text: str, apart: list[str], others: list[str]
) -> None:
    kept = [(text[k.start : k.end], k.kind) for k in find_protected_text(text)]
    assert [each for each, kind in kept if kind == "tag"] == apart
    assert [each for each, kind in kept if kind == "name"] == others


def test_names_of_files_variables_and_colors_are_kept() -> None:
    for text in ("IMG_0001.jpg", "report-2.de.docx", "btn_save_01", "#ff00aa", "a_b"):
        assert [(k.start, k.end, k.kind) for k in find_protected_text(text)] == [
            (0, len(text), "name")
        ]
        assert not has_words(text)
    for text in ("end.The cat", "_word_ here", "#1 and #abc", "e.g. this", "a __b"):
        assert find_protected_text(text) == [], text
    text = "请打开文件config.json。"
    [kept] = find_protected_text(text)
    assert text[kept.start : kept.end] == "config.json"
    assert has_words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on <0>a bike</0> by <1/>", ["<0>", "</0>", "<1/>"]),
        ("<color=red>a hat</color> <size=20>", ["<color=red>", "</color>", "<size=20>"]),
        ("with { name } and { $user-name } on", ["{ name }", "{ $user-name }"]),
        ("with $USER$ and $A$$B$ on", ["$USER$", "$A$$B$"]),
        ("$HOME$PATH or $x", ["$HOME$PATH", "$x"]),
        ("%n men and %Ln dogs", ["%n", "%Ln"]),
        ("%ds, %dh or %dMB of %dx%d", ["%ds", "%dh", "%dMB", "%dx%d"]),
        ("%(n)dMB, the %1$sth %nTwo men and %sToken", ["%(n)dMB", "%1$sth", "%n", "%s"]),
        ("%disk% or %USER%s, %d%% of %ld%%", ["%disk%", "%USER%", "%d%%", "%ld%%"]),
        (
            "an @:a.b_c. @.lower:key, @:{'a b'} and @:(x) not a@b: or @: here",
            ["@:a.b_c", "@.lower:key", "@:{'a b'}", "@:(x)"],
        ),
        ('see $t(common.key) or $t(a, {"n": 1})', ["$t(common.key)", '$t(a, {"n": 1})']),
        ("The :attribute (:min-:max) of <b>:name</b>", [":attribute", "(:min-:max)", "<b>:name</b>"]),
    ],
)  # fmt: skip
def test_placeholders_of_programs_are_kept(text: str, expected: list[str]) -> None:
    text = f"A man {text} here"
    assert [text[kept.start : kept.end] for kept in find_protected_text(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with {a}/{b} or {c}-%s://%d", ["{a}/{b}", "{c}-%s://%d"]),
        ("<b>{a}</b>, <i>%s</i>+<i>{x}</i>", ["<b>{a}</b>", "<i>%s</i>+<i>{x}</i>"]),
        ("<b>the {a}</b> {a}<br/>{b}", ["<b>", "{a}", "</b>", "{a}<br/>{b}"]),
        ("<p><b>{a}</b> runs</p>", ["<p>", "<b>{a}</b>", "</p>"]),
        ("<b>{a}:</b> {b}, {c}", ["<b>", "{a}", "</b>", "{b}", "{c}"]),
        ("{a}</b>{b} ({c}/{d}), A4 {e}", ["{a}", "</b>", "{b}", "({c}/{d})", "A4", "{e}"]),
        ("<b></b><br/> \ue000+\ue001", ["<b>", "</b>", "<br/>", "\ue000+\ue001"]),
    ],
)
def test_kept_parts_that_only_marks_join_are_one(text: str, expected: list[str]) -> None:
    text = f"A man {text} here"
    assert [text[kept.start : kept.end] for kept in find_protected_text(text)] == expected


def test_keys_digests_and_encoded_data_are_kept() -> None:
    for text in ("550e8400-e29b-41d4-a716-446655440000", "d41d8cd98f00b204e9800998ecf8427e", "data:image/png;base64,iVBO+w0K/g==",
                 "Qz9+/" * 20, "f" * 80):  # fmt: skip
        [kept] = find_protected_text(f"the key {text}, and more")
        assert text == f"the key {text}, and more"[kept.start : kept.end]
    compound = "Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnung"
    for text in (compound, "f" * 79, "deadbeef and c0ffee", "a data: set"):
        assert find_protected_text(text) == []


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/users/{id}",
        "https://example.org/${id}/{ a }/b?q={{query}}",
        "www.example.org/{a b}",
        "https://example.org/a[0]",
        "https://example.org/Wall_(painting)",
        "http://[::1]:80/a,(b[c](d)).e",
        "$HOME/{user name}/a",
    ],
)
def test_an_address_has_whole_placeholders_and_pairs_of_brackets(address: str) -> None:
    for text in (f"See {address}, and", f"Has he seen {address}?", f"as (see {address})."):
        [kept] = find_protected_text(text)
        assert text[kept.start : kept.end] == address, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a (https://example.org){name} b", ["(https://example.org){name}"]),
        ("[a](https://example.org/{id}) b", ["(https://example.org/{id})"]),
        ("a https://example.org/{id b", ["https://example.org/"]),
        ("a https://example.org/a(b{c d}", ["https://example.org/a", "{c d}"]),
        ("a https://example.org/a(b)) c", ["https://example.org/a(b)"]),
        ("a https://example.org/[a(b] c", ["https://example.org/"]),
    ],
)
def test_a_bracket_without_its_partner_ends_an_address(text: str, expected: list[str]) -> None:
    assert [text[kept.start : kept.end] for kept in find_protected_text(text)] == expected


def test_ordinary_text_is_not_kept() -> None:
    for text in (
        "A dog runs.", "and/or", "100% of", "it costs $5 or 3 < 4 > 2", "He said: \"I'm 5 minutes late\"",
        "a 50 % discount", "In 1999, 3 men", "Mr. and Mrs. {", "C: is a drive", "5 pm",
        "a <3 you> b, x < 0 > y", "{ the set of all }", "5%n, 100 %now", "a 50 %discount", "100%sure", "at 10:30, :) :p :D", "note:this, std::vector",
        "he said : yes", "it is $5 or $10$",
    ):  # fmt: skip
        assert [k for k in find_protected_text(text) if k.kind != "literal"] == [], text


@pytest.mark.slow
def test_the_time_to_find_protected_text_is_linear() -> None:
    parts = [
        "a",
        "a1",
        "<a ",
        "{a",
        "{n,plural,{",
        "http://.",
        "http://a({b",
        "http://a(b[",
        "www.(a)",
        "$a/{b",
        "%(",
        "1,",
        "/a",
        "{a} ",
        ": ",
        "{a}: ",
        "a@",
        "`",
        "a.",
        "a-",
        "-",
        "a_",
        "<a" + " ",
    ]
    for part in [*parts, " "]:
        beginning = "<a" if part == " " else "1"
        started = time.process_time()
        find_protected_text(beginning + part * (40_000 // len(part)))
        assert time.process_time() - started < 3.0, part


@pytest.mark.parametrize(
    ("begin", "pumped"),
    [
        ("A dog ", "/.-"), ("a ", "~/-"), ("%", "0"), ("%(a)", "0"), ("%1$", "0"), ("a {", "0"),
        ("1", ",1."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "!"])
def test_four_times_as_many_signs_take_four_times_as_long(
    begin: str, pumped: str, end: str
) -> None:
    assert grows_less(lambda n: find_protected_text(begin + pumped * n + end), 3_000, times=9)


def test_a_path_begins_behind_a_hyphen_that_is_no_part_of_a_word() -> None:
    for text, path in (
        ("-/usr/bin a", "/usr/bin"),
        ("a -/etc/hosts", "/etc/hosts"),
        ("a-/b/c", ""),
    ):
        assert [text[kept.start : kept.end] for kept in find_protected_text(text)] == [path] * bool(
            path
        )


def test_a_term_has_a_bounded_number_of_renderings() -> None:
    many = tuple(f"w{number}" for number in range(MOST_RENDERINGS + 1))
    assert len(Term("dog", many[1:]).renderings) == MOST_RENDERINGS
    message = "'dog' has 101 renderings: a term may have 100 at most"
    with pytest.raises(HeadwayError, match=f"^{message}$"):
        Term("dog", many)
    rows = "".join(f"dog\t{word}\n" for word in many)
    with pytest.raises(HeadwayError, match=f"^glossary:101: {message}$"):
        parse_glossary("glossary", rows)
