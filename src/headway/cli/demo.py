"""``headway demo``: the whole way, from raw text to a scored translator, on a corpus of its own."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from headway.errors import HeadwayError

EXAMPLE = "headway demo\nheadway demo runs/demo-fr --languages de fr"
SETTINGS = ("text", "model", "training", "search")
TEST_PAIRS = 2500
# What minutes on two cores allow: half of tiny's depth and a small vocabulary. The corpus is so
# regular that dropout only slows it down. Steps mix lengths, because length goes with kind here: a step
# of one kind alone would pull the model towards it.
RECIPE = {
    "--preset": "tiny",
    "--text.vocab-size": "3000",
    "--text.split-digits": "true",
    "--model.num-encoder-layers": "2",
    "--model.num-decoder-layers": "2",
    "--model.dropout": "0",
    "--training.packed": "true",
    "--training.batch-tokens": "1600",
    "--training.rate-scale": "1",
    "--training.warmup-steps": "300",
    "--training.max-steps": "1500",
    "--training.validate-every": "250",
    "--training.checkpoint-every": "25",
    "--training.average": "6",
    "--training.validation-sentences": "300",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="runs/demo", help="default: runs/demo"
    )
    parser.add_argument(
        "--languages",
        metavar="LOCALE",
        nargs=2,
        default=["en", "de"],
        help="any two CLDR locales; sentences for en, de and fr (default: en de)",
    )
    parser.add_argument("--pairs", type=int, default=100_000, help="corpus size (default 100,000)")


def run(args: argparse.Namespace) -> int:
    """Make the corpus, train on it, and show what the model can do."""
    from headway.cli import train
    from headway.cli.main import parse

    directory = Path(args.run)
    source, target = args.languages
    text = make_corpus(directory.with_name(f"{directory.name}-text"), source, target, args.pairs)
    words = [str(directory), "--languages", source, target]
    for part in ("train", "valid"):
        words += [f"--{part}", str(text / f"{part}.{source}"), str(text / f"{part}.{target}")]
    words += [word for option in RECIPE.items() for word in option]
    words += [word for name, value in args.overrides.items() for word in (f"--{name}", value)]
    print(f"headway train {' '.join(words)}", file=sys.stderr)
    code = train.run(parse("train", train, words))
    if not code:
        show(directory, text, source, target)
    return code


def make_corpus(text: Path, source: str, target: str, count: int) -> Path:
    """Write the corpus unless it is there: files of text, and of the kinds of the test pairs."""
    from headway.demo import generate, split
    from headway.files import replacing

    parts = ("train", "valid", "test")
    files = [text / f"{part}.{code}" for part in parts for code in (source, target)]
    if text.exists():
        if all(file.exists() for file in files):
            return text
        raise HeadwayError(f"{text}: holds another corpus: give another RUN, or remove it")
    print(f"making {count:,} pairs of {source} and {target}", file=sys.stderr)
    with replacing(text) as temporary:
        temporary.mkdir(parents=True)
        for part, examples in zip(parts, split(generate(source, target, count)), strict=True):
            columns = {source: "source", target: "target", "kinds": "kind"}
            for suffix, column in columns.items():
                lines = "".join(f"{getattr(example, column)}\n" for example in examples)
                (temporary / f"{part}.{suffix}").write_text(lines, encoding="utf-8", newline="\n")
    return text


def show(directory: Path, text: Path, source: str, target: str) -> None:
    """Print scores on unseen pairs, by kind, ten translations, and what to try next."""
    from itertools import islice

    from headway.evaluation import exact_match, exact_match_by_kind, score_sheet
    from headway.evaluation.measures import pick_measures
    from headway.inference import Translator
    from headway.text.readers import read_lines

    sources, references, kinds = (
        list(islice(read_lines(text / f"test.{suffix}"), TEST_PAIRS))
        for suffix in (source, target, "kinds")
    )
    translator = Translator.load(directory)
    hypotheses = translator.translate(sources)
    sheet = score_sheet(
        hypotheses, references, sources, language=target, measures=pick_measures(["bleu", "chrf"])
    )
    print(f"\n{len(sources):,} pairs that took no part in training, 95 % intervals:")
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        found = sheet[key]
        interval = f"{found.low:.2f} to {found.high:.2f}"
        print(f"  {name:<6}{found.score:>7.2f}  {interval}  {found.signature}")
    print(f"  exact match {exact_match(hypotheses, references):.1%}; by kind:")
    shares = exact_match_by_kind(hypotheses, references, kinds)
    for kind, share in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"  {kind:<12}{kinds.count(kind):>6}{share:>8.1%}")
    print("\nten of them:")
    for row in range(0, len(sources), max(1, len(sources) // 10))[:10]:
        mark = "" if hypotheses[row] == references[row] else f"   (should be: {references[row]})"
        print(f"  {sources[row]}\n    -> {hypotheses[row]}{mark}")
    # As it was called: nothing else may be on the path.
    own = "headway"
    if shutil.which(own) is None:
        own = min(sys.argv[0], os.path.relpath(sys.argv[0]), key=len)
    print(
        f"\nThe model lies in {directory}; it knows what its text is made of: dates, numbers, prices,"
        " places and short sentences. Try next:\n"
        f"  echo '{sources[0]}' | {own} translate {directory} --scores\n"
        f"  {own} serve {directory}      # a page to type into\n"
        f"  {own} train runs/mine --train a.{source} a.{target} --valid v.{source} v.{target}"
        " --preset quick    # yours"
    )
