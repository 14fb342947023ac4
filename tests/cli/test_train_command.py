import contextlib
import importlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from importlib import util
from pathlib import Path

import pytest
import torch

from headway import training as training_package
from headway.cli import signals as signals_module
from headway.cli import train as verb
from headway.cli import training as command_module
from headway.cli.display import Display
from headway.cli.main import dispatch, main
from headway.cli.signals import Signals
from headway.config import SearchConfig, TrainingConfig
from headway.errors import HeadwayError
from headway.inference import Translator, load_model
from headway.inference.shortlist import Shortlist
from headway.kernels import processor
from headway.text.prepare import PreparedData
from headway.training import machine, rehearsal, validation
from headway.training import run as run_module
from headway.training.feed import Feed
from headway.training.loop import train
from headway.training.machine import Machine
from headway.training.rehearsal import rehearse
from headway.training.run_directory import RunDirectory
from headway.training.trainer import StepReport, Trainer
from headway.training.validation import Progress, ValidationReport
from headway.training.worker import WorkerEnded
from headway.training.workers import Workers
from support.runs import command, digest, opened, opening, write_corpus

WEIGHTS = ("model.safetensors", "best/model.safetensors", "averaged/model.safetensors")


@pytest.fixture(scope="module", autouse=True)
def _threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"), train=150, valid=7)


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    assert dispatch(command(path, corpus)) == 0
    return path


def metrics(path):
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def assert_equal_runs(path, other):
    assert (path / "metrics.jsonl").read_bytes() == (other / "metrics.jsonl").read_bytes()
    steps = RunDirectory(path).steps()
    assert steps == RunDirectory(other).steps()
    checkpoints = [f"checkpoints/step-{step:08d}" for step in steps]
    names = [f"{c}/{n}.safetensors" for c in checkpoints for n in ("model", "optimizer", "random")]
    for name in (*WEIGHTS, *names):
        assert (path / name).read_bytes() == (other / name).read_bytes(), name


def test_a_run_is_a_product(undisturbed, capsys):
    found = load_model(undisturbed)
    assert found.languages == ("en", "de")
    assert isinstance(Translator.load(undisturbed, "cpu").translate("1 2 3"), str)
    card = (undisturbed / "README.md").read_text()
    facts = json.loads((undisturbed / "run.json").read_text())
    assert facts["data"]["fingerprint"] in card
    assert "version:2" in card  # sacreBLEU's signature
    assert facts["machine"] == {
        **asdict(Machine.resolve(TrainingConfig(device="cpu"))),
        "threads": 1,
    }
    suffixes = {path.suffix for path in undisturbed.rglob("*") if path.is_file()}
    assert not suffixes & {".pt", ".pth", ".bin", ".pkl"}
    assert capsys.readouterr().out == ""


def test_metrics_hold_every_step_and_validation_and_no_clock(undisturbed):
    lines = metrics(undisturbed)
    steps = [line for line in lines if line["event"] == "step"]
    assert [line["step"] for line in steps] == list(range(1, 18))
    validations = [line for line in lines if line["event"] == "validation"]
    assert [(v["step"], v["averaged"]) for v in validations] == [
        (5, 1), (10, 1), (15, 1), (17, 1), (17, 2)
    ]  # fmt: skip
    assert {key for line in steps for key in line} == {
        "event", "step", "loss", "nll", "tokens", "gradient_norm", "rate", "skipped"
    }  # fmt: skip
    assert RunDirectory(undisturbed).steps() == [12, 15, 17]


def test_the_best_model_is_the_runs(undisturbed):
    validations = [line for line in metrics(undisturbed) if line["event"] == "validation"]
    best = max(validations, key=lambda v: (v["bleu"], -v["perplexity"]))
    facts = json.loads((undisturbed / "run.json").read_text())
    assert {key: best[key] for key in facts["installed"]} == facts["installed"]
    folder = "averaged" if best["averaged"] > 1 else "best"
    name = "model.safetensors"
    assert (undisturbed / name).read_bytes() == (undisturbed / folder / name).read_bytes()


