"""Several models that translate together: the mean of their probabilities, whatever else is asked for."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from test_search import EOS, PAD, Toy, brute_force_of

from headway.cli.main import dispatch
from headway.config import SearchConfig, TextConfig
from headway.errors import HeadwayError, UsageError
from headway.ext.native.native_engine import NativeEngine, NativeEnsemble
from headway.text.tokenizer import Tokenizer
from headway.translation import Hypothesis, StepDecoding, Translator, beam_search
from headway.translation.engines.ensemble import (
    EnsembleEngine,
    EnsembleState,
    read_tokens,
)
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import (
    PRECISIONS,
    SHAPES,
    VOCAB,
    attend,
    library,
    model_of,
    native,
    search,
    sources,
)
from support.segments import cut, find
from support.toy_models import sentences, translate_words, write_random_model

SEARCH = SearchConfig(max_extra=7)
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def directories(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three models with random weights and the same vocabulary."""
    root = tmp_path_factory.mktemp("ensemble")
    return [write_random_model(root / str(seed), tokenizer, seed=seed) for seed in (5, 6, 7)]


@pytest.fixture(scope="module")
def ensemble(directories: list[Path]) -> Translator:
    return Translator.load(directories)


def test_the_attention_of_an_ensemble_is_the_mean_of_its_models() -> None:
    engines = [PlainEngine(model_of(SHAPES["plain"], seed)) for seed in (1, 2)]
    texts = sources(3)
    targets = [[*text, EOS] for text in texts]
    with torch.inference_mode():
        found = attend(EnsembleEngine(engines, VOCAB - 1, torch.device("cpu")), texts, targets)
        one, other = (attend(engine, texts, targets) for engine in engines)
    means = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    torch.testing.assert_close(found, means)
    assert not torch.allclose(one[1], other[1])


def test_the_sum_of_an_ensemble_does_not_depend_on_threads() -> None:
    """A long row of probabilities is shared by threads."""
    logits = torch.randn(1, 40_000, generator=torch.Generator().manual_seed(4)) * 3
    found = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            for seed in range(20):
                row = logits.roll(seed)
                decoding = StepDecoding(lambda tokens, state, row=row: row.clone(), None, 0)
                found.append(decoding.candidates(np.array([1]), 2, None).log_z[0])
    finally:
        torch.set_num_threads(threads)
    assert found[:20] == found[20:]
    assert found[0] == pytest.approx(logits.double().logsumexp(-1).item())


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_over_an_ensemble_equals_brute_force(seed: int) -> None:
    toys = [Toy(3, seed, sharpness=2), Toy(3, seed + 10), Toy(3, seed + 20)]
    limits, beam = [5, 3, 4], 200

    def log_p(sentence: int, tokens: Sequence[int]) -> float:
        """The sum of the logarithms of the mean probability of each token."""
        path, total = [PAD, PAD, *tokens], 0.0
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            each = [toy.table[sentence, a, b].softmax(-1)[c].item() for toy in toys]
            total += math.log(sum(each) / len(each))
        return total

    state = EnsembleState([toy.decoding(range(3), beam) for toy in toys])
    found = beam_search(
        StepDecoding(read_tokens, state, PAD),
        limits,
        beam=beam,
        alpha=0.6,
        n_best=7,
        eos=EOS,
        pad=PAD,
    )
    for sentence, hypotheses in enumerate(found):
        expected = brute_force_of(log_p, sentence, limits[sentence], 0.6)[:7]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        for hypothesis, (score, _) in zip(hypotheses, expected, strict=True):
            assert hypothesis.score == pytest.approx(score, abs=1e-5)


def is_close(ours: list[list[Hypothesis]], theirs: list[list[Hypothesis]]) -> bool:
    pairs = [(a, b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)]
    return all(a.tokens == b.tokens and abs(a.score - b.score) < 1e-5 for a, b in pairs)


@pytest.mark.slow
@native
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", ["native", "plain", "both"])
def test_a_model_with_itself_equals_the_model(kind: str, precision: str, beam: int) -> None:
    model, texts = model_of(SHAPES["wide"]), sources(17)
    engines = {
        "native": [NativeEngine(model, precision, library(precision))],
        "plain": [PlainEngine(model, precision)],
    }
    if kind == "both":
        if precision != "fp32":
            pytest.skip("the engines round differently")
        members = engines["native"] + engines["plain"]
    else:
        members = engines[kind] * 3
    together = EnsembleEngine(members, VOCAB - 1, torch.device("cpu"))
    assert is_close(search(together, model, texts, beam), search(members[0], model, texts, beam))


