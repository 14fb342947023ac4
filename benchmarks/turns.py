"""Run several sides in turns, one at a time, so that noise of the machine affects all of them equally."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NotRequired, cast

import torch
from worker import Answer, Cell, Facts

from headway.cli.process import TRAINING_ENVIRONMENT

HERE = Path(__file__).parent


class Side(NamedTuple):
    """One participant of a comparison.

    Attributes:
        name: The name in the tables.
        python: The Python interpreter.
        script: The name of a script in ``benchmarks/``.
        task: The argument of the script, sent as JSON.
        cores: The processor cores to run on, with one thread each.
        checkout: Another checkout of Headway, or an unpacked wheel, whose package runs; None: this checkout.
        native: ``HEADWAY_NATIVE``, the variant of native code; empty: the best for this processor.
    """

    name: str
    python: Path
    script: str
    task: Mapping[str, object]
    cores: tuple[int, ...]
    checkout: Path | None = None
    native: str = ""


class Turn(Answer):
    """The answer of a side in its turn; ``yardstick`` has the seconds of a fixed piece of work before it."""

    side: str
    cell: Cell | None
    repeat: int
    yardstick: float
    parameters: NotRequired[int]


class Process:
    """The process of a side, which works only when it is asked."""

    def __init__(self, side: Side) -> None:
        self.side = side
        threads = str(len(side.cores))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        if "headway" in side.script:
            environment |= TRAINING_ENVIRONMENT  # as `headway train` sets it
            if side.checkout is not None:
                environment["PYTHONPATH"] = str(side.checkout / "src")
            elif "PYTHONPATH" in os.environ:
                environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        if side.native:
            environment["HEADWAY_NATIVE"] = side.native
        folder = HERE if side.checkout is None else side.checkout / "benchmarks"
        task = json.dumps({**side.task, "threads": len(side.cores)})
        pinned = ["taskset", "-c", ",".join(map(str, side.cores))]
        self.process = subprocess.Popen(
            [*pinned, str(side.python), str(folder / side.script), task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        line = self._read_line()
        self.facts: Facts | None = json.loads(line) if line else None

    def ask(self, cell: Cell | None, *, warm: bool = False) -> Answer | None:
        """Run a cell once; return the answer, or None if the process has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"cell": cell, "warm": warm}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._read_line()
        return cast(Answer, json.loads(line)) if line else None

    def close(self) -> None:
        """Close the pipes, which ends the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def _read_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def take_turns(sides: Sequence[Side], cells: Sequence[Cell | None], repeats: int) -> Iterator[Turn]:
    """Run all sides on all cells; yield a turn for each side, cell and repeat.

    A side that ends during the warm-up is reported and left out. Each repeat starts with another side.
    """
    living: list[Process] = []
    try:
        for side in sides:
            process = Process(side)
            if process.facts is None:
                print(f"{side.name}: left out", file=sys.stderr, flush=True)
                process.close()
                continue
            living.append(process)
            for cell in cells:
                process.ask(cell, warm=True)
        for repeat in range(repeats):
            for cell in cells:
                first = repeat % max(1, len(living))
                for process in living[first:] + living[:first]:
                    seconds = measure_yardstick()
                    answer = process.ask(cell)
                    if answer is None:
                        raise SystemExit(
                            f"{process.side.name} ended during the measurement; see its messages above"
                        )
                    place = {"side": process.side.name, "cell": cell, "repeat": repeat}
                    known = {**place, "yardstick": seconds, **(process.facts or {})}
                    yield cast(Turn, {**known, **answer})
    finally:
        for process in living:
            process.close()


def measure_yardstick() -> float:
    """Return the wall seconds of a fixed piece of work; its variation shows the noise of the machine."""
    a, b = torch.ones(1000, 128), torch.ones(128, 8000)
    start = time.perf_counter()
    (a @ b).log_softmax(-1)
    return time.perf_counter() - start
