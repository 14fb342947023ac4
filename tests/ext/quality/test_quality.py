"""Quality: it depends on a line alone, falls with what is checkably wrong, and broken translations are replaced by sounder ones."""

import json
import random
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from headway import Glossary, SearchConfig, Translator
from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.protect import count_different_numbers
from headway.ext.quality import find_defects, rating
from headway.ext.quality.defects import find_lost_names, keeps_words
from headway.ext.quality.learned_quality import examine_lines
from headway.ext.quality.quality_model import FEATURES, FILE, QualityModel, rank_correlation
from headway.ext.quality.rating import require_numbers
from headway.model import Transformer
from headway.text import Tokenizer
from headway.translation import Constraint, Hypothesis, Piece, spell_words
from support.cases import own_rows, read_rows
from support.damaged_translations import damage_names, damage_placeholders
from support.engines import native
from support.extended_pieces import choose, examine, rate, rate_text
from support.masked_texts import mask, word
from support.pieces import cut, find, join
from support.toy_models import sentences, small_config, translate_words, write_random_model

SEARCH = SearchConfig(max_extra=7)
LANGUAGES = "en", "de"
QUALITY = QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5))
SURE = QualityModel(20.0, dict.fromkeys(FEATURES, 0.0))
PAIRS = [(line, translate_words(line)) for line in sentences(40, 2, longest=12)]


@pytest.fixture(scope="module")
def rated(model_directory, tmp_path_factory):
    """The model with random weights, which translates into loops, and a quality."""
    path = tmp_path_factory.mktemp("rated") / "model"
    shutil.copytree(model_directory, path)
    QUALITY.save(path)
    return path


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """A random model whose subwords are also digits and words of numbers; it is sure of every translation."""
    source, target = (
        "13 102 17 29 56% 2,5 1957 dogs see",
        "dreizehn zwölf Hunde sehen Katzen und eine 56% 73",
    )
    pairs = [
        (f"{text} {source}", f"{translate_words(text)} {target} 102") for text in sentences(400, 1)
    ]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=371))
    path = write_random_model(tmp_path_factory.mktemp("numbered"), tokenizer)
    SURE.save(path)
    return Translator.load(path)


@pytest.mark.parametrize(
    ("source", "translation", "found"),
    [
        *read_rows(__file__, "test_defects_are_found_in_the_texts_alone"),
        ("1" * 5000, "1" * 5000, ()),
    ],
)
def test_defects_are_found_in_the_texts_alone(source, translation, found):
    assert [*find_defects(source, translation, LANGUAGES)] == [*found]


def test_loops_of_any_period_are_found_in_every_script_and_one_number_is_none():
    for period in (1, 2, 5, 12):
        words = [f"w{n}" for n in range(period)]
        for copies in (1, 2, 3, 5):
            text = " ".join(["a", "b", *words * copies, "c"])
            is_loop = "loop" in find_defects("the cat", text, LANGUAGES)
            assert is_loop == (copies >= 3)
    for text, language in own_rows():
        assert "loop" in find_defects("a cat", text, ("en", language)), text
    for text, language in read_rows(
        __file__, "test_loops_of_any_period_are_found_in_every_script_and_one_number_is_none_2"
    ):
        assert "loop" not in find_defects("a cat", text, ("en", language)), text


def test_words_with_a_capital_are_lost_where_no_similar_one_is_written():
    for source, translation, lost in own_rows():
        assert find_lost_names(source, translation, LANGUAGES) == lost
    assert find_lost_names("der Hund sieht Zoltan", "the dog runs", ("de", "en")) == []


def share_below(translator, cases):
    """Return which share of good and of damaged translations is rated below 0.5."""
    pairs = [
        [
            rate_text(translator, case.source, text, keep=False).quality
            for text in (case.good, case.damaged)
        ]
        for case in cases
    ]
    good, damaged = (np.array(pairs) < 0.5).mean(0)
    return good, damaged


@pytest.mark.parametrize("damage", [damage_placeholders, damage_names])
def test_lost_names_and_damaged_placeholders_are_rated_below_a_half(numbered, damage):
    """Also by a model that is sure of everything."""
    good, damaged = share_below(numbered, [*damage(PAIRS, 100, 1)])
    assert damaged >= 0.95
    assert good <= 0.02