def test_a_shortlist_is_learned_at_the_end(corpus, undisturbed, tmp_path):
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, search__shortlist=9)) == 0
    found = Shortlist.load(path, (331, 331))
    assert (found.candidates[:, 0] >= 0).sum() > 3
    for folder in (path, path / "averaged"):
        assert (folder / "shortlist.safetensors").is_file()
    text = Path(corpus[1]).read_text().splitlines()[3]
    few, whole = Translator.load(path, "cpu"), Translator.load(undisturbed, "cpu")
    ids = few.tokenizer.encode_source([text])
    listed = found.pick(ids[0], 9, [*ids[0], few.tokenizer.eos]).tolist()
    assert len(listed) < 331
    assert set(next(few.stream([text]))[0].tokens) <= set(few.tokenizer.target_pieces(listed))
    # A shortlist of everything is none; a model trained without one says how to get it.
    assert few.translate(text, SearchConfig(shortlist=0)) == whole.translate(text)
    with pytest.raises(HeadwayError, match=r"train RUN --search\.shortlist N"):
        whole.translate(text, SearchConfig(shortlist=9))


def test_a_shortlist_is_learned_by_a_run_that_has_ended(corpus, undisturbed, tmp_path, capsys):
    path = tmp_path / "run"
    shutil.copytree(undisturbed, path)
    before = (path / "model.safetensors").read_bytes()
    for said in ("shortlist.safetensors: learned", "finished"):
        assert dispatch(["train", str(path), "--search.shortlist", "9"]) == 0
        assert said in capsys.readouterr().err
    assert (path / "model.safetensors").read_bytes() == before
    assert (Shortlist.load(path, (331, 331)).candidates[:, 0] >= 0).sum() > 3


