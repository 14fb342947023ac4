"""What an experiment works with: a directory that keeps finished trainings, a scale, seeds and text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from headway.config import Config, TrainingConfig
from headway.devices import available_cores
from headway.errors import HeadwayError
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial, read_origin
from headway.ext.paper.running.scales import SCALES
from headway.ext.paper.running.trial import Trial, read_trial
from headway.ext.paper.running.trial_forecast import Forecast
from headway.ext.paper.running.trial_run import run_trial
from headway.ext.paper.running.workers import run_together

T = TypeVar("T")


class Study:
    """The place, the scale and the means of a reproduction.

    Args:
        directory: Keeps results, trials and data.
        scale: A name of `SCALES`.
        seeds: Of every comparison.
        show: Shows a line of progress.
        processes: How many trials run at once, on one core each; 0: one for each core.
        corpus: Text to train on; None: the built-in corpus, at "minutes".
        device: Where the models of comparisons with the base are trained, as in ``training.device``.
        others: Directories of other machines, whose finished trainings count here, too.

    Attributes:
        experiment: The name of the one that runs.
        trained: The settings of the trainings that it wanted so far, also of those that were finished before.
    """

    def __init__(
        self,
        directory: str | Path,
        scale: str = "minutes",
        seeds: Sequence[int] = (),
        show: Callable[[str], None] = lambda text: None,
        processes: int = 0,
        corpus: Bitext | None = None,
        device: str = "cpu",
        others: Sequence[str | Path] = (),
    ) -> None:
        if scale not in SCALES:
            raise HeadwayError(f"scale {scale}: the scales are {', '.join(SCALES)}")
        self.directory = Path(directory)
        self.scale, self._scale = scale, SCALES[scale]
        self.gate = self._scale.gate
        self.seeds = tuple(seeds) or (1, 2, 3)
        self.device = device
        self.show = show
        self.processes = processes or available_cores()
        self.experiment = ""
        self.trained: list[TrainingConfig] = []
        self._given_corpus = corpus
        self.others = tuple(map(Path, others))

    @property
    def base(self) -> Config:
        """The settings that comparisons start from."""
        return self._on_device(self._scale.base)

    @property
    def published_base(self) -> Config:
        """The base with the paper's optimizer, learning rate and averaging."""
        return self._on_device(self._scale.published)

    def _on_device(self, config: Config) -> Config:
        if self.is_settings_only or self.device == "cpu":
            return config
        # A GPU has a kernel for packed rows in bf16 only.
        training = replace(config.training, device=self.device, precision="auto")
        return replace(config, training=training)

    @property
    def is_settings_only(self) -> bool:
        """Whether the scale writes settings instead of training."""
        return self.scale == "paper"

    @property
    def seeds_note(self) -> str:
        """What a table of means says of its seeds."""
        if len(self.seeds) == 1:
            return "1 seed."
        return f"{len(self.seeds)} seeds, means with 95 % intervals by Student's t."

    @property
    def text_fingerprint(self) -> str:
        """A hash of the given text; empty for the built-in corpus."""
        return self._given_corpus.fingerprint if self._given_corpus else ""

    @property
    def origin(self) -> dict[str, str]:
        """What a training keeps of the study for which it was planned first."""
        return {"scale": self.scale, "text": self.text_fingerprint}

    @cached_property
    def corpus(self) -> Bitext:
        """The text that comparisons train on.

        Raises:
            HeadwayError: If this scale has no text of its own and none was given.
        """
        if self._given_corpus is not None:
            return self._given_corpus
        if self._scale.built_in is None:
            raise HeadwayError(f"--scale {self.scale} needs text: give --train and --valid")
        return Bitext.built_in(*self._scale.built_in)

    def pick(self, minutes: T, hours: T) -> T:
        """Return the value for this scale: the second one if trainings are long."""
        return hours if self.scale in ("hours", "paper") else minutes

    def run_trials(self, planned: Sequence[PlannedTrial]) -> list[Trial]:
        """Train and score several models, as many at once as there are processes.

        Equal trials are run once, and finished ones are read.

        Raises:
            HeadwayError: If a training fails, or the result of one is gone.
        """
        self.trained += (plan.config.training for plan in planned)
        waiting = self.prepare_trials(planned)
        forecast = Forecast({directory: plan.effort for directory, plan in waiting.items()})
        if len(waiting) > 1:
            self.show(f"  {len(waiting)} trainings")
        for directory in run_together(run_trial, list(waiting), self.processes):
            trial = _read_finished(directory)
            self.show(
                f"  trial {trial.name}, seed {trial.seed}: {trial.scores_text}, {trial.seconds:.0f} s of"
                f" {trial.time_name} ({forecast.after(directory)})"
            )
        return [_read_finished(self._trial_directory(plan)) for plan in planned]

    def prepare_trials(self, planned: Sequence[PlannedTrial]) -> dict[Path, PlannedTrial]:
        """Write what each unfinished training is to do, and its data; returns them by directory, the longest first."""
        # The longest first, so that no core waits for a long one at the end.
        order = sorted(planned, key=lambda plan: -plan.effort)
        directories = {self._trial_directory(plan): plan for plan in order}
        waiting = {d: plan for d, plan in directories.items() if read_trial(d) is None}
        for directory, plan in waiting.items():  # before any runs: several may need the same data
            task, data = plan.task or self.corpus, self.directory / "data"
            plan.write_spec(directory, task, data, {"experiment": self.experiment, **self.origin})
        return waiting

    def run_groups(self, planned: Sequence[PlannedTrial]) -> dict[str, TrialGroup]:
        """Run each planned trial with every seed; returns the trials by the plan's name."""
        wanted = {
            (plan.name, seed): replace(plan, seed=seed) for seed in self.seeds for plan in planned
        }
        trials = dict(zip(wanted, self.run_trials([*wanted.values()]), strict=True))
        return {
            plan.name: TrialGroup(tuple(trials[plan.name, seed] for seed in self.seeds))
            for plan in planned
        }

    def _trial_directory(self, plan: PlannedTrial) -> Path:
        task = plan.task or self.corpus
        own = self.directory / "trials" / plan.key(task)
        if not self.others or read_trial(own) is not None:
            return own
        return self._trained_elsewhere.get(plan.training(task), own)

    @cached_property
    def _trained_elsewhere(self) -> dict[str, Path]:
        """The finished trainings of other machines, by what was trained."""
        found = finished_trainings(self.others)
        return {origin["training"]: trial.directory.parent for trial, origin in found}


def finished_trainings(directories: Iterable[Path]) -> Iterator[tuple[Trial, dict[str, str]]]:
    """Yield the trainings that today's code has finished below the directories of studies, with `read_origin`."""
    for place in (place for directory in directories for place in directory.glob("trials/*/")):
        trial, origin = read_trial(place), read_origin(place)
        if trial is not None and origin is not None:
            yield trial, origin


def _read_finished(directory: Path) -> Trial:
    """Return a trial that has been trained."""
    trial = read_trial(directory)
    if trial is None:
        raise HeadwayError(
            f"{directory}: its trial.json or its model is missing or damaged: give the command again"
        )
    return trial
