"""Quality: it depends on a piece alone, follows the features, and broken translations are replaced by sounder ones."""

import json
import random
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from headway import Glossary, SearchConfig, Translator
from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.protect import compare_numbers
from headway.ext.protect.masked_source import MarkedText, PlaceholderWord
from headway.ext.quality import rating
from headway.ext.quality.calibrating import count_learned
from headway.ext.quality.calibration import examine_lines
from headway.ext.quality.defects import count_copies, find_defects, has_loop, keeps_words
from headway.ext.quality.evidence import (
    FEATURES,
    TranslationAsRead,
    measure_attention,
    measure_features,
)
from headway.ext.quality.other_searches import list_ways, require_numbers
from headway.ext.quality.quality_model import FILE, QualityModel, rank_correlation
from headway.model import Transformer, watch
from headway.text import Tokenizer
from headway.translation import (
    Constraint,
    Hypothesis,
    Job,
    Piece,
    find_alternatives,
    single_layer,
    spell_words,
)
from support.engines import native
from support.extended_pieces import choose, examine, examine_together, rate
from support.pieces import cut, find, join, log_probabilities
from support.toy_models import sentences, small_config, translate_words, write_random_model

SEARCH = SearchConfig(max_extra=7)
LANGUAGES = "en", "de"
QUALITY = QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5))


@pytest.fixture(scope="module")
def rated(model_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with random weights, which translates into loops, and a quality."""
    path = tmp_path_factory.mktemp("rated") / "model"
    shutil.copytree(model_directory, path)
    QUALITY.save(path)
    return path


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A random model whose subwords are also digits and words of numbers."""
    source, target = (
        "13 102 17 29 56% 2,5 1957 dogs see",
        "dreizehn zwölf Hunde sehen Katzen und eine 56% 73",
    )
    pairs = [
        (f"{text} {source}", f"{translate_words(text)} {target} 102") for text in sentences(400, 1)
    ]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=371))
    return Translator.load(write_random_model(tmp_path_factory.mktemp("numbered"), tokenizer))


@pytest.mark.parametrize(
    ("source", "translation", "found"),
    [
        ("the cat sees", "die Katze sieht", ()),
        ("no, no, no!", "nein, nein, nein!", ()),  # as in the source
        ("the cat sees", "die Katze die Katze die Katze", ("loop",)),
        ("the nation", "die Nationalalalalalal", ("loop",)),
        ("in 1990, 1,000 came", "1990 kamen 1.000", ()),
        ("in 1990", "im Jahr 1991", ("numbers",)),
        ("two of 12", "2 von zwölf", ()),
        ("the cat sees a dog", "the cat sees a dog", ("untranslated",)),
        ("the cat sees a dog", " ", ("untranslated",)),
        ("Page {n} of {m}", "{n} {m}", ("untranslated",)),
        ("{n} minutes", "{n} Minuten", ()),
        ("a {n}", "1 {n}", ()),
        ("{a}: {n}", "{a}: {n}", ()),
        ("London, Paris, New York", "London, Paris, New York", ()),
        ("1" * 5000, "1" * 5000, ()),
    ],
)
def test_defects_are_found_in_the_texts_alone(
    source: str, translation: str, found: tuple[str, ...]
) -> None:
    assert find_defects(source, translation, LANGUAGES) == found


def test_a_loop_of_any_period_is_counted() -> None:
    chooser = random.Random(1)
    for period, copies in product((1, 2, 5, 12), (1, 2, 3, 5)):
        words = [f"{n}" for n in range(period)] * copies
        around = [chooser.choice("abc") + str(n) for n in range(5)]
        assert count_copies([*around, *words, *around], period) == copies
    assert find_defects("a b", "ein 猫猫猫", LANGUAGES) == ()
    assert find_defects("a b", "我看猫看猫看猫", ("en", "zh")) == ("loop",)


