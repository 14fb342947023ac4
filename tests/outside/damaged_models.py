"""10,000 model directories damaged at random, each loaded and used in a child process.

    python tests/outside/damaged_models.py [--count 10000] [--seed 1] [--model DIRECTORY]

No signal, no hang, no error but HeadwayError, nothing executed or written, at most 5 seconds of the processor
and 200 MB more than the files. Without a model a small one with random weights is made. Nothing but headway and
its tests is needed.
"""

import multiprocessing
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import TextConfig
from headway.text.tokenizer import Tokenizer
from support.campaign import Campaign
from support.mutations import Outcome, damaged
from support.processes import fork
from support.toy_models import sentences, translate_words, write_random_model


class Attempts(Campaign):
    """Models that are loaded in child processes; one that dies is replaced by another."""

    allowed = ("refused", "translated")
    slowest: tuple[float, str] = (0.0, "")  # and the case
    largest: tuple[float, str] = (0.0, "")

    def list_cases(self) -> Sequence[Any]:
        """Make what is needed, and return the cases."""
        self.model = Path(self.options.model or self.make_model())
        first = self.options.seed * 1_000_000
        return range(first, first + self.options.count)

    def attempt(self, case: Any) -> tuple[str, Outcome]:
        """Return what was done in a case, and what came of it."""
        what, outcome = damaged(self.model, self.folder / "child", case)
        return f"{case}: {what}", outcome

    def make_model(self) -> Path:
        """Write a model with random weights."""
        pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
        tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
        return write_random_model(self.folder / "random", tokenizer)

    def work(self) -> None:
        """Run children until all cases are done."""
        cases, at = self.list_cases(), 0
        while at < len(cases):
            receiver, sender = multiprocessing.Pipe(duplex=False)
            child = fork(self.attempt_each, cases[at:], sender)
            sender.close()
            begun = ""
            with suppress(EOFError):
                while True:
                    name, outcome = receiver.recv()
                    begun = "" if outcome else name
                    if outcome:
                        at += 1
                        self.judge(name, outcome)
            child.join()
            if begun:
                at += 1
                self.expect(False, f"{begun}: the process ended with {child.exitcode}")
            elif child.exitcode:
                raise SystemExit(f"a child ended with {child.exitcode} between two cases")
        print(f"most seconds of the processor (target <= 5)  {self.slowest}")
        print(f"most MB above the files (target <= 200)  {self.largest}")

    def attempt_each(self, cases: Sequence[Any], sender: Connection) -> None:
        """Be the child: send each case as it begins, and what came of it."""
        for case in cases:
            sender.send((str(case), None))
            sender.send(self.attempt(case))

    def judge(self, name: str, outcome: Outcome) -> None:
        """Count an outcome, and note a broken promise."""
        kind = outcome.what.partition(":")[0]
        self.counts[kind] += 1
        self.slowest = max(self.slowest, (outcome.seconds, name))
        self.largest = max(self.largest, (outcome.megabytes, name))
        is_good = kind in self.allowed and outcome.seconds <= 5 and outcome.megabytes <= 200
        self.expect(is_good, f"{name}: {outcome}")


if __name__ == "__main__":
    Attempts.run(__doc__, {"--count": 10_000, "--seed": 1, "--model": ""})
