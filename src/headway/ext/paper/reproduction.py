"""The experiments by name: how one is run, kept and shown in the report."""

import hashlib
import importlib
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from headway.errors import HeadwayError
from headway.ext.paper import experiments, report
from headway.ext.paper.charts import has_matplotlib
from headway.ext.paper.experiments import table3
from headway.ext.paper.results import Claim, Finding, Findings, collect, place_text
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial, describe_machine
from headway.ext.paper.running.settings_tables import (
    describe_regime,
    list_bases,
    list_trainings,
    write_settings,
)
from headway.ext.paper.running.sources import code_version
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial_forecast import duration_text
from headway.ext.paper.table3_rows import GROUPS
from headway.ext.paper.trends import Comparison
from headway.ext.paper.verdicts import Gate
from headway.files import hash_file, replace_bytes

# They have texts of their own, or train nothing.
WITHOUT_TEXT = {"feed_forward", "table4", "classification", "wmt14"}
UNFINISHED = "Not finished: this is what needs no training."
ONLY_SETTINGS = (
    "Nothing is trained at this scale: the settings are written, with the commands that train them."
)


@dataclass(frozen=True)
class Description:
    """What people read of an experiment, from ``experiments.toml``.

    Attributes:
        title: For people.
        section: Of the paper, or what it is about if that is no section.
        counted: How what is counted departs from the paper.
        trained: How what is trained departs from it.
        claims: What the paper says of two trainings.
        minutes: At that scale with three seeds the number of trainings, and about how many minutes they take.
        hours: The same at "hours".
    """

    title: str
    section: str
    counted: str = ""
    trained: str = ""
    claims: Sequence[Comparison] = ()
    minutes: Sequence[int] = (0, 0)
    hours: Sequence[int] = (0, 0)


def _read_descriptions() -> dict[str, Description]:
    text = files(experiments.__name__).joinpath("experiments.toml").read_text(encoding="utf-8")
    found = {}
    for name, values in tomllib.loads(text).items():
        claims = [Comparison(**claim) for claim in values.pop("claims", ())]
        found[name] = Description(**values, claims=claims)
    return found


# The modules of headway.ext.paper.experiments that `headway reproduce` runs, in the paper's order.
EXPERIMENTS = _read_descriptions()
# Table 2 is the last: it needs trials of Table 3, which train there beside others on all cores.
ALL = sorted(EXPERIMENTS, key=lambda name: name == "table2")


class Experiment(Protocol):
    """What every module of `EXPERIMENTS` defines: it counts, it plans trainings, and it concludes from them.

    One that reads files besides the work's text also has ``given_files(work)``, which returns their paths.
    """

    @staticmethod
    def count(work: Study) -> list[Finding]:
        """Return what needs no trained translator."""

    @staticmethod
    def plan(work: Study) -> list[PlannedTrial]:
        """Return the trainings, each with a name of its own; all seeds of each are run."""

    @staticmethod
    def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
        """Return what the trainings, by their names, show."""


