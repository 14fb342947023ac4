"""``headway lm``: train a language model, measure its perplexity, or generate text with it."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from headway.cli import Argument
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.config import SearchConfig
    from headway.ext.kinds.text_generator import TextGenerator

EXAMPLE = """\
headway lm runs/lm --train train.txt --valid valid.txt --preset tiny
headway lm runs/lm --score test.txt
headway lm runs/lm --generate 3 --prompt "The dog" --search.temperature 0.8"""
SETTINGS = ("text", "model", "training", "search")
GENERATING = ("search.sample", "search.max_extra")
SAMPLING = ("search.temperature", "search.top_k", "search.top_p", "search.epsilon", "search.seed")
SEARCHING = ("search.beam", "search.alpha")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    from headway.ext.kinds.kind_training import add_arguments

    add_arguments(
        parser,
        "run directory; an unfinished run is resumed",
        "training text: plain text files, whose lines are independent",
        Argument("--score FILE", "print the perplexity of this text"),
        Argument("--generate N", "generate N texts"),
        Argument("--prompt TEXT", "start the generated texts with this text", {"default": ""}),
    )


def run(args: argparse.Namespace) -> int:
    """Train, or print the perplexity of a text, or generated texts."""
    from headway.cli import check_used
    from headway.ext.kinds.kind_training import OF_TRAINING, refuse, train_kind
    from headway.text import SURROGATE

    if args.prompt and args.generate is None:
        raise UsageError("--prompt needs --generate N, the number of texts")
    if not args.score and args.generate is None:
        return train_kind(args, "language-model")
    refuse(args, OF_TRAINING, "is for a training, but --score and --generate use a trained model")
    if args.generate is not None and args.generate < 1:
        raise UsageError(f"--generate {args.generate}: must be 1 or more")
    if SURROGATE.search(args.prompt):
        raise UsageError("--prompt: is not UTF-8")
    search = None
    if args.generate is None:
        check_used(args.overrides, (), "--score")
    else:
        search = choose_search(args)
    from headway.ext.kinds.text_generator import TextGenerator

    generator = TextGenerator.load(args.run, args.device)
    if args.score:
        score(generator, args)
    if search:
        for text, log_probability in generator.generate([args.prompt], search)[0]:
            values = {"text": text, "log_probability": log_probability}
            print(json.dumps(values, ensure_ascii=False) if args.json else text)
    sys.stdout.flush()
    return 0


def choose_search(args: argparse.Namespace) -> "SearchConfig":
    """Return the settings with which texts are generated; a mistake exits with 2."""
    from dataclasses import replace

    from headway.cli import check_used
    from headway.config import Config, SearchConfig

    try:
        sampling = Config(search=SearchConfig(sample=True))
        search = replace(args.changes.apply(sampling).search, n_best=args.generate)
    except HeadwayError as error:
        raise UsageError(str(error)) from None
    used: tuple[str, ...] = SEARCHING
    way = "a beam search"
    if search.sample:
        used, way = SAMPLING, "samples (--search.sample false gives a beam search)"
    check_used(args.overrides, [*GENERATING, *used], way)
    return search


def score(generator: "TextGenerator", args: argparse.Namespace) -> None:
    """Print the perplexity of a text."""
    from headway.text import read_lines
    from headway.training import perplexity_of

    lines = generator.score([line for line in read_lines(args.score) if line.strip()])
    if not lines:
        raise HeadwayError(f"{args.score}: holds no texts")
    nll, tokens = (sum(of_all) for of_all in zip(*lines, strict=True))
    value = perplexity_of(nll / tokens)
    if args.json:
        print(json.dumps({"perplexity": value, "nll": nll, "tokens": tokens}))
    else:
        print(f"perplexity {value:.3f} per token, of {tokens:,} tokens in {len(lines):,} lines")
