"""2,000 run directories damaged at random, each resumed in a child process.

    python tests/outside/damaged_runs.py [--count 2000] [--seed 1] [--messages 1]

The run was stopped, or is finished. Any file or directory of it is missing, empty, cut,
changed, unreadable, a link, a pipe, of another type, or that of another run; or there is one too many. The
resume ends with the weights, settings and vocabulary of the undisturbed run, or says in one line why not: no
traceback, no silent difference. After every fifth refusal, the damaged files are put back, and the run must
resume exactly. ``--messages 1`` prints each different message. Only headway is needed.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign, note
from support.damaged_resumption import DamagedRuns


class Resumptions(Campaign):
    """Runs that are damaged and resumed."""

    def work(self):
        """Damage and resume."""
        runs, messages = DamagedRuns(self.folder), Counter[str]()
        first = self.options.seed * 1_000_000
        for number in range(first, first + self.options.count):
            case = runs.resume(number)
            self.counts[case.outcome] += 1
            messages.update(case.messages)
            self.expect(case.is_right, f"{number}: {case.damage}: {case.outcome}\n{case.log}")
            if not (number + 1) % 100:
                note(f"{number + 1 - first} done")
        for message, count in messages.most_common() if self.options.messages else ():
            print(f"{count:>5} {message}")


if __name__ == "__main__":
    Resumptions.run(__doc__, {"--count": 2_000, "--seed": 1, "--messages": 0})
