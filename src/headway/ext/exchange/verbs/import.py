"""``headway import``: make a Headway model directory of another program's model."""

import argparse
import sys

from headway.cli import Argument, add_options, language_code

EXAMPLE = (
    "headway import opus-mt-en-de runs/opus-en-de\n"
    "headway import translate-en_es.argosmodel runs/en-es\n"
    "headway import a-ctranslate2-directory runs/mine --languages en de"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    codes = "language codes of source and target, in place of the model's"
    add_options(
        parser,
        Argument("PATH", "a Marian, CTranslate2 or Argos Translate model, or hf:NAME"),
        Argument("OUT", "model directory to create"),
        Argument("--languages CODE CODE", codes, {"type": language_code}),
    )


def run(args: argparse.Namespace) -> None:
    """Import a model, and describe it on standard error."""
    from pathlib import Path

    from headway.cli import print_notice
    from headway.ext.exchange.hub import NAME, download_settings, download_weights
    from headway.ext.exchange.importing import import_model
    from headway.ext.exchange.output import check_absent
    from headway.model import parameter_count

    check_absent(Path(args.out))  # before a download
    languages = tuple(args.languages) if args.languages else None
    by_name = None if Path(args.path).exists() else NAME.fullmatch(args.path)
    path = args.path
    if by_name:
        path = download_weights(path, download_settings(path, print_notice))
    name = by_name[2] if by_name else ""
    format_name, model = import_model(path, args.out, languages, name)
    targets = model.tokenizer.target_languages
    if len(targets) > 1:
        listed = ", ".join(targets[:12]) + ", ..." * (len(targets) > 12)
        print(f"{args.out}: target languages, for --to: {listed}", file=sys.stderr)
    print(
        f"{args.out}: from {format_name}, {parameter_count(model.transformer):,} parameters,"
        f" {' to '.join(model.languages)}; headway info {args.out} says more",
        file=sys.stderr,
    )
