"""What loads with a translation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.ext.exchange.exporting import export_model
from headway.translation.directory import load_model


@pytest.mark.slow
def test_translating_importing_and_counting_weights_do_not_import_the_compiler_of_torch(
    model_directory: Path, tmp_path: Path
) -> None:
    """Importing torch's compiler would take over a second."""
    export_model(load_model(model_directory), "ctranslate2", tmp_path / "exported", verify=False)
    program = (
        "import sys, torch; before = set(sys.modules); from headway.translation import Translator;"
        f" Translator.load({str(model_directory)!r}).translate('the cat');"
        " from headway.ext.exchange.importing import import_model;"
        f" import_model({str(tmp_path / 'exported')!r}, {str(tmp_path / 'imported')!r});"
        " from headway.cli.verbs.info import preset_facts; from headway.config import PRESETS;"
        " preset_facts('base', PRESETS['base']);"
        " print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}));"
        " print(*sorted(name for name in set(sys.modules) - before if name.startswith('torch.')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    packages, parts_of_torch = found.stdout.splitlines()
    assert not {"sympy", "pandas", "sacrebleu", "rich", "matplotlib"} & {*packages.split()}
    assert [
        name for name in parts_of_torch.split() if "_dynamo" in name or "_inductor" in name
    ] == []
