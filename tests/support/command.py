"""The command ``headway`` as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.cli.main import main
from support.processes import Forked

BIN = Path(sys.executable).parent / "headway"


def headway(*words, text="", **environment):
    """Start the command as a user does, which takes seconds where it imports torch."""
    return subprocess.run(
        [BIN, *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1", **environment},
    )


def fork_headway(*words, text="", output=None):
    """Run the command in a forked process, which has all modules already.

    Args:
        words: The arguments.
        text: Standard input.
        output: The file that is standard output, instead of what is returned; "": it is closed, as by ``>&-``.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        given, printed, errors = (folder / part for part in ("in", "out", "err"))
        given.write_text(text, encoding="utf-8")
        printed.touch()

        def work():
            os.dup2(os.open(given, os.O_RDONLY), 0)
            os.dup2(os.open(output or printed, os.O_WRONLY), 1)
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
            if output == "":
                os.close(1)
                sys.stdout = None  # type: ignore[assignment]
            sys.argv = [str(BIN), *words]
            main(words)

        code = Forked(work, errors).wait(300)
        said = (file.read_text(encoding="utf-8") for file in (printed, errors))
        return subprocess.CompletedProcess([*words], code, *said)