def test_loops_are_found_in_every_script_and_characters_of_one_number_are_none() -> None:
    for text, language in (
        ("好好好好好好", "zh"),
        ("好！！好！！好！！", "zh"),
        ("GPT-4、GPT-4、GPT-4、", "zh"),
        ("一一一一一", "zh"),
        ("ไปไปไป", "th"),
        ("2000 2000 2000", "de"),
        ("किकिकिकिकि", "hi"),
        ("किताब किताब किताब", "hi"),
    ):
        assert has_loop(text, language), text
    for text, language in (
        ("他出生于2000年。等等………", "zh"),
        ("二〇〇〇年, WWW、PPPoE", "zh"),
        ("一九九九年", "ja"),
        ("1.000.000.000 Euro", "de"),
        ("1 000 000 000 euros", "fr"),
        ("सससुर", "hi"),
    ):
        assert not has_loop(text, language), text


@pytest.mark.slow
def test_no_better_feature_lowers_the_quality_and_it_is_calibrated() -> None:
    chooser = np.random.default_rng(2)
    features = chooser.normal(size=(151, len(FEATURES)))
    # One feature helps, one harms (it gets weight 0), and one is constant.
    features[:, 2] = 1.0
    truth = 1 / (1 + np.exp(-(0.3 + 1.5 * features[:, 0] - 0.9 * features[:, 1])))
    model = QualityModel.fit(features, truth)
    weights = [*model.weights.values()]
    assert min(weights) >= 0
    assert weights[0] == pytest.approx(1.1, abs=0.3)
    assert weights[1] == weights[2] == 0
    rated = np.array([model.rate(row) for row in features])
    assert rated.mean() == pytest.approx(truth.mean(), abs=1e-6)
    assert 0.7 < model.spearman < rank_correlation(rated, truth) + 0.02
    for column in range(len(FEATURES)):
        better = features.copy()
        better[:, column] += chooser.uniform(0, 3, size=151)
        assert all(model.rate(row) >= before for row, before in zip(better, rated, strict=True))
    assert 0 <= model.rate(np.full(len(FEATURES), -1e9)) < 1e-9
    for score in (0.0, 1.0):  # all alike
        few = QualityModel.fit(features[:3], np.full(3, score))
        assert few.rate(features[0]) == pytest.approx(score, abs=0.05)
    with pytest.raises(HeadwayError, match="no sentences"):
        QualityModel.fit(features[:0], truth[:0])


@pytest.mark.slow
def test_the_fit_of_nearly_perfect_translations_is_a_good_one() -> None:
    """Where nearly all scores are 1, steps that are too long end anywhere, and a feature that tells has no weight."""
    count, bad = 300, 5
    features = np.random.default_rng(1).normal(size=(count, len(FEATURES))) * 0.01
    features[:bad, 7] -= 1
    scores = np.ones(count)
    scores[:bad] = 0.5
    model = QualityModel.fit(features, scores)
    assert max(model.weights, key=lambda name: model.weights[name]) == [*FEATURES][7]
    assert all(abs(model.rate(row) - 0.5) < 0.2 for row in features[:bad])
    assert all(model.rate(row) > 0.97 for row in features[bad:])


