"""``headway check``: test masks, caches and search of a model in seconds, and a GPU against the CPU."""

import argparse

from headway.cli import add_options
from headway.errors import HeadwayError

EXAMPLE = (
    "headway check runs/mine\nheadway check runs/mine --source some.en\n"
    "headway check runs/mine --device cuda"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(parser, "MODEL")
    parser.add_argument(
        "--source",
        metavar="FILE",
        help="check with the first 64 lines of this file (default: random subwords)",
    )
    parser.add_argument(
        "--device",
        default="auto",
        help="auto, cpu, cuda or cuda:N; what a GPU computes is also compared with the CPU",
    )


def run(args: argparse.Namespace) -> int:
    """Print the result of each check; return 1 if a check failed."""
    from itertools import islice

    from headway.cli import prepare
    from headway.text import read_lines

    sentences = list(islice(read_lines(args.source), 64)) if args.source else []
    if args.source and not any(text.strip() for text in sentences):
        raise HeadwayError(
            f"{args.source}: the first 64 lines are empty; give a file with source text"
        )

    from headway.ext.bench import self_check
    from headway.translation import Translator

    translator = Translator.load(args.model, args.device)
    if translator.pairs:  # any of them
        source, target = translator.pairs[0]
        translator = translator.to(target, source)
    prepare("decoding", translator.device)
    failed = 0
    for finding in self_check(translator, sentences):
        failed += not finding.passed
        print(f"{'ok' if finding.passed else 'FAILED':<8}{finding.name}: {finding.detail}")
    return 1 if failed else 0
