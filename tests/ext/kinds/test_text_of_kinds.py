"""Runs know their text: which files it is from, and by which settings it was prepared; also those of other kinds of model."""

import json
import os
import random
import shutil
import signal
import time

import pytest

from headway.cli.main import dispatch, main
from headway.errors import HeadwayError, UsageError
from headway.ext.kinds import language_model
from headway.text.prepared import PreparedData
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import read_config
from support.processes import fork
from support.ranks import in_ranks
from support.runs import SETTINGS, assert_equal_runs, metrics, words, write_corpus

KINDS = {"lm": "txt", "classify": "tsv"}
# Fewer positions than the longest pair that the preset allows: the texts are prepared with less.
OTHERS = {name: value for name, value in SETTINGS.items() if not name.startswith("text.")}
OTHERS |= {"training.max-steps": 2}
TEXT = {
    "text.vocab-size": 275,
    "text.max-tokens": 40,
    "model.positions": "learned",
    "model.max-positions": 64,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Counting rhymes, and the same with a label: whether the last number is even."""
    folder, chooser = tmp_path_factory.mktemp("texts"), random.Random(7)
    for part, count in (("train", 210), ("valid", 13)):
        rows = [[chooser.randrange(10) for _ in range(chooser.randint(2, 9))] for _ in range(count)]
        lines = [" ".join(map(str, row)) for row in rows]
        (folder / f"{part}.txt").write_text("".join(f"{line}\n" for line in lines))
        labels = ["odd" if row[-1] % 2 else "even" for row in rows]
        pairs = zip(labels, lines, strict=True)
        (folder / f"{part}.tsv").write_text("".join(f"{label}\t{line}\n" for label, line in pairs))
    return folder


def training(verb, path, files, **changes):
    """The command that trains a model of a kind."""
    texts = [f"--{part}={files / f'{part}.{KINDS[verb]}'}" for part in ("train", "valid")]
    settings = SETTINGS | TEXT | {name.replace("__", "."): v for name, v in changes.items()}
    return [verb, str(path), *texts, "--quiet", *words(settings)]


@pytest.fixture(scope="module")
def runs(files, tmp_path_factory):
    """A finished run of each kind, by the command, in one process."""
    folder = tmp_path_factory.mktemp("runs")
    for verb in KINDS:
        assert dispatch([*training(verb, folder / verb, files), "--ranks", "1"]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("verb", KINDS)
def test_the_same_command_resumes_a_killed_run_and_knows_a_finished_one(
    verb, runs, files, tmp_path, capfd
):
    path = tmp_path / "run"
    arguments = [*training(verb, path, files), "--ranks", "1"]
    arguments.remove("--quiet")
    process = fork(main, arguments)
    deadline = time.monotonic() + 120
    while max(RunDirectory(path).steps(), default=0) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    capfd.readouterr()
    assert dispatch(arguments) == 0
    assert "resumed at step" in capfd.readouterr().err
    assert_equal_runs(path, runs / verb)
    assert dispatch(arguments) == 0
    assert "finished; raise --training.max-steps" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("verb", KINDS)
def test_a_run_records_its_text_and_refuses_another(verb, runs, files):
    path = runs / verb
    config = read_config(path).config
    assert (config.text.vocab_size, config.text.max_tokens) == (275, 40)
    names = [list(record) for record in RunDirectory(path).record().files.values()]
    assert [[name.rpartition("/")[2] for name in group] for group in names] == [
        [f"train.{KINDS[verb]}"],
        [f"valid.{KINDS[verb]}"],
    ]
    before = metrics(path)
    arguments = training(verb, path, files)
    other = [word.replace("/valid.", "/train.") for word in arguments]
    with pytest.raises(HeadwayError, match=r"--valid \S+train\.t.. is other text than before"):
        dispatch(other)
    changed = training(verb, path, files, text__vocab_size=274)
    with pytest.raises(HeadwayError, match=r"text\.vocab_size is 275, not 274"):
        dispatch(changed)
    (kind,) = {*KINDS} - {verb}
    with pytest.raises(
        UsageError, match=rf"holds a (language model|classifier): use headway {verb}$"
    ):
        dispatch([kind, str(path), "--training.max-steps", "30"])
    assert metrics(path) == before


@pytest.mark.slow
def test_the_ranks_of_a_launcher_prepare_a_text_once(runs, files, tmp_path, monkeypatch):
    path, said = tmp_path / "run", tmp_path / "said"
    prepare = language_model.prepare

    def prepare_and_say(*args):
        with said.open("a") as file:
            file.write("prepared\n")
        return prepare(*args)

    monkeypatch.setattr(language_model, "prepare", prepare_and_say)
    assert in_ranks(2, dispatch, training("lm", path, files)) == [0, 0]
    assert said.read_text() == "prepared\n"
    assert_equal_runs(path, runs / "lm")


@pytest.mark.slow
def test_a_run_on_prepared_data_has_the_settings_of_their_text(tmp_path, capsys):
    corpus = write_corpus(tmp_path / "corpus", train=150, valid=7)
    data, path = tmp_path / "data", tmp_path / "run"
    text = ["--text.vocab-size", "331", "--text.max-tokens", "33", "--text.drop-empty", "false"]
    assert not dispatch(["prepare", str(data), *corpus, *text])
    file = tmp_path / "settings.toml"  # of the text, only for headway prepare
    file.write_text("[text]\nmax_tokens = 99\n")
    arguments = ["train", str(path), "--data", str(data), "--preset", "tiny", "--config", str(file), "--quiet", *words(OTHERS)]  # fmt: skip
    assert dispatch(arguments) == 0
    assert read_config(path).config.text == PreparedData.open(data).text
    assert read_config(path).config.text.max_tokens == 33
    # The preset and the file, given again, do not bring their own text.
    assert dispatch(arguments) == 0
    assert dispatch(["train", str(path), "--config", str(file), "--quiet"]) == 0
    assert dispatch([*arguments[:2], *arguments[4:]]) == 0  # without --data
    equal = ["--text.max-tokens", "33", "--languages", "en", "de"]
    assert dispatch(["train", str(path), *equal, "--quiet"]) == 0
    with pytest.raises(HeadwayError, match=r"text.max_tokens is 33, not 34: only"):
        dispatch(["train", str(path), "--text.max-tokens", "34"])
    with pytest.raises(UsageError, match=r"--text.max-tokens: was fixed when .*data was prepared"):
        dispatch([*arguments, "--text.max-tokens", "33"])
    for texts in (corpus, corpus[3:]):
        with pytest.raises(HeadwayError, match=r"is other text than before \(not given\)"):
            dispatch(["train", str(path), *texts])
    file.write_text("[text]\nmax_token = 99\n")
    for again in (["train", str(path), "--config", str(file)], arguments):
        with pytest.raises(UsageError, match=r"text\.max_token is not a setting"):
            dispatch(again)
    arguments.remove("--config")
    arguments.remove(str(file))
    # The preset has pairs of up to 256 tokens, the data of up to 33.
    learned = ["--model.positions", "learned", "--model.max-positions"]
    arguments[1] = str(tmp_path / "other")
    # The longest text has fewer tokens than either.
    learned = [*learned, "32"]
    assert dispatch([*arguments, *learned]) == 0
    assert dispatch([*arguments[:2], *arguments[4:], *learned]) == 0
    for verb in (
        ["train", str(tmp_path / "third"), *corpus],
        ["config"],
    ):  # where text is still to be prepared
        with pytest.raises((SystemExit, UsageError)) as raised:
            dispatch([*verb, "--preset", "tiny", *learned])
        said = f"{raised.value} {capsys.readouterr().err}"
        assert "text.max_tokens = 256 is more than model.max_positions = 32 learned" in said
    assert not (tmp_path / "third").exists()


def test_data_of_another_kind_of_model_is_recognized(uninterrupted_run, tmp_path):
    path = shutil.copytree(uninterrupted_run, tmp_path / "run")
    facts = json.loads((path / "data" / "data.json").read_text())
    (path / "data" / "data.json").write_text(json.dumps(facts | {"kind": "language-model"}))
    with pytest.raises(HeadwayError, match=r"model.kind is translator, not language-model"):
        dispatch(["train", str(path), "--quiet"])
