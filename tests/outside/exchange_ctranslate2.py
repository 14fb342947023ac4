"""A trained model through CTranslate2: certificates in all precisions, and both engines side by side.

    python tests/outside/exchange_ctranslate2.py MODEL --lines FILE --reference FILE

Prints a line for each precision, then for each engine and precision BLEU, differing lines and processor
seconds (one thread, the best of three, in turn; loading is not counted). Ends with 1 if a certificate
fails or CTranslate2's search is worth 0.1 BLEU less than ours at fp32.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

from headway.evaluation import bleu
from headway.exchange import ctranslate2
from headway.exchange.ctranslate2_finder import choose_engine
from headway.exchange.exporting import export_model
from headway.inference import Translator, load_model


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
    for precision in ctranslate2.PRECISIONS:
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
    scores: dict[tuple[str, str], float] = {}
    for precision in ("fp32", "int8"):
        texts: dict[str, list[str]] = {}
        seconds: dict[str, list[float]] = {"headway": [], "ctranslate2": []}
        translators = {
            name: choose_engine(Translator.load(args.model, "cpu"), name) for name in seconds
        }
        for translator in translators.values():
            translator.search = replace(translator.search, precision=precision)
            translator.translate(lines[:50])
        for _ in range(3):
            for name, translator in translators.items():
                start = time.process_time()
                texts[name] = translator.translate(lines)
                seconds[name].append(time.process_time() - start)
        other = sum(a != b for a, b in zip(*texts.values(), strict=True))
        for name, found_texts in texts.items():
            scores[name, precision] = bleu(found_texts, references, model.languages[1])
            print(
                f"--engine {name:11} {precision}: BLEU {scores[name, precision]:.2f},"
                f" {min(seconds[name]):.2f} s of processor time; {other} lines differ",
                flush=True,
            )
    lost = scores["headway", "fp32"] - scores["ctranslate2", "fp32"]
    return int(failed or lost > 0.1)


if __name__ == "__main__":
    sys.exit(main())
