"""Run commands one after the other, each in a fork of one process that has imported what most need: that takes seconds.

Standard input has a list of [arguments, directory, standard input] in JSON, and standard output gets one of [standard
output, errors, exit code].
"""

import gc
import json
import os
import runpy
import sys
import tempfile
import traceback

import headway


def answer(arguments: list[str], cwd: str, stdin: str) -> list[object]:
    """Run ``headway ARGUMENTS`` in a fork."""
    files = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
    files[0].write(stdin.encode("latin-1"))
    files[0].seek(0)
    child = os.fork()
    if not child:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        os.chdir(cwd)
        sys.stdin = os.fdopen(0, encoding="utf-8")
        sys.stdout, sys.stderr = (
            os.fdopen(n, "w", encoding="utf-8", closefd=False) for n in (1, 2)
        )
        sys.argv = ["headway", *arguments]
        code = 0
        try:
            runpy.run_module("headway", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # to take down what was imported costs seconds, too
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for file in files:
        file.seek(0)
    texts = [file.read().decode("latin-1") for file in files[1:]]
    return [*texts, code]


def import_all() -> None:
    """Import what most commands need."""
    for name in headway.__all__:
        getattr(headway, name)
    gc.freeze()


if __name__ == "__main__":
    import_all()
    json.dump([answer(*case) for case in json.load(sys.stdin)], sys.stdout)