def test_a_quality_is_stored_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match=r"no quality\.json.*headway evaluate .* --calibrate"):
        QualityModel.load(tmp_path)
    model = QualityModel(-0.1 / 3, {name: n / 7 for n, name in enumerate(FEATURES)}, 19, 0.6)
    model.save(tmp_path)
    assert QualityModel.load(tmp_path) == model
    whole = (tmp_path / FILE).read_text()
    values = json.loads(whole)
    weights = values["weights"]
    changes: list[dict[str, object]] = [
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


def test_features_are_those_of_the_forward_pass(translator: Translator) -> None:
    [piece] = cut(translator, "the cat sees a dog")
    [[best]] = find(translator, [piece], SEARCH)
    [evidence] = examine(translator, piece, [best], SEARCH)
    with torch.inference_mode(), watch(translator.model) as seen:
        logits = translator.model(torch.tensor([piece.ids]), torch.tensor([best.tokens]))[0]
    log_p = logits.log_softmax(-1)[range(len(best.tokens)), best.tokens]
    [layer] = single_layer(translator.model.config)
    weights = seen.attention[f"decoder.layers.{layer}.cross"][0].mean(0)
    texts = (evidence.source, evidence.translation)
    translated = TranslationAsRead(piece.ids, best.tokens, texts)
    features = measure_features(translated, log_p.double().numpy(), measure_attention(weights))
    assert evidence.features == pytest.approx(features, rel=1e-4)
    # An ensemble of equal models is the model.
    twice = Translator(translator.model, translator.tokenizer, others=translator.models)
    [of_two] = examine(twice, piece, [best], SEARCH)
    assert of_two.features == pytest.approx(evidence.features, rel=1e-5)


def test_features_by_hand() -> None:
    # Two source tokens and </s>, three target tokens and </s>, of which one was forced.
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.75, 0.0, 0.25], [0.1, 0.2, 0.7], [0.0, 0.1, 0.9]])
    attended = measure_attention(weights)
    assert attended[0] == pytest.approx((1 + 0.6) / 2)
    assert attended[1] == pytest.approx((0.5 + 0.75 + 0.7 + 0.9) / 4)
    log_p = np.log([0.5, 1e-9, 0.25, 0.75])
    translated = TranslationAsRead((7, 8, 2), (5, 5, 5, 2), ("the cat sees 21", "the 21 35"), (1,))
    assert measure_features(translated, log_p, attended).tolist() == pytest.approx(
        [
            (0.5 + 0.25 + 0.75) / 3,
            np.log(0.25),
            -np.log(4 / 3),
            *attended,
            2 / 3,  # (5, 5) stands twice
            2 / 3,  # "the" is copied
            1 / 2,
        ]
    )
    assert measure_features(translated._replace(forced=()), log_p, attended)[1] == -10.0


def test_tokens_that_a_translation_had_to_begin_with_do_not_count(translator: Translator) -> None:
    [piece] = cut(translator, "the cat sees a dog")
    [[best]] = find(translator, [piece], SEARCH)
    [log_p] = log_probabilities(translator.token_search, [piece.ids], [best.tokens], SEARCH)
    for prefix in (0, 1, len(best.tokens) - 1, len(best.tokens)):
        [evidence] = examine(translator, piece, [best], SEARCH, [0] * prefix)
        free = log_p[min(prefix, len(log_p) - 1) :]
        assert evidence.features[0] == pytest.approx(np.exp(free).mean())


def test_a_translation_by_a_decoder_without_layers_has_features(tokenizer: Tokenizer) -> None:
    config = replace(small_config(tokenizer).model, num_decoder_layers=0)
    translator = Translator(Transformer(config), tokenizer)
    [piece] = cut(translator, "the cat sees a dog")
    [tokens] = tokenizer.encode_target(["die Katze sieht einen Hund"])
    [evidence] = examine(translator, piece, [Hypothesis(tokens, 0.0, 0.0)], SEARCH)
    focus = evidence.features[list(FEATURES).index("focus")]
    assert focus == pytest.approx(1 / len(piece.ids))


@native
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_the_features_of_a_translation_depend_on_no_other(
    translator: Translator, precision: str
) -> None:
    """Bit by bit, among translations of all lengths."""
    search = replace(SEARCH, precision=precision)
    pieces = [cut(translator, line)[0] for line in sentences(12, seed=3)]
    found = find(translator, pieces, search)
    pairs = [(piece, [best]) for piece, [best, *_] in zip(pieces, found, strict=True)]
    together = [each for [each] in examine_together(translator, pairs, search)]
    for pair, evidence in zip(pairs, together, strict=True):
        [alone] = examine(translator, *pair, search)
        assert (alone.source, alone.translation) == (evidence.source, evidence.translation)
        assert alone.features.tolist() == evidence.features.tolist()
    assert len({evidence.features[0] for evidence in together}) > 8


def test_tokens_that_a_translation_had_to_contain_do_not_count(translator: Translator) -> None:
    """Where a glossary asks for what the model writes anyway, only the free tokens are fewer."""
    tokenizer = translator.tokenizer
    own = translator.with_glossary(Glossary.of({"dog": "Hund"}))
    [piece], [asked] = (cut(each, "the cat sees a dog") for each in (translator, own))
    [tokens] = tokenizer.encode_target(["die Katze sieht einen Hund"])
    best = Hypothesis(tokens, 0.0, 0.0)
    [constraint] = asked.masked_sources[0].constraints
    [span] = find_alternatives(tokenizer, [constraint.alternatives], tokens).values()
    [log_p] = log_probabilities(translator.token_search, [piece.ids], [tokens], SEARCH)
    free = np.delete(log_p, range(*span))
    [plain] = examine(translator, piece, [best], SEARCH)
    [evidence] = examine(own, asked, [best], SEARCH)
    found = evidence.features
    assert found[:2] == pytest.approx([np.exp(free).mean(), max(-10.0, free.min())], rel=1e-5)
    assert found[2:] == pytest.approx(plain.features[2:])


