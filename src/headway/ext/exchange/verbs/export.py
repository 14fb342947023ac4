"""``headway export``: write a model for another program, and compare it with the original."""

import argparse
import sys

from headway.cli import Argument, add_options, read_parallel_files
from headway.errors import HeadwayError, UsageError

EXAMPLE = (
    "headway export runs/mine --to ctranslate2 mine-ct2 --precision int8\n"
    "headway export runs/mine --to argos en_de.argosmodel --lines a.en\n"
    "headway export runs/several --to argos en_fr.argosmodel --pair en-fr"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    precisions = "precision of the weights: float32 (default), int8, float16 or bfloat16"
    add_options(
        parser,
        "MODEL",
        Argument("OUT", "file or directory to create"),
        Argument("--to FORMAT", "ctranslate2, huggingface or argos", {"required": True}),
        Argument(
            "--pair CODE-CODE", "export one pair of languages of a model of several, such as en-fr"
        ),
        Argument("--precision TYPE", precisions, {"default": "float32"}),
        Argument("--lines FILE", "text for the comparison (default: the run's validation text)"),
        Argument("--reference FILE", "reference translations of --lines, to compare BLEU"),
        Argument("--no-verify", "do not compare the export with the original"),
        Argument("--licence NAME", "license named in the model card, such as mit", {"default": ""}),
        "--threads THREADS",
    )


def check(args: argparse.Namespace) -> None:
    """Report the mistakes that need no model to be found."""
    if args.reference and not args.lines:
        raise UsageError("--reference needs --lines, the text that it translates")
    if args.no_verify and args.lines:
        raise UsageError("--lines has no effect with --no-verify")

    from headway.ext.exchange.exporting import check_request

    check_request(args.to, args.out, args.precision, args.licence)


def run(args: argparse.Namespace) -> int:
    """Export a model, and print the comparison on standard error."""
    from headway.cli import set_threads

    lines: list[str] = []
    references: list[str] = []
    if args.reference:
        lines, references = read_parallel_files(args.lines, args.reference)
    elif args.lines:
        [lines] = read_parallel_files(args.lines)
    if args.lines and not any(line.strip() for line in lines):
        raise HeadwayError(f"{args.lines}: no text to compare on")
    set_threads(args.threads)

    from headway.ext.exchange.exporting import CERTIFICATE, export_model
    from headway.text import require_pair
    from headway.translation import load_model

    model = load_model(args.model)
    if args.pair:
        model = model.choose(require_pair(args.pair))
    elif references and len(model.targets) > 1:
        raise UsageError("--reference needs --pair: give the languages of --lines and --reference")
    export = export_model(
        model,
        args.to,
        args.out,
        args.precision,
        lines=lines,
        references=references,
        verify=not args.no_verify,
        licence=args.licence,
    )
    for note in export.notes:
        print(f"note: {note}", file=sys.stderr)
    if export.certificate is None:
        print(f"{args.out}: written, not compared", file=sys.stderr)
        return 0
    print(
        f"{args.out}: compared with {args.model}\n{export.certificate.to_text()}", file=sys.stderr
    )
    if export.certificate.failures:
        raise HeadwayError(
            f"{'; '.join(export.certificate.failures)}: do not use {args.out}, see {CERTIFICATE} in it"
        )
    return 0
