"""What a training needs of the package before its first step: few modules are loaded."""

import json
import subprocess
import sys
from pathlib import Path

from support.runs import SETTINGS

# Numbers that only shrink; 90 is the goal for both. Without extensions three more are loaded than with them.
FROM_PREPARED_TEXT, FROM_RAW_TEXT = 100, 123
CODE = """
import json, sys
import headway
from headway.training import RunDirectory, RunRequest
from headway.training.run import run_to_end
from headway.training.starting.opening import open_run
from headway.training.starting.run_request import check_request
from headway.training.steps.trainer import StepReport

for number, request in enumerate(map(json.loads, sys.argv[2:])):
    directory, request = RunDirectory(f"{sys.argv[1]}/{number}"), RunRequest(**request)
    check_request(directory, request)
    directory.lock()
    run, _ = open_run(directory, request)
    next(event for event in run_to_end(run) if isinstance(event, StepReport))
    names = [name for name in sys.modules if name.startswith("headway.") and not name.startswith("headway.ext.")]
    print(len(names), *sorted(names))
"""


def test_few_modules_are_loaded_before_the_first_step(
    corpus: list[str], uninterrupted_run: Path, tmp_path: Path
) -> None:
    own = {name: str(value) for name, value in SETTINGS.items()}
    settings = {name: value for name, value in own.items() if not name.startswith("text.")}
    requests = [
        {"data": str(uninterrupted_run / "data"), "overrides": settings},
        {"train": corpus[1:3], "valid": corpus[4:6], "overrides": own},
    ]
    words = [sys.executable, "-c", CODE, str(tmp_path), *map(json.dumps, requests)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    prepared, raw = done.stdout.splitlines()
    assert int(prepared.split()[0]) <= FROM_PREPARED_TEXT, prepared
    assert int(raw.split()[0]) <= FROM_RAW_TEXT, raw
