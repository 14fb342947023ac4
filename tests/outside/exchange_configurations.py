"""Compare exports of many configurations with models of random weights, on 500 lines each.

    .venv/bin/python tests/outside/exchange_configurations.py FORMAT [LINES]

Prints a line for each configuration: the reason why it is refused, or the number of equal greedy translations
and the largest difference of a log-probability. Returns 1 if a configuration is neither refused nor exact.
"""

import logging
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import TextConfig
from headway.ext.exchange import formats
from headway.ext.exchange.certificate import certify
from headway.text.tokenizer import Tokenizer
from support.exchange_models import EXACT, REFUSED_BY_MARIAN, make_model
from support.toy_models import sentences, translate_words


def main(name, count=500):
    """Print the table of a format."""
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    form, failed = formats.load_writer(name), 0
    lines = sentences(count, 9, 15)
    pairs = [(line, translate_words(line)) for line in sentences(400, 1)]
    joint = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
    two = Tokenizer.learn(pairs, TextConfig(vocab_size=311, joint_vocab=False))
    shapes = {**EXACT, **{f"refused? {key}": value for key, value in REFUSED_BY_MARIAN.items()}}
    for label, changes in [*shapes.items(), ("two vocabularies", {"tying": "none"})]:
        model = make_model(two if label == "two vocabularies" else joint, **changes)
        reasons = form.find_refusals(model.config.model)
        if reasons:
            print(f"{label:24} refused: {'; '.join(reasons)}")
            continue
        with tempfile.TemporaryDirectory() as top:
            notes = form.write(model, Path(top) / "out", "float32")
            found = certify(model, form.run(Path(top) / "out"), name, "float32", notes, lines)
        failed += bool(found.failures)
        print(
            f"{label:24} {found.identical} of {found.lines} the same, {found.ties} ties,"
            f" {found.largest_difference or 0:.1e}",
            flush=True,
        )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
