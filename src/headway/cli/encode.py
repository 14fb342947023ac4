"""``headway encode``: sentences to vectors, by a model's encoder."""

import argparse
import json
import sys
from collections.abc import Iterable

from headway.errors import HeadwayError

EXAMPLE = """\
headway encode runs/mine < text.en > vectors.jsonl
headway encode runs/mine --layers all --out vectors.npy < text.en"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", metavar="MODEL", help="a translator's or classifier's directory")
    parser.add_argument(
        "--layers", choices=("last", "all"), default="last", help="the last (default) or all"
    )
    parser.add_argument(
        "--pooling",
        choices=("mean", "first"),
        default="mean",
        help="the mean of a sentence's tokens (default), or its first token's vector",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="an array [lines, layers, d_model], .npy; default: JSON lines"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")


def run(args: argparse.Namespace) -> None:
    """Encode standard input, a sentence a line."""
    import numpy as np

    from headway.cli.arguments import usage_error
    from headway.cli.process import set_threads
    from headway.cli.translate import arriving
    from headway.inference.sentence_encoder import SentenceEncoder

    if args.out and not args.out.endswith(".npy"):
        usage_error(f"--out {args.out}: its name must end in .npy")
    set_threads(args.threads)
    encoder = SentenceEncoder.load(args.model, args.device)
    if sys.stdin is None:
        raise HeadwayError("standard input is closed: nothing to encode")
    every = args.layers == "all"
    parts = []
    for lines in arriving(sys.stdin.fileno()):
        vectors = encoder.encode(lines, every_layer=every, pooling=args.pooling)
        if args.out:
            parts.append(vectors)
            continue
        for layers in vectors if every else vectors[:, 0]:
            print(json.dumps([_short(row) for row in layers] if every else _short(layers)))
        sys.stdout.flush()
    if args.out:
        empty = encoder.encode([], every_layer=every)
        np.save(args.out, np.concatenate([empty, *parts]))


def _short(numbers: Iterable[float]) -> list[float]:
    """Write float32 numbers with no more digits than they have."""
    return [float(f"{value:.7g}") for value in numbers]
