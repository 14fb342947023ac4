"""The process of one side: it waits for its turn, works, and reports how long the work took.

The runner starts a process for each side, with a task as JSON in its only argument. In its turn the
process reads a line of JSON with a cell of the table from standard input and writes a line with the
answer to standard output. All sides share this file. It needs only the standard library, because the
environments of some sides have nothing else.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NotRequired, SupportsFloat, TypedDict, TypeVar

EOS = 1  # as in Headway; <pad> is the last id and starts the decoder

Ids = list[int]
Facts = dict[str, str | int]  # what a side reports once, such as its number of parameters
Task = TypeVar("Task")
Input = TypeVar("Input")
Output = TypeVar("Output")


class Shape(TypedDict):
    """The size of a model."""

    d_model: int
    d_ff: int
    heads: int
    layers: int


class ModelTask(TypedDict):
    """The model that is trained; sizes of the vocabulary in subwords."""

    shape: Shape
    vocab_size: int
    dropout: float
    smoothing: float


class TrainingTask(ModelTask):
    """A task of training.

    ``batches`` is a file, ``warm`` and ``steps`` are numbers of warm-up steps and of measured steps.
    """

    batches: str
    warm: int
    steps: int
    threads: int
    precision: NotRequired[Literal["bf16", "fp32"]]
    paper_dropout: NotRequired[bool]
    autocast: NotRequired[bool]


class TranslationTask(TypedDict):
    """A task of translation.

    ``model``, ``converted``, ``pieces`` (the subwords) and ``sentences`` are files or directories. If
    lengths are ``forced``, every translation takes as many steps as the longest reference of its batch
    has tokens; otherwise at most ``extra`` steps more than its longest source.
    """

    model: str
    converted: str
    pieces: str
    sentences: str
    forced: bool
    extra: int
    precision: str
    threads: int


class Cell(TypedDict):
    """A cell of a translation table: sentences in a batch, beam, sentences in all, length penalty."""

    batch: int
    beam: int
    count: int
    penalty: float


class Answer(TypedDict):
    """The report of a turn: processor seconds of all threads, wall seconds, peak memory in bytes, results."""

    cpu: float
    wall: float
    memory: int
    loss: NotRequired[float]
    tokens: NotRequired[int]
    found: NotRequired[list[Ids]]


Work = Callable[[Cell | None, bool], Answer]


def serve(start: Callable[[Task], tuple[Work, Facts]]) -> None:
    """Answer the runner until it closes standard input.

    Args:
        start: Returns, for a task, the work of a turn and the facts to report once. The work gets a
            cell (training has none) and whether this is the warm-up.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of libraries must not look like an answer

    def answer(values: Answer | Facts) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    work, facts = start(json.loads(sys.argv[1]))
    answer(facts)
    for line in sys.stdin:
        command = json.loads(line)
        answer(work(command["cell"], command["warm"]))


def measure(work: Callable[[], Output]) -> tuple[Output, Answer]:
    """Run the work; return its result, its times and the peak memory."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    seconds = time.process_time() - cpu, time.perf_counter() - wall
    return result, Answer(cpu=seconds[0], wall=seconds[1], memory=read_peak_memory())


def read_peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if the system does not report it.

    ``getrusage`` does not work here, because it starts from the memory of the parent process.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def training_work(
    task: TrainingTask,
    ready: Callable[[list[Ids], list[Ids]], Input],
    step: Callable[[Input], SupportsFloat],
) -> Work:
    """Return the work of training: the same steps in each repeat.

    Args:
        task: The task.
        ready: Converts the source and target ids of a batch, with ``</s>``, to the side's own batch.
        step: Takes an optimizer step and returns the loss.
    """
    batches = json.loads(Path(task["batches"]).read_text(encoding="utf-8"))["batches"]
    inputs = [
        ready(batch["source"], batch["target"]) for batch in batches[: task["warm"] + task["steps"]]
    ]
    warm_up, measured = inputs[: task["warm"]], inputs[task["warm"] :]

    def work(_: Cell | None, is_warm_up: bool) -> Answer:
        batches = warm_up if is_warm_up else measured
        losses, answer = measure(lambda: [step(batch) for batch in batches])
        answer["loss"] = float(losses[-1])
        return answer

    return work


def translation_work(
    task: TranslationTask,
    ready: Callable[[list[Ids]], Input],
    translate: Callable[[Input, Cell, int], Output],
    finish: Callable[[Output], list[Ids]],
) -> Work:
    """Return the work of translation: batches of similar lengths, the longest first.

    Args:
        task: The task.
        ready: Converts source ids, with ``</s>``, to the side's own input; not timed.
        translate: Translates this input, given the cell and the maximum number of steps (the exact
            number if lengths are forced); timed.
        finish: Converts the output to ids without ``</s>``; not timed.
    """
    sentences = json.loads(Path(task["sentences"]).read_text(encoding="utf-8"))
    sources, references = sentences["sources"], sentences["references"]

    def step_limit(rows: list[int]) -> int:
        if task["forced"]:
            return max(len(references[i]) for i in rows)
        return max(len(sources[i]) for i in rows) + task["extra"]

    def work(cell: Cell | None, is_warm_up: bool) -> Answer:
        assert cell is not None
        size, count = cell["batch"], cell["count"]
        order = sorted(range(count), key=lambda i: -len(sources[i]))
        batches = [order[i : i + size] for i in range(0, count, size)]
        if is_warm_up:
            batches = batches[len(batches) // 2 :][:1]
        inputs = [(ready([sources[i] for i in rows]), step_limit(rows)) for rows in batches]
        outputs, answer = measure(lambda: [translate(given, cell, n) for given, n in inputs])
        found: list[Ids] = [[]] * count
        for rows, output in zip(batches, outputs, strict=True):
            for row, ids in zip(rows, finish(output), strict=True):
                found[row] = ids
        if task["forced"]:
            # The last step may or may not have produced </s>; the number of steps is the same.
            for rows in batches:
                limit = step_limit(rows)
                assert {len(found[i]) for i in rows} <= {limit - 1, limit}
            answer["tokens"] = sum(step_limit(rows) * len(rows) for rows in batches)
        else:
            answer["tokens"], answer["found"] = sum(len(ids) + 1 for ids in found), found
        return answer

    return work
