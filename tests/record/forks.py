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


def answer(arguments, cwd, stdin):
    """Run ``headway ARGUMENTS`` in a fork."""
    [found] = answer_in_turn([(arguments, cwd, stdin)])
    return found


def answer_in_turn(cases):
    """Run commands that end soon one after the other in one fork: each fork costs as much as such a command."""
    files = [[tempfile.TemporaryFile() for _ in range(3)] for _ in cases]  # noqa: SIM115
    codes = tempfile.TemporaryFile()  # noqa: SIM115
    child = os.fork()
    if not child:
        found = [_run(*case, each) for case, each in zip(cases, files, strict=True)]
        codes.write(json.dumps(found).encode())
        codes.flush()
        os._exit(0)  # to take down what was imported costs seconds, too
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    codes.seek(0)
    found = json.loads(codes.read() or "null") or [ended] * len(cases)
    answers = []
    for each, code in zip(files, found, strict=True):
        for file in each:
            file.seek(0)
        answers.append([*(file.read().decode("latin-1") for file in each[1:]), code])
    return answers


def _run(arguments, cwd, stdin, files):
    """Run ``headway ARGUMENTS`` in this process, with files as its standard input, output and errors."""
    files[0].write(stdin.encode("latin-1"))
    files[0].seek(0)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    os.chdir(cwd)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))
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
    return code


def import_all():
    """Import what most commands need."""
    for name in headway.__all__:
        getattr(headway, name)


if __name__ == "__main__":
    import_all()
    gc.freeze()
    json.dump([answer(*case) for case in json.load(sys.stdin)], sys.stdout)
