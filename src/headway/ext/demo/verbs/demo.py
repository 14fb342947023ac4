"""``headway demo``: train, score and show a translator on the built-in corpus."""

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from headway.errors import HeadwayError, UsageError

EXAMPLE = "headway demo\nheadway demo runs/demo-fr --languages de fr"
SETTINGS = ("text", "model", "training", "search")
TEST_PAIRS = 2500
# Settings that train in two minutes on two cores: half the depth of the preset tiny and a small
# vocabulary. The corpus is so regular that dropout only slows training down. Packed batches mix sentences
# of all lengths: a kind of phrase has its own typical length, and a batch of one kind would bias the step.
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
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        default="runs/demo",
        help="run directory (default: runs/demo)",
    )
    parser.add_argument(
        "--languages",
        metavar="LOCALE",
        nargs=2,
        default=["en", "de"],
        help="CLDR locales of source and target (default: en de); only en, de and fr have full sentences",
    )
    parser.add_argument(
        "--pairs", type=int, default=100_000, help="sentence pairs to generate (default: 100,000)"
    )
    parser.add_argument(
        "--no-browser",
        action="store_true",
        help="end after the examples: open no page, even in a terminal on a machine with a screen",
    )


def run(args: argparse.Namespace) -> int:
    """Generate the corpus, train on it, print scores and examples, and open the page if there is a screen."""
    from headway.cli import parse
    from headway.cli.verbs import train
    from headway.ext.demo.screen import has_screen

    if args.pairs < 1:
        raise UsageError(f"--pairs {args.pairs}: must be 1 or more")
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
        if not args.no_browser and has_screen() and find_spec("granian"):
            code = serve(directory)
    return code


def make_corpus(text: Path, source: str, target: str, count: int) -> Path:
    """Write the corpus as text files, with the kind of each pair beside it, unless it is there."""
    from headway.ext.demo import generate, split
    from headway.files import write_atomically

    parts = ("train", "valid", "test")
    files = [text / f"{part}.{code}" for part in parts for code in (source, target)]
    if text.exists():
        if all(file.exists() for file in files):
            return text
        raise HeadwayError(
            f"{text}: holds another corpus; give another RUN or remove this directory"
        )
    print(f"{text}: generating {count:,} sentence pairs, {source} to {target}", file=sys.stderr)
    with write_atomically(text) as temporary:
        temporary.mkdir(parents=True)
        for part, examples in zip(parts, split(generate(source, target, count)), strict=True):
            columns = {source: "source", target: "target", "kinds": "kind"}
            for suffix, column in columns.items():
                lines = "".join(f"{getattr(example, column)}\n" for example in examples)
                (temporary / f"{part}.{suffix}").write_text(lines, encoding="utf-8", newline="\n")
    return text


def serve(directory: Path) -> int:
    """Serve the model and open its page until the user ends the server; return the exit code."""
    from headway.cli import run_child

    print(
        "\nThe page for translation opens in your browser. Ctrl-C ends its server, and this command."
    )
    sys.stdout.flush()
    code = run_child(["serve", str(directory), "--port", "0", "--open"])
    return 0 if code == 128 + signal.SIGINT else code


def show(directory: Path, text: Path, source: str, target: str) -> None:
    """Print test scores, exact matches by kind, ten translations, and commands to try next."""
    from itertools import islice

    from headway.evaluation import exact_match, exact_match_by_kind, pick_metrics, score_sheet
    from headway.text import read_lines
    from headway.translation import Translator

    sources, references, kinds = (
        list(islice(read_lines(text / f"test.{suffix}"), TEST_PAIRS))
        for suffix in (source, target, "kinds")
    )
    translator = Translator.load(directory)
    hypotheses = translator.translate(sources)
    sheet = score_sheet(
        hypotheses, references, sources, language=target, metrics=pick_metrics(["bleu", "chrf"])
    )
    print(f"\nscores on {len(sources):,} test pairs, with 95 % intervals:")
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        found = sheet[key]
        interval = f"{found.low:.2f} to {found.high:.2f}"
        print(f"  {name:<6}{found.score:>7.2f}  {interval}  {found.signature}")
    print(
        f"  exact match {exact_match(hypotheses, references):.1%}; by kind of phrase (pairs, exact match):"
    )
    shares = exact_match_by_kind(hypotheses, references, kinds)
    for kind, share in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"  {kind:<12}{kinds.count(kind):>6}{share:>8.1%}")
    print("\nten translations:")
    for row in range(0, len(sources), max(1, len(sources) // 10))[:10]:
        mark = "" if hypotheses[row] == references[row] else f"   (reference: {references[row]})"
        print(f"  {sources[row]}\n    -> {hypotheses[row]}{mark}")
    print(
        f"\nThe model is in {directory}. It knows what its built-in text has: dates, numbers, prices, names"
        " of places and short sentences. Try next:\n"
        f"  echo '{sources[0]}' | headway translate {directory} --scores\n"
        f"  headway serve {directory}      # a web page for translation\n"
        f"  headway train runs/mine --train a.{source} a.{target} --valid v.{source} v.{target}"
        " --preset quick    # your own text"
    )
