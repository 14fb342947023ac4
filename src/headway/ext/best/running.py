"""Plan a recipe and carry it out: what ``headway best`` and ``headway.best`` do."""

import json
import multiprocessing
import shlex
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from headway.cli import run_child
from headway.devices import available_cores
from headway.errors import HeadwayError, UsageError
from headway.ext.best.recipe_numbers import Scale, Settings, choose_scale
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_plan import RecipePlan
from headway.ext.best.recipe_text import prepare_text
from headway.ext.best.report import write_report
from headway.ext.best.stage import Stage, Words, list_options, record_stage, replay
from headway.ext.best.stage_maker import PLAN
from headway.files import (
    hash_file,
    remove,
    remove_leftovers,
    sync,
    temporary_path,
    write_atomically,
)
from headway.locks import DirectoryLock
from headway.translation import Translator

# The options of verbs that limit threads and set the number of ranks.
THREADS = {"train": "--training.threads", "bench": "--threads", "translate": "--threads", "evaluate": "--threads"}  # fmt: skip
RANKS = {"train": "--ranks", "bench": "--ranks"}
FOLDERS = ("text", "scores", "stages")  # of what stages make
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Processors:
    """The processes and threads of commands, which change no result.

    Attributes:
        ranks: Of a training; 0: as many as help.
        threads: Of all processes; 0: all cores.
    """

    ranks: int = 0
    threads: int = 0

    def run(self, command: Words, output: Path | None) -> int:
        """Run a command; return its exit code. The file for its output gets its name if it succeeds."""
        words = [*map(str, command)]
        for options, number in ((RANKS, self.ranks), (THREADS, self.threads)):
            if number and words[0] in options:
                words += [options[words[0]], str(number)]
        if output is None:
            return run_child(words)
        unfinished = temporary_path(output)
        if code := run_child(words, unfinished):
            remove(unfinished)
        else:
            sync(unfinished)
            unfinished.replace(output)
        return code


def best(
    out: str | Path,
    train: Sequence[str | Path] = (),
    valid: Sequence[str | Path] | int = (),
    *,
    languages: tuple[str, str] | None = None,
    encoding: str | None = None,
    columns: tuple[str, str] | None = None,
    test: Sequence[str | Path] = (),
    teacher: str | Path | None = None,
    mono_source: Sequence[str | Path] = (),
    mono_target: Sequence[str | Path] = (),
    hours: float | None = None,
    without: Sequence[str] = (),
    settings: Mapping[str, str] = NO_SETTINGS,
    ranks: int = 0,
    threads: int = 0,
) -> Translator:
    """Train the best model that a text allows, by several trainings in a row, and return it.

    It does what ``headway best`` does, with the same directory and messages. Every training is a process of its own: call
    it under ``if __name__ == "__main__":``. If it is interrupted, the same call goes on.

    Args:
        out: The directory to create, or to go on with; it becomes a model directory.
        train: Training text: two files, or one that holds both languages; none: ``out`` is planned already.
        valid: Validation text, likewise; or the number of pairs to hold out of the training text.
        languages: Codes of source and target; None: from the names of the files.
        encoding: The encoding of lines that are not UTF-8, such as "cp1252".
        columns: The columns of source and target in a table; None: recognized.
        test: Test text, whose pairs no training may see.
        teacher: Translations of the training sources by another system, a line for each pair.
        mono_source: Plain text in the source language.
        mono_target: Plain text in the target language.
        hours: How long the recipe may take; None: 8.
        without: Parts to leave out, such as "student".
        settings: Settings of all trainings, such as ``{"model.dropout": "0.2"}``.
        ranks: Processes of a training; 0: as many as help.
        threads: Of all processes; 0: all cores.

    Raises:
        HeadwayError: If text or settings cannot be used, or a stage has failed; the message names them.

    Examples:
        >>> translator = best("runs/best", ["a.en", "a.de"], 1000, hours=8, without=["student"])
        >>> translator.translate("Good morning.")
    """
    # A new process imports the script that has started it, before it knows its parent.
    if multiprocessing.current_process().name != "MainProcess":
        raise HeadwayError(
            'headway.best starts processes: call it under if __name__ == "__main__":'
        )
    options = None
    if train:
        options = Options(
            train=train, valid=valid, languages=languages, encoding=encoding, columns=columns, test=test,
            teacher=teacher, mono_source=mono_source, mono_target=mono_target, hours=hours,
            without=without, settings=settings,
        ).check()  # fmt: skip
    if code := run_recipe(Path(out), options, Processors(ranks, threads)):
        raise HeadwayError(f"{out}: a stage has failed (exit code {code}): see its message above")
    return Translator.load(out)


