"""`headway translate --input --output`: killed at any moment, it goes on to the same bytes."""

import codecs
import gzip
import json
import os
import random
import shutil
from pathlib import Path

import pytest
import torch

from headway.cli import file_translation
from headway.cli.display import LineProgress
from headway.cli.main import dispatch
from headway.errors import UsageError
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.text.chunks import CAN_FORK
from headway.text.lines import open_bytes, read_lines
from headway.text.work_directory import open_work
from headway.translation import token_search, translator
from support.cases import each_case
from support.processes import fork
from support.toy_models import sentences, write_random_model

needs_workers = pytest.mark.skipif(not CAN_FORK, reason="workers are forked on Linux only")
WINDOW = 5  # lines that are translated together here, so that a small file has many windows
MODES = ([], ["--json", "--search.n-best", "2"], ["--scores", "--alignment", "--prefix", "die"])
TEXT = "\n".join([*sentences(17, 4), "", *sentences(11, 5)]) + "\n"  # 29 lines
SETTINGS = ["--search.max-extra", "7", "--threads", "1"]


class Killed(BaseException):
    """Stands for SIGKILL: nothing of the program may handle it."""


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch):
    monkeypatch.setattr(file_translation, "WINDOW", WINDOW)


class Job:
    """A text, its translation, and the command that makes it.

    Args:
        model: The directory of the model.
        folder: It gets the text, and then the translation.
    """

    def __init__(self, model, folder):
        self.model = model
        self.source, self.out = folder / "text.en", folder / "out"
        self.source.write_text(TEXT, encoding="utf-8")

    def run(self, *words):
        files = ["--input", str(self.source), "--output", str(self.out)]
        dispatch(["translate", str(self.model), *words, *files, *SETTINGS])

    def interrupt(self, *words):
        """Translate two windows of the input."""
        update = LineProgress.update

        def update_once(progress, done, words):
            update(progress, done, words)
            if done >= 2 * WINDOW:
                raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LineProgress, "update", update_once)
            with pytest.raises(KeyboardInterrupt):
                self.run(*words)


@pytest.fixture
def job(model_directory, tmp_path):
    return Job(model_directory, tmp_path)


@pytest.fixture
def unloaded(job, monkeypatch):
    """A translation that must end before the model is loaded."""
    monkeypatch.setattr(translator.Translator, "load", None)
    return job


@pytest.fixture(scope="module")
def translated(model_directory, tmp_path_factory):
    """The translation of the text, done by one process at once."""
    whole = Job(model_directory, tmp_path_factory.mktemp("translated"))
    whole.run()
    return whole.out.read_bytes()


def beside(out):
    """The files in the directory of an output, but for input and output."""
    return {path.name for path in out.parent.iterdir()} - {out.name, "text.en"}


def test_plain_output_has_as_many_lines_for_each_line(job, monkeypatch, capsys):
    lines = ["the cat sees", "", "{a}: {b}", "the dog"]
    job.source.write_text("\n".join(lines) + "\n")
    job.run("--search.n-best", "3")
    written = job.out.read_text().split("\n")
    assert len(written) == 3 * len(lines) + 1
    assert written[3:9] == [""] * 3 + ["{a}: {b}", "", ""]
    assert len(set(written[:3])) == len(set(written[9:12])) == 3
    job.run("--search.n-best", "8", "--search.beam", "8")
    for texts in zip(*[iter(job.out.read_text().split("\n"))] * 8, strict=False):
        assert len({*texts} - {""}) == sum(map(bool, texts))
    with job.source.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        dispatch(["translate", str(job.model), *SETTINGS, "--search.n-best", "3"])
    assert capsys.readouterr().out.split("\n") == written


@pytest.mark.parametrize("mode", MODES, ids=" ".join)
def test_an_output_that_was_interrupted_anywhere_has_the_bytes_of_an_uninterrupted_one(
    mode, job, monkeypatch
):
    job.run(*mode)
    whole = job.out.read_bytes()
    job.out.unlink()
    chooser, calls = random.Random(3), [0]

    def sometimes_killed(function):
        def call(*args, **options):
            calls[0] -= 1
            if calls[0] == 0:
                raise Killed
            return function(*args, **options)

        return call

    # Kill before a write, between text and state, in the middle of the state, and before the renaming.
    monkeypatch.setattr(os, "fsync", sometimes_killed(os.fsync))
    monkeypatch.setattr(Path, "replace", sometimes_killed(Path.replace))
    kills = 0
    while not job.out.exists():
        calls[0] = chooser.randrange(3, 15)
        try:
            job.run(*mode)
        except Killed:
            kills += 1
    assert kills > 2
    assert job.out.read_bytes() == whole
    assert not beside(job.out)


