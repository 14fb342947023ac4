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
from typing import Any

from headway.errors import HeadwayError
from headway.ext.paper import experiments, report
from headway.ext.paper.charts import has_matplotlib
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
from headway.ext.paper.trends import Comparison
from headway.ext.paper.verdicts import Gate
from headway.files import hash_file, replace_bytes

# They have texts of their own, or train nothing.
WITHOUT_TEXT = {"feed_forward", "table4", "classification", "wmt14"}
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
    """

    title: str
    section: str
    counted: str = ""
    trained: str = ""
    claims: Sequence[Comparison] = ()


def _read_descriptions() -> dict[str, Description]:
    text = files(experiments.__name__).joinpath("experiments.toml").read_text(encoding="utf-8")
    found = {}
    for name, values in tomllib.loads(text).items():
        claims = [Comparison(**claim) for claim in values.pop("claims", ())]
        found[name] = Description(**values, claims=claims)
    return found


# The modules of headway.ext.paper.experiments that `headway reproduce` runs, in the paper's order. Each has some of these
# functions: count(work) returns what needs no trained translator; plan(work) the trainings, each with a name of its own, which all
# run with each seed; conclude(work, groups) what the trainings, by their names, show; given_files(work) the paths of files that it
# reads besides the work's text.
EXPERIMENTS = _read_descriptions()
# Table 2 is the last: it needs trials of Table 3, which train there beside others on all cores.
ALL = sorted(EXPERIMENTS, key=lambda name: name == "table2")


def list_experiments() -> str:
    """Return a line about each experiment."""
    found = EXPERIMENTS.items()
    return "\n".join(f"{name:<16}{each.title} ({place_text(each.section)})" for name, each in found)


def reproduce(name: str, work: Study) -> Findings:
    """Run an experiment, or return the result of an earlier run with the same work."""
    path = work.directory / f"{name}.json"
    key = _key(name, work)  # before it runs: what is edited meanwhile has measured nothing
    if (earlier := _read(path, work)) is not None:
        if earlier.settings.get("work") == key:
            work.show(f"{name}: done before")
            return earlier
        work.show(
            f"{name}: done again, because the scale, the seeds, the device, the text, Headway's code or matplotlib differ"
        )
    described = EXPERIMENTS[name]
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
            settings=_describe_settings(work, plans) | {"work": key},
        )

    findings: list[Finding] = _call(name, "count", work)
    plans: list[PlannedTrial] = _call(name, "plan", work)
    differs = described.counted
    if plans and work.is_settings_only:
        commands = write_settings(work.directory, plans)
        findings.append(commands)
        for _, command in commands.rows:
            work.show(f"  {command}")
        differs = f"{ONLY_SETTINGS} {differs}"
    elif plans:
        groups = work.run_groups(plans)
        findings += _call(name, "conclude", work, groups)
        findings += judge_claims(name, groups, work.gate)
        differs = f"{differs} {described.trained.format(work=work)}"
    result = finish(findings, differs)
    replace_bytes(path, result.to_json().encode())
    work.show(f"{name}: {result.seconds:.0f} s")
    return result


def judge_claims(name: str, groups: Mapping[str, TrialGroup], gate: Gate) -> list[Claim]:
    """Return the described claims of an experiment on trainings that were run."""
    return [claim.judge(groups, gate) for claim in EXPERIMENTS[name].claims]


def _describe_settings(work: Study, plans: Sequence[PlannedTrial]) -> dict[str, object]:
    """Return what an experiment ran with, for the reader of its result."""
    found: dict[str, object] = {"machine": describe_machine(work.device)}
    if work.trained:
        texts = {(plan.task or work.corpus).name for plan in plans}
        found |= {"seeds": list(work.seeds), "text": ", ".join(sorted(texts))}
        if plans[0].task:
            found |= plans[0].config.to_dict()
    return found


def write_report(work: Study) -> Path:
    """Write ``report.html`` of all results and trainings so far of such work, naming other results; returns its path."""
    read = (_read(work.directory / f"{name}.json", work) for name in EXPERIMENTS)
    found = [each for each in read if each is not None]
    results = [each for each in found if each.settings.get("work") == _key(each.name, work)]
    names = [each.name for each in found if each not in results]
    if names:
        work.show(f"not in the report: {', '.join(names)}, {report.OTHER_WORK}")
    path = work.directory / "report.html"
    page = report.html(results, work.scale, list_bases(work), list_trainings(work), names)
    replace_bytes(path, page.encode())
    return path


def _call(name: str, part: str, *args: object) -> list[Any]:
    """Return what a function of an experiment returns, or nothing if it has no such function."""
    module = importlib.import_module(f"{experiments.__name__}.{name}")
    return [*getattr(module, part)(*args)] if hasattr(module, part) else []


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
    texts = "".join([work.text_fingerprint, *map(hash_file, _call(name, "given_files", work))])
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
