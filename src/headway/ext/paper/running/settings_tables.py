"""The settings of trainings as tables: how they differ from the paper's, and the commands that train them."""

import re
from collections.abc import Sequence
from pathlib import Path

from headway.config import NO_LIMIT, TrainingConfig, list_departures, paper_config, to_toml
from headway.ext.paper.results import Table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study, finished_trainings
from headway.files import replace_bytes


def describe_regime(trained: Sequence[TrainingConfig]) -> str:
    """Return which later methods than the paper's have trained models; "" if none has."""
    later = next((each for each in trained if each.optimizer == "muon"), None)
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


def list_bases(work: Study) -> Table:
    """Return the settings in which the models that are compared differ from the paper's base."""
    configs = {"the base here": work.base}
    if work.published_base != work.base:
        configs["the base here, trained as in the paper"] = work.published_base
    ours = [config.to_dict() for config in configs.values()]
    departures = [list_departures(config)[1] for config in configs.values()]
    rows = tuple(
        (
            f"{section}.{name}",
            "no limit" if value == NO_LIMIT else str(value),
            *(str(each[section][name]) for each in ours),
        )
        for section, settings in paper_config("base").to_dict().items()
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


def list_trainings(work: Study) -> Table:
    """Return the scores of every training of this scale and text that today's code has finished here."""
    rows = [
        (
            origin["experiment"], trial.name, trial.seed, trial.config.model.d_model, trial.steps,
            origin["machine"], f"{trial.seconds:.0f} s", trial.scores_text,
        )
        for trial, origin in finished_trainings((work.directory, *work.others))
        if work.origin.items() <= origin.items()
    ]  # fmt: skip
    return Table(
        "Finished trainings",
        ("first trained for", "training", "seed", "d_model", "steps", "machine", "time", "scores"),
        tuple(sorted(rows)),
        "Also of experiments that were interrupted: the same command goes on with the others. A training that"
        " several experiments need has the name that the first of them gave it. The time is processor time on a"
        " processor, and wall time on a GPU, beside the trainings that shared it.",
    )


def write_settings(directory: Path, planned: Sequence[PlannedTrial]) -> Table:
    """Write the settings of trainings as TOML files below a directory; returns a table of the commands that train them.

    Left out are trainings that are more than settings: of a changed model, or of another system.
    """
    folder = directory / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for plan in planned:
        if plan.change or plan.trainer:
            continue
        name = re.sub(r"[^a-z0-9.]+", "-", plan.name.lower()).strip("-")
        replace_bytes(folder / f"{name}.toml", to_toml(plan.config.sections()).encode())
        verb, text = plan.command
        command = f"headway {verb} runs/{name} --config {folder / name}.toml {text}"
        rows.append((plan.name, command))
    return Table("The trainings as commands", ("training", "command"), tuple(rows))