def test_what_cannot_be_a_run_is_told(corpus, tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(HeadwayError, match="give another RUN"):
            dispatch(command(path, corpus))


def snapshots(path, corpus, folder, wanted):
    """Copies of a run directory as it was at some of its events, as a kill would have left it."""
    run = opened(path, command(path, corpus))
    for number, event in enumerate(train(run)):
        if wanted(number, event):
            shutil.copytree(path, folder / f"{number}-{type(event).__name__}")
    run.directory.unlock()
    return sorted(folder.iterdir())


def test_a_killed_run_goes_on_as_if_nothing_had_happened(corpus, undisturbed, tmp_path):
    chosen = iter([StepReport, Progress, ValidationReport])
    kind = next(chosen)

    def wanted(number, event):
        nonlocal kind
        if number < 8 or not isinstance(event, kind):
            return False
        kind = next(chosen, type(None))
        return True

    (tmp_path / "copies").mkdir()
    copies = snapshots(tmp_path / "run", corpus, tmp_path / "copies", wanted)
    assert len(copies) == 3
    assert_equal_runs(tmp_path / "run", undisturbed)
    for copy in copies:
        assert dispatch(["train", str(copy), "--quiet"]) == 0
        assert_equal_runs(copy, undisturbed)


@pytest.mark.slow
def test_killed_at_any_event(corpus, undisturbed, tmp_path):
    (tmp_path / "copies").mkdir()
    copies = snapshots(tmp_path / "run", corpus, tmp_path / "copies", lambda number, _: True)
    assert len(copies) > 20
    for copy in copies:
        assert dispatch(["train", str(copy), "--quiet"]) == 0
        assert_equal_runs(copy, undisturbed)


@pytest.mark.parametrize(
    ("kind", "step"), [(StepReport, 7), (StepReport, 9), (Progress, 10), (ValidationReport, 10)]
)
def test_a_run_that_is_left_is_saved_and_goes_on(kind, step, corpus, undisturbed, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    with contextlib.closing(train(run)) as events:
        for event in events:
            if isinstance(event, kind) and run.step == step:
                break
    run.directory.unlock()
    assert RunDirectory(path).steps()[-1] == step
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, undisturbed)


def test_work_of_minutes_is_saved_beside_the_series(corpus, undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr(run_module, "MAX_UNSAVED_SECONDS", 0.0)
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    for event in train(run):
        if isinstance(event, StepReport) and event.step == 9:
            assert RunDirectory(path).steps() == [3, 6, 8]
            shutil.copytree(path, tmp_path / "killed")
    run.directory.unlock()
    assert_equal_runs(path, undisturbed)
    monkeypatch.undo()
    assert dispatch(["train", str(tmp_path / "killed"), "--quiet"]) == 0
    assert_equal_runs(tmp_path / "killed", undisturbed)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_signal_saves_and_leaves(number, code, corpus, undisturbed, tmp_path, monkeypatch):
    path = tmp_path / "run"
    original = Display.show
    before = signal.signal(number, signal.default_int_handler)  # nohup may have it ignored

    def show(self, event):
        original(self, event)
        if isinstance(event, StepReport) and event.step == 7:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(Display, "show", show)
    assert dispatch(command(path, corpus)) == code
    signal.signal(number, before)
    assert RunDirectory(path).steps()[-1] == 7
    monkeypatch.undo()
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, undisturbed)


def test_the_second_signal_does_not_wait(monkeypatch):
    ends = []
    monkeypatch.setattr(signals_module.os, "_exit", ends.append)
    with Signals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        assert (signals.received, ends) == (signal.SIGTERM, [])
        os.kill(os.getpid(), signal.SIGHUP)  # as systemd sends it behind
        assert (signals.received, ends) == (signal.SIGTERM, [])
        os.kill(os.getpid(), signal.SIGINT)
        assert ends == [130]


def test_nohup_is_heard():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not signals.received
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_helper_that_ends_for_good_costs_one_step(corpus, undisturbed, tmp_path, monkeypatch):
    original = Workers.accumulate

    def accumulate(self, micro_batches, tokens):
        if tokens == wanted:
            raise WorkerEnded("a worker process of this training ended")
        return original(self, micro_batches, tokens)

    wanted = next(line["tokens"] for line in metrics(undisturbed) if line["step"] == 8)
    monkeypatch.setattr(Workers, "accumulate", accumulate)
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    with pytest.raises(WorkerEnded):
        for _ in train(run):
            pass
    run.directory.unlock()
    monkeypatch.undo()
    last = [line["step"] for line in metrics(path)][-1]
    assert 3 < last == RunDirectory(path).steps()[-1]
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert_equal_runs(path, undisturbed)


def test_a_finished_run_says_so_and_stays_as_it_is(undisturbed, corpus, capsys):
    before = {p: p.read_bytes() for p in undisturbed.rglob("*") if p.is_file()}
    for arguments in (["train", str(undisturbed)], command(undisturbed, corpus)):
        assert dispatch(arguments) == 0
        assert "finished" in capsys.readouterr().err
    after = {p: p.read_bytes() for p in undisturbed.rglob("*") if p.is_file()}
    assert {p.name for p in before if before[p] != after.get(p)} <= {".lock"}


def test_more_steps_are_the_longer_run(corpus, undisturbed, tmp_path):
    longer, extended = tmp_path / "longer", tmp_path / "extended"
    assert dispatch(command(longer, corpus, training__max_steps=20)) == 0
    shutil.copytree(undisturbed, extended)
    assert dispatch(["train", str(extended), "--quiet", "--training.max-steps", "20"]) == 0
    assert metrics(longer) == metrics(extended)
    name = "checkpoints/step-00000020/optimizer.safetensors"
    assert (longer / name).read_bytes() == (extended / name).read_bytes()
    with pytest.raises(HeadwayError, match=r"max_steps = 19: .* is at step 20"):
        dispatch(["train", str(extended), "--training.max-steps", "19"])


def test_a_longer_run_is_not_finished_until_it_is(undisturbed, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(undisturbed, path)
    record = RunDirectory(path).record()
    record.installed = replace(record.installed, bleu=-1.0)  # any model is better, and is installed
    RunDirectory(path).write_record(record)
    run = opened(path, ["train", str(path), "--training.max-steps", "20"])
    with contextlib.closing(train(run)) as events:
        for event in events:
            if isinstance(event, ValidationReport):
                break
    run.directory.unlock()
    record = RunDirectory(path).record()
    assert record.installed.step == 20
    assert not record.finished


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--training.seed", "5"], r"training.seed is 1, not 5: .* --data \S+/run/data its data"),
        (["--training.batch-tokens", "141"], "training.batch_tokens is 140, not 141"),
        (["--preset", "tiny"], "model.d_model is 22, not 128"),
        (["--train", "VALID", "VALID"], "is another file than before"),
    ],
)
def test_other_settings_or_data_are_refused(change, message, undisturbed, corpus):
    change = [corpus[-1] if word == "VALID" else word for word in change]
    with pytest.raises(HeadwayError, match=message) as raised:
        dispatch(["train", str(undisturbed), "--training.max-steps", "23", *change])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("size", "valid", "what"), [(331, 8, "data"), (330, 7, "vocabulary")], ids=["data", "words"]
)
def test_data_that_was_prepared_otherwise_is_refused(size, valid, what, undisturbed, tmp_path):
    other = write_corpus(tmp_path, train=150, valid=valid)
    data = str(tmp_path / "data")
    dispatch(["prepare", data, *other, "--text.vocab-size", str(size)])
    with pytest.raises(HeadwayError, match=f"started with other {what}"):
        dispatch(["train", str(undisturbed), "--training.max-steps", "23", "--data", data])


