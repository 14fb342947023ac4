"""Carry out a recipe in a terminal: look at the text, show the plan, run the stages, write the report."""

import math
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from headway.cli import format_duration, run_child
from headway.ext.exchange import OtherPrograms

if TYPE_CHECKING:
    from headway.ext.best.recipe_plan import Options, RecipePlan
    from headway.ext.best.stage import Command, Stage, StageResult

# The options of verbs that limit threads and set the number of ranks.
THREADS = {
    "train": "--training.threads",
    "bench": "--threads",
    "translate": "--threads",
    "evaluate": "--threads",
}
RANKS = {"train": "--ranks", "bench": "--ranks"}
BUSY = (
    0.3  # share of the cores that other programs keep busy, from which on a measurement may mislead
)


@dataclass(frozen=True)
class Processors:
    """The processes and threads of commands, which change no result.

    Attributes:
        ranks: Of a training; 0: as many as help.
        threads: Of all processes; 0: all cores.
    """

    ranks: int
    threads: int

    def run(self, command: "Command") -> int:
        """Run a command; return its exit code. Its output gets its name if it succeeds."""
        from headway.files import remove, sync, temporary_path

        words = command.words
        for options, number in ((RANKS, self.ranks), (THREADS, self.threads)):
            if number and words[0] in options:
                words += [options[words[0]], str(number)]
        if command.output is None:
            return run_child(words)
        command.output.parent.mkdir(exist_ok=True)
        unfinished = temporary_path(command.output)
        if code := run_child(words, unfinished):
            remove(unfinished)
        else:
            sync(unfinished)
            unfinished.replace(command.output)
        return code


def make_plan(out: Path, options: "Options", processors: Processors) -> "RecipePlan":
    """Look at the text, measure this machine, and choose the parts that fit into the hours."""
    from headway.errors import HeadwayError
    from headway.ext.best.estimates import benchmark, fit_parts, read_speed
    from headway.ext.best.facts import count_tokens, learn_vocabulary, look_at
    from headway.ext.best.given import check_files
    from headway.ext.best.recipe import begin_recipe
    from headway.ext.best.recipe_numbers import LEAST_PAIRS, SHORTEST, choose_scale
    from headway.ext.best.recipe_plan import RecipePlan
    from headway.ext.best.resolving import check_settings, list_text_settings
    from headway.files import hash_file

    programs = OtherPrograms()
    say("looking at the text ...")
    check_files(options)
    digests = {name: hash_file(Path(name)) for name in options.files()}
    facts, decisions = look_at(options)
    scale = choose_scale(facts.cleaned)
    check_settings(scale, options.settings)
    usual, *others = list_text_settings(scale, options.settings)
    if facts.kept >= LEAST_PAIRS:
        tokenizer = learn_vocabulary(options, decisions, usual)
        facts = count_tokens(options, facts, decisions, tokenizer, usual.max_tokens)
    if facts.kept < LEAST_PAIRS:
        raise HeadwayError(
            f"{options.train[0]}: {facts.kept} training pairs are left after cleaning, and headway best needs {LEAST_PAIRS}"
        )
    say("measuring this machine ...")
    with tempfile.TemporaryDirectory(prefix="headway-best-") as folder:
        output = Path(folder) / "speed.json"
        if code := processors.run(benchmark(scale, options.settings, output)):
            raise SystemExit(code)
        speed = read_speed(output)
    cores = os.cpu_count() or 1
    if (busy := programs.busy_cores()) > BUSY * cores:
        say(
            f"other programs kept {busy:.1f} of {cores} cores busy meanwhile: the plan may have fewer parts than this machine"
            " has time for; stop them, and plan anew"
        )
    longest = scale.find_longest(max(facts.source_tokens, facts.target_tokens))
    shortest = SHORTEST
    if "training.max-steps" in options.settings:  # the user knows best how long a training must be
        shortest = longest = 1.0
    fit = fit_parts(
        lambda choices: begin_recipe(out, options, facts, choices),
        scale,
        longest,
        speed,
        options.hours,
        shortest,
    )
    largest = max(others, key=lambda text: text.vocab_size, default=usual)
    if fit.choices.sweep and largest.vocab_size > usual.vocab_size:
        learn_vocabulary(options, decisions, largest)
    return RecipePlan(
        options=options, sha256=digests, facts=facts, speed=speed, hours=fit.hours,
        choices=fit.choices, omitted=fit.omitted,
    )  # fmt: skip


