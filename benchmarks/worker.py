"""One side of a comparison: a process that waits for its turn, does its work and says how long it took.

The runner starts one for each side, with a task as JSON in its only argument, and lets them take turns:
a line of JSON on standard input names a cell of the table, a line on standard output answers. This
file is all that the sides have in common: the same sentences, the same batches, the same clock. It
needs nothing but Python, for some sides' environments have no more.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EOS = 1  # ids are Headway's: </s> is 1, <pad> the last one, from which decoders start

Ids = list[int]
Cell = dict[str, Any]  # of a table of translation: batch, beam, count and penalty
Work = Callable[[Any, bool], dict[str, Any]]


def serve(start: Callable[[dict[str, Any]], tuple[Work, dict[str, Any]]]) -> None:
    """Answer the runner until it has no more cells.

    Args:
        start: Gets the task; returns the work and facts to report. The work gets a cell and whether
            this is only to warm up, and returns what `timed` measured, and more.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not look like an answer

    def answer(values: dict[str, Any]) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    work, facts = start(json.loads(sys.argv[1]))
    answer(facts)
    for line in sys.stdin:
        command = json.loads(line)
        answer(work(command["cell"], command["warm"]) | {"memory": peak_memory()})


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Run the work; return what it does, and CPU seconds of all threads and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def peak_memory() -> int:
    """Return the most bytes of memory this process has had, torch and all; 0 if not told.

    Not ``getrusage``: that one starts from what the process that started this one had.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def training(
    task: dict[str, Any], ready: Callable[[list[Ids], list[Ids]], Any], step: Callable[[Any], float]
) -> Work:
    """Make the work of training: the same steps each time.

    Args:
        task: Names the file of batches, and how many are for warming up.
        ready: Turns the source and target ids of a batch, each with ``</s>``, into a side's own batch.
        step: Takes an optimizer step and returns the loss.
    """
    batches = json.loads(Path(task["batches"]).read_text(encoding="utf-8"))["batches"]
    made = [
        ready(batch["source"], batch["target"]) for batch in batches[: task["warm"] + task["steps"]]
    ]
    warming, measured = made[: task["warm"]], made[task["warm"] :]

    def work(_: Any, warm: bool) -> dict[str, Any]:
        losses, times = timed(lambda: [step(batch) for batch in (warming if warm else measured)])
        return times | {"loss": float(losses[-1])}

    return work


def translation(
    task: dict[str, Any],
    ready: Callable[[list[Ids]], Any],
    translate: Callable[[Any, Cell, int], Any],
    finish: Callable[[Any], list[Ids]],
) -> Work:
    """Make the work of translation: batches of like length, the longest first.

    Args:
        task: Names the file of sentences, and says whether every translation takes as many steps
            as the longest reference of its batch has tokens.
        ready: Turns source ids, each with ``</s>``, into what a side reads; not timed.
        translate: Gets that, the cell, and the most steps, or if forced the exact number; timed.
        finish: Turns what came out into ids without ``</s>``; not timed.
    """
    sentences = json.loads(Path(task["sentences"]).read_text(encoding="utf-8"))
    sources, references = sentences["sources"], sentences["references"]

    def steps(rows: list[int]) -> int:
        if task["forced"]:
            return max(len(references[i]) for i in rows)
        return max(len(sources[i]) for i in rows) + task["extra"]

    def work(cell: Cell, warm: bool) -> dict[str, Any]:
        size, count = cell["batch"], cell["count"]
        order = sorted(range(count), key=lambda i: -len(sources[i]))
        batches = [order[i : i + size] for i in range(0, count, size)]
        if warm:
            batches = batches[len(batches) // 2 :][:1]
        inputs = [(ready([sources[i] for i in rows]), steps(rows)) for rows in batches]
        outputs, times = timed(lambda: [translate(given, cell, n) for given, n in inputs])
        found: list[Ids] = [[]] * count
        for rows, output in zip(batches, outputs, strict=True):
            for row, ids in zip(rows, finish(output), strict=True):
                found[row] = ids
        if task["forced"]:
            # Whether or not the last of the steps ended the translation, each took as many.
            for rows in batches:
                assert {len(found[i]) for i in rows} <= {steps(rows) - 1, steps(rows)}
            return times | {"tokens": sum(steps(rows) * len(rows) for rows in batches)}
        return times | {"tokens": sum(len(ids) + 1 for ids in found), "found": found}

    return work