def list_experiments(scale: str, seeds: int = 3) -> str:
    """Return a line about each experiment, with its time if the scale has a forecast, and what the times are."""
    forecast = {
        name: (count * seeds // 3, 20 * minutes * seeds)  # seconds
        for name, each in EXPERIMENTS.items()
        for count, minutes in [getattr(each, scale, (0, 0))]
    }
    lines = []
    for name, each in EXPERIMENTS.items():
        count, seconds = forecast[name]
        time_text = f"{count} trainings, {duration_text(seconds)} of one core"
        notes = [place_text(each.section), time_text if count else "no training"]
        lines.append(f"{name:<16}{each.title} ({'; '.join(notes)})")
    if scale != "paper":
        count, seconds = map(sum, zip(*forecast.values(), strict=True))
        note = (
            f"Times: at the scale {scale}, with {seeds} {'seed' if seeds == 1 else 'seeds'}, of a server of the 2020s (AMD EPYC, Zen 5), beside which"
            f" counting and timing take some minutes. All: {count} trainings, {duration_text(seconds)} of one core; those that"
            " several experiments share count for each here, but are done once."
        )
    else:
        note = f"At the scale {scale} nothing is trained: counting and timing take some minutes."
    return "\n".join([*lines, "", note])


def reproduce(name: str, work: Study, *, again: bool = False) -> Findings:
    """Run an experiment, or return the result of an earlier run with the same work."""
    path = work.directory / f"{name}.json"
    key = _key(name, work)  # before it runs: what is edited meanwhile has measured nothing
    if not again and (earlier := _read(path, work)) is not None:
        if earlier.settings.get("work") == key and _covers(earlier, work):
            work.show(f"{name}: done before")
            return earlier
        work.show(
            f"{name}: done again, because the scale, the seeds, the device, the text, the rows, Headway's code or matplotlib differ"
        )
    experiment, described = _load(name), EXPERIMENTS[name]
    work.show(f"{name}: {described.title}")
    work.directory.mkdir(parents=True, exist_ok=True)
    work.experiment, work.trained = name, []
    started = time.monotonic()

    def finish(findings: Sequence[Finding], differs: str) -> Findings:
        found = collect(*findings)
        return replace(
            found,
            name=name,
            title=described.title,
            section=described.section,
            claims=tuple(replace(c, section=c.section or described.section) for c in found.claims),
            seconds=time.monotonic() - started,
            differs=f"{differs} {describe_regime(work.trained)}".strip(),
            settings=_describe_settings(name, work, plans) | {"work": key},
        )

    findings, plans = experiment.count(work), experiment.plan(work)
    differs = described.counted
    if plans and work.is_settings_only:
        commands = write_settings(work.directory, plans)
        findings.append(commands)
        for _, command in commands.rows:
            work.show(f"  {command}")
        differs = f"{ONLY_SETTINGS} {differs}"
    elif plans:
        replace_bytes(_unfinished(path), finish(findings, UNFINISHED).to_json().encode())
        groups = work.run_groups(plans)
        findings += [*experiment.conclude(work, groups), *judge_claims(name, groups, work.gate)]
        differs = f"{differs} {described.trained.format(work=work)}"
    result = finish(findings, differs)
    replace_bytes(path, result.to_json().encode())
    _unfinished(path).unlink(missing_ok=True)
    work.show(f"{name}: {result.seconds:.0f} s")
    return result


def judge_claims(name: str, groups: Mapping[str, TrialGroup], gate: Gate) -> list[Claim]:
    """Return the described claims of an experiment on trainings that were run."""
    claims = EXPERIMENTS[name].claims
    return [claim.judge(groups, gate) for claim in claims if {claim.name, claim.other} <= {*groups}]


def _describe_settings(name: str, work: Study, plans: Sequence[PlannedTrial]) -> dict[str, object]:
    """Return what an experiment ran with, for the reader of its result."""
    found: dict[str, object] = {"machine": describe_machine(work.device)}
    if work.trained:
        texts = {(plan.task or work.corpus).name for plan in plans}
        found |= {"seeds": list(work.seeds), "text": ", ".join(sorted(texts))}
        if plans[0].task:
            found |= plans[0].config.to_dict()
    if name == "table3":
        found["rows"] = table3.trained_groups(work)
    return found


def write_report(work: Study) -> Path:
    """Write ``report.html`` of all results and trainings so far at this scale; returns its path."""
    files = [work.directory / f"{name}.json" for name in EXPERIMENTS]
    found = [
        [
            r
            for r in (_read(file, work), _read(_unfinished(file), work))
            if r and _is_current(r, work)
        ]
        for file in files
    ]
    results = [some[0] for some in found if some]
    path = work.directory / "report.html"
    replace_bytes(
        path, report.html(results, work.scale, list_bases(work), list_trainings(work)).encode()
    )
    return path


def _is_current(result: Findings, work: Study) -> bool:
    return bool(result.settings.get("work") == _key(result.name, work))


def _unfinished(path: Path) -> Path:
    """Return the file of what an experiment has found before its trainings."""
    return path.with_suffix(".unfinished.json")


def _load(name: str) -> Experiment:
    module: Experiment = importlib.import_module(f"headway.ext.paper.experiments.{name}")  # type: ignore[assignment]
    return module


def _read(path: Path, work: Study) -> Findings | None:
    """Return a result, or None if it is missing, damaged or of another version: the experiment is done again."""
    try:
        return Findings.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, HeadwayError) as error:
        work.show(f"{path}: {error}: it counts as not done")
        return None


def _key(name: str, work: Study) -> str:
    """Return what the result of an experiment depends on."""
    # An experiment may read files besides the work's text: it says which.
    given_files = getattr(_load(name), "given_files", _no_files)
    texts = "".join([work.text_fingerprint, *map(hash_file, given_files(work))])
    text = f"text {hashlib.sha256(texts.encode()).hexdigest()[:8]}" if texts else "no text given"
    code = code_version(f"{experiments.__name__}.{name}")[:8]
    seeds = ", ".join(map(str, work.seeds))
    # Both packages write the built-in text. A training depends on the text itself.
    writers = ", ".join(f"{name} {_version_of(name)}" for name in ("babel", "num2words"))
    pictures = "drawn" if has_matplotlib() else "missing"
    also = "".join(f", also {directory}" for directory in work.others)
    return (
        f"{work.scale}, seeds {seeds}, device {work.device}, {text}, code {code}, {writers},"
        f" pictures {pictures}{also}"
    )


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a text was given, or nothing is trained
        return "missing"


def _no_files(work: Study) -> list[Path]:
    return []


def _covers(result: Findings, work: Study) -> bool:
    """Return whether a result has all rows that the work wants; only Table 3 has rows to choose."""
    return set(work.rows or GROUPS) <= set(result.settings.get("rows", GROUPS))
