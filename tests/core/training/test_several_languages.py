"""A model of several pairs of languages: trained, resumed and divided among ranks as any other."""

import json

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.text.prepared import PreparedData
from headway.training import validation
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.translation import Translator, load_model
from support.extensions import needs
from support.groups import LANGUAGES, options, write_languages
from support.runs import assert_equal_runs, command, finished, metrics, opened, perfect_translator

PAIRS = ("en-de", "en-fr", "de-en")
CHANGES = {"text__vocab_size": 341, "training__group_temperature": 3.0, "training__max_steps": 6}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return write_languages(tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def words(texts):
    return options(texts, *PAIRS)


@pytest.fixture(scope="module")
def whole(words, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    threads = torch.get_num_threads()
    assert dispatch(command(path, words, **CHANGES)) == 0
    torch.set_num_threads(threads)
    return path


def test_files_of_a_run_name_its_pairs(whole):
    for folder in (whole, whole / "best"):
        stored = json.loads((folder / "config.json").read_text())
        assert stored["languages"] == ["de", "en"]
        assert stored["pairs"] == [["de", "en"], ["en", "de"], ["en", "fr"]]
    validations = [line for line in metrics(whole) if line["event"] == "validation"]
    for line in validations:
        assert set(line["bleu_of_pairs"]) == set(PAIRS)
        assert line["bleu"] == pytest.approx(sum(line["bleu_of_pairs"].values()) / 3)
    card = (whole / "README.md").read_text()
    assert "- en-fr: BLEU" in card
    assert "from en to de, from en to fr" in card


def test_a_resumed_run_equals_an_uninterrupted_one(words, whole, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, words, **CHANGES))
    for event in run_to_end(run):
        if isinstance(event, StepReport) and run.step == 4:
            break
    run.save()
    run.directory.unlock()
    assert dispatch(["train", str(path), *words, "--quiet"]) == 0
    assert_equal_runs(path, whole)


def test_other_pairs_of_languages_are_refused_at_a_resume(texts, whole):
    with pytest.raises(HeadwayError) as raised:
        dispatch(["train", str(whole), *options(texts, *PAIRS[:2]), "--quiet"])
    assert "--languages was de-en, en-de, en-fr, not en-de, en-fr;" in str(raised.value)


def test_each_pair_is_validated_in_its_own_direction(whole, monkeypatch):
    data = PreparedData.open(whole / "data")
    monkeypatch.setattr(validation, "Translator", perfect_translator(data))
    model = load_model(whole).transformer
    scoring = validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70)
    scores, _ = finished(scoring)
    assert scores.bleu_of_pairs == pytest.approx(dict.fromkeys(PAIRS, 100.0))


def test_fine_tuning_goes_on_with_some_pairs(texts, whole, tmp_path):
    few = {"text__vocab_size": 341, "training__max_steps": 2}
    plain = [word for word in options(texts, "en-fr") if word != "en-fr"]
    for text, message in (
        (plain, "say which of them"),
        (options(texts, "fr-de"), "and the text is from fr to de"),
    ):
        with pytest.raises(HeadwayError, match=message):
            dispatch([*command(tmp_path / "none", text, **few), "--init", str(whole)])
    words = command(tmp_path / "run", options(texts, "en-fr"), **few)
    assert dispatch([*words, "--init", str(whole)]) == 0
    tuned = Translator.load(tmp_path / "run")
    assert tuned.pairs == (("en", "fr"),)
    assert tuned.tokenizer.target_languages == ["de", "en", "fr"]


@needs("native")  # for the time that it takes
def test_a_model_learns_to_obey_the_symbol(tmp_path):
    """Its words are those of the language that is asked for, long before they are the right words."""
    pairs = [("en", "de"), ("en", "fr"), ("fr", "en")]
    texts = write_languages(tmp_path / "texts", train=400)
    words = command(
        tmp_path / "run", options(texts, *map("-".join, pairs)),
        text__vocab_size=341, model__d_model=48, model__d_ff=96, model__dropout=0.0,
        training__max_steps=130, training__batch_tokens=700, training__micro_batch_tokens=700, training__packed="true",
        training__optimizer="muon", training__zero_outputs="true", training__warmup_steps=22, training__rate_scale=0.64,
        training__validate_every=130, training__checkpoint_every=130, training__average=1, training__label_smoothing=0.0,
        training__cool_steps=86,
    )  # fmt: skip
    assert dispatch(words) == 0
    translator = Translator.load(tmp_path / "run")
    for source, target in pairs:
        lines = (texts / f"valid.{source}").read_text(encoding="utf-8").splitlines()
        found = translator.to(target, source).translate(lines)
        words = {LANGUAGES[target](digit) for digit in range(10)}
        assert sum(bool(text) and {*text.split()} <= words for text in found) >= 8, found
