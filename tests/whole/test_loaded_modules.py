"""What a plain translation needs of the package and of others: few modules are loaded, and a line crosses few files."""

import subprocess
import sys
from pathlib import Path

import pytest

from headway.ext.exchange.exporting import export_model
from headway.translation.directory import load_model

MODEL = Path(__file__).parents[1] / "golden" / "0.1" / "model"
CODE = """
import os, sys, threading
import torch
before = set(sys.modules)
from headway import SearchConfig, Translator
from headway.cli.translated_lines import format_lines
from argparse import Namespace

_, model, exported, imported = sys.argv
translator = Translator.load(model)
translator.translate("the cat sees a dog")
modules = [name for name in sys.modules if name.partition(".")[0] == "headway" and not name.startswith("headway.cli")]
core = [name for name in modules if not name.startswith("headway.ext")]
fronts = [name for name in modules if name.startswith("headway.ext.") and name.count(".") == 2]  # nothing but declarations
crossed = set()

def see(frame, event, argument):
    if event == "call" and f"{os.sep}headway{os.sep}" in frame.f_code.co_filename:
        crossed.add(frame.f_code.co_filename)

options = Namespace(json=False, scores=False, alignment=False)
search = SearchConfig()
threading.setprofile(see)
sys.setprofile(see)
[translations] = translator.stream(["the dog sees a cat"])
format_lines("the dog sees a cat", translations, options, search)
sys.setprofile(None)
print(len(core), len(modules) - len(fronts), len(crossed))
print(*sorted(crossed))

from headway.ext.exchange.importing import import_model
from headway.cli.verbs.info import preset_facts
from headway.config import PRESETS
import_model(exported, imported)
preset_facts("base", PRESETS["base"])
print(*set(sys.modules) - before)
"""


@pytest.fixture(scope="module")
def printed(model_directory, tmp_path_factory):
    """What a process says that translates a line, imports a model and counts weights."""
    folder = tmp_path_factory.mktemp("models")
    export_model(load_model(model_directory), "ctranslate2", folder / "exported", verify=False)
    places = [MODEL, folder / "exported", folder / "imported"]
    words = [sys.executable, "-c", CODE, *map(str, places)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_a_plain_line_crosses_few_files_and_loads_few_modules(printed):
    """A weave shows here first: a line crossed 27 files, and 135 modules were loaded, before there was one pipeline."""
    core, modules, crossed = map(int, printed[0].split())
    assert core <= 60
    assert modules <= 70
    assert crossed <= 14, printed[1]


def test_translating_importing_and_counting_weights_do_not_import_the_compiler_of_torch(printed):
    """It would take over a second."""
    loaded = printed[2].split()
    packages = {name.split(".")[0] for name in loaded}
    assert not {"sympy", "pandas", "sacrebleu", "rich", "matplotlib"} & packages
    assert not [
        name
        for name in loaded
        if name.startswith("torch.") and ("_dynamo" in name or "_inductor" in name)
    ]
