"""One small training and its scores, kept in a directory of its own: the unit of all comparisons.

A trial depends on its settings, data, seed and this package's sources, whose hash names its directory.
So two experiments that need the same trial train it once. A trial that was interrupted begins again.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from headway import config as settings
from headway.config import Config
from headway.files import replace_bytes
from headway.translation import WEIGHTS, Translator


@dataclass(frozen=True)
class Trial:
    """A trained model and its scores on examples that it was not trained on.

    Attributes:
        name: The first experiment's name for it.
        seed: Of weights, order and dropout.
        directory: The model after the last step, without averaging; a rival's is not kept.
        parameters: The count of trained numbers; a tied matrix counts once.
        steps: Optimizer steps.
        loss: (step, training loss without smoothing in nats a token), each the mean of a stretch; none of a rival.
        scores: What the task's ``score`` returned.
        tokens_per_second: Target tokens for each second of training.
        seconds: Of training, see `time_name`.
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

    @property
    def scores_text(self) -> str:
        """All scores in a line."""
        return ", ".join(f"{name} {value:.4g}" for name, value in self.scores.items())

    @property
    def time_name(self) -> str:
        """What the seconds are: processor time, which other programs hardly change, or wall time on a GPU.

        There several train at once, and each waits for the others.
        """
        is_on_cores = self.config.training.device == "cpu"
        return "processor time" if is_on_cores else "time on a GPU beside others"

    def translator(self) -> Translator:
        """Load the model."""
        return Translator.load(self.directory, "cpu")


def write_trial(trial: Trial) -> None:
    """Write ``trial.json`` beside the trial's models, with their names."""
    values = {name: value for name, value in vars(trial).items() if name != "directory"}
    values["settings"] = values.pop("config").to_dict()
    values["models"] = [path.name for path in (trial.directory, trial.averaged) if path.is_dir()]
    replace_bytes(trial.directory.parent / "trial.json", json.dumps(values, indent=1).encode())


def read_trial(directory: Path) -> Trial | None:
    """Return a finished trial, or None; without its models a trial is not finished."""
    try:
        values = json.loads((directory / "trial.json").read_text(encoding="utf-8"))
        values["loss"] = tuple((step, loss) for step, loss in values["loss"])
        config = settings.from_dict(values.pop("settings"), where=str(directory))
        if not all((directory / name / WEIGHTS).is_file() for name in values.pop("models")):
            return None
        return Trial(directory=directory / "model", config=config, **values)
    except (OSError, ValueError, KeyError, TypeError):
        return None