@native
@pytest.mark.parametrize("sharpness", [1, 1e3, 1e5])
def test_native_candidates_equal_those_of_torch(sharpness: float) -> None:
    """Also of tokens that are forced or asked for, and if a probability is too small for a float."""
    models, texts = [model_of(SHAPES["wide"], seed) for seed in (1, 2)], sources(40)
    for model in models:
        model.output.scale *= sharpness
    engines = [NativeEngine(model, "fp32", library("fp32")) for model in models]
    members = [engine.start(texts, 2, 9) for engine in engines]
    plain = StepDecoding(read_tokens, EnsembleState(members), VOCAB - 1)
    ours = EnsembleEngine(engines, VOCAB - 1, torch.device("cpu")).start(texts, 2, 9)
    random = np.random.default_rng(5)
    N = 2 * len(texts)
    tokens = np.full(N, VOCAB - 1)
    asked = np.sort(random.integers(0, VOCAB - 1, (N, 3)))
    for forced in (None, np.where(random.random(N) < 0.5, random.integers(0, VOCAB - 1, N), -1)):
        log_p = plain.logits(tokens).double().numpy()
        found = ours.candidates(tokens, 4, forced, asked)
        assert (found.log_z == 0).all()
        np.testing.assert_allclose(found.asked, np.take_along_axis(log_p, asked, 1), **CLOSE)
        is_free = np.full(N, True) if forced is None else forced < 0
        if forced is not None:
            assert (found.tokens[~is_free, 0] == forced[~is_free]).all()
            assert (found.logits[~is_free, 1:] == -np.inf).all()
            theirs = np.take_along_axis(log_p, found.tokens, 1)[~is_free, 0]
            np.testing.assert_allclose(found.logits[~is_free, 0], theirs, **CLOSE)
        ours_p, ids = found.logits[is_free], found.tokens[is_free]
        assert (ids != VOCAB - 1).all()
        assert (np.diff(ours_p) <= 0).all()
        np.testing.assert_allclose(ours_p, np.take_along_axis(log_p[is_free], ids, 1), **CLOSE)
        best = -np.sort(-log_p[is_free, : VOCAB - 1])[:, :4]
        likely = best > -87  # the others are in the order of their ids
        np.testing.assert_allclose(ours_p[likely], best[likely], **CLOSE)
        tokens = np.where(is_free, found.tokens[:, 0], 3)
    assert (found.asked.min() < -200) == (sharpness > 1)


@native
def test_a_native_ensemble_refuses_what_does_not_fit() -> None:
    models = [model_of(SHAPES["wide"], seed) for seed in (1, 2)]
    engines = [NativeEngine(model, "fp32", library("fp32")) for model in models]
    for counts, rows in (((3, 4), 3), ((4, 3), 4), ((3, 3), 2), ((3, 3), 4)):
        members = [
            engine.start(sources(count), 1, 9)
            for engine, count in zip(engines, counts, strict=True)
        ]
        with pytest.raises(RuntimeError):
            NativeEnsemble(members).candidates(np.full(rows, VOCAB - 1), 2, None)
    ensemble = EnsembleEngine(engines, VOCAB - 1, torch.device("cpu"))
    for forced, asked in ((VOCAB, 0), (0, VOCAB), (0, -1)):
        started = ensemble.start(sources(3), 1, 9)
        with pytest.raises(IndexError):
            started.candidates(np.full(3, VOCAB - 1), 2, np.full(3, forced), np.full((3, 1), asked))


@native
def test_a_model_of_an_ensemble_that_predicts_no_numbers_is_found() -> None:
    models, texts = [model_of(SHAPES["wide"], seed) for seed in (1, 2)], sources(3)
    with torch.no_grad():
        models[1].target_positions.table_of(9)[:] = math.nan
    engines = [NativeEngine(model, "fp32", library("fp32")) for model in models]
    with pytest.raises(HeadwayError, match="not finite"):
        search(EnsembleEngine(engines, VOCAB - 1, torch.device("cpu")), models[0], texts)


@pytest.mark.slow
@native
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_sentence_alone_equals_itself_in_a_batch_bit_for_bit(precision: str) -> None:
    models, texts = [model_of(SHAPES["wide"], seed) for seed in (1, 2)], sources(37)
    engine = EnsembleEngine(
        [NativeEngine(model, precision, library(precision)) for model in models],
        VOCAB - 1,
        torch.device("cpu"),
    )
    together = search(engine, models[0], texts)
    assert [search(engine, models[0], [text])[0] for text in texts] == together
    assert together != search(engine.engines[0], models[0], texts)


