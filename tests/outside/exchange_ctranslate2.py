"""Export a trained model to CTranslate2, and compare it in each precision.

    python tests/outside/exchange_ctranslate2.py MODEL --lines FILE --reference FILE

Prints a line for each precision; returns 1 if a certificate fails.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import torch

from headway.ext.exchange.ctranslate2.writer import PRECISIONS
from headway.ext.exchange.exporting import export_model
from headway.translation import load_model


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--lines", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(args.model)
    lines, references = (
        path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for path in (args.lines, args.reference)
    )
    failed = False
    for precision in PRECISIONS:
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "out"
            done = export_model(
                model, "ctranslate2", out, precision, lines=lines, references=references
            )
            found, size = done.certificate, (out / "model.bin").stat().st_size
        assert found is not None
        assert found.bleu is not None
        failed |= bool(found.failures)
        print(
            f"{precision:9} {found.identical:,} of {found.lines:,} the same,"
            f" {found.largest_difference or 0:.1e}, BLEU {found.bleu['headway']:.2f} and"
            f" {found.bleu['exported']:.2f}, {size / 1e6:.2f} MB",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
