"""One small training and its scores, kept in a directory of its own: the unit of all comparisons.

A trial depends on its settings, data, seed and this package's sources, whose hash names its directory.
So two experiments that need the same trial train it once, and a trial that was interrupted continues from
its last checkpoint.
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

import torch

from headway import config as settings
from headway.config import Config
from headway.files import remove
from headway.inference import Translator, save_model
from headway.model import Transformer, parameter_count
from headway.paper.running.task import Task
from headway.text.prepare import PreparedData
from headway.training.averaging import average_weights
from headway.training.checkpoint import replace_file
from headway.training.run import Run
from headway.training.run_directory import RunDirectory
from headway.training.starting import resume, start

Change = Callable[[Transformer], None]
CURVE_POINTS = 60
# The rooms, beside this folder, on whose sources a trial depends.
ROOMS = ("config", "kernels", "model", "text", "inference", "evaluation", "training", "parsing")


@dataclass(frozen=True)
class Trial:
    """A trained model and its scores on examples that it was not trained on.

    Attributes:
        name: The first experiment's name for it.
        seed: Of weights, order and dropout.
        directory: The model after the last step, without averaging.
        parameters: The count of trained numbers; a tied matrix counts once.
        steps: Optimizer steps.
        loss: (step, training loss without smoothing in nats a token), each the mean of a stretch.
        scores: What the task's ``score`` returned.
        tokens_per_second: Target tokens for each second of training.
        seconds: Of training: processor time, which other programs on the machine hardly change, or
            wall time on a GPU.
        config: All settings, with the vocabulary's size.
    """

    name: str
    seed: int
    directory: Path
    parameters: int
    steps: int
    loss: tuple[tuple[float, float], ...]
    scores: dict[str, float]
    tokens_per_second: float
    seconds: float
    config: Config

    @property
    def averaged(self) -> Path:
        """The average of the last checkpoints, if the settings ask for more than one."""
        return self.directory.with_name("averaged")

    def translator(self) -> Translator:
        """Load the model."""
        return Translator.load(self.directory, "cpu")


@dataclass(frozen=True)
class Group:
    """The trials that differ in their seed alone, in the order of the seeds."""

    trials: tuple[Trial, ...]

    def values(self, score: str) -> list[float]:
        """Return one score of each trial."""
        return [trial.scores[score] for trial in self.trials]

    @property
    def bleu(self) -> list[float]:
        """The BLEU of each trial."""
        return self.values("bleu")

    @property
    def perplexity(self) -> list[float]:
        """The perplexity of each trial."""
        return self.values("perplexity")

    @property
    def final_loss(self) -> list[float]:
        """The training loss of each trial at its end, in nats a token."""
        return [trial.loss[-1][1] for trial in self.trials]

    @property
    def parameters(self) -> int:
        """The count of trained numbers, the same for all."""
        return self.trials[0].parameters

    @property
    def seconds(self) -> float:
        """The mean time of training."""
        return sum(trial.seconds for trial in self.trials) / len(self.trials)

    @property
    def tokens_per_second(self) -> float:
        """The mean speed of training."""
        return sum(trial.tokens_per_second for trial in self.trials) / len(self.trials)

    def less(self, base: "Group", score: str = "bleu") -> list[float]:
        """Return by how much each trial's score exceeds that of the base with the same seed."""
        return [a - b for a, b in zip(self.values(score), base.values(score), strict=True)]


def write_spec(
    directory: Path, name: str, config: Config, task: Task, data_folder: Path, change: Change | None
) -> None:
    """Prepare a trial's data, and write what the trial is to do into its directory."""
    data, test = task.prepare(data_folder, config.text)
    spec = {
        "name": name,
        "settings": config.to_dict(),
        "task": f"{type(task).__module__}:{type(task).__qualname__}",
        "data": str(data),
        "test": [str(path) for path in test],
        "change": change and f"{change.__module__}:{change.__qualname__}",
    }
    directory.mkdir(parents=True, exist_ok=True)
    replace_file(directory / "spec.json", json.dumps(spec, indent=1).encode())


def read_trial(directory: Path) -> Trial | None:
    """Return a finished trial, or None."""
    try:
        values = json.loads((directory / "trial.json").read_text(encoding="utf-8"))
        values["loss"] = tuple((step, loss) for step, loss in values["loss"])
        config = settings.from_dict(values.pop("settings"), where=str(directory))
        return Trial(directory=directory / "model", config=config, **values)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_trial(directory: Path) -> None:
    """Train, score and keep the model that a directory's ``spec.json`` describes, or continue."""
    spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
    config = settings.from_dict(spec["settings"], where=str(directory))
    data = PreparedData.open(spec["data"])
    run_directory = RunDirectory(directory / "run")
    run_directory.lock()
    try:
        begin = resume if run_directory.started else start
        run = begin(run_directory, data, config)
        model = run.trainer.model
        if spec["change"]:
            _import(spec["change"])(model)
        seconds, tokens = train(run)
        if config.training.average > 1:
            _save_average(run, directory / "averaged")
        loss = _loss_curve(run_directory.metrics.path)
    finally:
        run_directory.unlock()
    save_model(
        directory / "model", model, data.tokenizer, run.config, data.languages, "# A trial\n"
    )
    test = [Path(path) for path in spec["test"]]
    scores = _import(spec["task"]).score(model.eval(), data, run.config, test)
    values = {
        "name": spec["name"],
        "seed": config.training.seed,
        "parameters": parameter_count(model),
        "steps": run.step,
        "loss": loss,
        "scores": scores,
        "tokens_per_second": tokens / seconds,
        "seconds": seconds,
        "settings": run.config.to_dict(),
    }
    replace_file(directory / "trial.json", json.dumps(values, indent=1).encode())
    remove(run_directory.path)


def train(run: Run) -> tuple[float, int]:
    """Train to the last step with checkpoints; returns seconds and target tokens."""
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


def _save_average(run: Run, directory: Path) -> None:
    """Write the average of the run's last checkpoints (paper: section 6.1)."""
    every, count = run.config.training.checkpoint_every, run.config.training.average
    steps = [s for s in run.directory.steps() if s % every == 0 or s == run.step][-count:]
    model = copy.deepcopy(run.trainer.model)
    model.load_state_dict(average_weights([run.directory.weights(step) for step in steps]))
    card = f"# The average of {len(steps)} checkpoints\n"
    save_model(directory, model, run.data.tokenizer, run.config, run.data.languages, card)


@cache
def code_version(*modules: str) -> str:
    """Return a hash of torch's version and of the sources that a trial depends on.

    Args:
        modules: Further modules of this package, such as the one that scores.
    """
    package = Path(settings.__file__).parents[1]
    folders = [*(package / room for room in ROOMS), Path(__file__).parent]
    files = sorted(
        f for folder in folders for f in folder.rglob("*") if f.suffix in (".py", ".h", ".cpp")
    )
    files += [Path(str(importlib.import_module(module).__file__)) for module in sorted(modules)]
    sums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("".join((*sums, torch.__version__)).encode()).hexdigest()


def _import(name: str) -> Any:
    """Return the function or class that ``module:name`` names."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _loss_curve(metrics: Path) -> list[tuple[float, float]]:
    events = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    points = [
        (e["step"], e["nll"]) for e in events if e["event"] == "step" and e["nll"] is not None
    ]
    size = -(-len(points) // CURVE_POINTS) or 1
    stretches = [points[i : i + size] for i in range(0, len(points), size)]
    return [(s[-1][0], sum(nll for _, nll in s) / len(s)) for s in stretches]