@pytest.mark.slow
def test_the_order_of_the_models_does_not_matter(
    ensemble: Translator, directories: list[Path]
) -> None:
    lines = sentences(30, 4)
    for settings in (SEARCH, replace(SEARCH, sample=True), replace(SEARCH, beam=1)):
        found = ensemble.translate(lines, settings)
        assert Translator.load(directories[::-1]).translate(lines, settings) == found
        assert Translator.load(directories[0]).translate(lines, settings) != found


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{"beam": 1}, {"beam": 4}, {"n_best": 3, "sample": True}, {"n_best": 3}],
    ids=["greedy", "beam", "samples", "n-best"],
)
def test_a_score_equals_what_the_search_reports(
    ensemble: Translator, settings: dict[str, int]
) -> None:
    search, lines = replace(SEARCH, alpha=0.0, **settings), sentences(20, 6)
    segments = [cut(ensemble, line)[0] for line in lines]
    for segment, hypotheses in zip(segments, find(ensemble, segments, search), strict=True):
        targets = [h.tokens for h in hypotheses]
        scores = ensemble.score_tokens([segment.ids] * len(targets), targets)
        for hypothesis, score in zip(hypotheses, scores, strict=True):
            assert hypothesis.log_probability == pytest.approx(score, abs=1e-3)


def test_the_probability_is_the_mean_of_the_models(
    ensemble: Translator, directories: list[Path]
) -> None:
    """For a translation of one token after ``</s>`` is forced: the empty one."""
    lines = sentences(9, 3)
    each = [Translator.load(path).score(lines, [""] * 9) for path in directories]
    for line, *scores in zip(lines, *each, strict=True):
        expected = math.log(sum(map(math.exp, scores)) / len(scores))
        assert ensemble.score(line, "") == pytest.approx(expected, abs=1e-4)


def test_an_ensemble_aligns_words_and_keeps_prefixes(ensemble: Translator) -> None:
    for [found] in ensemble.stream(sentences(5, 2), SEARCH, prefix="die Katze", align=True):
        assert found.text.startswith("die Katze")
        assert found.alignment is not None
        assert {target for _, target in found.alignment} == set(range(len(found.text.split())))


def test_models_of_other_vocabularies_or_languages_are_refused(
    directories: list[Path], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    pairs = [(text, translate_words(text)) for text in sentences(400, 2)]
    other = write_random_model(
        tmp_path / "other", Tokenizer.learn(pairs, TextConfig(vocab_size=329))
    )
    with pytest.raises(UsageError, match="other: another vocabulary than"):
        Translator.load([directories[0], other])
    back = write_random_model(tmp_path / "back", tokenizer, ("de", "en"))
    with pytest.raises(UsageError, match="back: translates from de to en, but"):
        Translator.load([directories[0], back])
    with pytest.raises(UsageError, match="no model"):
        Translator.load([])


def test_an_ensemble_cannot_be_saved_as_one_model(ensemble: Translator, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="save each of its models"):
        ensemble.save_pretrained(tmp_path / "model")


@pytest.mark.parametrize("verb", ["translate", "evaluate"])
def test_the_command_refuses_models_that_do_not_fit(
    verb: str,
    directories: list[Path],
    tokenizer: Tokenizer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from headway.cli.main import main

    back = write_random_model(tmp_path / "back", tokenizer, ("de", "en"))
    (tmp_path / "text").write_text("the cat\n")
    files = {"translate": ["--input", "--output"], "evaluate": ["--source", "--reference"]}[verb]
    names = [str(tmp_path / "text"), str(tmp_path / ("out" if verb == "translate" else "text"))]
    words = [word for pair in zip(files, names, strict=True) for word in pair]
    with pytest.raises(SystemExit) as exit:
        main([verb, str(directories[0]), str(back), *words])
    assert exit.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_an_output_depends_on_all_models(
    directories: list[Path],
    ensemble: Translator,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from headway.cli import file_translation

    monkeypatch.setattr(file_translation, "WINDOW", 5)
    lines, text, out = sentences(17, 8), tmp_path / "text", tmp_path / "out"
    text.write_text("".join(f"{line}\n" for line in lines))
    format_lines, calls = file_translation.format_lines, []

    def translate(models: list[Path], stop: int) -> None:
        """Translate, and stop in the line ``stop`` as a killed process does."""

        def end(line, *rest):
            calls.append(line)
            if len(calls) == stop:
                raise KeyboardInterrupt
            return format_lines(line, *rest)

        calls.clear()
        monkeypatch.setattr(file_translation, "format_lines", end)
        dispatch(
            ["translate", *map(str, models), "--input", str(text), "--output", str(out),
             "--workers", "1", "--search.max-extra", "7"]
        )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        translate(directories, 12)
    with pytest.raises(KeyboardInterrupt):
        translate(directories, 4)
    assert "goes on, 10 of 17 lines are done" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        translate([*directories[:2], directories[1]], 8)
    assert "starts again from line 1 (changed since: model)" in capsys.readouterr().err
    with pytest.raises(KeyboardInterrupt):
        translate(directories, 8)
    translate(directories, 0)
    assert out.read_text().splitlines() == ensemble.translate(lines, SEARCH)
