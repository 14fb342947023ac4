"""What a training in a new process needs and makes: few modules before the first step, and the same weights as here."""

import json
import os
import subprocess
import sys

import pytest

from support.extensions import needs
from support.runs import SETTINGS

# Numbers that only shrink; 90 is the goal for both. Without extensions three more are loaded than with them.
FROM_PREPARED_TEXT, FROM_RAW_TEXT = 82, 92
CODE = """
import json, os, sys
import headway
from headway.config import read_changes
from headway.training import RunDirectory, RunRequest
from headway.training.run import run_to_end
from headway.training.starting.opening import open_run
from headway.training.starting.plan import make_plan
from headway.training.steps.trainer import StepReport

folder, *requests = sys.argv[1:]
for number, request in enumerate(map(json.loads, requests)):
    directory, changes = RunDirectory(f"{folder}/{number}"), read_changes(overrides=request.pop("overrides"))
    directory.lock()
    run, _ = open_run(make_plan(directory, RunRequest(**request, changes=changes)))
    events = run_to_end(run)
    next(event for event in events if isinstance(event, StepReport))
    names = [name for name in sys.modules if name.startswith("headway.") and not f"{name}.".startswith("headway.ext.")]
    print(len(names), *sorted(names), flush=True)
list(events)
from headway.training import parallel

place = {"RANK": str(int(not os.fork())), "WORLD_SIZE": "2", "HEADWAY_RENDEZVOUS": f"file://{folder}/ranks"}
os.environ |= place
parallel.join()
parallel.leave()
print(*{"torch._dynamo", "sympy"} & {*sys.modules}, flush=True)
"""


@pytest.fixture(scope="module")
def folder(corpus, uninterrupted_run, tmp_path_factory):
    """A folder with two runs of a new process: 0, from prepared text, and 1, from raw text to the end; and what it printed."""
    folder = tmp_path_factory.mktemp("new process")
    own = {name: str(value) for name, value in SETTINGS.items()}
    settings = {name: value for name, value in own.items() if not name.startswith("text.")}
    requests = [
        {"data": str(uninterrupted_run / "data"), "overrides": settings},
        {"train": corpus[1:3], "valid": corpus[4:6], "overrides": own},
    ]
    words = [sys.executable, "-c", CODE, str(folder), *map(json.dumps, requests)]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)
    return folder


@pytest.fixture
def printed(folder):
    return (folder / "printed").read_text().splitlines()


@needs("native")  # the plain operations and engine, which it replaces, are modules of the core
def test_few_modules_are_loaded_before_the_first_step(printed):
    prepared, raw, *_ = printed
    assert int(prepared.split()[0]) <= FROM_PREPARED_TEXT, prepared
    assert int(raw.split()[0]) <= FROM_RAW_TEXT, raw


def test_ranks_do_not_import_the_compiler(printed):
    """PyTorch's compiler and sympy would take seconds in each rank."""
    assert printed[2:] == ["", ""]


def test_another_directory_and_hash_seed_give_the_same_run(folder, uninterrupted_run):
    names = [f"checkpoints/step-00000017/{name}.safetensors" for name in ("model", "optimizer")]
    for name in ("tokenizer.model", *names):
        assert (folder / "1" / name).read_bytes() == (uninterrupted_run / name).read_bytes()
