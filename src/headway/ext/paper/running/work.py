"""What an experiment works with: a directory that keeps finished trials, a scale, seeds and text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from headway.config import NO_LIMIT, Config, TrainingConfig, list_departures, paper_config, to_toml
from headway.devices import available_cores
from headway.errors import HeadwayError
from headway.ext.paper.results import Finding, Findings, Table, collect
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial, read_origin
from headway.ext.paper.running.scales import BASES, PUBLISHED, SECONDS
from headway.ext.paper.running.trial import Trial, read_trial
from headway.ext.paper.running.trial_forecast import Forecast, training_effort
from headway.ext.paper.running.trial_run import run_trial
from headway.ext.paper.running.workers import run_together
from headway.files import replace_bytes

TEXT = "--train train.en train.de --valid valid.en valid.de"
# What an experiment says of its scale "paper".
ONLY_SETTINGS = (
    "Nothing is trained at this scale: the settings are written, with the commands that train them."
)
T = TypeVar("T")


class Study:
    """The place, the scale and the means of a reproduction.

    Args:
        directory: Keeps results, trials and data.
        scale: "toy" (seconds, nothing is learned), "minutes", "hours" or "paper".
        seeds: Of every comparison; by default 1, 2 and 3, or 1 and 2 for toys.
        show: Shows a line of progress.
        processes: How many trials run at once, on one core each; 0: one for each core.
        corpus: Text to train on; None: the built-in corpus, at "minutes" and "toy".
        rows: Groups of Table 3's rows that are trained beside the base; none: all.
        device: Where the models of comparisons with the base are trained, as in ``training.device``.

    Attributes:
        experiment: The name of the one that runs.
        trained: The settings of the trainings that it wanted so far, also of those that were finished before.
        keep: Called by an experiment with what it has found before its trainings begin, so that it is in the report
            if they are interrupted.
    """

    def __init__(
        self,
        directory: str | Path,
        scale: str = "minutes",
        seeds: Sequence[int] = (),
        show: Callable[[str], None] = lambda text: None,
        processes: int = 0,
        corpus: Bitext | None = None,
        rows: Sequence[str] = (),
        device: str = "cpu",
    ) -> None:
        if scale not in BASES:
            raise HeadwayError(f"scale {scale}: the scales are {', '.join(BASES)}")
        self.directory = Path(directory)
        self.scale = scale
        self.seeds = tuple(seeds) or ((1, 2) if scale == "toy" else (1, 2, 3))
        self.rows = tuple(rows)
        self.device = device
        self.show = show
        self.processes = processes or available_cores()
        self.experiment = ""
        self.trained: list[TrainingConfig] = []
        self.keep: Callable[..., None] = _keep_nothing
        self._given_corpus = corpus

    @property
    def _origin(self) -> dict[str, str]:
        return {"scale": self.scale, "text": self.text_fingerprint}

    @property
    def base(self) -> Config:
        """The settings that comparisons start from."""
        return self._on_device(BASES[self.scale])

    @property
    def published_base(self) -> Config:
        """The base with the paper's optimizer, learning rate and averaging."""
        return self._on_device(PUBLISHED[self.scale])

    def _on_device(self, config: Config) -> Config:
        if self.is_settings_only or self.device == "cpu":
            return config
        # A GPU has a kernel for packed rows in bf16 only.
        training = replace(config.training, device=self.device, precision="auto")
        return replace(config, training=training)

    @property
    def regime(self) -> str:
        """Sentences that say which later methods than the paper's have trained the models; "" if none has."""
        later = next((each for each in self.trained if each.optimizer == "muon"), None)
        if later is None:
            return ""
        decay = later.muon_weight_decay
        cooling = later.cool_steps / later.max_steps  # the same for all of an experiment
        return (
            "The models are trained by later methods than the paper's: Muon instead of Adam for the matrices of"
            " the layers, matrices that start at zero, so that most sub-layers add nothing at first, and a"
            f" learning rate that stays at its peak and falls to zero in the last {100 * cooling:.0f} % of the steps. Its"
            f" peak is {later.rate_scale:g} times equation 3's, so that a wider model has a lower rate."
            + (f" Muon has a weight decay of {decay:g}." if decay else "")
        )

    @property
    def is_settings_only(self) -> bool:
        """Whether the scale writes settings instead of training."""
        return self.scale == "paper"

    @property
    def least_bleu(self) -> float:
        """The BLEU below which a translator has hardly learned anything: little more than half of the base's."""
        return 20.0 if self.scale == "hours" else 50.0

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

    @cached_property
    def corpus(self) -> Bitext:
        """The text that comparisons train on.

        Raises:
            HeadwayError: If this scale has no text of its own and none was given.
        """
        if self._given_corpus is not None:
            return self._given_corpus
        if self.scale in ("hours", "paper"):
            raise HeadwayError(f"--scale {self.scale} needs text: give --train and --valid")
        return Bitext.built_in(*self.pick(toy=(300, 6), minutes=(24_000, 600)))

    def pick(self, *, toy: T, minutes: T, hours: T | None = None) -> T:
        """Return the value for this scale; without one for "hours", that of "minutes"."""
        if self.scale == "toy":
            return toy
        return minutes if hours is None or self.scale == "minutes" else hours

    def run_trials(self, planned: Sequence[PlannedTrial]) -> list[Trial]:
        """Train and score several models, as many at once as there are processes.

        Equal trials are run once, and finished ones are read.

        Raises:
            HeadwayError: If a training fails, or the result of one is gone.
        """
        self.trained += (plan.config.training for plan in planned)
        waiting = self.prepare_trials(planned)
        efforts = {directory: plan.effort for directory, plan in waiting.items()}
        seconds = sum(efforts.values()) * SECONDS[self.scale] / training_effort(self.base)
        forecast = Forecast(efforts, seconds, self.processes)
        if len(waiting) > 1:
            self.show(f"  {forecast.first()}")
        for directory in run_together(run_trial, list(waiting), self.processes):
            trial = _read_finished(directory)
            scores = ", ".join(f"{name} {value:.4g}" for name, value in trial.scores.items())
            self.show(
                f"  trial {trial.name}, seed {trial.seed}: {scores}, {trial.seconds:.0f} s of"
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
            plan.write_spec(directory, task, data, {"experiment": self.experiment, **self._origin})
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

    def are_done(self, planned: Sequence[PlannedTrial]) -> bool:
        """Return whether each planned trial was run with every seed."""
        wanted = (replace(plan, seed=seed) for plan in planned for seed in self.seeds)
        return all(read_trial(self._trial_directory(plan)) is not None for plan in wanted)

    def list_bases(self) -> Table:
        """Return the settings in which the models that are compared differ from the paper's base."""
        configs = {"the base here": self.base}
        if self.published_base != self.base:
            configs["the base here, trained as in the paper"] = self.published_base
        paper = paper_config("base").to_dict()
        ours = [config.to_dict() for config in configs.values()]
        departures = [list_departures(config)[1] for config in configs.values()]
        rows = tuple(
            (
                f"{section}.{name}",
                "no limit" if value == NO_LIMIT else str(value),
                *(str(each[section][name]) for each in ours),
            )
            for section, settings in paper.items()
            for name, value in settings.items()
            if any(name in each[section] for each in departures)
        )
        note = (
            "All settings are compared that change a result. The paper names a precision only where it estimates the cost"
            " of a training, and has no rules that drop"
            " training pairs. Classifiers and parsers have settings of their own, which their sections list."
        )
        columns = ("setting", "the paper's base", *configs)
        return Table("The models that are compared", columns, rows, note)

    def finished_trials(self) -> Table:
        """Return the scores of every training of this scale and text that today's code has finished here."""
        rows = []
        for directory in (self.directory / "trials").glob("*/"):
            trial, origin = read_trial(directory), read_origin(directory)
            if trial is None or origin is None or not self._origin.items() <= origin.items():
                continue
            scores = ", ".join(f"{name} {value:.4g}" for name, value in trial.scores.items())
            rows.append(
                (
                    origin["experiment"], trial.name, trial.seed, trial.config.model.d_model,
                    trial.steps, trial.config.training.device, f"{trial.seconds:.0f} s", scores,
                )
            )  # fmt: skip
        return Table(
            "Finished trainings",
            (
                "first trained for",
                "training",
                "seed",
                "d_model",
                "steps",
                "device",
                "time",
                "scores",
            ),
            tuple(sorted(rows)),
            "Also of experiments that were interrupted: the same command goes on with the others. A training that"
            " several experiments need has the name that the first of them gave it. The time is processor time on a"
            " processor, and wall time on a GPU, beside the trainings that shared it.",
        )

    def write_settings(
        self, planned: Sequence[PlannedTrial], verb: str = "train", text: str = TEXT
    ) -> Table:
        """Write the settings of planned trials as TOML files; returns a table of the commands that train them."""
        folder = self.directory / "settings"
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for plan in planned:
            name = re.sub(r"[^a-z0-9.]+", "-", plan.name.lower()).strip("-")
            replace_bytes(folder / f"{name}.toml", to_toml(plan.config.sections()).encode())
            rows.append(
                (plan.name, f"headway {verb} runs/{name} --config {folder / name}.toml {text}")
            )
        return Table("The trainings as commands", ("training", "command"), tuple(rows))

    def settings_only(self, planned: Sequence[PlannedTrial], *findings: Finding) -> Findings:
        """Write the settings of planned trials; returns a result of what needs no training."""
        return collect(*findings, self.write_settings(planned), differs=ONLY_SETTINGS)

    def _trial_directory(self, plan: PlannedTrial) -> Path:
        return self.directory / "trials" / plan.key(plan.task or self.corpus)


def _read_finished(directory: Path) -> Trial:
    """Return a trial that has been trained."""
    trial = read_trial(directory)
    if trial is None:
        raise HeadwayError(
            f"{directory}: its trial.json or its model is missing or damaged: give the command again"
        )
    return trial


def _keep_nothing(*findings: Finding) -> None:
    pass
