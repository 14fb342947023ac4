"""Text that must stay is found as it stands, and ordinary text is none."""

import time
import unicodedata

import pytest

from headway.ext.protect import find_protected_text, has_words, is_symbol
from headway.translation.splitting import is_plain
from support.bounds import grows_less
from support.cases import each_case, own_rows

PLACEHOLDERS = (
    "{} {{{x}}} $(x) %% %.1f%% %1 %L2 [[Page]] __NAME__ {name} {{a.b}} ${x} $VAR %1$s %d %.2f %(count)s %name%"
    " %@ <b> </b> {0} ${HOME}/bin/$USER $HOME/.config/a.b https://example.org/a?b=c&d www.example.org"
    r" joe.doe@example.com /etc/hosts ~/notes.txt ./run.sh C:\temp\a.txt IMG_0001.jpg btn_save_01 #ff00aa a_b"
)
PUMPED = (
    "a a1 {a {n,plural,{ http://. http://a({b http://a(b[ www.(a) $a/{b %( 1, /a a@ ` a. a- - a_"
)
NO_SYMBOLS = "no OK I'm 犬 나 में MIX bar TRY C'è"


def find(text):
    """Return the protected text of a text."""
    return [text[each.start : each.end] for each in find_protected_text(text)]


def test_what_must_stay_is_found():
    numbers = ["5 km/h", "3.5kg", "50%", "1,000 MB", "-20 °C", "8.50 EUR", "USD 1,250.00", "24h"]
    numbers += [
        "1.5-2.5 kg",
        "10 – 15 %",
        "2 x 3.5 × 4 mm",
        "1/2 l",
        "12 500,5 kg",
        "1’500 m",
        "USD 20–25",
    ]
    kept = [
        *PLACEHOLDERS.split(),
        "<%= user.name %>",
        "`rm -rf /`",
        '<x id="1"/>',
        "{count, number}",
    ]
    for text in (*kept, "{n, plural, one {# file of {name}} other {# files}}", *numbers):
        for sentence in (f"Look at {text} now.", f"{text}", f"(x {text})", f"See {text}."):
            assert find(sentence) == [text], sentence


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_code_and_the_name_of_a_file_are_whole_words_of_any_alphabet(form):
    for text, kept in own_rows():
        wanted = [unicodedata.normalize(form, each) for each in kept]
        assert find(unicodedata.normalize(form, text)) == wanted, text


def test_numbers_in_circles_and_brackets_are_symbols_and_no_text_is_plain_with_them():
    symbols = [c for c in map(chr, range(0x110000)) if find(f"{c} A dog sees it.") == [c]]
    assert {"①", "⑳", "❶", "⑴", "ⓐ", "🄀"} <= {*symbols}
    for each in symbols:
        assert not is_plain(f"{each} A dog sees it."), ascii(each)


def test_elided_words_times_ranks_and_decades_are_no_units_and_codes():
    for number in (3, 20, 125):
        for unit in ("l", "m", "s", "g", "A"):
            for joint in ("'", "\u2019", "-"):
                assert find(f"Les {number} {unit}{joint}ont vu") == []
        for suffix in ("AM", "PM", "ST", "ND", "RD", "TH"):
            assert find(f"THE {number}{suffix} TIME") == []
    assert find("THE 1980S AND 90S, AN A4 AND A 5S") == ["A4", "5S"]


def test_references_are_never_set_apart_so_that_the_model_reads_both_quotation_marks():
    for first, last in (("&quot;", "&quot;"), ("&laquo;", "&raquo;"), ("&#8220;", "&#8221;")):
        found = find_protected_text(f"He said {first}Go home.{last}")
        assert [each.kind for each in found] == ["reference", "reference"]


def test_each_emoji_of_unicode_is_a_symbol_and_no_text_is_plain_with_it():
    emoji = pytest.importorskip("emoji")
    assert len(emoji.EMOJI_DATA) > 5_000
    for each in emoji.EMOJI_DATA:
        for text in (f"{each} A dog sees it.", f"It {each} is here.", f"The end{each}"):
            assert find(text) == [each], ascii(text)
            assert not is_plain(text), ascii(text)


def test_letters_units_and_roman_numbers_alone_are_symbols():
    for text in ("x", "A", "II", "(XII)", "kg", "m²", "°C", "5 x 3", "к", "km/h:", "[GB]", "A & B"):
        assert is_symbol(text), text
    for text in (*NO_SYMBOLS.split(), "a b cd", "{name} x"):
        assert not is_symbol(text), text


