"""The experiments by name, and how one is run, kept and shown."""

import hashlib
import importlib
import time
from dataclasses import replace
from pathlib import Path

from headway.errors import HeadwayError
from headway.paper import report
from headway.paper.results import Result
from headway.paper.running.rows import GROUPS
from headway.paper.running.work import Work
from headway.training.checkpoint import replace_file

# What `headway reproduce` calls it -> the module that does it, in the paper's order.
EXPERIMENTS = {
    "arguments": "headway.paper.experiments.arguments",
    "scaling": "headway.paper.experiments.scaling",
    "feed_forward": "headway.paper.experiments.feed_forward",
    "tying": "headway.paper.experiments.tying",
    "positions": "headway.paper.experiments.positions",
    "table1": "headway.paper.experiments.table1",
    "schedule": "headway.paper.experiments.schedule",
    "smoothing": "headway.paper.experiments.smoothing",
    "table2": "headway.paper.experiments.table2",
    "table3": "headway.paper.experiments.table3",
    "table4": "headway.paper.experiments.table4",
    "classification": "headway.paper.experiments.classification",
    "figures3to5": "headway.paper.experiments.figures3to5",
}

# Table 2 last: its trainings of big are Table 3's, and there others keep the cores beside them busy.
ALL = sorted(EXPERIMENTS, key=lambda name: name == "table2")


def describe(name: str) -> str:
    """Say in a line what an experiment shows."""
    module = importlib.import_module(EXPERIMENTS[name])
    return f"{module.TITLE} (section {module.SECTION})"


def reproduce(name: str, work: Work, *, again: bool = False) -> Result:
    """Run an experiment, or return what it found when it was run with the same work before."""
    path = work.directory / f"{name}.json"
    if not again and (done := _read(path)) is not None:
        if done.settings.get("work") == _key(work) and _covers(done, work):
            work.say(f"{name}: done before")
            return done
        work.say(f"{name}: was done with another size, seeds, text or rows; done again")
    module = importlib.import_module(EXPERIMENTS[name])
    work.say(f"{name}: {module.TITLE}")
    work.directory.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    result: Result = module.run(work)
    seconds = time.monotonic() - started
    settings = {**result.settings, "work": _key(work)}
    result = replace(result, seconds=seconds, settings=settings)
    replace_file(path, result.to_json().encode())
    work.say(f"{name}: {seconds:.0f} s")
    return result


def write_report(work: Work) -> Path:
    """Write ``report.html`` of all that was run so far at this size; returns its path."""
    found = [_read(work.directory / f"{name}.json") for name in EXPERIMENTS]
    results = [r for r in found if r is not None and r.settings.get("work") == _key(work)]
    path = work.directory / "report.html"
    replace_file(path, report.html(results, work.scale).encode())
    return path


def _read(path: Path) -> Result | None:
    try:
        return Result.from_json(path.read_text(encoding="utf-8"))
    except (OSError, HeadwayError):
        return None  # not there, or from another version: it is done again


def _key(work: Work) -> str:
    text = hashlib.sha256(work.text_fingerprint.encode()).hexdigest()[:8]
    return f"{work.scale}, seeds {', '.join(map(str, work.seeds))}, text {text}"


def _covers(done: Result, work: Work) -> bool:
    """Whether a result has all rows that are asked for; of what has no rows nobody asks for any."""
    return set(work.rows or GROUPS) <= set(done.settings.get("rows", GROUPS))
