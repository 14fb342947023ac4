"""The process of one side: it waits for its turn, works, and reports how long the work took.

The runner starts a process for each side, with a task as JSON in its only argument. In its turn the
process reads a line of JSON with a cell of the table from standard input and writes a line with the
answer to standard output. This file is what all sides have in common: sentences, batches and clock. It
needs only the standard library, because the environments of some sides have nothing else.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

EOS = 1  # as in Headway; <pad> is the last id and starts the decoder

Ids = list[int]
Cell = dict[str, Any]  # a cell of a translation table: batch, beam, count and penalty
Work = Callable[[Any, bool], dict[str, Any]]


def serve(start: Callable[[dict[str, Any]], tuple[Work, dict[str, Any]]]) -> None:
    """Answer the runner until it closes standard input.

    Args:
        start: Function of the task; returns the work and facts to report. The work is a function of
            a cell and of whether this is the warm-up; it returns the times of `timed` and more.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of libraries must not look like an answer

    def answer(values: dict[str, Any]) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    work, facts = start(json.loads(sys.argv[1]))
    answer(facts)
    for line in sys.stdin:
        command = json.loads(line)
        answer(work(command["cell"], command["warm"]) | {"memory": peak_memory()})


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Run the work; return its result, the CPU seconds of all threads, and the wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if the system does not report it.

    ``getrusage`` does not work here, because it starts from the memory of the parent process.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def training(
    task: dict[str, Any],
    ready: Callable[[list[Ids], list[Ids]], Any],
    step: Callable[[Any], SupportsFloat],
) -> Work:
    """Return the work of training: the same steps in each repeat.

    Args:
        task: Contains the file of batches and the numbers of warm-up and measured steps.
        ready: Converts the source and target ids of a batch, with ``</s>``, to the side's own batch.
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
    """Return the work of translation: batches of similar lengths, the longest first.

    Args:
        task: Contains the file of sentences and whether lengths are forced: then every translation
            takes as many steps as the longest reference of its batch has tokens.
        ready: Converts source ids, with ``</s>``, to the side's own input; not timed.
        translate: Translates this input, given the cell and the maximum number of steps (the exact
            number if lengths are forced); timed.
        finish: Converts the output to ids without ``</s>``; not timed.
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
            # The last step may or may not have produced </s>; the number of steps is the same.
            for rows in batches:
                assert {len(found[i]) for i in rows} <= {steps(rows) - 1, steps(rows)}
            return times | {"tokens": sum(steps(rows) * len(rows) for rows in batches)}
        return times | {"tokens": sum(len(ids) + 1 for ids in found), "found": found}

    return work
