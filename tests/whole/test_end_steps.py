"""What extensions learn at the end of a training: a shortlist, the quality of translations, and placeholder words; and their mixers."""

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.native.shortlist import load_shortlist
from headway.ext.protect.learned_placeholder_words import learn_placeholder_words
from headway.ext.protect.placeholder_words import load_placeholder_words
from headway.ext.quality import learned_quality
from headway.ext.quality.quality_model import QualityModel
from headway.text import read_lines
from headway.translation import Translator
from support.groups import files, options, write_languages
from support.runs import command, write_corpus

PAIRS = ("en-de", "en-fr", "de-en")
SHORT = {"training__max_steps": 2, "training__validate_every": 2, "training__checkpoint_every": 2}


def test_a_run_ends_although_no_validation_line_is_translated_as_one(tmp_path, capsys):
    """A line in several parts teaches nothing about the quality, so that there may be no line left."""
    corpus = write_corpus(tmp_path, train=60, valid=5)
    for name in ("valid.en", "valid.de"):
        lines = (tmp_path / name).read_text().splitlines()
        (tmp_path / name).write_text("".join(f"{' '.join([line] * 9)}\n" for line in lines))
    line = [*command(tmp_path / "run", corpus, **SHORT), "--search.max-tokens", "4"]
    line.remove("--quiet")
    assert dispatch(line) == 0
    assert "no quality.json" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["finished"]
    assert not (tmp_path / "run" / "quality.json").exists()


def test_a_run_calibrates_its_model_and_the_copies_of_it_at_its_end(uninterrupted_run):
    assert QualityModel.load(uninterrupted_run).sentences == 7  # of the validation text
    weights, quality = (
        {folder: (uninterrupted_run / folder / name) for folder in (".", "best", "averaged")}
        for name in ("model.safetensors", "quality.json")
    )
    for folder in ("best", "averaged"):
        if weights[folder].read_bytes() == weights["."].read_bytes():
            assert quality[folder].read_bytes() == quality["."].read_bytes()
        else:
            assert not quality[folder].exists()


def test_the_ranks_share_what_is_translated_at_the_end(corpus, tmp_path, monkeypatch):
    context = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda _: context)
    monkeypatch.setattr(learned_quality, "BATCH", 3)
    examine_lines = learned_quality.examine_lines

    def note(translator, sources, references):
        with (tmp_path / f"lines-{os.environ.get('RANK', 'alone')}").open("a") as file:
            file.writelines(f"{line}\n" for line in sources)
        return examine_lines(translator, sources, references)

    monkeypatch.setattr(learned_quality, "examine_lines", note)
    for ranks in ("1", "2"):
        assert dispatch([*command(tmp_path / ranks, corpus, **SHORT), "--ranks", ranks]) == 0
    alone, first, second = (
        (tmp_path / f"lines-{rank}").read_text().splitlines() for rank in ("alone", "0", "1")
    )
    assert [*first[:3], *second, *first[3:]] == alone
    assert len(second) == 3
    found = [(tmp_path / ranks / "quality.json").read_bytes() for ranks in ("1", "2")]
    assert found[0] == found[1]


def test_a_step_that_fails_at_the_end_is_a_notice_and_is_taken_again(
    corpus, tmp_path, monkeypatch, capsys
):
    path, whole = tmp_path / "run", tmp_path / "whole"
    assert dispatch(command(whole, corpus, **SHORT)) == 0

    def fail(*_):
        raise KeyError("no such word")

    with monkeypatch.context() as patch:
        patch.setattr(learned_quality, "examine_lines", fail)
        line = command(path, corpus, **SHORT)
        line.remove("--quiet")
        assert dispatch([*line, "--ranks", "1"]) == 0
    assert (
        f"{path / 'quality.json'}: not learned (KeyError('no such word'))"
        in capsys.readouterr().err
    )
    record = json.loads((path / "run.json").read_text())
    assert (record["finished"], record["learned"]) == (True, ["stand_ins.json"])
    assert not (path / "quality.json").exists()
    for said in ("quality.json: learned", "finished"):
        assert dispatch(["train", str(path)]) == 0
        assert said in capsys.readouterr().err
    assert (path / "quality.json").read_bytes() == (whole / "quality.json").read_bytes()


def test_a_finished_run_learns_a_shortlist_when_resumed(
    corpus, uninterrupted_run, tmp_path, capsys
):
    path = tmp_path / "run"
    shutil.copytree(uninterrupted_run, path)
    for said in ("shortlist.safetensors: learned", "finished"):
        assert dispatch(["train", str(path), "--search.shortlist", "9"]) == 0
        assert said in capsys.readouterr().err
    found = load_shortlist(path, (331, 331))
    assert (found.candidates[:, 0] >= 0).sum() > 3
    weights = (path / "model.safetensors").read_bytes()
    assert weights == (uninterrupted_run / "model.safetensors").read_bytes()
    for folder in ("best", "averaged"):  # if it holds the installed model
        is_installed = (path / folder / "model.safetensors").read_bytes() == weights
        assert (path / folder / "shortlist.safetensors").is_file() == is_installed
    text = Path(corpus[1]).read_text().splitlines()[3]
    few, whole = Translator.load(path, "cpu"), Translator.load(uninterrupted_run, "cpu")
    ids = few.tokenizer.encode_source([text])
    listed = found.pick(ids[0], 9, [*ids[0], few.tokenizer.eos]).tolist()
    assert len(listed) < 331
    assert set(next(few.stream([text]))[0].tokens) <= set(few.tokenizer.target_subwords(listed))
    # A shortlist of the whole vocabulary is none; the message for a model without one says how to get one.
    assert few.translate(text, SearchConfig(shortlist=0)) == whole.translate(text)
    with pytest.raises(HeadwayError, match=r"train RUN --search\.shortlist N"):
        whole.translate(text, SearchConfig(shortlist=9))


def test_placeholder_words_are_learned_from_the_training_text_of_each_pair(tmp_path):
    texts, whole = write_languages(tmp_path / "texts"), tmp_path / "run"
    words = command(whole, options(texts, *PAIRS), text__vocab_size=341, training__max_steps=1)
    assert dispatch(words) == 0
    found = load_placeholder_words(whole)
    assert set(found) == set(PAIRS)
    for name, (source, target) in files(texts, "train", *PAIRS).items():
        pairs = dict(zip(*map(read_lines, (source, target)), strict=True))  # the run has each once
        expected = learn_placeholder_words([*pairs], [*pairs.values()])
        assert {phrase.text: phrase.translations for phrase in found[name].phrases} == {
            phrase.text: phrase.translations for phrase in expected.phrases
        }
        assert bool(found[name].phrases) == name.startswith("de")  # English is digits here
        assert found[name].gap == expected.gap