def test_no_better_feature_lowers_the_quality_and_it_is_calibrated():
    chooser = np.random.default_rng(2)
    features = chooser.normal(size=(151, len(FEATURES)))
    # One feature helps, and one harms (it gets weight 0).
    truth = 1 / (1 + np.exp(-(0.3 + 1.5 * features[:, 0] - 0.9 * features[:, 1])))
    model = QualityModel.fit(np.column_stack([truth, features]))
    weights = [*model.weights.values()]
    assert weights == pytest.approx([1.1, 0], abs=0.3)
    assert min(weights) >= 0
    rated = np.array([model.rate(row) for row in features])
    assert rated.mean() == pytest.approx(truth.mean(), abs=1e-3)
    assert model.spearman == pytest.approx(rank_correlation(rated, truth))
    assert model.spearman > 0.7
    assert 0 <= model.rate(np.full(len(FEATURES), -1e9)) < 1e-9
    for score in (0.0, 1.0):  # all alike
        few = QualityModel.fit(np.column_stack([np.full(3, score), features[:3]]))
        assert few.rate(features[0]) == pytest.approx(score, abs=0.05)
    with pytest.raises(HeadwayError, match="no sentences"):
        QualityModel.fit(np.full((2, 1 + len(FEATURES)), np.nan))


def test_the_fit_of_nearly_perfect_translations_is_a_good_one():
    """Where nearly all scores are 1, steps that are too long end anywhere, and a feature that tells has no weight."""
    count, bad = 300, 5
    features = np.random.default_rng(1).normal(size=(count, len(FEATURES))) * 0.01
    features[:bad, 1] -= 1
    scores = np.ones(count)
    scores[:bad] = 0.5
    model = QualityModel.fit(np.column_stack([scores, features]))
    assert all(abs(model.rate(row) - 0.5) < 0.2 for row in features[:bad])
    assert all(model.rate(row) > 0.97 for row in features[bad:])


def test_a_quality_is_stored_and_a_damaged_one_is_refused(tmp_path):
    with pytest.raises(HeadwayError, match=r"no quality\.json.*headway evaluate .* --calibrate"):
        QualityModel.load(tmp_path)
    model = QualityModel(-0.1 / 3, {name: n / 7 for n, name in enumerate(FEATURES)}, 19, 0.6)
    model.save(tmp_path)
    assert QualityModel.load(tmp_path) == model
    whole = (tmp_path / FILE).read_text()
    values = json.loads(whole)
    weights = values["weights"]
    changes = [
        {"format": 0},
        {"bias": True},
        {"bias": 1e99},
        {"weights": [1]},
    ]
    changes += [{"weights": {}}, {"weights": weights | {"length": -1}}, {"spearman": "high"}]
    changes += [{"weights": weights | {"length": float("nan")}}]
    damaged = [whole[:-9], "[]", "[" * 60_000, whole + " " * (1 << 16), "\xff"]
    for text in damaged + [json.dumps(values | change) for change in changes]:
        (tmp_path / FILE).write_bytes(text.encode("latin-1"))
        with pytest.raises(HeadwayError, match=rf"{FILE}: damaged: .+\Z"):
            QualityModel.load(tmp_path)


def test_features_are_those_of_the_forward_pass(translator):
    [piece] = cut(translator, "the cat sees a dog")
    [[best]] = find(translator, [piece], SEARCH)
    features = examine(translator, piece, best, SEARCH)
    with torch.inference_mode():
        logits = translator.model(torch.tensor([piece.ids]), torch.tensor([best.tokens]))[0]
    log_p = logits.log_softmax(-1)[range(len(best.tokens)), best.tokens]
    length = -abs(np.log(len(best.tokens) / len(piece.ids)))
    assert features == pytest.approx([log_p.exp().mean().item(), length], rel=1e-4)
    # An ensemble of equal models is the model.
    twice = Translator(translator.model, translator.tokenizer, others=translator.models)
    of_two = examine(twice, piece, best, SEARCH)
    assert of_two == pytest.approx(features, rel=1e-5)


def test_a_repair_of_numbers_keeps_the_words(rated, monkeypatch):
    translator = Translator.load(rated)
    [piece] = cut(translator, "40 dogs see 17 cats")

    def write(*texts):
        return [Hypothesis(ids, 0.0, 0.0) for ids in translator.tokenizer.encode_target(texts)]

    def repair(first, *ways):
        found = iter(ways)

        def search(*_):
            yield []
            return next(found, [])

        monkeypatch.setattr(rating, "find_translations", search)
        [best, *_], _ = rate(translator, piece, write(first), SEARCH)
        return translator.tokenizer.decode(best.tokens)

    broken = "die 41 Hunde sehen 17 Katzen"
    right = "die 40 Hunde sehen 17 Katzen"
    lossy, wrong = "die 40 Hunde 17", "die 40 Hunde sehen 16 Katzen"
    assert repair(broken, write(lossy, wrong)) == broken
    assert repair(broken, write(lossy), write(wrong, right)) == right
    # Of a translation with other defects the words say little.
    loop = "die 40 Hunde die 40 Hunde die 40 Hunde"
    assert repair(loop, write(lossy)) == lossy
    assert repair(loop, write(wrong)) == loop


