"""Write anew what Headway answers without a model: ``python tests/record --store``, after a change that is meant.

``tests/test_record.py`` compares the answers with ``stored``, whose difference is a part of the commit.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from answers import ENVIRONMENT

STORED = Path(__file__).with_name("stored")
SECTIONS = ("help", "prepared", "scores", "server")


def main():
    """Record the answers, show what changed and return the exit code."""
    parser = argparse.ArgumentParser(prog="python tests/record", description=__doc__)
    parser.add_argument("--store", action="store_true", required=True)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    args = parser.parse_args()
    for name in [name for name in os.environ if name.startswith("HEADWAY")]:
        del os.environ[name]
    os.environ |= ENVIRONMENT
    for section in args.only:
        out = STORED / section
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        importlib.import_module(section).record(out)
    return subprocess.run(["git", "diff", "--stat", STORED], cwd=STORED).returncode


if __name__ == "__main__":
    sys.exit(main())