def test_the_library_leaves_the_process_as_it_is(corpus, tmp_path, monkeypatch):
    """A run that is started, trained and resumed by the library changes no state of the process."""
    calls = []
    monkeypatch.setattr(machine.gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(machine, "keep_large_allocations", lambda: calls.append("keep"))
    threads, generator = torch.get_num_threads(), torch.get_rng_state()
    path = tmp_path / "run"
    for arguments in (command(path, corpus, training__threads=threads + 1), ["train", str(path)]):
        run = opened(path, arguments)
        rehearse(run)
        for event in train(run):
            assert torch.get_num_threads() == threads
            assert torch.equal(torch.get_rng_state(), generator)
            if isinstance(event, ValidationReport):
                break
        run.save()
        run.directory.unlock()
    assert calls == []


def test_a_run_draws_its_numbers_whatever_the_program_around_it_draws(
    corpus, undisturbed, tmp_path
):
    path = tmp_path / "run"
    torch.manual_seed(19)
    run = opened(path, command(path, corpus))
    for _ in train(run):
        torch.rand(7)
    run.directory.unlock()
    assert_equal_runs(path, undisturbed)


def test_the_command_configures_its_process(corpus, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(machine.gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(machine, "keep_large_allocations", lambda: calls.append("keep"))
    monkeypatch.setattr(torch, "set_num_threads", lambda n: calls.append(n))
    monkeypatch.setattr(command_module, "follow", lambda run, display: 0)
    threads = torch.get_num_threads()
    assert dispatch(command(tmp_path / "run", corpus, training__threads=threads)) == 0
    assert calls == ["keep", "freeze", threads]


def test_memory_that_ran_out_on_a_processor_is_one_line(corpus, tmp_path, monkeypatch):
    path = tmp_path / "run"
    monkeypatch.setattr(
        Workers, "accumulate", lambda self, batches, tokens: torch.empty(1 << 60) / tokens
    )
    with pytest.raises(HeadwayError, match=r"micro_batch_tokens = 70: .* does not fit"):
        dispatch(command(path, corpus))
    assert not RunDirectory(path).started


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "memory ran out"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3 GiB"), "memory ran out"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 3 bytes"), "memory ran out"),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_memory_that_ran_out_anywhere_is_one_line(error, said, monkeypatch, capsys):
    def run(args):
        raise error

    monkeypatch.setattr(verb, "run", run)
    with pytest.raises(SystemExit if said else RuntimeError):
        main(["train", "anywhere"])
    found = capsys.readouterr().err
    assert said is None or (said in found and found.count("\n") == 1)


@pytest.mark.parametrize("missing", ["fcntl", "resource"])
def test_a_system_that_cannot_train_is_one_line(missing, monkeypatch):
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(HeadwayError, match="training needs Linux or macOS"):
        importlib.reload(training_package)


def test_a_second_trainer_is_refused(undisturbed):
    directory = RunDirectory(undisturbed)
    directory.lock()
    try:
        with pytest.raises(HeadwayError, match="training here already"):
            dispatch(["train", str(undisturbed)])
    finally:
        directory.unlock()


def test_a_start_that_was_interrupted_is_repeated(corpus, undisturbed, tmp_path):
    path = tmp_path / "run"
    dispatch(["prepare", str(path / "data"), *corpus, "--text.vocab-size", "331"])
    (path / ".tmp-17-data").mkdir()
    assert dispatch(command(path, corpus)) == 0
    assert_equal_runs(path, undisturbed)
    assert not (path / ".tmp-17-data").exists()


def test_a_start_that_came_to_nothing_leaves_nothing(corpus, tmp_path):
    wrong = command(tmp_path / "run", corpus)
    wrong[wrong.index("--train") + 1] = "nowhere.en"
    with pytest.raises(HeadwayError, match="nowhere"):
        dispatch(wrong)
    assert not (tmp_path / "run").exists()
    assert dispatch(command(tmp_path / "run", corpus, training__max_steps=1)) == 0


def test_no_run_and_no_data(tmp_path):
    with pytest.raises(HeadwayError, match="no run there yet: start one with --train"):
        dispatch(["train", str(tmp_path / "run")])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("more", [["--train", "a", "b"], ["--text.vocab-size", "331"]])
def test_prepared_data_is_not_prepared_again(more, tmp_path):
    with pytest.raises(HeadwayError, match="prepared"):
        dispatch(["train", str(tmp_path / "run"), "--data", "data", *more])


def test_the_rehearsal_changes_nothing(corpus, undisturbed, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    before = digest(run.tensors())
    result = rehearse(run)
    assert digest(run.tensors()) == before
    assert run.directory.steps() == []
    assert result.disk < result.free
    assert result.tokens_per_second > 0
    for _ in train(run):
        pass
    run.directory.unlock()
    assert_equal_runs(path, undisturbed)


def test_a_rehearsal_that_fails_settles_nothing(corpus, undisturbed, tmp_path, monkeypatch):
    """What its message says to change can be changed, and a kill in it is no harm either."""
    path = tmp_path / "run"
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(rehearsal, "remove", lambda path: None)  # as if killed before it
    larger = {"training__micro_batch_tokens": 140, "training__average": 5}
    with pytest.raises(HeadwayError, match=r"1,000 are free: .* with training\.average"):
        dispatch(command(path, corpus, **larger))
    monkeypatch.undo()
    assert dispatch(command(path, corpus)) == 0
    assert_equal_runs(path, undisturbed)


def test_the_average_and_the_threads_of_a_run_may_change(corpus, undisturbed, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    with contextlib.closing(train(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 7)
    run.directory.unlock()
    found = opening(
        path, ["train", str(path), "--training.average", "1", "--training.threads", "2"]
    )
    assert "2 threads, not 1: the last bits of results may differ" in found.notices
    run = found.run
    assert run.machine.threads == run.trainer.workers.threads == 2
    for _ in train(run):
        pass
    run.directory.unlock()
    assert (RunDirectory(path).steps(), (path / "averaged").exists()) == ([15, 17], False)
    # All but the validation of the average; another number of threads changes the last bits.
    for line, other in zip(metrics(path), metrics(undisturbed)[:-1], strict=True):
        for key, value in line.items():
            is_number = isinstance(value, float)
            assert value == (pytest.approx(other[key], rel=1e-4) if is_number else other[key])


@pytest.fixture
def data(undisturbed):
    return PreparedData.open(undisturbed / "data")


def rows_of(feed, steps):
    return [[row for batch in feed.next() for row in batch.rows.tolist()] for _ in range(steps)]


def test_an_epoch_has_every_pair_once_and_the_next_another_order(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    steps = -(-len(feed.plan) // 3)  # three parts a step
    epochs = [rows_of(feed, steps), rows_of(feed, steps)]
    assert feed.epoch == 1
    for epoch in epochs:
        assert sorted(row for step in epoch for row in step) == list(range(len(data.train)))
    assert epochs[0] != epochs[1]


def test_a_step_is_within_its_tokens_on_both_sides(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=50)
    feed = Feed(data, config, torch.device("cpu"))
    steps = [feed.next() for _ in range(10)]
    assert {len(batches) for batches in steps} == {3}
    assert max(sum(b.target.numel() for b in batches) for batches in steps) <= 140
    assert max(sum(b.source.numel() for b in batches) for batches in steps) <= 140


def test_the_data_goes_on_from_a_position(data):
    config = TrainingConfig(batch_tokens=140, micro_batch_tokens=70)
    whole = Feed(data, config, torch.device("cpu"))
    expected = rows_of(whole, 40)
    first = Feed(data, config, torch.device("cpu"))
    rows_of(first, 23)
    second = Feed(data, config, torch.device("cpu"), first.epoch, first.index)
    assert rows_of(second, 17) == expected[23:]


def finished(generator):
    """What a generator returns, and what it yielded before."""
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return end.value, yielded


def test_validation_scores_raw_text_and_unsmoothed_likelihood(data, undisturbed, monkeypatch):
    class Perfect:
        def __init__(self, model, tokenizer, search, device, languages):
            self.answers = dict(zip(data.valid_source, data.valid_target, strict=True))

        def translate(self, texts):
            torch.rand(3)  # whatever it draws, training does not notice
            return [self.answers[text] for text in texts]

    monkeypatch.setattr(validation, "Translator", Perfect)
    monkeypatch.setattr(validation, "GROUP", 3)
    model = load_model(undisturbed).transformer
    before = torch.get_rng_state()
    scores, progress = finished(
        validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert scores[1:] == (pytest.approx(100), pytest.approx(100), 0)
    assert [(p.done, p.of) for p in progress] == [(0, 7), (3, 7), (6, 7)]

    sums, tokens = 0.0, 0
    with torch.no_grad():
        for row in range(len(data.valid)):
            source, target = (
                torch.from_numpy(x.astype("int64"))[None] for x in data.valid.pair(row)
            )
            logits = model(source, target)[0]
            sums += torch.nn.functional.cross_entropy(logits, target[0], reduction="sum").item()
            tokens += target.size(1)
    assert scores[0] == pytest.approx(math.exp(sums / tokens), rel=1e-4)


def test_validation_translates_the_first_sentences_only(data, undisturbed):
    model = load_model(undisturbed).transformer
    scores = [
        finished(
            validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70, sentences=n)
        )
        for n in (0, 3)
    ]
    assert [progress[-1].of for _, progress in scores] == [7, 3]
    assert scores[0][0][0] == scores[1][0][0]  # the perplexity is always of all


@pytest.mark.parametrize(
    ("bleu", "perplexity", "better"), [(21, 9, True), (20, 7, True), (20, 8, False), (19, 1, False)]
)
def test_better_is_bleu_then_perplexity(bleu, perplexity, better):
    old = ValidationReport(step=5, averaged=1, bleu=20.0, chrf=50.0, perplexity=8.0)
    new = ValidationReport(step=7, averaged=1, bleu=bleu, chrf=40.0, perplexity=perplexity)
    assert new.is_better_than(old) == better
    assert new.is_better_than(None)


def poisoned(monkeypatch, steps):
    """Make the loss of these steps NaN, gradients and all."""
    original = Trainer.step

    def step(self, micro_batches):
        accumulate = self.workers.accumulate

        def poison(micro_batches, tokens):
            sums = accumulate(micro_batches, tokens)
            if self.steps in steps:
                for parameter in self.model.parameters():
                    parameter.grad.fill_(float("nan"))
            return sums

        with monkeypatch.context() as patch:
            patch.setattr(self.workers, "accumulate", poison)
            return original(self, micro_batches)

    monkeypatch.setattr(Trainer, "step", step)


def test_a_step_that_is_not_finite_is_skipped_and_its_text_is_kept(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {4})
    path = tmp_path / "run"
    assert dispatch(command(path, corpus)) == 0
    skipped = [line["step"] for line in metrics(path) if line.get("skipped")]
    assert skipped == [4]
    text = (path / "bad-batches" / "step-4.txt").read_text().split("\n\n")
    known = Path(corpus[1]).read_text().splitlines()
    assert all(pair.splitlines()[0] in known for pair in text if pair)
    assert all(weight.isfinite().all() for weight in load_model(path).transformer.parameters())


def test_many_in_a_row_go_back_to_the_last_good_checkpoint(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {7, 8})
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, training__max_failures=2))
    for event in train(run):
        if isinstance(event, StepReport) and event.step == 8:
            break
        weights = run.trainer.model.source_embedding.weight.clone()
    good, _ = run.directory.load(6)
    assert torch.equal(
        run.trainer.model.source_embedding.weight, good["model"]["source_embedding.weight"]
    )
    assert torch.equal(weights, good["model"]["source_embedding.weight"])  # step 7 was skipped
    assert run.state.roll_backs == 1
    run.directory.unlock()
    assert {"event": "roll-back", "step": 8, "to": 6} in metrics(path)


def test_going_back_changes_weights_that_went_on(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {8})
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, training__max_failures=1))
    for event in train(run):
        if isinstance(event, StepReport) and event.step == 7:
            seventh = run.trainer.model.source_embedding.weight.clone()
        if isinstance(event, StepReport) and event.step == 8:
            break
    good, _ = run.directory.load(6)
    now = run.trainer.model.source_embedding.weight
    assert torch.equal(now, good["model"]["source_embedding.weight"])
    assert not torch.equal(now, seventh)
    assert (run.step, run.feed.index + 100 * run.feed.epoch > 0) == (8, True)
    run.directory.unlock()


def test_going_back_before_the_first_checkpoint_is_due(corpus, tmp_path, monkeypatch):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, training__max_failures=1))
    with contextlib.closing(train(run)) as events:
        next(event for event in events if isinstance(event, StepReport))
    run.directory.unlock()
    poisoned(monkeypatch, {2})
    run = opened(path, ["train", str(path)])
    next(event for event in train(run) if isinstance(event, StepReport))
    fresh = run.directory.load(0)[0]["model"]["source_embedding.weight"]
    assert torch.equal(run.trainer.model.source_embedding.weight, fresh)
    run.directory.unlock()