def test_a_repair_of_numbers_keeps_the_words(rated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator.load(rated)
    [piece] = cut(translator, "40 dogs see 17 cats")

    def write(*texts: str) -> list[Hypothesis]:
        return [Hypothesis(ids, 0.0, 0.0) for ids in translator.tokenizer.encode_target(texts)]

    def repair(first: str, *ways: list[Hypothesis]) -> str:
        found = iter(ways)
        monkeypatch.setattr(rating, "list_ways", lambda *_: [(piece, SEARCH)] * len(ways))

        def find(*_: object) -> Job[list[Hypothesis]]:
            yield []
            return next(found)

        monkeypatch.setattr(rating, "find_translations", find)
        best, *_ = rate(translator, piece, write(first), SEARCH).hypotheses
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
@pytest.mark.slow
def test_quality_depends_on_the_line_alone(rated: Path) -> None:
    translator = Translator.load(rated)
    lines = [*sentences(3, 8), "", "the cat {name} sees 1990 <b>dogs</b>"]
    search = replace(SEARCH, n_best=2)
    alone = [next(translator.stream([line], search, quality=True)) for line in lines]
    order = random.Random(3).sample(range(len(lines)), len(lines))
    other = replace(search, batch_tokens=41)
    together = translator.stream([lines[i] for i in order], other, quality=True, window=3)
    for i, n_best in zip(order, together, strict=True):
        assert [(t.text, t.quality, t.notes) for t in n_best] == [
            (t.text, t.quality, t.notes) for t in alone[i]
        ]
        assert all(t.quality is not None and 0 <= t.quality <= 1 for t in n_best)


@pytest.mark.slow
def test_a_translation_is_only_replaced_by_a_sounder_one(rated: Path) -> None:
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


def test_numbers_of_the_source_are_forced_into_a_new_translation(numbered: Translator) -> None:
    translator, tokenizer = numbered, numbered.tokenizer
    for line in ("the 1,957 dogs", "a dog runs 2.753,19 <b>under</b> {x}"):
        [piece] = cut(translator, line)
        (searched, wide), *_ = list_ways(tokenizer, piece, ["numbers"], SEARCH)
        candidates = choose(translator.token_search, searched, wide)
        assert candidates
        # The numbers are no choice of the model.
        [forced] = examine(translator, searched, [candidates[0]], SEARCH)
        [free] = examine(translator, piece, [candidates[0]], SEARCH)
        assert forced.features[0] != free.features[0]
        assert forced.features[2:].tolist() == free.features[2:].tolist()
        for candidate in candidates:
            [[written]] = [join(translator, [piece], [[candidate]])]
            assert not compare_numbers(line, written.text).different


def test_numbers_in_terms_are_those_of_their_renderings(numbered: Translator) -> None:
    """Neither a word that a glossary prescribes for a number is wrong, nor is the number required beside it."""
    tokenizer = numbered.tokenizer
    terms = {"13 dogs": ["13 Hunde", "dreizehn Hunde"], "a cat": "17 Katzen", "dog": "Hund"}
    own = numbered.with_glossary(Glossary.of(terms))
    [piece] = cut(own, "13 dogs see a cat and 29 dog")
    for translation, defects in (
        ("dreizehn Hunde sehen 17 Katzen und 29 Hund", ()),
        ("zwölf Hunde sehen 17 Katzen und 29 Hund", ("numbers",)),
        ("dreizehn Hunde sehen 17 Katzen und 28 Hund", ("numbers",)),
    ):
        [tokens] = tokenizer.encode_target([translation])
        hypothesis = Hypothesis(tokens, 0.0, 0.0)
        [evidence] = examine(own, piece, [hypothesis], SEARCH)
        assert find_defects(evidence.source, evidence.translation, LANGUAGES) == defects
        # The features have the same numbers.
        assert (evidence.features[list(FEATURES).index("numbers")] == 1) == (not defects)
    required = require_numbers(piece, tokenizer).masked_sources[0].constraints
    assert len(required) == len(piece.masked_sources[0].constraints) + 1  # 29


def test_numbers_that_a_masked_source_requires_anyway_are_required_once(
    numbered: Translator,
) -> None:
    tokenizer = numbered.tokenizer
    marked = MarkedText("the 102 dogs, 56% of {name}", tokenizer, keep=True, glossary=None)
    placeholder_word = PlaceholderWord("17 cats", spell_words(tokenizer, ["17 Katzen"]))
    masked = marked.write(marked.parts(marked.text), [placeholder_word])
    assert masked.text == "the 102 dogs, 56% of 17 cats"
    piece = Piece("the 102 dogs, 56% of {name}", masked.ids, (masked,))
    [required] = require_numbers(piece, tokenizer).masked_sources
    assert required.constraints == (
        *masked.constraints,
        Constraint(spell_words(tokenizer, ["102"])),
    )


def test_pieces_of_a_line_give_their_mean(rated: Path) -> None:
    translator = Translator.load(rated)
    pieces = [Piece(text, cut(translator, text)[0].ids) for text in sentences(3, 5)]
    found = find(translator, pieces, SEARCH)
    both = [rate(translator, s, each, SEARCH) for s, each in zip(pieces, found, strict=True)]
    hypotheses: list[list[Hypothesis]] = [each.hypotheses for each in both]
    ratings = [each.ratings for each in both]
    [joined] = join(translator, pieces, hypotheses, ratings)
    each = [rating.quality for [rating] in ratings]
    assert min(each) < (joined.quality or 0) < max(each)
    assert {*joined.defects} == {defect for [rating] in ratings for defect in rating.defects}


def test_a_defect_halves_the_quality(rated: Path) -> None:
    translator = Translator.load(rated)
    [piece] = cut(translator, "the cat sees")
    [[best]] = find(translator, [piece], SEARCH)
    [tokens] = translator.tokenizer.encode_target(["die Katze die Katze die Katze"])
    loop = best._replace(tokens=tokens)
    found = rate(translator, piece, [best, loop], replace(SEARCH, sample=True))  # not replaced
    assert [each.defects for each in found.ratings] == [(), ("loop",)]
    for hypothesis, rated_so in zip(*found, strict=True):
        [evidence] = examine(translator, piece, [hypothesis], SEARCH)
        assert rated_so.quality == QUALITY.rate(evidence.features) / 2 ** len(rated_so.defects)


def test_a_calibration_compares_what_a_user_reads(rated: Path) -> None:
    """With capitals, tags and placeholders, which the model has not written."""
    translator = Translator.load(rated)
    lines = ["the cat sees a dog", "THE CAT SEES", "<li>the <b>cat</b> sees {name}"]
    references = translator.translate(lines)
    assert examine_lines(translator, lines, references)[:, 0] == pytest.approx([100.0] * 3)


@pytest.mark.slow
def test_commands_print_it_and_learn_it(
    rated: Path,
    model_directory: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
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
    replace(QUALITY, sentences=9).save(model)  # fewer lines do not take the place of more
    before = (model / "quality.json").read_bytes()
    with pytest.raises(HeadwayError, match="learned from 9 sentences, and this text has 8 lines"):
        dispatch(["evaluate", str(model), *names, "--calibrate"])
    assert (model / "quality.json").read_bytes() == before
    (model / "quality.json").write_text("garbage")  # but anything takes the place of a damaged one
    assert count_learned(model) == 0

    translator = Translator.load(rated)
    translator.save_pretrained(tmp_path / "copy")
    assert QualityModel.load(tmp_path / "copy") == QUALITY
    assert dispatch(["translate", str(tmp_path / "copy"), *words, "--threads", "1"]) == 0
    stream = translator.stream(lines, SEARCH, quality=True)
    expected = [f"{t.quality:.4f}\t{t.text}\t{t.notes}" for t, *_ in stream]
    assert out.read_text().splitlines() == expected
