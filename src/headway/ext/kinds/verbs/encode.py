"""``headway encode``: turn sentences into vectors with the encoder of a model."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from headway.cli import MACHINE, Argument, add_options
from headway.errors import UsageError

EXAMPLE = """\
headway encode runs/mine < text.en > vectors.jsonl
headway encode runs/mine --layers all --out vectors.npy < text.en"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    layers, pooling = ("last", "all"), ("mean", "first")
    add_options(
        parser,
        Argument("MODEL", "run or model directory of a translator or classifier"),
        Argument(
            "--layers WHICH",
            "vectors of the last layer (default) or of all layers",
            {"metavar": None, "choices": layers, "default": "last"},
        ),
        Argument(
            "--pooling WAY",
            "mean over the tokens of a sentence (default), or the vector of its first token",
            {"metavar": None, "choices": pooling, "default": "mean"},
        ),
        Argument(
            "--out FILE",
            "write an array [lines, layers, d_model] to this .npy file (default: print JSON)",
        ),
        *MACHINE,
    )


def run(args: argparse.Namespace) -> None:
    """Encode standard input, a sentence a line."""
    from headway.cli import check_output, read_input, set_threads

    if args.out and not args.out.endswith(".npy"):
        raise UsageError(f"--out {args.out}: the name must end in .npy")
    if args.out:
        check_output("--out", Path(args.out))

    import numpy as np

    from headway.ext.kinds.sentence_encoder import SentenceEncoder
    from headway.files import write_atomically

    set_threads(args.threads)
    encoder = SentenceEncoder.load(args.model, args.device)
    every = args.layers == "all"
    parts = []
    for lines in read_input("encode"):
        vectors = encoder.encode(lines, every_layer=every, pooling=args.pooling)
        if args.out:
            parts.append(vectors)
            continue
        for layers in vectors if every else vectors[:, 0]:
            print(json.dumps([_short(row) for row in layers] if every else _short(layers)))
        sys.stdout.flush()
    if args.out:
        empty = encoder.encode([], every_layer=every)
        out = Path(args.out)
        with write_atomically(out) as temporary:
            np.save(temporary, np.concatenate([empty, *parts]))


def _short(numbers: Iterable[float]) -> list[float]:
    """Write float32 numbers with no more digits than they have."""
    return [float(f"{value:.7g}") for value in numbers]
