"""The experiments by name: how one is run, kept and shown in the report."""

import hashlib
import importlib
import platform
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Protocol

import torch

from headway.errors import HeadwayError
from headway.ext.paper import experiments, report
from headway.ext.paper.charts import has_matplotlib
from headway.ext.paper.results import Claim, Finding, Findings, collect, place_text
from headway.ext.paper.running.sources import code_version
from headway.ext.paper.running.trial_forecast import duration_text
from headway.ext.paper.running.work import Study
from headway.ext.paper.table3_rows import GROUPS
from headway.files import hash_file, replace_bytes

# The modules of headway.ext.paper.experiments that `headway reproduce` runs, in the paper's order.
EXPERIMENTS = (
    "arguments", "scaling", "feed_forward", "tying", "positions", "table1", "schedule", "smoothing",
    "table2", "table3", "table4", "classification", "figures3to5", "rivals",
)  # fmt: skip
# The trainings of an experiment at a scale with three seeds, and about how many minutes they take on one
# core by the forecast of `Study`. Trainings that several experiments share count for each. At "hours", parsers
# and classifiers have their measured times: the forecast is made for translators, and too low for them.
TRAININGS = {
    "minutes": {
        "arguments": (18, 12), "scaling": (18, 19), "feed_forward": (0, 0), "tying": (15, 10),
        "positions": (15, 10), "table1": (18, 12), "schedule": (15, 18), "smoothing": (9, 6),
        "table2": (9, 26), "table3": (66, 65), "table4": (6, 5), "classification": (12, 3),
        "figures3to5": (3, 2), "rivals": (27, 87),
    },
    "hours": {
        "arguments": (18, 99), "scaling": (18, 96), "feed_forward": (0, 0), "tying": (15, 83),
        "positions": (15, 83), "table1": (18, 99), "schedule": (15, 175), "smoothing": (9, 50),
        "table2": (9, 207), "table3": (66, 520), "table4": (6, 110), "classification": (12, 80),
        "figures3to5": (3, 17), "rivals": (24, 252),
    },
}  # fmt: skip
UNFINISHED = "Not finished: this is what needs no training."
# Table 2 is the last: it needs trials of Table 3, which train there beside others on all cores.
ALL = sorted(EXPERIMENTS, key=lambda name: name == "table2")


class Experiment(Protocol):
    """What every module of `EXPERIMENTS` defines.

    One that reads files besides the work's text also has ``given_files(work)``, which returns their paths.
    """

    TITLE: str
    SECTION: str

    @staticmethod
    def run(work: Study) -> Findings:
        """Measure; the result needs no name, title, section and seconds."""


def list_experiments(scale: str, seeds: int = 3) -> str:
    """Return a line about each experiment, with its time if the scale has a forecast, and what the times are."""
    known = TRAININGS.get(scale, {})
    forecast = {name: (n * seeds // 3, 20 * m * seeds) for name, (n, m) in known.items()}  # seconds
    lines = []
    for name in EXPERIMENTS:
        experiment = _load(name)
        notes = [place_text(experiment.SECTION)]
        if name in forecast:
            count, seconds = forecast[name]
            time_text = duration_text(seconds)
            notes.append(f"{count} trainings, {time_text} of one core" if count else "no training")
        lines.append(f"{name:<16}{experiment.TITLE} ({'; '.join(notes)})")
    if forecast:
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
    experiment = _load(name)
    work.show(f"{name}: {experiment.TITLE}")
    work.directory.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    def finish(found: Findings) -> Findings:
        return replace(
            found,
            name=name,
            title=experiment.TITLE,
            section=experiment.SECTION,
            claims=tuple(
                replace(_as_decided(c, work.scale), section=c.section or experiment.SECTION)
                for c in found.claims
            ),
            seconds=time.monotonic() - started,
            differs=f"{found.differs} {work.regime}".strip(),
            settings={
                **found.settings,
                "machine": _describe_machine(work),
                "work": key,
            },
        )

    def keep(*findings: Finding) -> None:
        result = finish(collect(*findings, differs=UNFINISHED))
        replace_bytes(_unfinished(path), result.to_json().encode())

    work.experiment, work.trained, work.keep = name, [], keep
    result = finish(experiment.run(work))
    replace_bytes(path, result.to_json().encode())
    _unfinished(path).unlink(missing_ok=True)
    work.show(f"{name}: {result.seconds:.0f} s")
    return result


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
        path, report.html(results, work.scale, work.list_bases(), work.finished_trials()).encode()
    )
    return path


def _as_decided(claim: Claim, scale: str) -> Claim:
    """Return a claim as a scale can decide it: at "toy", only identities and counts are."""
    if scale != "toy" or claim.verdict == "shown":
        return claim
    return replace(claim, verdict="not decided", why="nothing is learned at the scale toy", p=None)


def _is_current(result: Findings, work: Study) -> bool:
    return bool(result.settings.get("work") == _key(result.name, work))


def _unfinished(path: Path) -> Path:
    """Return the file of what an experiment has found before its trainings."""
    return path.with_suffix(".unfinished.json")


def _describe_machine(work: Study) -> str:
    gpu = "" if work.device == "cpu" else f"{torch.cuda.get_device_name(work.device)}, "
    system = f"Python {platform.python_version()}, {platform.machine()}"
    return f"{gpu}torch {torch.__version__}, {system}"


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
    return (
        f"{work.scale}, seeds {seeds}, device {work.device}, {text}, code {code}, {writers},"
        f" pictures {pictures}"
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