def describe_plan(out: Path, plan: "RecipePlan") -> str:
    """Return the facts of the text, the stages with their estimated times, and what is left out."""
    from headway.ext.best.estimates import estimate_seconds, list_stages
    from headway.ext.best.recipe import begin_recipe
    from headway.ext.best.recipe_numbers import FEW_PAIRS, FEW_VALIDATION_PAIRS, USEFUL
    from headway.ext.best.recipe_plan import format_hours
    from headway.ext.best.stage_records import StageRecords

    records = StageRecords(out)
    stages = list_stages(begin_recipe(out, plan.options, plan.facts, plan.choices), records)
    times = [estimate_seconds(stage, plan.speed) for stage in stages]
    done = sum(1 for _ in takewhile(records.is_finished, stages))
    lines = [*plan.facts.describe(), ""]
    at_most = "at most " if done < len(stages) else ""  # searches end when BLEU no longer rises
    lines.append(
        f"{at_most}{len(stages)} stages, {f'{done} of them done, ' if done else ''}about {format_duration(sum(times[done:]))}"
        f" on this machine ({plan.speed / 1e9:,.0f} GFLOP/s in a training):"
    )
    width = max(len(stage.name) for stage in stages)
    for number, (stage, seconds) in enumerate(zip(stages, times, strict=True), 1):
        duration = "done" if number <= done else format_duration(seconds)
        lines.append(f"  {stage.name:<{width}}  {duration:>11}  {stage.purpose}")
    if plan.choices.share > 1:
        lines += [
            "",
            f"trainings have {plan.choices.share:.3g} times the usual steps, because the text is long",
        ]
    hours = sum(times) / 3600
    if hours > 1.02 * plan.hours:
        fixed = "training.max-steps" in plan.options.settings
        reason = "have the steps of --training.max-steps" if fixed else "are not shortened further"
        lines += ["", f"more than the {format_hours(plan.hours)} hours: the trainings {reason}"]
    elif plan.options.hours and not plan.omitted and hours < 0.8 * plan.hours:
        lines += [
            "",
            f"{format_hours(plan.hours - hours)} of the {format_hours(plan.hours)} hours are not needed",
        ]
    if plan.facts.kept < FEW_PAIRS:
        lines += [
            "",
            f"warning: a model of {plan.facts.kept:,} pairs translates little beyond its own text: tens of thousands give a"
            " useful one",
        ]
    if plan.facts.validation < FEW_VALIDATION_PAIRS:
        lines += [
            "",
            f"warning: {plan.facts.validation:,} validation pairs decide, whose BLEU depends much on chance: give 500 or more",
        ]
    if plan.choices.share < USEFUL:
        lines += ["", _warn_of_short_trainings(out, plan)]
    if omitted := plan.describe_omitted():
        lines += ["", f"left out, to end within {format_hours(plan.hours)} h:"]
        lines += [f"  {line}" for line in omitted]
    return "\n".join(lines)


def _warn_of_short_trainings(out: Path, plan: "RecipePlan") -> str:
    from headway.ext.best.estimates import estimate_seconds, list_stages
    from headway.ext.best.recipe import begin_recipe
    from headway.ext.best.recipe_numbers import USEFUL

    choices = replace(plan.choices, share=USEFUL)
    stages = list_stages(begin_recipe(out, plan.options, plan.facts, choices))
    hours = sum(estimate_seconds(stage, plan.speed) for stage in stages) / 3600
    return (
        f"warning: trainings have {100 * plan.choices.share:.0f} % of the usual steps, which is too few for a useful model:"
        f" give --hours {math.ceil(10 * hours) / 10:g} or more"
    )


def carry_out(out: Path, plan: "RecipePlan", processors: Processors) -> int:
    """Do the stages that are not finished, and keep the report up to date; return the exit code."""
    from headway.ext.best.estimates import list_stages
    from headway.ext.best.recipe import begin_recipe
    from headway.ext.best.report import write_report
    from headway.ext.best.stage_records import StageRecords, unfinished_stages

    records = StageRecords(out)
    planned = list_stages(begin_recipe(out, plan.options, plan.facts, plan.choices), records)
    count = len(planned)
    unread = {name for stage in planned if not records.is_finished(stage) for name in stage.reads}
    plan.check_files(out, sorted(unread))  # before hours of work, not after them
    finished: list[tuple[Stage, StageResult]] = []
    recipe = begin_recipe(out, plan.options, plan.facts, plan.choices)
    for stage in unfinished_stages(recipe, records, finished):
        write_report(out, plan, finished, is_complete=False)
        say(f"\n[{len(finished) + 1}/{count}] {stage.name}: {stage.purpose}")
        plan.check_files(out, stage.reads)
        with records.timed(stage):
            code = _do(stage, processors)
        if code:
            say(
                f"headway: {out} stopped in {stage.name}; headway best {quote(str(out))} goes on there"
            )
            return code
        records.finish(stage)
    write_report(out, plan, finished, is_complete=True)
    say(f"\n{out}: finished; {out / 'report.html'} shows what each stage gave and cost")
    return 0


def _do(stage: "Stage", processors: Processors) -> int:
    """Do the work and the commands of a stage; return the exit code of the first that fails."""
    for line in stage.describe():
        say(f"  {line}")
    if stage.work:
        stage.work.run()
    for command in stage.commands:
        if code := processors.run(command):
            return code
    return 0


def say(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)