@native  # other products depend on the batch in their last bits
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_quality_depends_on_the_line_alone(rated, precision):
    translator = Translator.load(rated)
    lines = [*sentences(3, 8), "", "the cat {name} sees 1990 <b>dogs</b>"]
    search = replace(SEARCH, n_best=2, precision=precision)
    alone = [next(translator.stream([line], search, quality=True)) for line in lines]
    order = random.Random(3).sample(range(len(lines)), len(lines))
    other = replace(search, batch_tokens=41)
    together = translator.stream([lines[i] for i in order], other, quality=True, window=3)
    for i, n_best in zip(order, together, strict=True):
        assert [(t.text, t.quality, t.notes) for t in n_best] == [
            (t.text, t.quality, t.notes) for t in alone[i]
        ]
        assert all(t.quality is not None and 0 <= t.quality <= 1 for t in n_best)


def test_a_translation_is_only_replaced_by_a_sounder_one(rated):
    translator = Translator.load(rated)
    lines = sentences(30, 9)
    plain = [best for best, *_ in translator.stream(lines, SEARCH)]
    checked = [best for best, *_ in translator.stream(lines, SEARCH, quality=True)]
    repaired = 0
    for line, before, after in zip(lines, plain, checked, strict=True):
        broken = find_defects(line, before.text, LANGUAGES)
        assert (before.quality, before.notes) == (None, "")
        if after.repaired:
            repaired += 1
            assert after.repaired == broken
            assert not after.defects
            assert broken != ("numbers",) or keeps_words(before.text, after.text)
            assert after.notes.startswith(f"{broken[0]} repaired")
        else:
            assert after.text == before.text
            assert after.defects == broken
        assert after.defects == find_defects(line, after.text, LANGUAGES)
    assert 0 < repaired < len(lines)  # random weights make loops
    # Samples are rated, and never replaced.
    samples = replace(SEARCH, sample=True, n_best=3)
    drawn = [*translator.stream(lines[:7], samples, quality=True)]
    assert [[t.text for t in each] for each in drawn] == [
        [t.text for t in each] for each in translator.stream(lines[:7], samples)
    ]
    assert not any(t.repaired for each in drawn for t in each)


def test_numbers_of_the_source_are_forced_into_a_new_translation(numbered):
    translator, tokenizer = numbered, numbered.tokenizer
    for line in ("the 1,957 dogs", "a dog runs 2.753,19 <b>under</b> {x}"):
        [piece] = cut(translator, line)
        searched = require_numbers(piece, tokenizer)
        candidates = choose(translator.token_search, searched, replace(SEARCH, n_best=8, beam=8))
        assert candidates
        for candidate in candidates:
            [[written]] = [join(translator, [piece], [[candidate]])]
            assert not count_different_numbers(line, written.text)


def test_numbers_and_names_in_terms_are_those_of_their_renderings(numbered):
    """Neither a word that a glossary prescribes for a number is wrong, nor is the number required beside it."""
    terms = {
        "13 dogs": ["13 Hunde", "dreizehn Hunde"], "a cat": "17 Katzen", "dog": "Hund", "Zoltan": "Katzen",
    }  # fmt: skip
    own = numbered.with_glossary(Glossary.of(terms))
    line = "13 dogs see a cat and 29 dog Zoltan"
    for translation, defects in (
        ("dreizehn Hunde sehen 17 Katzen und 29 Hund Katzen", ()),
        ("dreizehn Hunde sehen 17 Katzen und 28 Hund Katzen", ("numbers",)),
    ):
        found = rate_text(own, line, translation)
        assert found.repaired + found.defects == defects
    [piece] = cut(own, line)
    required = require_numbers(piece, own.tokenizer).masked_source.constraints
    assert len(required) == len(piece.masked_source.constraints) + 1  # 29


def test_numbers_that_a_masked_source_requires_anyway_are_required_once(numbered):
    tokenizer = numbered.tokenizer
    line = "the 102 dogs of {name}"
    masked = mask(tokenizer, line, word(tokenizer, "17 cats", "17 Katzen"))
    assert masked.text == "the 102 dogs of 17 cats"
    required = require_numbers(Piece(line, masked.ids, masked), tokenizer).masked_source
    assert required.constraints == (
        *masked.constraints,
        Constraint(spell_words(tokenizer, ["102"])),
    )


