"""A recipe of seconds: a small scale, and commands in forked processes, which need not import torch again."""

import os
from contextlib import suppress
from pathlib import Path

from headway.cli.main import main
from headway.devices import end_with_parent
from headway.ext.best.recipe_numbers import Scale
from support.processes import Forked
from support.runs import SETTINGS, words

SPEED = 10**9  # FLOP a second that the benchmark reports
SCALE = Scale(
    most_pairs=float("inf"),
    sweep=({"model.dropout": "0.1"}, {"model.dropout": "0.3"}),
    forward_models=1,
    real_weight=2,
    tuning={"training.rate-scale": "0.5"},
    student={"model.num-decoder-layers": "1", "search.precision": "int8"},
)
# Of headway.ext.best.recipe_numbers.
NUMBERS = {"SWEEP_SHARE": 0.3, "ALPHAS": (0.6, 1.0), "BEAMS": (2,), "STUDENT_BEAMS": (1, 2)}
CHANGES = {
    "training.max-steps": 4, "training.warmup-steps": 3, "training.cool-steps": 0,
    "training.checkpoint-every": 2, "training.validate-every": 4,
    "text.max-ratio": 0, "text.max-copied": 0,
}  # fmt: skip
OPTIONS = words(SETTINGS | CHANGES)
MODELS = [
    f"{folder}{name}"
    for folder in ("", "student/")
    for name in ("model.safetensors", "config.json", "tokenizer.model")
]


def run_forked(arguments, output=None):
    """Do what `headway.cli.run_child` does; the benchmark reports `SPEED` at once."""
    if arguments[0] == "bench":
        assert output is not None
        output.write_bytes(b'{"rows": [{"flop": %d, "seconds": {"low": 2.0}}]}' % (2 * SPEED))
        return 0
    parent = os.getpid()

    def work():
        end_with_parent(parent)
        _close_locks()
        if output:
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
        main(arguments)

    return Forked(work, Path(os.devnull)).wait(600)


def _close_locks():
    """Close the lock that a new process, unlike a forked one, would not have."""
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            if link.readlink().name == ".lock":
                os.close(int(link.name))
