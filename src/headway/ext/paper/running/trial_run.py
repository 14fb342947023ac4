"""Training and scoring one trial, in the process of its own that `run_together` starts."""

import importlib
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headway import config as settings
from headway.errors import HeadwayError
from headway.ext.paper.running.sources import code_version
from headway.ext.paper.running.trial import Trial, read_trial, write_trial
from headway.files import remove
from headway.locks import DirectoryLock
from headway.model import parameter_count
from headway.training import Run, RunDirectory, RunRequest, open_run, planned
from headway.translation import save_model

CURVE_POINTS = 60


def run_trial(directory: Path) -> None:
    """Train, score and keep the model that a directory's ``spec.json`` describes, unless it is finished.

    Raises:
        HeadwayError: If another process trains it, or the code is not that for which it was planned.
    """
    with DirectoryLock(directory):
        spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
        check_code(directory, spec)
        if read_trial(directory) is None:
            train_model = import_named(spec["trainer"]) if spec["trainer"] else train_transformer
            train_model(directory)


def check_code(directory: Path, spec: Mapping[str, Any]) -> None:
    """Check that this process runs the code whose hash is part of the trial's key.

    Args:
        directory: Of the trial.
        spec: What its ``spec.json`` holds.

    Raises:
        HeadwayError: If it does not.
    """
    for module in spec["modules"]:
        importlib.import_module(module)  # first, so that what is hashed is what runs
    if code_version(*spec["modules"]) != spec["version"]:
        raise HeadwayError(
            f"{directory}: Headway's code has changed since this training was planned: give the command again"
        )


def train_transformer(directory: Path) -> None:
    """Train and score a Transformer from its first step to its last; writes ``trial.json``."""
    spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
    config = settings.from_dict(spec["settings"], where=str(directory))
    # Nothing decides anew for each text, as "auto" would, whether lines are split.
    is_split = config.search.split_sentences is True
    config = replace(config, search=replace(config.search, split_sentences=is_split))
    run_directory = RunDirectory(directory / "run")
    remove(run_directory.path)  # of a training that was interrupted
    with planned(run_directory, RunRequest(data=spec["data"], preset=config)) as plan:
        run, notices = open_run(plan)
        print(*notices, sep="\n", end="\n" if notices else "", file=sys.stderr)
        assert run is not None, "a trial is never marked as finished"
        data, model = run.data, run.trainer.model
        if spec["change"]:
            import_named(spec["change"])(model)
        seconds, tokens = train(run)
        if config.training.average > 1:
            _save_average(run, directory / "averaged")
        loss = _loss_curve(run_directory.metrics.path)
    save_model(
        directory / "model", model, data.tokenizer, run.config, data.languages, "# A trial\n"
    )
    test = [Path(path) for path in spec["test"]]
    scores = import_named(spec["task"]).score(model.eval(), data, run.config, test)
    trial = Trial(
        name=spec["name"],
        seed=config.training.seed,
        directory=directory / "model",
        parameters=parameter_count(model),
        steps=run.step,
        loss=loss,
        scores=scores,
        tokens_per_second=tokens / seconds,
        seconds=seconds,
        config=run.config,
    )
    write_trial(trial)
    remove(run_directory.path)


def train(run: Run) -> tuple[float, int]:
    """Train to the last step, with the checkpoints that are averaged; returns seconds and target tokens."""
    clock = clock_of(run.trainer.device)
    run.begin()
    seconds, tokens = 0.0, 0
    while not run.is_at_end:
        if run.is_checkpoint_due and run.config.training.average > 1:
            run.save()
        started = clock()
        for event in run.advance():
            tokens += getattr(event, "tokens", 0)
        seconds += clock() - started
    run.save()
    return seconds, tokens


def clock_of(device: torch.device) -> Callable[[], float]:
    """Return what measures a training: the process's processor time, or wall time on a GPU; in seconds."""
    return time.perf_counter if device.type == "cuda" else time.process_time


def _save_average(run: Run, directory: Path) -> None:
    """Write the average of the run's last checkpoints (paper: section 6.1)."""
    steps = run.averaged_steps()
    model = run.average(steps)
    card = f"# The average of {len(steps)} checkpoints\n"
    save_model(directory, model, run.data.tokenizer, run.config, run.data.languages, card)


def import_named(name: str) -> Any:
    """Return the function or class that ``module:name`` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _loss_curve(metrics: Path) -> tuple[tuple[float, float], ...]:
    """Return the last step and the mean loss of each stretch of a training.

    Stretches are cut by the numbers of steps, so that trainings of one length have the same ones, whatever their
    losses. The mean of one without any finite loss is NaN.
    """
    events = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    losses = {e["step"]: e["nll"] for e in events if e["event"] == "step"}
    last = max(losses, default=0)
    size = -(-last // CURVE_POINTS) or 1
    curve = []
    for before in range(0, last, size):
        end = min(before + size, last)
        taken = (losses.get(step) for step in range(before + 1, end + 1))
        finite = [nll for nll in taken if nll is not None]
        curve.append((end, sum(finite) / len(finite) if finite else math.nan))
    return tuple(curve)
