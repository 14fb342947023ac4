"""Translate any text with a trained model, and any tokens with untrained models; print figures.

    python tests/outside/text_campaigns.py CAMPAIGN MODEL [--size 1.0] [--text FILE]

neutral    2,000 sentences alone, sorted, shuffled and in random batches: the same texts
hostile    100,000 strange texts through the tokenizer, 500 of them through the model; time by length
endless    10,000 random inputs to untrained models of all kinds, with all kinds of search

``--size 0.1`` runs a tenth; ``--text`` gives the sentences of ``neutral``. Nothing but headway is needed.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import SearchConfig
from headway.ext.documents.html.page import HtmlPage
from headway.ext.documents.texts import SplitText
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator
from support.campaign import Campaign
from support.pieces import cut
from support.strange_texts import WORDS, strange_texts
from support.text_promises import comes_back, ends, neutral, slow_shapes


class Texts(Campaign):
    """The campaigns."""

    def work(self):
        """Do the one that the arguments name."""
        getattr(self, f"try_{self.options.campaign}")()

    def report(self, name, value, broken=None):
        """Print a figure and the first promises that were broken."""
        print(f"{name:<60} {value}", flush=True)
        for line in broken or []:
            self.expect(False, line)

    def try_neutral(self):
        """Promise 18."""
        translator = Translator.load(self.options.model)
        if not self.options.text:
            lines = list(strange_texts(int(2_000 * self.options.size), 3, longest=500))
            lines = [" ".join(line.split()) or WORDS[0] for line in lines]
        else:
            lines = Path(self.options.text).read_text(encoding="utf-8").split("\n")
            lines = (lines * int(2_000 * self.options.size // len(lines) + 1))[
                : int(2_000 * self.options.size)
            ]
        for precision in ("fp32", "int8"):
            search = SearchConfig(precision=precision)
            broken, worst = neutral(translator, lines, search)
            self.report(f"{precision}: texts that differ, of {4 * len(lines)}", len(broken), broken)
            self.report(
                f"{precision}: largest difference of a log-probability (target <= 1e-5)",
                f"{worst:.1e}",
                [f"{precision}: {worst}"] * (worst > 1e-5),
            )

    def try_hostile(self):
        """Promise 19."""
        tokenizer = Tokenizer.load(self.options.model)
        translator = Translator.load(self.options.model)
        started = time.monotonic()
        broken, seen = comes_back(tokenizer, strange_texts(int(100_000 * self.options.size), 5))
        self.report(f"texts that do not come back, of {seen}", len(broken), broken)
        self.report("seconds", round(time.monotonic() - started, 1))
        some = list(strange_texts(int(500 * self.options.size), 6, longest=2_000))
        failed = []
        for text in some:
            try:
                translator.translate([text])
            except Exception as error:  # any is one too many
                failed.append(f"{type(error).__name__}: {text[:40]!r}")
        self.report(f"texts that cannot be translated, of {len(some)}", len(failed), failed)
        for name, work in {
            "encoding": lambda text: tokenizer.encode_source([text]),
            "encoding and decoding": lambda text: tokenizer.decode_source(
                tokenizer.encode_source([text])[0]
            ),
            "splitting into pieces": lambda text: cut(translator, text),
            "splitting into passages": lambda text: SplitText.divide(text, "en"),
            "parsing HTML": lambda text: HtmlPage(text).paragraphs,
        }.items():
            broken = slow_shapes(work, 20_000)
            self.report(f"{name}: texts that take more than linear time", len(broken), broken)

    def try_endless(self):
        """Promise 20."""
        broken, largest = ends(
            Tokenizer.load(self.options.model), int(10_000 * self.options.size), seed=11
        )
        self.report(
            f"searches that broke a promise, of {int(10_000 * self.options.size)}",
            len(broken),
            broken,
        )
        self.report("longest translation, as a share of its limit", round(largest, 3))


if __name__ == "__main__":
    campaign = {"choices": ["neutral", "hostile", "endless"]}
    Texts.run(__doc__, {"campaign": campaign, "model": str, "--size": 1.0, "--text": ""})
