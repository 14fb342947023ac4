"""The server answers as the library translates: requests of all kinds, compared text by text.

    python tests/outside/same_texts.py MODEL [--cases 2000] [--seed 1]

MODEL translates English to German, and was calibrated (`headway evaluate --calibrate`).
"""

import sys
from pathlib import Path

from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.server.app import App
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from support.campaign import Campaign
from support.same_texts import ask, make_cases, plain_search, translate


class SameTexts(Campaign):
    """A server, and the library with the same model."""

    def work(self):
        """Ask both, case by case."""
        models = load_models([self.options.model])
        translator = models.pairs["en", "de"]
        search = plain_search(translator)
        with TestClient(App(Server(models))) as client:
            for case in make_cases(self.options.cases, self.options.seed):
                answered, expected = ask(client, case), translate(translator, case, search)
                self.counts[case.kind] += 1
                difference = f"{case}\n  server:  {answered!r}\n  library: {expected!r}"
                self.expect(answered == expected, difference)


if __name__ == "__main__":
    SameTexts.run(__doc__, {"model": str, "--cases": 2000, "--seed": 1})