def test_references_to_characters_are_kept():
    text = "AT&amp;T&nbsp;Ger&auml;t &#8217;&#x2019; &copy; &#10; &foo; R&D; A&B"
    kinds = {}
    for each in find_protected_text(text):
        kinds.setdefault(each.kind, []).append(text[each.start : each.end])
    references = ["&amp;", "&nbsp;", "&auml;", "&#8217;", "&#x2019;"]
    assert kinds == {"reference": references, "tag": ["&copy;", "&#10;"]}
    assert not has_words("&nbsp;&hellip;")


def test_symbols_and_codes_are_kept():
    for text in ("♪ A man sings ♪", "A man → a dog", "★★★", "😀 A man ☐", "👨‍👩‍👧 A family"):
        rest = text
        for each in find_protected_text(text)[::-1]:
            assert each.kind == "tag"
            rest = rest[: each.start] + rest[each.end :]
        assert all(character.isalpha() or character.isspace() for character in rest), text
    for code in ("A4", "DE-2301", "COVID-19", "H2O", "3D", "ISO/IEC-27001"):
        assert find_protected_text(f"See {code}, please.") == [(4, 4 + len(code), "literal")]
        assert [k[:2] for k in find_protected_text(code)] == [(0, len(code))]  # alone, too


def test_numbers_that_name_something_are_kept_as_they_are_written():
    for number in own_rows():
        for text in (
            f"See {number} now.",
            f"It is {number}.",
            f"{number}, he says",
            f"\u5728{number}\u4e2d",
        ):
            assert [each.strip() for each in find(text)] == [number], text
    # Thousands, dates and times as a language writes them are the model's.
    for number in (
        "1.234.567", "1.000.000.000", "1,234,567", "31.01.2020", "3.5", "1990-1995", "10:30", "3:15:30 PM", "a::b", "5-3",
    ):  # fmt: skip
        assert find(f"See {number} now.") == [], number


def test_protected_text_in_brackets_or_behind_a_dash_is_like_a_tag():
    for text, aside in (
        ("A man ({url}) runs.", "({url})"),
        ("A man [5 km/h].", "[5 km/h]"),
        ("A man runs \u2013 5 km/h", "\u2013 5 km/h"),
    ):
        assert find(text) == [aside]
        assert find_protected_text(text)[0].kind == "tag"
    assert [k.kind for k in find_protected_text("f({x}, {y}) {x}")] == ["name"] * 3


@each_case
def test_protected_text_before_and_after_a_sentence_is_no_part_of_it(text, apart, others):
    kept = [(text[k.start : k.end], k.kind) for k in find_protected_text(text)]
    assert [each for each, kind in kept if kind == "tag"] == apart
    assert [each for each, kind in kept if kind == "name"] == others


def test_the_name_of_a_file_may_stand_between_chinese_words():
    assert find("请打开文件config.json。") == ["config.json"]
    assert has_words("请打开文件config.json。")
    assert not has_words("IMG_0001.jpg")


@each_case
def test_placeholders_of_programs_are_found_and_joined_where_only_marks_are_between(text, expected):
    assert find(f"A man {text} here") == expected


def test_keys_digests_and_encoded_data_are_kept():
    data = "data:image/png;base64,iVBO+w0K/g=="
    digest, identity = "d41d8cd98f00b204e9800998ecf8427e", "550e8400-e29b-41d4-a716-446655440000"
    for text in (identity, digest, data, "Qz9+/" * 20, "f" * 80):
        assert find(f"the key {text}, and more") == [text]


def test_an_address_has_whole_placeholders_and_pairs_of_brackets():
    for address in own_rows():
        for text in (f"See {address}, and", f"Has he seen {address}?", f"as (see {address})."):
            assert find(text) == [address], text


def test_ordinary_text_is_not_kept():
    for text in own_rows():
        assert find(text) == [], text
    # A percent sign belongs to its number, and not to the word behind it.
    assert [each.kind for each in find_protected_text("a 50 % discount")] == ["literal"]


def test_the_time_to_find_protected_text_is_linear():
    for part in [*PUMPED.split(), "<a ", "{a} ", ": ", "{a}: ", " "]:
        beginning = "<a" if part == " " else "1"
        started = time.process_time()
        find(beginning + part * (20_000 // len(part)))
        assert time.process_time() - started < 1.0, part


def test_four_times_as_many_signs_take_four_times_as_long():
    for begin, pumped in own_rows():
        assert grows_less(lambda n, b=begin, p=pumped: find(b + p * n + "!"), 3_000, times=9)


def test_a_path_begins_behind_a_hyphen_that_is_no_part_of_a_word():
    assert find("a -/etc/hosts") == ["/etc/hosts"]
    assert find("a-/b/c") == []