def test_a_glossary_never_raises_a_quality(rated):
    """Of single sentences, lines of several pieces, and n-best lists, whatever the rendering."""
    translator = Translator.load(rated)
    chooser = random.Random(4)
    lines = [*sentences(12, 11), *(" ".join(sentences(4, n)) for n in range(3)), "a {name} sees 17"]
    search = replace(SEARCH, n_best=2, max_tokens=12)
    before = [*translator.stream(lines, search, quality=True)]
    words = sorted({word for line in lines for word in line.split()})
    lower = changed = 0
    for _ in range(4):
        terms = {
            word: chooser.choice([translate_words("the tree"), "Haus", "Zoltan", word.upper()])
            for word in chooser.sample(words, 3)
        }
        own = translator.with_glossary(Glossary.of(terms))
        for old, new in zip(before, own.stream(lines, search, quality=True), strict=True):
            if [each.text for each in new] != [each.text for each in old]:
                changed += 1
                assert all((each.quality or 0) <= (old[0].quality or 0) for each in new)
                lower += new[0].quality != old[0].quality
            else:
                assert [each.quality for each in new] == [each.quality for each in old]
    assert lower < changed > 20  # the glossary takes nothing from sound translations


def test_pieces_of_a_line_give_their_mean(rated):
    translator = Translator.load(rated)
    pieces = [Piece(text, cut(translator, text)[0].ids) for text in sentences(3, 5)]
    found = find(translator, pieces, SEARCH)
    both = [rate(translator, s, each, SEARCH) for s, each in zip(pieces, found, strict=True)]
    [joined] = join(translator, pieces, [h for h, _ in both], [r for _, r in both])
    each = [found.quality for _, [found] in both]
    assert min(each) < (joined.quality or 0) < max(each)
    assert {*joined.defects} == {defect for _, [found] in both for defect in found.defects}


def test_a_defect_halves_the_quality(rated):
    translator = Translator.load(rated)
    for target, defects in (("die Katze sieht", ()), ("die Katze die Katze die Katze", ("loop",))):
        found = rate_text(translator, "the cat sees", target)
        assert found.defects == defects
        [piece] = cut(translator, "the cat sees")
        [tokens] = translator.tokenizer.encode_target([target])
        features = examine(translator, piece, Hypothesis(tokens, 0.0, 0.0), SEARCH)
        assert found.quality == QUALITY.rate(features) / 2 ** len(defects)


def test_a_calibration_compares_what_a_user_reads(rated):
    """With capitals, tags and placeholders, which the model has not written."""
    translator = Translator.load(rated)
    lines = ["the cat sees a dog", "THE CAT SEES", "<li>the <b>cat</b> sees {name}"]
    references = translator.translate(lines)
    assert examine_lines(translator, lines, references)[:, 0] == pytest.approx([1.0] * 3)
    config = replace(small_config(translator.tokenizer).model, num_decoder_layers=0)
    shallow = Translator(Transformer(config), translator.tokenizer)
    assert not np.isnan(examine_lines(shallow, lines, references)).any()


def test_commands_print_it_and_learn_it(rated, model_directory, tmp_path, capsys):
    model, lines = tmp_path / "model", [*sentences(7, 7), ""]
    shutil.copytree(model_directory, model)
    source, reference, out = (tmp_path / name for name in ("a.en", "a.de", "out"))
    source.write_text("".join(f"{line}\n" for line in lines))
    reference.write_text("".join(f"{translate_words(line)}\n" for line in lines))
    words = ["--input", str(source), "--output", str(out), "--quality", "--search.max-extra", "7"]
    with pytest.raises(HeadwayError, match=r"evaluate .*model --source .* --calibrate"):
        dispatch(["translate", str(model), *words])
    assert not out.exists()
    names = ["--source", str(source), "--reference", str(reference), "--threads", "1"]
    assert dispatch(["evaluate", str(model), *names, "--calibrate"]) == 0
    assert "quality.json: from 7 sentences" in capsys.readouterr().out
    assert QualityModel.load(model).sentences == 7
    spearman = round(QualityModel.load(model).spearman, 3)
    for directory, shown in (
        (model, {"spearman": spearman, "sentences": 7}),
        (model_directory, {}),
    ):
        assert dispatch(["info", str(directory), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["quality"] == shown
    translator = Translator.load(rated)
    translator.save_pretrained(tmp_path / "copy")
    assert QualityModel.load(tmp_path / "copy") == QUALITY
    assert dispatch(["translate", str(tmp_path / "copy"), *words, "--threads", "1"]) == 0
    stream = translator.stream(lines, SEARCH, quality=True)
    expected = [f"{t.quality:.4f}\t{t.text}\t{t.notes}" for t, *_ in stream]
    assert out.read_text().splitlines() == expected
