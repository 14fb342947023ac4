"""The models that a run offers: the best, the average, and the one installed in the run directory."""

from pathlib import Path
from typing import TYPE_CHECKING

from headway.config import Config
from headway.extension import list_sidecars
from headway.files import add_path_to_errors, hash_file, remove, sync, temporary_path
from headway.model import Network
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ValidationReport
from headway.translation.directory import WEIGHTS, save_model, write_config

if TYPE_CHECKING:
    from headway.training.run import Run


def install_model(run: "Run", model: Network, report: ValidationReport) -> None:
    """Write a model into the run directory if it is better than the one that is installed."""
    if report.is_better_than(run.record.installed):
        write_model(run, run.directory.path, model, report)
        run.record.installed = report
        run.directory.write_record(run.record)


def write_model(run: "Run", path: Path, model: Network, report: ValidationReport) -> None:
    """Write a model directory of a run, on rank 0; what was learned from the weights before is deleted."""
    if parallel.rank() == 0:
        _write_model(run, path, model, report)
    parallel.wait_for_first()


def _write_model(run: "Run", path: Path, model: Network, report: ValidationReport) -> None:
    from headway.training.storage.card import model_card

    languages, pairs, record = run.data.languages, run.data.pairs, run.record
    which = f"average of {report.averaged} checkpoints" if report.averaged > 1 else "weights"
    which += f" at step {report.step}"
    card = model_card(run.config, record, languages, which, report, pairs)
    # The record has the digest of the weights before they get their name, so that a kill between
    # the two leaves weights that the record knows.
    unfinished = temporary_path(run.directory.path / "model")
    with add_path_to_errors(path):
        unfinished.mkdir()
        try:
            save_model(unfinished, model, run.data.tokenizer, run.config, languages, card, pairs)
            files = [file for file in (path / WEIGHTS, unfinished / WEIGHTS) if file.exists()]
            name = (path / WEIGHTS).relative_to(run.directory.path).as_posix()
            record.models[name] = [hash_file(file) for file in files]
            run.directory.write_record(record)
            path.mkdir(exist_ok=True)
            # They are learned from weights, and mean nothing beside others.
            for learned in list_sidecars("weights", "model"):
                remove(path / learned)
            for file in sorted(unfinished.iterdir(), key=lambda file: file.name == WEIGHTS):
                file.replace(path / file.name)
            sync(path)
            del record.models[name][:-1]
            run.directory.write_record(record)
        finally:
            remove(unfinished)


def write_settings(directory: RunDirectory, data: PreparedData, config: Config) -> None:
    """Write vocabulary and settings into a run directory, and beside the models in it."""
    for folder in (directory.path, directory.best, directory.averaged):
        if folder == directory.path or (folder / WEIGHTS).exists():
            data.tokenizer.save(folder)
            write_config(folder, config, data.languages, pairs=data.pairs)
