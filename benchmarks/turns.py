"""Several sides, one awake at a time: each repeat goes round all of them, so that noise meets all."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from headway.cli.process import TRAINING_ENVIRONMENT

HERE = Path(__file__).parent


class Side(NamedTuple):
    """One participant.

    Attributes:
        name: In the table.
        python: Of its environment.
        script: Beside this file.
        task: What its script is told.
        cores: Where it may run; as many threads.
    """

    name: str
    python: Path
    script: str
    task: dict[str, Any]
    cores: tuple[int, ...]


class Process:
    """A side's process, asleep unless asked."""

    def __init__(self, side: Side) -> None:
        self.side = side
        threads = str(len(side.cores))
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        if "headway" in side.script:
            environment |= TRAINING_ENVIRONMENT  # as `headway train` sets it
            if "PYTHONPATH" in os.environ:
                environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        task = json.dumps(side.task | {"threads": len(side.cores)})
        pinned = ["taskset", "-c", ",".join(map(str, side.cores))]
        self.process = subprocess.Popen(
            [*pinned, str(side.python), str(HERE / side.script), task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.facts = self._answer()

    def ask(self, cell: Any, *, warm: bool = False) -> dict[str, Any] | None:
        """Let it do a cell once; None if it has died."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"cell": cell, "warm": warm}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        return self._answer()

    def close(self) -> None:
        """Let it end."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def _answer(self) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None


def take_turns(
    sides: Sequence[Side], cells: Sequence[Any], repeats: int
) -> Iterator[dict[str, Any]]:
    """Run all sides on all cells; yield an answer a side, cell and repeat.

    A side that dies is told about and left out. Who starts a round changes from repeat to repeat.
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
                    noise = yardstick()
                    answer = process.ask(cell)
                    if answer is None:
                        raise SystemExit(f"{process.side.name}: died in the middle; see above")
                    facts = process.facts or {}
                    yield {"side": process.side.name, "cell": cell, "repeat": repeat,
                           "yardstick": noise} | facts | answer  # fmt: skip
    finally:
        for process in living:
            process.close()


def yardstick() -> float:
    """Return the wall seconds of a fixed piece of work: what it varies by is not a side's doing."""
    a, b = torch.ones(1000, 128), torch.ones(128, 8000)
    start = time.perf_counter()
    (a @ b).log_softmax(-1)
    return time.perf_counter() - start
