"""One small training and what it came to, in a directory of its own: the unit of all comparisons.

A trial is a function of settings, text, seed and this package's sources, whose hash is its
directory's name: two experiments that need the same one train it once. A trial that was stopped
goes on from its last checkpoint. ``python -m headway.paper.trial DIR`` runs the one that ``DIR``'s
``spec.json`` describes.
"""

import hashlib
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from headway import config as settings
from headway.config import Config, SearchConfig
from headway.evaluation import pick_measures
from headway.model import Transformer, parameter_count
from headway.paper.bitext import Pairs
from headway.text.prepare import PreparedData
from headway.text.readers import read_lines
from headway.text.tokenizer import Tokenizer
from headway.training.checkpoint import remove, replace_file
from headway.training.run import Run
from headway.training.run_directory import RunDirectory
from headway.training.starting import resume, start
from headway.training.validation import perplexity_of
from headway.translation import Translator, save_model
from headway.translation.grouping import like_lengths, pad_right

Change = Callable[[Transformer], None]
SEARCH = SearchConfig(beam=4, alpha=0.6)  # Table 3's
POINTS = 60  # of a loss curve
ROOMS = ("config", "kernels", "model", "text", "translation", "evaluation", "training")


@dataclass(frozen=True)
class Trial:
    """A trained model and its scores on pairs that took no part in training.

    Attributes:
        name: Of the first experiment that asked for it.
        seed: Of weights, order and dropout.
        directory: Holds the model, as it was after the last step: nothing is averaged.
        parameters: Trained numbers; a tied matrix counts once.
        steps: Optimizer steps.
        loss: (step, training loss without smoothing in nats a token), means of stretches.
        perplexity: Of a target subword, without smoothing.
        accuracy: Share of target subwords that are the likeliest, given the right ones before.
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
    bleu: float
    chrf: float
    tokens_per_second: float
    seconds: float
    settings: dict[str, Any]

    def translator(self) -> Translator:
        """Load the model."""
        return Translator.load(self.directory, "cpu")

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
        if spec["change"]:
            module, _, function = spec["change"].partition(":")
            getattr(importlib.import_module(module), function)(model)
        seconds, tokens = train(run)
        loss = _loss(run_directory.metrics.path)
    finally:
        run_directory.unlock()
    place = directory / "model"
    save_model(place, model, data.tokenizer, run.config, data.languages, "# A trial\n")
    lines = [list(read_lines(path)) for path in spec["test"]]
    pairs = tuple(zip(*lines, strict=True))
    perplexity, accuracy = predict(model, data.tokenizer, pairs)
    bleu, chrf = score(model, data.tokenizer, pairs, data.languages)
    values = {
        "name": spec["name"],
        "seed": config.training.seed,
        "parameters": parameter_count(model),
        "steps": run.step,
        "loss": loss,
        "perplexity": perplexity,
        "accuracy": accuracy,
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
        while not run.at_end:
            if run.save_due:
                run.save()
                replace_file(timer, json.dumps([seconds, tokens]).encode())
            started = clock()
            for event in run.advance():
                tokens += getattr(event, "tokens", 0)
            seconds += clock() - started
    except BaseException:
        run.save()
        replace_file(timer, json.dumps([seconds, tokens]).encode())
        raise
    return seconds, tokens


@torch.inference_mode()
def predict(model: Transformer, tokenizer: Tokenizer, pairs: Pairs) -> tuple[float, float]:
    """Return perplexity and accuracy of the next target subword on raw pairs."""
    model.eval()
    device = next(model.parameters()).device
    sources = tokenizer.encode_source([source for source, _ in pairs])
    targets = tokenizer.encode_target([target for _, target in pairs])
    nll, right, count = 0.0, 0, 0
    for rows in like_lengths(
        [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)], 4000
    ):
        source, segments = pad_right([sources[row] for row in rows], tokenizer.source_pad)
        target, inside = pad_right([targets[row] for row in rows], tokenizer.target_pad)
        source, segments, target, inside = (
            t.to(device) for t in (source, segments, target, inside)
        )
        log_p_BTV = model(source, target, segments, inside).float().log_softmax(-1)
        real = inside != 0
        nll -= log_p_BTV.gather(2, target[..., None])[..., 0][real].double().sum().item()
        right += int((log_p_BTV.argmax(-1) == target)[real].sum())
        count += int(real.sum())
    return perplexity_of(nll / count), right / count


def score(
    model: Transformer, tokenizer: Tokenizer, pairs: Pairs, languages: tuple[str, str]
) -> tuple[float, float]:
    """Return BLEU and chrF2 of raw text."""
    device = str(next(model.parameters()).device)
    translator = Translator(model, tokenizer, SEARCH, device, languages)
    translations = translator.translate([source for source, _ in pairs])
    references = [target for _, target in pairs]
    bleu, chrf = (
        measure.segments(translations, references, languages[1]).total()
        for measure in pick_measures(["bleu", "chrf"])
    )
    return bleu, chrf


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


def _end_with_parent() -> None:
    """End when standard input does, as it does when the process that started this one is gone."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    run_trial(Path(sys.argv[1]))
