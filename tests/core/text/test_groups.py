"""Text of several pairs of languages is prepared group by group, with symbols of the target languages."""

import json

import numpy as np
import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.cleaning import Rule
from headway.text.languages import find_code, parse_pair
from headway.text.learning import divide_sample
from headway.text.preparation.preparing import prepare
from headway.text.prepared import PreparedData
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import EOS
from headway.text.words import is_byte
from support.cases import each_case, own_rows
from support.extensions import needs
from support.groups import files, write_languages
from support.toy_models import sentences, translate_words

CONFIG = TextConfig(vocab_size=341)
FILES = ("source.ids", "source.ends", "target.ids", "target.ends")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return write_languages(tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def data(texts, tmp_path_factory):
    pairs = ("en-de", "en-fr", "de-en")
    place = tmp_path_factory.mktemp("data") / "data"
    return prepare(files(texts, "train", *pairs), files(texts, "valid", *pairs), place, CONFIG)


def test_each_source_begins_with_the_symbol_of_its_target(data):
    assert [group.languages for group in data.groups] == [("de", "en"), ("en", "de"), ("en", "fr")]
    assert set(data.tokenizer.target_languages) == {"de", "en", "fr"}
    for corpus, counts in (
        (data.train, [group.training_pairs for group in data.groups]),
        (data.valid, [group.validation_pairs for group in data.groups]),
    ):
        expected = np.repeat([group.languages[1] for group in data.groups], counts)
        assert len(corpus) == len(expected)
        symbols = data.tokenizer.source_subwords(
            [int(corpus.pair(n)[0][0]) for n in range(len(corpus))]
        )
        assert symbols == [f">>{code}<<" for code in expected]


def test_text_does_not_produce_a_symbol(data):
    symbols = [2, 3, 4]
    text = ">>fr<< 1 2 >>de<<"
    chosen = data.tokenizer.to("de")
    assert chosen.named_language(text) == ""
    [ids] = chosen.encode_source([text])
    assert chosen.source_subwords(ids[:1]) == [">>de<<"]
    assert not set(ids[1:]) & set(symbols)
    assert chosen.decode_source(ids) == text
    assert not set(data.tokenizer.encode_target([text])[0]) & set(symbols)


def test_the_order_of_the_groups_does_not_matter(texts, data, tmp_path):
    pairs = ("de-en", "en-fr", "en-de")
    other = prepare(
        files(texts, "train", *pairs),
        files(texts, "valid", *pairs[::-1]),
        tmp_path / "data",
        CONFIG,
    )
    names = [path.relative_to(other.directory) for path in other.directory.rglob("*")]
    assert len(names) > 10
    for name in names:
        if (other.directory / name).is_file():
            assert (other.directory / name).read_bytes() == (data.directory / name).read_bytes()


def test_a_group_alone_equals_one_pair_whose_text_has_the_symbol(texts, tmp_path):
    train, valid = files(texts, "train", "en-de"), files(texts, "valid", "en-de")
    group = prepare(train, valid, tmp_path / "group", CONFIG)
    for name in ("train", "valid"):
        lines = (texts / f"{name}.en").read_text().splitlines()
        (tmp_path / f"{name}.en").write_text("".join(f">>de<<{line}\n" for line in lines))
    single = prepare(
        [tmp_path / "train.en", texts / "train.de"], [tmp_path / "valid.en", texts / "valid.de"],
        tmp_path / "single", CONFIG, tokenizer=Tokenizer.load(group.directory),
    )  # fmt: skip
    for part in ("train", "valid"):
        for name in FILES:
            ours, others = (each.directory / part / name for each in (group, single))
            assert ours.read_bytes() == others.read_bytes(), (part, name)


def test_no_pair_of_validation_text_is_in_any_group(texts, tmp_path):
    pairs = ("en-de", "de-en", "en-fr", "fr-de")
    data = prepare(files(texts, "train", *pairs), 7, tmp_path / "data", CONFIG)
    assert [group.validation_pairs for group in data.groups] == [7] * 4
    held_out = {*data.valid_source, *data.valid_target}
    tokenizer = data.tokenizer
    for row in range(len(data.train)):
        source, target = (ids.tolist() for ids in data.train.pair(row))
        assert not {tokenizer.decode_source(source), tokenizer.decode(target)} & held_out
    report = json.loads((data.directory / "report.json").read_text())
    assert set(report["groups"]) == set(pairs)
    assert sum(each["read"] for each in report["groups"].values()) == report["read"] == 1200


def test_validation_text_in_files_is_dropped_from_the_other_direction(texts, tmp_path):
    for code in ("en", "de"):
        valid = (texts / f"valid.{code}").read_text()
        (tmp_path / f"train.{code}").write_text((texts / f"train.{code}").read_text() + valid)
    train = files(tmp_path, "train", "en-de", "de-en")
    valid = {**files(texts, "valid", "en-de"), "de-en": 5}
    data = prepare(train, valid, tmp_path / "data", CONFIG)
    held_out = set((texts / "valid.en").read_text().splitlines())
    decoded = [
        data.tokenizer.decode_source(data.train.pair(n)[0].tolist()) for n in range(len(data.train))
    ]
    targets = [
        data.tokenizer.decode(data.train.pair(n)[1].tolist()) for n in range(len(data.train))
    ]
    assert not held_out & {*decoded, *targets}


def test_separate_vocabularies_have_symbols_of_sources_only(texts, tmp_path):
    pairs = ("de-fr", "fr-de")
    config = TextConfig(vocab_size=310, joint_vocab=False)
    data = prepare(files(texts, "train", *pairs), 5, tmp_path / "data", config)
    source, target = (Tokenizer(model) for model in data.tokenizer.models)
    assert (source.target_languages, target.target_languages) == (["de", "fr"], [])


def test_a_table_of_many_languages_gives_its_columns(texts, tmp_path):
    columns = [(texts / f"train.{code}").read_text().splitlines() for code in ("en", "de", "fr")]
    rows = ["\t".join(row) for row in zip(*columns, strict=True)]
    (tmp_path / "all.tsv").write_text("\n".join(["en\tde\tfr", *rows]) + "\n")
    train = {pair: [str(tmp_path / "all.tsv")] for pair in ("en-de", "fr-en")}
    data = prepare(train, 5, tmp_path / "data", CONFIG)
    plain = prepare(files(texts, "train", "en-de", "fr-en"), 5, tmp_path / "plain", CONFIG)
    assert data.fingerprint == plain.fingerprint


def test_a_vocabulary_without_the_symbol_of_a_group_is_refused(texts, tmp_path):
    train = files(texts, "train", "en-de", "en-fr")
    tokenizer = Tokenizer.learn([("a b c", "d e f")] * 9, TextConfig(vocab_size=266))
    with pytest.raises(HeadwayError, match="no symbol of de"):
        prepare(train, 5, tmp_path / "data", CONFIG, tokenizer=tokenizer)


def test_a_changed_group_is_another_fingerprint(data, tmp_path):
    facts = json.loads((data.directory / "data.json").read_text())
    for change in ({"training_pairs": 1}, {"languages": ["en", "fr"]}):
        changed = json.loads(json.dumps(facts))
        changed["groups"][0] |= change
        place = tmp_path / next(iter(change))
        place.mkdir()
        for path in data.directory.iterdir():
            if path.name != "data.json":
                (place / path.name).symlink_to(path)
        (place / "data.json").write_text(json.dumps(changed))
        with pytest.raises(HeadwayError, match="different preparations"):
            PreparedData.open(place)


@pytest.mark.parametrize(
    ("word", "pair"),
    [
        ("en-de", ("en", "de")), ("pt-BR-en", ("pt-BR", "en")), ("en-zh-Hant", ("en", "zh-Hant")),
        ("a.en", None), ("english", None), ("en-pt_BR", ("en", "pt_BR")),
    ],
)  # fmt: skip
def test_a_pair_is_read_from_its_name(word, pair):
    assert parse_pair(word) == pair


def test_a_language_has_two_letters_or_three():
    assert find_code("fr", ["deu", "fra"]) == "fra"
    assert find_code("fra", ["fr_BE", "fr"]) == "fr"
    assert find_code("pt-br", ["por", "pt_BR"]) == "pt_BR"
    assert find_code("zh", ["cmn_Hans"]) == "cmn_Hans"
    assert find_code("pt-BR", ["por"]) == "por"
    with pytest.raises(HeadwayError, match="read as"):
        parse_pair("en-pt-br")


def test_a_country_counts_only_where_a_model_has_several_and_a_script_always():
    for wanted, codes, found in own_rows():
        assert find_code(wanted, codes) == (found or None), (wanted, codes)


def test_a_source_ends_as_before(data):
    assert data.tokenizer.to("fra").encode_source([""]) == [
        [data.tokenizer.encode_source([">>fr<<"])[0][0], EOS]
    ]


def write_tmx(path, rows):
    units = ""
    for row in rows:
        texts = (f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in row.items())
        units += f"<tu>{''.join(texts)}</tu>\n"
    path.write_text(f'<tmx version="1.4"><header/><body>\n{units}</body></tmx>\n')


@needs("corpora")
def test_units_of_other_languages_are_no_text_of_a_group(texts, tmp_path):
    columns = {
        code: (texts / f"train.{code}").read_text().splitlines() for code in ("en", "de", "fr")
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for number, row in enumerate(rows):
        del row[("fr", "de", "en")[number % 3]]  # each pair is in a third of the units
    write_tmx(tmp_path / "all.tmx", rows)
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for code, other in (("en", "de"), ("fr", "en")):
        for language in (code, other):
            chosen = [row[language] for row in rows if {code, other} <= row.keys()]
            (tmp_path / f"{code}{other}.{language}").write_text("\n".join(chosen) + "\n")
    plain = {
        f"{s}-{t}": [str(tmp_path / f"{s}{t}.{c}") for c in (s, t)]
        for s, t in (("en", "de"), ("fr", "en"))
    }
    config = TextConfig(vocab_size=331)
    expected = prepare(plain, 5, tmp_path / "plain", config)
    for suffix in ("tmx", "jsonl"):
        train = {pair: [str(tmp_path / f"all.{suffix}")] for pair in plain}
        data = prepare(train, 5, tmp_path / suffix, config)
        assert data.fingerprint == expected.fingerprint
        for pair, counts in json.loads((data.directory / "report.json").read_text())[
            "groups"
        ].items():
            assert counts["read"] == len(rows), pair
            assert counts["dropped"][Rule.ELSEWHERE]["count"] == len(rows) - len(rows) // 3, pair
        with pytest.raises(HeadwayError, match=rf"all.{suffix}:.*(no text in 'nl'|no texts under)"):
            prepare({"en-nl": train["en-de"]}, 5, tmp_path / "none", config)


@each_case
def test_a_sample_has_a_larger_share_of_small_groups(counts, size, sizes):
    assert divide_sample(counts, size) == sizes


def test_the_letters_of_a_small_group_are_subwords(tmp_path):
    english = sentences(2000, seed=1)
    text = "дом кот собака бежит видит большой маленький красный щука эхо под"
    words = text.split()
    russian = [f"{words[n % 11]} {words[n % 7]} {words[n % 5]} {n}" for n in range(60)]
    texts = {
        "a.en": english,
        "a.de": [translate_words(line) for line in english],
        "b.en": english[:60],
        "b.ru": russian,
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    train = {"en-de": ["a.en", "a.de"], "en-ru": ["b.en", "b.ru"]}
    data = prepare(
        {pair: [str(tmp_path / name) for name in names] for pair, names in train.items()},
        5, tmp_path / "out", TextConfig(vocab_size=420, sample_lines=100),
    )  # fmt: skip
    ids = data.tokenizer.encode_target([" ".join(words)])[0]
    assert not [subword for subword in data.tokenizer.target_subwords(ids) if is_byte(subword)]
