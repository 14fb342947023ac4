"""What a plain translation needs of the package: few modules are loaded, and a line crosses few files."""

import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[1] / "golden" / "0.1" / "model"
CODE = """
import os, sys, threading
from headway import Translator
from headway.cli.translated_lines import format_lines
from argparse import Namespace

translator = Translator.load(sys.argv[1])
translator.translate("the cat sees a dog")
modules = [name for name in sys.modules if name.partition(".")[0] == "headway" and not name.startswith("headway.cli")]
core = [name for name in modules if not name.startswith("headway.ext")]
fronts = [name for name in modules if name.startswith("headway.ext.") and name.count(".") == 2]  # nothing but declarations
crossed = set()

def see(frame, event, argument):
    if event == "call" and f"{os.sep}headway{os.sep}" in frame.f_code.co_filename:
        crossed.add(frame.f_code.co_filename)

options = Namespace(json=False, scores=False, alignment=False)
threading.setprofile(see)
sys.setprofile(see)
[translations] = translator.stream(["the dog sees a cat"])
format_lines("the dog sees a cat", translations, options, 1)
sys.setprofile(None)
print(len(core), len(modules) - len(fronts), len(crossed))
print(*sorted(crossed), sep="\\n")
"""


@pytest.mark.slow
def test_a_plain_line_crosses_few_files_and_loads_few_modules() -> None:
    """A weave shows here first: a line crossed 27 files, and 135 modules were loaded, before there was one pipeline."""
    words = [sys.executable, "-c", CODE, str(MODEL)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    core, modules, crossed = map(int, done.stdout.splitlines()[0].split())
    assert core <= 60
    assert modules <= 70
    assert crossed <= 14, done.stdout
