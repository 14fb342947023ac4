"""One small training and its scores, kept in a directory of its own: the unit of all comparisons.

A trial depends on its settings, data, seed and this package's sources, whose hash names its directory.
So two experiments that need the same trial train it once, and a trial that was interrupted continues from
its last checkpoint.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from headway import config as settings
from headway.config import Config
from headway.inference import Translator
from headway.paper.verdicts import percent_text, perplexity_text
from headway.training.storage.checkpoint import replace_file


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
    def score_cells(self) -> tuple[str, str]:
        """BLEU and perplexity with their intervals, as cells of a table."""
        return percent_text(self.bleu), perplexity_text(self.perplexity)

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

    def nats_less(self, base: "Group") -> list[float]:
        """Return each trial's log perplexity less that of the base's trial with the same seed, in nats."""
        pairs = zip(self.perplexity, base.perplexity, strict=True)
        return [math.log(ours / theirs) for ours, theirs in pairs]


def write_trial(trial: Trial) -> None:
    """Write ``trial.json`` beside the trial's model."""
    values = {name: value for name, value in vars(trial).items() if name != "directory"}
    values["settings"] = values.pop("config").to_dict()
    replace_file(trial.directory.parent / "trial.json", json.dumps(values, indent=1).encode())


def read_trial(directory: Path) -> Trial | None:
    """Return a finished trial, or None."""
    try:
        values = json.loads((directory / "trial.json").read_text(encoding="utf-8"))
        values["loss"] = tuple((step, loss) for step, loss in values["loss"])
        config = settings.from_dict(values.pop("settings"), where=str(directory))
        return Trial(directory=directory / "model", config=config, **values)
    except (OSError, ValueError, KeyError, TypeError):
        return None