@needs_workers
@pytest.mark.parametrize("way", ["plain", "ensemble", "backward", "samples"])
def test_the_bytes_do_not_depend_on_workers(way, job, backward_directory, tokenizer, tmp_path):
    more = {
        "plain": [],
        "ensemble": [str(write_random_model(tmp_path / "other", tokenizer, seed=9))],
        "backward": ["--backward", str(backward_directory)],
        "samples": ["--search.mbr", "true", "--search.sample", "true"],
    }[way]
    more += ["--scores", "--search.candidates", "5"]
    job.out = job.out.with_suffix(".gz")
    job.run(*more, "--workers", "1")
    whole = job.out.read_bytes()
    for workers in ("2", "64"):
        job.out.unlink()
        job.run(*more, "--workers", workers, "--threads", "2")
        assert job.out.read_bytes() == whole
    job.source.write_text("")
    job.run("--workers", "2")
    assert job.out.read_bytes() == gzip.compress(b"", mtime=0)


def test_a_gpu_has_one_process():
    count = file_translation.count_processes
    assert count(None, 4, torch.device("cuda")) == 1
    with pytest.raises(UsageError, match=r"^--workers 2: needs Linux and a processor"):
        count(2, 4, torch.device("cuda"))


def test_an_older_output_stays_until_the_new_one_is_complete(job, translated, capsys):
    """Control-C says that the same command goes on."""
    job.out.write_text("older")
    job.interrupt()
    assert job.out.read_text() == "older"
    stopped = f"{job.out}: stopped, 10 of 29 lines are done: the same command goes on"
    assert stopped in capsys.readouterr().err
    job.run()
    assert job.out.read_bytes() == translated
    said = capsys.readouterr().err
    assert f"{job.out}: goes on, 10 of 29 lines are done\n" in said
    assert "29 lines, " in said
    assert " words/s\n" in said


@each_case
def test_an_output_of_something_else_starts_again_and_says_so(
    change, said, job, capsys, backward_directory
):
    folder, mode = job.out.parent, []
    job.model = Path(shutil.copytree(job.model, folder.with_name(f"{folder.name}-model")))
    job.interrupt()
    if change == "input":
        job.source.write_text("a dog runs\n" + TEXT.partition("\n")[2])
    elif change == "settings":
        mode = ["--search.alpha", "0.9"]
    elif change == "second model":
        mode = [str(job.model)]
    elif change == "backward model":
        mode = ["--backward", str(backward_directory)]
    else:
        config = json.loads((job.model / "config.json").read_bytes())
        (job.model / "config.json").write_text(json.dumps(config))
    capsys.readouterr()
    job.run(*mode)
    err = capsys.readouterr().err
    assert f"{job.out}: starts again from line 1 (" in err
    assert said in err
    again = job.out.read_bytes()
    job.run(*mode)
    assert job.out.read_bytes() == again
    assert not beside(job.out)


def test_windows_that_are_translated_at_once_give_the_same_file(job, translated, monkeypatch):
    monkeypatch.setitem(file_translation.WINDOWS_AT_ONCE, "cpu", 3)
    monkeypatch.setattr(token_search, "make_engine", lambda model, name: FixedEngine(model))
    job.run()
    assert job.out.read_bytes() == translated


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_compressed_files_hold_the_same_text(suffix, job, translated):
    job.out = job.out.with_suffix(suffix)
    job.source.write_bytes(gzip.compress(TEXT.encode()))
    job.run()
    with open_bytes(job.out) as file:
        assert file.read() == translated
    job.source.write_text("")
    job.run()
    with open_bytes(job.out) as file:
        assert file.read() == b""


def test_the_byte_order_mark_and_the_line_ends_stay(job, translated):
    job.source.write_bytes(codecs.BOM_UTF8 + TEXT.encode().replace(b"\n", b"\r\n"))
    job.interrupt()
    job.run()
    assert job.out.read_bytes() == codecs.BOM_UTF8 + translated.replace(b"\n", b"\r\n")
    job.run("--json")
    assert job.out.read_bytes().startswith(b'{"source"')
    assert b"\r" not in job.out.read_bytes()


