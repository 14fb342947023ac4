"""One small training and what it came to, in a directory of its own: the unit of all comparisons.

A trial is a function of settings, text, seed and this package's sources, whose hash is its
directory's name: two experiments that need the same one train it once. A trial that was stopped
goes on from its last checkpoint.
"""

import copy
import hashlib
import importlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from headway import config as settings
from headway.config import Config
from headway.files import remove
from headway.inference import Translator, save_model
from headway.model import Transformer, parameter_count
from headway.paper.running.scoring import predict, score
from headway.text.prepare import PreparedData
from headway.text.readers import read_lines
from headway.training.averaging import average_weights
from headway.training.checkpoint import replace_file
from headway.training.run import Run
from headway.training.run_directory import RunDirectory
from headway.training.starting import resume, start

Change = Callable[[Transformer], None]
POINTS = 60  # of a loss curve
ROOMS = ("config", "kernels", "model", "text", "inference", "evaluation", "training")


@dataclass(frozen=True)
class Trial:
    """A trained model and its scores on pairs that took no part in training.

    Attributes:
        name: Of the first experiment that asked for it.
        seed: Of weights, order and dropout.
        directory: Holds the model as it was after the last step; nothing of it is averaged.
        parameters: Trained numbers; a tied matrix counts once.
        steps: Optimizer steps.
        loss: (step, training loss without smoothing in nats a token), means of stretches.
        perplexity: Of a target subword, without smoothing.
        accuracy: Share of target subwords that are the likeliest, given the right ones before.
        confidence: Mean probability of the likeliest subword.
        bleu: sacreBLEU of raw text, beam 4, alpha 0.6.
        chrf: chrF2 of the same.
        tokens_per_second: Target tokens trained on, a second of processor time (of wall time on a
            GPU): what others do on the machine changes little.
        seconds: Of training, counted alike.
        settings: Of all four sections.
    """

    name: str
    seed: int
    directory: Path
    parameters: int
    steps: int
    loss: tuple[tuple[float, float], ...]
    perplexity: float
    accuracy: float
    confidence: float
    bleu: float
    chrf: float
    tokens_per_second: float
    seconds: float
    settings: dict[str, Any]

    def translator(self) -> Translator:
        """Load the model."""
        return Translator.load(self.directory, "cpu")

    @property
    def averaged(self) -> Path:
        """The average of the last checkpoints, where the settings ask for more than one."""
        return self.directory.with_name("averaged")

    @property
    def model(self) -> Transformer:
        """The network alone, in evaluation mode."""
        return self.translator().model


def write_spec(
    directory: Path, name: str, config: Config, data: Path, test: list[Path], change: Change | None
) -> None:
    """Say in a directory what its trial is to do; ``change`` must be a function of a module."""
    spec = {
        "name": name,
        "settings": config.to_dict(),
        "data": str(data),
        "test": [str(path) for path in test],
        "change": change and f"{change.__module__}:{change.__qualname__}",
    }
    directory.mkdir(parents=True, exist_ok=True)
    replace_file(directory / "spec.json", json.dumps(spec, indent=1).encode())


def read_trial(directory: Path) -> Trial | None:
    """Return a trial that has ended, or None."""
    try:
        values = json.loads((directory / "trial.json").read_text(encoding="utf-8"))
        values["loss"] = tuple((step, loss) for step, loss in values["loss"])
        return Trial(directory=directory / "model", **values)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_trial(directory: Path) -> Trial:
    """Do what a directory's ``spec.json`` says, or go on with it."""
    spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
    config = settings.from_dict(spec["settings"], where=str(directory))
    data = PreparedData.open(spec["data"])
    run_directory = RunDirectory(directory / "run")
    run_directory.lock()
    try:
        run = (
            resume(run_directory, data, config)
            if run_directory.started
            else start(run_directory, data, config)
        )
        model = run.trainer.model
        assert isinstance(model, Transformer)
        if spec["change"]:
            module, _, function = spec["change"].partition(":")
            getattr(importlib.import_module(module), function)(model)
        seconds, tokens = train(run)
        if config.training.average > 1:
            _save_average(run, directory / "averaged")
        loss = _loss(run_directory.metrics.path)
    finally:
        run_directory.unlock()
    place = directory / "model"
    save_model(place, model, data.tokenizer, run.config, data.languages, "# A trial\n")
    lines = [list(read_lines(path)) for path in spec["test"]]
    pairs = tuple(zip(*lines, strict=True))
    perplexity, accuracy, confidence = predict(model, data.tokenizer, pairs)
    bleu, chrf = score(model, data.tokenizer, pairs, data.languages)
    values = {
        "name": spec["name"],
        "seed": config.training.seed,
        "parameters": parameter_count(model),
        "steps": run.step,
        "loss": loss,
        "perplexity": perplexity,
        "accuracy": accuracy,
        "confidence": confidence,
        "bleu": bleu,
        "chrf": chrf,
        "tokens_per_second": tokens / seconds,
        "seconds": seconds,
        "settings": run.config.to_dict(),
    }
    replace_file(directory / "trial.json", json.dumps(values, indent=1).encode())
    remove(run_directory.path)
    found = read_trial(directory)
    assert found is not None
    return found


def train(run: Run) -> tuple[float, int]:
    """Train to the last step, with a checkpoint now and then; returns seconds and target tokens."""
    clock = time.perf_counter if run.trainer.device.type == "cuda" else time.process_time
    run.begin()
    timer = run.directory.path / "spent.json"
    seconds, tokens = json.loads(timer.read_text()) if timer.is_file() and run.step else (0.0, 0)
    try:
        while not run.is_at_end:
            if run.is_save_due or (run.is_checkpoint_due and run.config.training.average > 1):
                run.save()
                replace_file(timer, json.dumps([seconds, tokens]).encode())
            started = clock()
            for event in run.advance():
                tokens += getattr(event, "tokens", 0)
            seconds += clock() - started
        if run.config.training.average > 1:
            run.save()
    except BaseException:
        run.save()
        replace_file(timer, json.dumps([seconds, tokens]).encode())
        raise
    return seconds, tokens


def _save_average(run: Run, place: Path) -> None:
    """Write the average of the run's last checkpoints (paper: section 6.1)."""
    every, count = run.config.training.checkpoint_every, run.config.training.average
    steps = [s for s in run.directory.steps() if s % every == 0 or s == run.step][-count:]
    model = copy.deepcopy(run.trainer.model)
    model.load_state_dict(average_weights([run.directory.weights(step) for step in steps]))
    card = f"# The average of {len(steps)} checkpoints\n"
    save_model(place, model, run.data.tokenizer, run.config, run.data.languages, card)


@cache
def code_version() -> str:
    """A hash of the sources that a trial depends on."""
    package = Path(settings.__file__).parents[1]
    files = sorted(
        f
        for room in ROOMS
        for f in (package / room).rglob("*")
        if f.suffix in (".py", ".h", ".cpp")
    )
    sums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in (*files, Path(__file__))]
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def _loss(metrics: Path) -> list[tuple[float, float]]:
    steps = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    points = [(s["step"], s["nll"]) for s in steps if s["event"] == "step" and s["nll"] is not None]
    size = -(-len(points) // POINTS) if points else 1
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [(g[-1][0], sum(nll for _, nll in g) / len(g)) for g in groups]
