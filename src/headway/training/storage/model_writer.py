"""The models that a run offers: the best, the average, and the one installed in the run directory."""

from pathlib import Path

from headway.config import Config
from headway.extension import list_sidecars
from headway.files import add_path_to_errors, hash_file, remove, sync, temporary_path
from headway.model import Network
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.storage.record import RunRecord
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ValidationReport
from headway.translation.directory import WEIGHTS, save_model, write_config


class ModelWriter:
    """Writes a run's models with their cards; only the first rank writes.

    Args:
        directory: Of the run.
        data: The prepared data.
        config: The settings, with the vocabulary sizes.
        record: What ``run.json`` holds; it names the scores of the installed model.
    """

    def __init__(
        self, directory: RunDirectory, data: PreparedData, config: Config, record: RunRecord
    ) -> None:
        self.directory, self.data, self.config, self.record = directory, data, config, record

    def install(self, model: Network, report: ValidationReport) -> None:
        """Write a model into the run directory if it is better than the one that is installed."""
        if report.is_better_than(self.record.installed):
            self.write(self.directory.path, model, report)
            self.record.installed = report
            self.directory.write_record(self.record)

    def write(self, path: Path, model: Network, report: ValidationReport) -> None:
        """Write a model directory; what was learned from the weights before is deleted."""
        if parallel.rank() == 0:
            self._write(path, model, report)
        parallel.wait_for_first()

    def _write(self, path: Path, model: Network, report: ValidationReport) -> None:
        from headway.training.storage.card import model_card

        languages = self.data.languages
        which = f"average of {report.averaged} checkpoints" if report.averaged > 1 else "weights"
        which += f" at step {report.step}"
        pairs = self.data.pairs
        card = model_card(self.config, self.record, languages, which, report, pairs)
        # The record has the digest of the weights before they get their name, so that a kill between
        # the two leaves weights that the record knows.
        unfinished = temporary_path(self.directory.path / "model")
        with add_path_to_errors(path):
            unfinished.mkdir()
            try:
                save_model(
                    unfinished, model, self.data.tokenizer, self.config, languages, card, pairs
                )
                files = [file for file in (path / WEIGHTS, unfinished / WEIGHTS) if file.exists()]
                name = (path / WEIGHTS).relative_to(self.directory.path).as_posix()
                self.record.models[name] = [hash_file(file) for file in files]
                self.directory.write_record(self.record)
                path.mkdir(exist_ok=True)
                # They are learned from weights, and mean nothing beside others.
                for learned in list_sidecars("weights", "model"):
                    remove(path / learned)
                for file in sorted(unfinished.iterdir(), key=lambda file: file.name == WEIGHTS):
                    file.replace(path / file.name)
                sync(path)
                del self.record.models[name][:-1]
                self.directory.write_record(self.record)
            finally:
                remove(unfinished)


def write_settings(directory: RunDirectory, data: PreparedData, config: Config) -> None:
    """Write vocabulary and settings into a run directory, and beside the models in it."""
    for folder in (directory.path, directory.best, directory.averaged):
        if folder == directory.path or (folder / WEIGHTS).exists():
            data.tokenizer.save(folder)
            write_config(folder, config, data.languages, pairs=data.pairs)