def test_a_run_that_diverges_for_good_stops_in_one_line(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, set(range(8, 18)))
    path = tmp_path / "run"
    diverged = r"diverged after 3 returns to earlier .* start another RUN with --data \S+/run/data"
    with pytest.raises(HeadwayError, match=diverged):
        dispatch(command(path, corpus, training__max_failures=1))
    assert all(
        weight.isfinite().all()
        for step in RunDirectory(path).steps()
        for weight in RunDirectory(path).load(step)[0]["model"].values()
    )


def test_weights_that_are_not_finite_never_reach_a_checkpoint(corpus, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    for event in train(run):
        if isinstance(event, StepReport) and event.step == 8:
            with torch.no_grad():
                run.trainer.model.source_embedding.weight[5, 3] = float("nan")
            run.save()  # as for a signal at this moment
            assert 8 not in run.directory.steps()
        if isinstance(event, StepReport) and event.step == 9:
            break
    run.save()
    tensors, _ = run.directory.load(9)
    assert all(weight.isfinite().all() for weight in tensors["model"].values())
    run.directory.unlock()


def test_patience_ends_a_run_that_learns_nothing(corpus, tmp_path):
    path = tmp_path / "run"
    nothing = {"training__rate_scale": 1e-30, "training__patience": 2, "training__max_steps": 40}
    assert dispatch(command(path, corpus, **nothing)) == 0
    validated = [v["step"] for v in metrics(path) if v["event"] == "validation"]
    assert validated == [5, 10, 15, 15]  # the best, two no better, the average
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert [v["step"] for v in metrics(path) if v["event"] == "validation"] == validated


def test_processes_of_one_machine_share_its_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(12))
    for local, threads in (("1", 12), ("5", 2), ("17", 1)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", local)
        assert Machine.resolve(TrainingConfig(device="cpu")).threads == threads


@pytest.mark.parametrize(
    ("groups", "files", "threads"),
    [
        ("0::/\n", {"cpu.max": "max 100000"}, 12),
        ("0::/\n", {"cpu.max": "250000 100000"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "400000 100000"}, 1),
        (
            "2:cpuacct:/\n1:cpu:/d\n0::/\n",
            {"cpu/d/cpu.cfs_quota_us": "400000", "cpu/d/cpu.cfs_period_us": "100000"},
            4,
        ),
        ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 12),
        ("", {}, 12),
    ],
)
def test_threads_are_within_a_container_s_quota(groups, files, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(12))
    monkeypatch.setattr(processor, "OWN_CGROUP", tmp_path / "own")
    monkeypatch.setattr(processor, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "own").write_text(groups)
    for name, text in files.items():
        (tmp_path / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cgroup" / name).write_text(text + "\n")
    assert Machine.resolve(TrainingConfig(device="cpu")).threads == threads


def test_resuming_keeps_the_number_of_threads(undisturbed, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(undisturbed, path)
    facts = json.loads((path / "run.json").read_text())
    facts["machine"]["threads"] = 3  # as if begun on a machine with three cores
    (path / "run.json").write_text(json.dumps(facts))
    torch.set_num_threads(1)
    run = opened(path, ["train", str(path), "--training.max-steps", "18"])
    run.directory.unlock()
    assert run.machine.threads == run.trainer.workers.threads == 3
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(("avx512", "amx"), [(True, False), (False, True), (False, False)])
def test_bf16_only_on_processors_made_for_it(avx512, amx, monkeypatch):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    found = Machine.resolve(TrainingConfig(device="cpu", threads=5))
    wanted = "bf16" if avx512 or amx else "fp32"
    assert found == Machine(device="cpu", precision=wanted, threads=5)
    fixed = Machine.resolve(TrainingConfig(device="cpu", threads=5, precision="fp32"))
    assert fixed.precision == "fp32"


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", "must be auto, cpu, cuda or cuda:N"),
        ("cpu:1", "must be auto, cpu, cuda or cuda:N"),
        ("cuda:7", "torch sees cuda:0 to cuda:1 here"),
    ],
)
def test_a_device_that_is_not_there_is_refused(device, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(HeadwayError, match=f"training.device = '{device}'.* {message}"):
        Machine.resolve(TrainingConfig(device=device))
    assert Machine.resolve(TrainingConfig(device="cuda:1", precision="fp32")).device == "cuda:1"


def test_a_run_from_a_better_machine_says_what_it_lacks_here(
    undisturbed, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "run"
    shutil.copytree(undisturbed, path)
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    monkeypatch.setattr(command_module, "follow", lambda run, display: 0)
    more = ["train", str(path), "--training.max-steps"]
    record = RunDirectory(path).record()
    for steps, precision in (("18", "fp32"), ("19", "bf16")):
        record.machine = replace(record.machine, precision=precision)
        RunDirectory(path).write_record(record)
        assert dispatch([*more, steps]) == 0
        said = capsys.readouterr().err
        assert ("takes several times longer" in said) == (precision == "bf16")
    record.machine = replace(record.machine, device="cuda:1")
    RunDirectory(path).write_record(record)
    with pytest.raises(HeadwayError, match=r"no CUDA device here: resume the run .*--data"):
        dispatch([*more, "20"])


@pytest.mark.slow
def test_tensorboard_gets_the_curves(corpus, undisturbed, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, training__tensorboard="true")) == 0
    assert_equal_runs(path, undisturbed)
    events = reader.EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    losses = [(e.step, e.value) for e in events.Scalars("training/loss")]
    steps = [line for line in metrics(path) if line["event"] == "step"]
    assert losses == [(line["step"], pytest.approx(line["loss"])) for line in steps]
    assert [e.step for e in events.Scalars("validation/bleu")] == [5, 10, 15, 17]


def test_a_damaged_checkpoint_is_named(undisturbed, tmp_path):
    path = tmp_path / "run"
    shutil.copytree(undisturbed, path)
    file = path / "checkpoints" / "step-00000017" / "optimizer.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(HeadwayError, match=r"step-00000017/optimizer.safetensors: not a readable"):
        dispatch(["train", str(path), "--training.max-steps", "20"])


def test_average_is_what_training_does_at_its_end(undisturbed, tmp_path):
    out = tmp_path / "average"
    dispatch(["average", str(undisturbed), str(out), "--last", "2"])
    name = "model.safetensors"
    assert (out / name).read_bytes() == (undisturbed / "averaged" / name).read_bytes()
    assert isinstance(Translator.load(out, "cpu").translate("1 2"), str)
    with pytest.raises(HeadwayError, match="is there already"):
        dispatch(["average", str(undisturbed), str(out), "--checkpoints", "12"])
    shutil.rmtree(out)
    dispatch(["average", str(undisturbed), str(out), "--checkpoints", "12"])
    single = undisturbed / "checkpoints" / "step-00000012" / name
    assert torch.equal(
        load_model(out).transformer.source_embedding.weight,
        RunDirectory(undisturbed).load(12)[0]["model"]["source_embedding.weight"],
    )
    assert single.exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--checkpoints", "5"], "no checkpoint of step 5; there are 12, 15, 17"),
        (["--last", "7"], r"--last 7: .* has 3 checkpoints"),
        (["--last", "0"], "--last 0"),
    ],
)
def test_average_refuses_checkpoints_that_are_not_there(more, message, undisturbed, tmp_path):
    with pytest.raises(HeadwayError, match=message):
        dispatch(["average", str(undisturbed), str(tmp_path / "out"), *more])


