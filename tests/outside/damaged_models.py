"""10,000 models of every format, damaged at random, each loaded or imported in a child process.

    python tests/outside/damaged_models.py [--count 10000] [--seed 1] [--model DIRECTORY]

A model is one of Headway, CTranslate2, transformers or Argos. Damage is of bytes, of the fields of JSON, tensors and
vocabularies, another file in the place of one, or a content that is small on disk and large in memory. No signal, no
hang, no error but HeadwayError, nothing executed or written, at most 5 seconds of the processor and 200 MB more than
the files. Without a model a small one with random weights is made. Nothing but headway with its extra `export` and
its tests is needed.
"""

import multiprocessing
import resource
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import TextConfig
from headway.text.tokenizer import Tokenizer
from support.campaign import Campaign
from support.damaged_models import damaged, write_models
from support.processes import fork, read_memory
from support.toy_models import sentences, translate_words, write_random_model

MAX_BYTES = 4 << 30  # of a child, so that a broken promise does not take the machine


class Attempts(Campaign):
    """Models that are loaded in child processes; one that dies is replaced by another."""

    slowest: tuple[float, str] = (0.0, "")  # and the case
    largest: tuple[float, str] = (0.0, "")

    def make_model(self):
        """Write a model with random weights."""
        pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
        tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
        return write_random_model(self.folder / "random", tokenizer)

    def work(self):
        """Run children until all cases are done."""
        (self.folder / "formats").mkdir()
        self.formats = write_models(
            Path(self.options.model or self.make_model()), self.folder / "formats"
        )
        number = first = self.options.seed * 1_000_000
        while number < first + self.options.count:
            receiver, sender = multiprocessing.Pipe(duplex=False)
            child = fork(self.attempt_each, range(number, first + self.options.count), sender)
            sender.close()
            with suppress(EOFError):
                while True:
                    self.judge(number, *receiver.recv())
                    number += 1
            child.join()
            if number < first + self.options.count:
                self.expect(False, f"{number}: the process ended with {child.exitcode}")
                number += 1
        print(f"most seconds of the processor (target <= 5)  {self.slowest}")
        print(f"most MB above the files (target <= 200)  {self.largest}")

    def attempt_each(self, numbers, sender):
        """Be the child, with little memory: send what was done in each case, and what came of it."""
        limit = read_memory("VmSize") + MAX_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        folder = self.folder / "child"
        folder.mkdir(exist_ok=True)
        for number in numbers:
            sender.send(damaged(self.formats, folder, number))

    def judge(self, number, damage, outcome):
        """Count an outcome, and note a broken promise."""
        name = f"{number}: {damage}"
        self.counts[outcome.what.partition(":")[0]] += 1
        self.slowest = max(self.slowest, (outcome.seconds, name))
        self.largest = max(self.largest, (outcome.megabytes, name))
        self.expect(outcome.is_right, f"{name}: {outcome}")


if __name__ == "__main__":
    Attempts.run(__doc__, {"--count": 10_000, "--seed": 1, "--model": ""})
