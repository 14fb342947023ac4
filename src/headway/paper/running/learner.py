"""A training that goes on where it was stopped, of any kind of model, for experiments of their own kind."""

from pathlib import Path

from headway.config import Config
from headway.model import Network
from headway.paper.running.trial import train
from headway.text.prepare import PreparedData
from headway.training.run_directory import RunDirectory
from headway.training.starting import resume, start


def learn(place: Path, data: PreparedData, config: Config) -> Network:
    """Train a model in a run directory, or go on, and return it as it is after the last step."""
    directory = RunDirectory(place)
    directory.lock()
    try:
        begun = directory.started
        run = resume(directory, data, config) if begun else start(directory, data, config)
        train(run)
    finally:
        directory.unlock()
    return run.trainer.model.eval()
