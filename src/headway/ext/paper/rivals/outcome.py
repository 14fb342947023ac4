"""The trial of a rival, which trains from its first step to its last at once."""

from pathlib import Path

from torch import nn

from headway.config import Config
from headway.ext.paper.running.trial import Trial, write_trial
from headway.model import parameter_count


def write_outcome(
    directory: Path,
    name: str,
    model: nn.Module,
    config: Config,
    scores: dict[str, float],
    rate: float,
    seconds: float,
) -> None:
    """Write ``trial.json``; see `Trial` for its values.

    Args:
        directory: Of the trial.
        name: Of the trial.
        model: The trained model.
        config: All settings.
        scores: On the test set.
        rate: Target tokens, or texts, for each second of training.
        seconds: Of training.
    """
    trial = Trial(
        name, config.training.seed, directory / "model", parameter_count(model),
        config.training.max_steps, (), scores, rate, seconds, config,
    )  # fmt: skip
    write_trial(trial)
