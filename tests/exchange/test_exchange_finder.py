"""`--engine ctranslate2`: the same translator, another program's search in between."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from conftest import sentences
from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.exchange.ctranslate2_finder import CTranslate2Finder, choose_engine
from headway.inference import Translator
from headway.inference.search import length_penalty
from headway.text.tokenizer import Tokenizer
from support.exchange_models import SMALL, random_model

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    """A model that ends its sentences, as trained ones do: the more it has said, the likelier."""
    shape = replace(SMALL, output_bias=True, positions="learned", max_positions=67)
    model = random_model(tmp_path_factory.mktemp("ending"), tokenizer, shape, sharp=1.3)
    with torch.no_grad():
        # Late positions speak for </s>, which is what its row is made to listen to.
        table = model.transformer.target_positions.table
        direction = torch.linspace(-1, 1, table.size(1))
        table += torch.linspace(0, 2.5, len(table))[:, None] * direction
        model.transformer.output.bias[1] += 1.5  # type: ignore[index]
    from headway.inference import save_model

    save_model(
        model.path, model.transformer, tokenizer, model.config, model.languages, "# A model\n"
    )
    return model.path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(
        "headway.exchange.ctranslate2_finder.cache_directory", lambda: tmp_path / "cache"
    )
    return tmp_path / "cache"


@pytest.mark.parametrize("beam", [1, 4])
def test_the_same_translations_with_the_papers_scores(trained: Path, beam: int) -> None:
    ours, theirs = Translator.load(trained), choose_engine(Translator.load(trained), "ctranslate2")
    search = replace(ours.search, beam=beam, alpha=0.6)
    lines = sentences(40, 11)
    pairs = list(zip(ours.stream(lines, search), theirs.stream(lines, search), strict=True))
    same = sum(a[0].text == b[0].text for a, b in pairs)
    # Their beam search stops by another rule; greedy search has none.
    assert same == 40 if beam == 1 else same >= 36
    for a, b in pairs:
        if a[0].text == b[0].text:
            assert b[0].score == pytest.approx(a[0].score, abs=1e-3)
            assert b[0].log_probability == pytest.approx(a[0].log_probability, abs=1e-3)


def test_the_n_best_are_ranked_by_the_papers_penalty(trained: Path) -> None:
    translator = choose_engine(Translator.load(trained), "ctranslate2")
    search = replace(translator.search, beam=5, n_best=5, alpha=1.7)
    for line, found in zip(lines := sentences(9, 4), translator.stream(lines, search), strict=True):
        scores = [translation.score for translation in found]
        assert scores == sorted(scores, reverse=True)
        for translation in found:
            length = len(translation.tokens) + 1
            score = translation.log_probability / length_penalty(length, 1.7)
            assert translation.score == pytest.approx(score)
            source = translator.tokenizer.encode_source([line])
            ids = [translator.finder.ids[piece] for piece in translation.tokens]  # type: ignore[attr-defined]
            known = translator.score_tokens(source, [[*ids, 1]])[0]
            assert translation.log_probability == pytest.approx(known, abs=1e-3)


def test_the_export_is_made_once_for_the_same_weights(trained: Path, cache: Path) -> None:
    first = choose_engine(Translator.load(trained), "ctranslate2").finder
    made = list((cache / "ctranslate2").iterdir())
    assert len(made) == 1
    before = (made[0] / "model.bin").stat().st_mtime_ns
    again = choose_engine(Translator.load(trained), "ctranslate2").finder
    assert isinstance(first, CTranslate2Finder)
    assert isinstance(again, CTranslate2Finder)
    assert again.export == first.export == made[0]
    assert (made[0] / "model.bin").stat().st_mtime_ns == before
    other = Translator.load(trained)
    with torch.no_grad():
        other.model.source_embedding.weight[5, 3] += 1e-3
    choose_engine(other, "ctranslate2")
    assert len(list((cache / "ctranslate2").iterdir())) == 2


def test_the_exports_used_last_are_kept(
    trained: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.exchange.ctranslate2_finder.KEPT", 2)
    mine = CTranslate2Finder(Translator.load(trained)).export
    others = [mine.with_name(name) for name in ("old", "older", "oldest", ".tmp-1-new")]
    for age, other in enumerate(others):
        other.mkdir()
        os.utime(other, (1e9 - age, 1e9 - age))
    os.utime(mine, (1, 1))
    assert CTranslate2Finder(Translator.load(trained)).export == mine
    assert {path.name for path in mine.parent.iterdir()} == {mine.name, "old", ".tmp-1-new"}


def test_a_model_that_never_ends_is_searched_by_ours(trained: Path) -> None:
    translator = choose_engine(Translator.load(trained), "ctranslate2")
    plain = Translator.load(trained)
    for each in (translator, plain):
        with torch.no_grad():
            each.model.output.bias[1] = -1e4  # type: ignore[index]
    choose_engine(translator, "ctranslate2")
    search = replace(plain.search, max_extra=3)
    lines = sentences(5, 3)
    assert translator.translate(lines, search) == plain.translate(lines, search)


def test_what_only_our_search_does_is_refused(trained: Path, tmp_path: Path) -> None:
    translator = choose_engine(Translator.load(trained), "ctranslate2")
    with pytest.raises(HeadwayError, match="sample"):
        translator.translate("a cat", replace(translator.search, sample=True))
    with pytest.raises(HeadwayError, match="prefix"):
        list(translator.stream(["a cat"], prefix="die"))
    with pytest.raises(HeadwayError, match="must be headway or ctranslate2"):
        choose_engine(translator, "marian")


def test_a_shape_it_cannot_say_is_refused(tmp_path: Path, tokenizer: Tokenizer) -> None:
    random_model(tmp_path / "lstm", tokenizer, replace(SMALL, encoder_mixer="lstm"))
    with pytest.raises(HeadwayError, match="encoder_mixer"):
        choose_engine(Translator.load(tmp_path / "lstm"), "ctranslate2")


def test_evaluate_takes_the_engine(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("source", "reference"):
        (tmp_path / name).write_text("a cat\nthe dog sees\n", encoding="utf-8")
    files = ["--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")]
    outputs = []
    for engine in ("headway", "ctranslate2"):
        out = tmp_path / engine
        arguments = [str(trained), *files, "--engine", engine, "--output", str(out), "--json"]
        assert dispatch(["evaluate", *arguments, "--search.beam", "1"]) == 0
        outputs.append(out.read_text(encoding="utf-8"))
        capsys.readouterr()
    assert outputs[0] == outputs[1]
