"""A model of several pairs of languages translates the one that is chosen, and text chooses none."""

import dataclasses

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.translation import Translator, save_model
from headway.translation.direction import KnownLanguages
from headway.translation.directory import load_model
from support.pieces import cut, find
from support.toy_models import PAIRS, sentences, write_several

GREEDY = SearchConfig(beam=1, max_extra=9)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A model of three pairs of languages with random weights."""
    return write_several(tmp_path_factory.mktemp("several"))


def test_the_symbol_alone_decides_the_direction(several):
    translator = Translator.load(several)
    texts = sentences(8, 3)
    found = {to: translator.to(to).translate(texts, GREEDY) for to in ("de", "fr", "en")}
    assert found["de"] != found["fr"] != found["en"]
    # The same tokens in the hands of the search: the symbol, then the text.
    for to, translations in found.items():
        tokenizer = translator.tokenizer.to(to)
        ids = tokenizer.encode_source(texts)
        assert {each[0] for each in ids} == {tokenizer.encode_source([""])[0][0]}
        search = translator.token_search.search(ids, [[] for _ in ids], GREEDY)
        assert [tokenizer.decode(each[0].tokens).strip() for each in search] == translations


def test_a_direction_must_be_chosen(several, capsys, tmp_path, monkeypatch):
    translator = Translator.load(several)
    for call in (
        lambda: translator.translate("the cat"),
        lambda: translator.translate(">>de<< the cat"),
        lambda: translator.score("the cat", "die Katze"),
    ):
        with pytest.raises(HeadwayError, match="en-de, en-fr, de-en: choose a target"):
            call()
    (tmp_path / "text").write_text("the cat\n")
    words = ["translate", str(several), "--input", str(tmp_path / "text")]
    with pytest.raises(HeadwayError, match="--to de"):
        dispatch([*words, "--output", str(tmp_path / "none")])
    assert dispatch([*words, "--output", str(tmp_path / "out"), "--to", "fra"]) in (0, None)
    assert (tmp_path / "out").read_text() == f"{translator.to('fr').translate('the cat')}\n"


def test_pairs_that_were_not_trained_need_consent(several):
    translator = Translator.load(several)
    with pytest.raises(HeadwayError, match=r"de-fr: .* en-de, en-fr, de-en: --zero-shot"):
        translator.to("fr", "de")
    assert translator.to("fr", "de", zero_shot=True).languages == ("de", "fr")
    with pytest.raises(HeadwayError, match="nl: no target language"):
        translator.to("nl", zero_shot=True)
    with pytest.raises(HeadwayError, match="xx: no language of this model"):
        translator.to("fr", "xx", zero_shot=True)
    assert translator.to("fr").languages == ("en", "fr")
    assert translator.to("fr").to("en").languages == ("de", "en")


def test_long_lines_keep_the_symbol_in_each_piece(several):
    german = Translator.load(several).to("de")
    search = dataclasses.replace(GREEDY, max_tokens=9)
    pieces = cut(german, " ".join(sentences(5, 4)), search)
    assert len(pieces) > 3
    symbol = german.tokenizer.encode_source([""])[0][0]
    assert all(piece.ids[0] == symbol and len(piece.ids) <= 9 for piece in pieces)


def test_the_symbol_is_no_word_of_an_alignment(several):
    german = Translator.load(several).to("de")
    [[best]] = german.stream(["the green cat"], GREEDY, align=True)
    assert best.alignment is not None
    assert {source for source, _ in best.alignment} <= {0, 1, 2}


def test_a_saved_model_keeps_its_pairs(several, tmp_path):
    translator = Translator.load(several)
    translator.to("fr").save_pretrained(tmp_path / "copy")
    copy = Translator.load(tmp_path / "copy")
    assert copy.pairs == PAIRS
    assert copy.to("de").translate("the dog") == translator.to("de").translate("the dog")


def save_pairs(several, directory, *pairs):
    """Write the model as one of other pairs."""
    model = load_model(several)
    save_model(directory, model.network, model.tokenizer, model.config, pairs[0], "#\n", pairs)
    return Translator.load(directory)


def test_a_target_of_several_sources_needs_its_source(several, tmp_path):
    translator = save_pairs(several, tmp_path / "model", ("de", "en"), ("fr", "en"))
    with pytest.raises(HeadwayError, match=r"--to en: give .* --from with one of de, fr$"):
        translator.to("en")
    with pytest.raises(HeadwayError, match="such as --from de --to en"):
        translator.translate("die Katze")
    assert translator.to("en", "fr").languages == ("fr", "en")
    assert [each.languages for each in translator.list_directions()] == [*translator.pairs]
    (tmp_path / "text").write_text("die Katze\n")
    words = ["translate", str(tmp_path / "model"), "--input", str(tmp_path / "text")]
    words += ["--output", str(tmp_path / "out")]
    for choice in ([], ["--to", "en"]):
        with pytest.raises(HeadwayError, match="--from"):
            dispatch([*words, *choice])
    assert dispatch([*words, "--from", "fra"]) in (0, None)  # there is one target
    expected = translator.to("en", "fr").translate("die Katze")
    assert (tmp_path / "out").read_text() == f"{expected}\n"


def test_a_backward_model_is_chosen_with_each_direction(several, tmp_path):
    translator = Translator.load(several, backward=several)
    for target, source in (("de", "en"), ("en", "de")):
        chosen = translator.to(target, source)
        assert chosen.translate("the cat", GREEDY) == Translator.load(several).to(
            target, source
        ).translate("the cat", dataclasses.replace(GREEDY, round_trip=True))
    with pytest.raises(HeadwayError, match="a backward model must translate from fr to en"):
        translator.to("fr")
    with pytest.raises(HeadwayError, match="choose a target language"):
        translator.translate("the cat", GREEDY)


def test_a_model_of_one_pair_allows_its_own_only(translator):
    assert translator.to("de").translate("the cat") == translator.translate("the cat")
    assert translator.to("deu", "eng").languages == translator.languages
    with pytest.raises(HeadwayError, match="en-fr: this model translates only en-de"):
        translator.to("fr")


def test_a_round_trip_is_a_backward_model_with_the_same_weights(several):
    lines = [*sentences(9, 2), "the green {cat} at https://example.org"]
    search = SearchConfig(beam=3, n_best=2, candidates=5, max_extra=8, backward_weight=2.0)
    round_trip = dataclasses.replace(search, round_trip=True)
    german = Translator.load(several).to("de")
    plain = list(german.stream(lines, search))
    german.backward = Translator.load(several)
    expected = list(german.stream(lines, search))
    german.backward = None
    assert list(german.stream(lines, round_trip)) == expected != plain
    pieces = [piece for line in lines for piece in cut(german, line, round_trip)]
    scores = [n_best[0].score for n_best in find(german, pieces, round_trip)]
    assert scores == pytest.approx([n_best[0].score for n_best in expected])


def test_a_round_trip_needs_both_directions(several):
    round_trip = dataclasses.replace(GREEDY, round_trip=True)
    with pytest.raises(HeadwayError, match=r"search.round_trip: .* does not translate fr-en"):
        Translator.load(several).to("fr").translate("the cat", round_trip)
    with pytest.raises(HeadwayError, match="--to de"):
        Translator.load(several).translate("the cat", round_trip)
    with pytest.raises(HeadwayError, match="mbr and round_trip both choose"):
        dataclasses.replace(round_trip, mbr=True)


def test_an_imported_model_knows_targets_and_no_pairs():
    known = KnownLanguages(("en", "roa"), (), ("fra", "pt_BR", "cmn_Hans"))
    assert known.find("fr") == (("en", "fr"), "fra")
    assert known.find("fra", "en") == (("en", "fr"), "fra")
    assert known.find("pt-br")[1] == "pt_BR"
    with pytest.raises(HeadwayError, match="which has into fra, pt_BR, cmn_Hans"):
        known.find("de")


def test_a_model_of_one_pair_is_that_of_its_pair(model_directory):
    model = load_model(model_directory)
    assert model.choose(("en", "de")) is model
    with pytest.raises(HeadwayError, match="en-fr was not trained, but en-de"):
        model.choose(("en", "fr"))