def headway(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "headway.cli.main", *map(str, arguments)],
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_neither_directory_nor_hash_seed_matter(corpus, undisturbed, tmp_path):
    arguments = [word for word in command(tmp_path / "elsewhere", corpus) if word != "--quiet"]
    result = headway(*arguments, PYTHONHASHSEED="17")
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "target tokens/s" in result.stderr
    assert "BLEU" in result.stderr
    assert_equal_runs(tmp_path / "elsewhere", undisturbed)


AND_THREADS = """
import atexit, pathlib, sys
from headway.cli.main import main

def threads():
    names = (x.read_text().strip() for x in pathlib.Path("/proc/self/task").glob("*/comm"))
    print("threads:", *names, file=sys.stderr)

atexit.register(threads)
main()
"""


@pytest.mark.slow
def test_two_processes_are_one(corpus, tmp_path):
    changes = {"model__dropout": 0.0, "training__max_steps": 7, "training__average": 1}
    alone, together = tmp_path / "alone", tmp_path / "together"
    assert dispatch(command(alone, corpus, **changes)) == 0
    script = tmp_path / "script.py"
    script.write_text(AND_THREADS)
    result = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone",
         script, *command(together, corpus, **changes)],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    # A thread of the library's that is there when the interpreter ends may end the process with SIGABRT.
    threads = re.findall("^threads: (.*)$", result.stderr, re.MULTILINE)
    assert len(threads) == 2
    assert "gloo" not in "".join(threads)
    for one, two in zip(metrics(alone), metrics(together), strict=True):
        for key, value in one.items():
            exact = isinstance(value, (str, list))
            assert two[key] == (value if exact else pytest.approx(value, rel=1e-3)), key
    weights = [RunDirectory(path).load(7)[0]["model"] for path in (alone, together)]
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_a_slice_of_the_crash_campaign():
    campaign = Path(__file__).parents[1] / "outside" / "crash.py"
    result = subprocess.run(
        [sys.executable, campaign, "--kills", "2", "--signals", "1"],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr + result.stdout