def run_recipe(out: Path, options: Options | None, processors: Processors) -> int:
    """Plan a recipe, or go on with the planned one, and return the exit code of the stage that fails.

    Args:
        out: Its directory.
        options: What the user asks for; None: what was planned.
        processors: What the commands get.

    Raises:
        UsageError: If the directory has another plan, or none and there are no options.
        HeadwayError: If it holds something else, another process works there, or text cannot be used.
    """
    out = out if out.name else out.resolve()  # "." or "/": the records need its name
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(
            f"{out}: cannot be written ({error.strerror}): give another OUT"
        ) from None
    with DirectoryLock(out):
        folders = [out / name for name in FOLDERS]
        for folder in (out, out / "student", *folders):
            remove_leftovers(folder)
        plan = find_plan(out, options)
        if not plan:
            assert options
            with write_atomically(out / PLAN) as folder:
                folder.mkdir()
                plan = make_plan(options, folder, processors)
        say(plan.describe(out))
        for folder in folders:
            folder.mkdir(exist_ok=True)
        return carry_out(out, plan, processors)


def describe_recipe(out: Path, options: Options | None, processors: Processors) -> str:
    """Return the plan of a recipe in words, without writing anything; see `run_recipe`."""
    if plan := find_plan(out, options):
        return plan.describe(out)
    assert options
    with tempfile.TemporaryDirectory(prefix="headway-best-") as folder:
        plan = make_plan(options, Path(folder), processors)
    return f"{plan.describe(out)}\n\nthe command without --dry-run measures this machine anew: it may choose another plan"


def find_plan(out: Path, options: Options | None) -> RecipePlan | None:
    """Return the plan of a directory, which must be of these options; None: a new one may be made there."""
    plan = RecipePlan.read(out)
    if plan and options:
        plan.check(out, options)
    elif not plan and not options:
        raise UsageError(f"{out}: no plan there yet: give --train and --valid")
    elif not plan and (foreign := sorted(entry.name for entry in out.glob("[!.]*"))):
        raise HeadwayError(
            f"{out}: holds {foreign[0]}, but no plan of this version: give another OUT"
        )
    return plan


def make_plan(options: Options, folder: Path, processors: Processors) -> RecipePlan:
    """Prepare the text and measure this machine, write ``plan.json``, and choose what fits into the hours.

    Args:
        options: What the user asks for.
        folder: For the text and the plan.
        processors: What the measurement gets.
    """
    say("preparing the text ...")
    digests = {str(file): hash_file(file) for file in options.list_files()}
    facts = prepare_text(options, folder, processors.threads or available_cores())
    say((folder / "data" / "report.txt").read_text(encoding="utf-8"))
    say("measuring this machine ...")
    measured = folder / "speed.json"
    scale = choose_scale(facts.cleaned)
    if code := processors.run(_benchmark(scale, options.settings), measured):
        raise SystemExit(code)
    [row] = json.loads(measured.read_text(encoding="utf-8"))["rows"]
    # Of the fastest repeat: other programs can only slow it down.
    speed = float(row["flop"] / row["seconds"]["low"])
    plan = RecipePlan("model", options, digests, facts, speed)
    plan = replace(plan, name=plan.choose())
    plan.write(folder)
    return plan


def _benchmark(scale: Scale, overrides: Settings) -> list[str]:
    """Return the command that measures this machine with the model of a scale, in about ten seconds."""
    # R-Drop takes two passes, which the estimates count.
    one_pass = {"training.agreement": "0", "training.cut": "0"}
    settings = {**scale.common, **scale.forward, **overrides, **one_pass}
    words = ["bench", "train", "--preset", scale.preset, "--repeats", "3", "--json", "-"]
    return [*words, *list_options(settings)]


def carry_out(out: Path, plan: RecipePlan, processors: Processors) -> int:
    """Do the stages that are not finished, and keep the report up to date; return the exit code."""
    count = len(replay(plan.begin(out), out, guesses=True)[0])
    while True:
        finished, stage = replay(plan.begin(out), out)
        write_report(out, plan, finished, is_complete=stage is None)
        if stage is None:
            say(f"\n{out}: finished; {out / 'report.html'} shows what each stage gave and cost")
            return 0
        say(f"\n[{len(finished) + 1}/{count}] {stage.name}: {stage.purpose}")
        started, code = time.monotonic(), 1
        try:
            code = _do(stage, processors)
        finally:
            record_stage(out, stage, time.monotonic() - started, is_finished=not code)
        if code:
            say(
                f"headway: {out} stopped in {stage.name}; headway best {shlex.quote(str(out))} goes on there"
            )
            return code


def _do(stage: Stage, processors: Processors) -> int:
    """Do the work and the commands of a stage; return the exit code of the first that fails."""
    for line in stage.describe():
        say(f"  {line}")
    if stage.work:
        stage.work.run()
    for command in stage.commands:
        output = stage.scores if command is stage.commands[-1] else None
        if code := processors.run(command, output):
            return code
    return 0


def say(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)