def test_a_second_process_is_refused(job, capfd):
    with open_work(job.out.with_name(".translating-out"), job.out, {}):
        process = fork(job.run)
        process.join()
    assert process.exitcode == 1
    assert f"{job.out}: process {os.getpid()} is at work here already" in capfd.readouterr().err


def test_an_output_that_cannot_be_written_is_named_before_the_model_is_loaded(unloaded, tmp_path):
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name, problem in [
        ("directory", "directory: is a directory, a device or a pipe: give a file"),
        ("none/out.txt", "none is no directory: make it first"),
        ("text.en", "must be another file than --input"),
        ("pipe", "pipe: is a directory, a device or a pipe"),
        ("link", f"link: is a link: give the file that it leads to, {tmp_path}/file"),
    ]:
        unloaded.out = tmp_path / name
        with pytest.raises(UsageError, match=f"--output .*{problem}"):
            unloaded.run()


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_write_protection_is_respected_before_the_model_is_loaded(
    suffix, unloaded, tmp_path, monkeypatch
):
    unloaded.source = Path(shutil.copy(unloaded.source, tmp_path / f"in{suffix}"))
    finished, folder = tmp_path / f"finished{suffix}", tmp_path / "folder"
    finished.write_text("finished")
    folder.mkdir()

    def refuse(out, problem, *words):
        unloaded.out = out
        with pytest.raises(UsageError, match=f"^--output {out}[^ ]*: {problem}"):
            unloaded.run(*words)

    finished.chmod(0o444)  # also if the user is root, who may write it
    refuse(finished, "is write-protected: give another name")
    finished.chmod(0o644)
    if suffix == ".md":
        report = tmp_path / "a.md.quality.tsv"
        report.touch(0o444)
        refuse(tmp_path / "a.md", "is write-protected", "--quality")

    def access(path, _mode):
        return path not in (folder, finished)

    monkeypatch.setattr(os, "access", access)  # for a user who is not root
    refuse(finished, "is write-protected")
    refuse(folder / f"out{suffix}", f"no file can be written in {folder}$")
    assert finished.read_text() == "finished"
    assert not [*folder.iterdir()]


def test_an_evaluation_notices_a_reference_in_another_language(job, tmp_path, capsys):
    for code in ("de", "fr", "txt"):
        reference = str(shutil.copy(job.source, tmp_path / f"test.{code}"))
        words = ["evaluate", str(job.model), "--source", str(job.source), "--per-line"]
        assert dispatch([*words, "--reference", reference]) == 0
        said = "test.fr: its name says fr, but the model translates into de\n"
        assert (said in capsys.readouterr().err) == (code == "fr")


def test_a_stopped_evaluation_leaves_an_older_file_as_it_was(job, tmp_path, monkeypatch):
    out = tmp_path / "text.de"
    out.write_text("older\n")
    reference = str(shutil.copy(job.source, tmp_path / "reference.txt"))
    words = ["evaluate", str(job.model), "--source", str(job.source), "--reference", reference]

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(translator.Translator, "stream", stop)
        with pytest.raises(KeyboardInterrupt):
            dispatch([*words, "--output", str(out)])
    assert {file.name: file.read_text() for file in tmp_path.glob("*.de")} == {"text.de": "older\n"}
    assert dispatch([*words, "--output", str(out)]) == 0
    assert len(list(read_lines(out))) == TEXT.count("\n")
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(UsageError, match=r"--output .*link: is a link"):
        dispatch([*words, "--output", str(tmp_path / "link")])


def test_a_glossary_decides_terms_and_belongs_to_what_a_resume_checks(job, tmp_path, capsys):
    terms = tmp_path / "terms.tsv"
    terms.write_text("cat\tKater\ndog\t\tkeep\n", encoding="utf-8")
    job.run("--glossary", str(terms))
    pairs = zip(read_lines(job.source), read_lines(job.out), strict=True)
    for line, translation in pairs:
        assert translation.split().count("dog") == line.split().count("dog")
        assert ("Kater" in translation) >= ("cat" in line.split())
    capsys.readouterr()
    terms.write_text("# terms\nsource\ttarget\n", encoding="utf-8")
    job.run("--glossary", str(terms))
    assert f"{terms}: has no terms\n" in capsys.readouterr().err
