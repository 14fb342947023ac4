"""Native code computes the same bits with any number of threads, which plain PyTorch does not promise."""

import contextlib

from headway.cli.main import dispatch
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from support.runs import command, metrics, opened


def test_the_number_of_threads_changes_no_bit(corpus, tmp_path):
    sizes = {
        "model__d_model": 64, "model__d_ff": 128, "training__batch_tokens": 1500,
        "training__micro_batch_tokens": 1500, "training__max_steps": 2, "training__average": 1,
        "training__warmup_steps": 2, "training__validate_every": 2, "training__checkpoint_every": 2,
    }  # fmt: skip
    found = set()
    for threads in (1, 2):
        path = tmp_path / str(threads)
        assert dispatch(command(path, corpus, **sizes, training__threads=threads)) == 0
        found.add((path / "model.safetensors").read_bytes())
    assert len(found) == 1


def test_the_average_and_the_threads_of_a_run_may_change(corpus, uninterrupted_run, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 13)
    run.directory.unlock()
    run = opened(path, ["train", str(path), "--training.average", "1", "--training.threads", "2"])
    assert run.machine.threads == 2
    for _ in run_to_end(run):
        pass
    run.directory.unlock()
    assert (RunDirectory(path).steps(), (path / "averaged").exists()) == ([15, 17], False)
    assert metrics(path) == metrics(uninterrupted_run)[:-1]  # all but the validation of the average
