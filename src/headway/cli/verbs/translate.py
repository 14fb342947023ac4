"""``headway translate``: a line out for each line in, in order, as they arrive."""

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.cli.options import DIRECTION, MACHINE, Argument, add_options
from headway.errors import UsageError

EXAMPLE = (
    "headway translate runs/mine < text.en > text.de\n"
    "headway translate runs/mine --input text.en.gz --output text.de.gz\n"
    "headway translate runs/mine --input report.md --output report.de.md\n"
    "headway translate runs/mine --search.beam 8 --search.n-best 3 --json < text.en\n"
    "headway translate runs/seed1 runs/seed2 --search.mbr true < text.en > text.de"
)
SETTINGS = ("search",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        "MODEL...",
        Argument("--input FILE", "lines (.gz, .xz, .zst too), or a document"),
        Argument(
            "--output FILE",
            "for --input; after a kill the same command goes on",
        ),
        Argument("--workers N", "processes for --input (default: one a thread)"),
        "--cluster ADDRESS",
        Argument("--scores", "print SCORE TAB TRANSLATION; far below 0: a bad line"),
        Argument(
            "--quality",
            "print QUALITY TAB TRANSLATION TAB NOTES (documents: in OUTPUT.quality.tsv), and repair what looks broken",
        ),
        Argument("--alignment", "print TRANSLATION TAB word pairs: 0-0 1-2 (from 0)"),
        Argument("--prefix TEXT", "let the model start every translation so", {"default": ""}),
        Argument("--json", "print objects with scores, tokens and n-best list"),
        Argument("--columns COLUMN...", "of a table: names, or (no header) numbers from 1"),
        Argument(
            "--finished QUALITY",
            "in .po, .xliff: mark translations as finished, from this quality on",
            {"nargs": "?", "const": 0.0, "type": float},
        ),
        Argument("--glossary FILE", "rows of SOURCE TAB TARGET (.tsv, .csv), or .tbx"),
        *DIRECTION,
        "--backward MODEL",
        *MACHINE,
    )


def run(args: argparse.Namespace) -> None:
    """Translate standard input to standard output, or one file to another."""
    from headway.cli.file_translation import translate_file
    from headway.cli.output_checks import check_output
    from headway.cli.process import set_threads
    from headway.cli.settings import load_translator
    from headway.cli.standard_input import read_input
    from headway.cli.translated_lines import format_lines
    from headway.extension import load_all

    if bool(args.input) != bool(args.output):
        given, other = ("input", "output") if args.input else ("output", "input")
        raise UsageError(
            f"--{given} needs --{other} too; without both, standard input is translated"
        )
    if "-" in (args.input, args.output):
        raise UsageError("-: omit --input and --output to translate standard input")
    for name in ("workers", "cluster"):
        if getattr(args, name) is not None and not args.input:
            raise UsageError(f"--{name} needs --input and --output")
    if args.workers is not None and args.cluster is not None:
        raise UsageError("--workers: has no effect with --cluster")
    kinds = [kind for _, kind in load_all("inputs")] if args.input else []
    kind = next((kind for kind in kinds if kind.takes(args.input)), None)
    if args.columns and kind is None:
        raise UsageError("--columns needs --input, a table (.csv or .tsv)")
    if args.finished is not None and kind is None:
        raise UsageError("--finished needs --input, a document with states (.po, .xliff)")
    if args.output:
        check_output("--output", Path(args.output), {"--input": args.input})
        if Path(args.input).exists() and not Path(args.input).is_file():
            raise UsageError(
                f"--input {args.input}: is a directory or a pipe: give a file, or text on standard input"
            )
        if args.workers is not None and args.workers < 1:
            raise UsageError(f"--workers {args.workers}: must be 1 or more")
        if kind is not None:
            kind.check(args)
        for other in kinds if kind is None else ():
            other.check_lines(args)
    import torch

    import headway.translation  # noqa: F401  before the next line

    gc.freeze()  # the garbage collector need not search the objects of torch's modules: 0.1 s
    set_threads(args.threads)
    if kind is not None:
        kind.translate(args)
        return
    if args.input:
        translate_file(args, torch.get_num_threads())
        return
    translator, search = load_translator(args)
    windows: Iterator[Sequence[str]] = read_input("translate")
    if translator.glossary:
        windows = translator.glossary.watch(args.glossary, windows)
    for lines in windows:
        stream = translator.stream(
            lines, search, prefix=args.prefix, align=args.alignment, quality=args.quality
        )
        for line, translations in zip(lines, stream, strict=True):
            sys.stdout.write(format_lines(line, translations, args, search))
        sys.stdout.flush()
