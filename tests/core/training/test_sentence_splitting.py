"""Whether a new model divides lines into sentences, which its training text decides."""

import json
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.translation import Translator
from headway.translation.directory import read_config
from support.cases import each_case
from support.pieces import cut
from support.runs import command, opened, words, write_corpus

LINE = "The cat sees a dog. The tree runs."


@pytest.fixture
def run(tmp_path):
    """Returns what starts a run on 150 lines, some of which have two sentences, in tests of a second."""

    def start(several, *more, name="run"):
        corpus = write_corpus(tmp_path / f"{name}-text", train=150, valid=7)
        for language in ("en", "de"):
            path = tmp_path / f"{name}-text" / f"train.{language}"
            lines = path.read_text().splitlines()
            changed = [f"{line}. Not {line}." for line in lines[:several]]
            path.write_text("".join(f"{line}\n" for line in [*changed, *lines[several:]]))
        return opened(tmp_path / name, [*command(tmp_path / name, corpus), *more])

    return start


@each_case
def test_lines_are_split_if_the_training_text_has_single_sentences_and_no_setting_says_otherwise(
    several, more, is_split, run
):
    started = run(several, *more)
    started.begin()
    path = started.directory.path
    assert read_config(path).config.search.split_sentences is is_split
    settings = json.loads((path / "run.json").read_text())["settings"]
    assert settings["search"]["split_sentences"] is is_split
    started.directory.unlock()


def test_a_preset_given_again_does_not_change_what_the_text_decided(run):
    started = run(0, "--preset", "tiny")
    started.begin()
    started.directory.unlock()
    again = run(0, "--preset", "tiny")
    assert again.config.search.split_sentences is True
    again.directory.unlock()


def test_the_text_of_a_fine_tuning_decides_anew(uninterrupted_run, tmp_path, run):
    assert read_config(uninterrupted_run).config.search.split_sentences is True
    corpus = write_corpus(tmp_path / "text", train=150, valid=7)
    path = Path(corpus[1])
    path.write_text("".join(f"{line}. Not {line}.\n" for line in path.read_text().splitlines()))
    tuned = opened(
        tmp_path / "run",
        ["train", str(tmp_path / "run"), *corpus, "--quiet", "--init", str(uninterrupted_run),
         *words({"training.max-steps": 1, "training.threads": 1})],
    )  # fmt: skip
    assert tuned.config.search.split_sentences is False
    tuned.directory.unlock()


def test_all_models_of_a_run_divide_lines_and_info_says_so(uninterrupted_run, capsys):
    for path in (uninterrupted_run, uninterrupted_run / "best", uninterrupted_run / "averaged"):
        translator = Translator.load(path, "cpu")
        assert len(cut(translator, LINE)) == 2
    dispatch(["info", str(uninterrupted_run)])
    assert "sentences of a line               translated one by one" in capsys.readouterr().out
