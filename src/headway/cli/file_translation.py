"""``headway translate --input FILE --output FILE``: a whole file, with progress and resume."""

import argparse
import json
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from headway import __version__
from headway.cli.progress import LineProgress
from headway.cli.translated_lines import format_lines
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import SearchConfig
    from headway.inference import Translator
    from headway.inference.resumable_output import ResumableOutput
    from headway.text.input_text import InputText


def check_output(args: argparse.Namespace) -> None:
    """Check that ``--output`` can be written, before a model is loaded and hours are spent.

    Raises:
        UsageError: If it is a directory or the file of ``--input``, or has no directory.
    """
    out = Path(args.output)
    if out.is_dir():
        raise UsageError(f"--output {out}: is a directory: give the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"--output {out}: {out.parent} is no directory: make it first")
    if out.exists() and out.samefile(args.input):
        raise UsageError(f"--output {out}: must be another file than --input")


def translate_file(
    translator: "Translator", search: "SearchConfig", args: argparse.Namespace
) -> None:
    """Translate ``--input`` to ``--output``, and continue where a killed process stopped.

    The unit is a window of lines, which are translated together. A resume starts at the beginning of a
    window, so the batches, and with them the bytes of the output, are those of an uninterrupted run.
    """
    from headway.inference.resumable_output import ResumableOutput
    from headway.text.input_text import InputText

    text = InputText.scan(Path(args.input))
    out = Path(args.output)
    with ResumableOutput(out, _identity(translator, search, text, args)) as output:
        if output.dropped:
            print(f"{out}: starts again from line 1 ({output.dropped})", file=sys.stderr)
        elif output.lines:
            print(f"{out}: goes on after line {output.lines:,}", file=sys.stderr)
        try:
            _translate_rest(text, output, translator, search, args)
        except KeyboardInterrupt:
            at = f"stopped after line {output.lines:,}: the same command goes on there"
            print(f"{out}: {at}", file=sys.stderr)
            raise
        output.finish()


def _translate_rest(
    text: "InputText",
    output: "ResumableOutput",
    translator: "Translator",
    search: "SearchConfig",
    args: argparse.Namespace,
) -> None:
    """Translate the lines that the output lacks, window by window."""
    from headway.inference.translator import WINDOW
    from headway.text.lines import read_lines

    source = islice(read_lines(text.path), output.lines, None)
    with LineProgress(text.lines, output.lines) as progress:
        while lines := list(islice(source, WINDOW)):
            stream = translator.stream(lines, search, prefix=args.prefix, align=args.alignment)
            found = zip(lines, stream, strict=True)
            output.append("".join(format_lines(*pair, args) for pair in found), len(lines))
            progress.update(output.lines, sum(len(line.split()) for line in lines))


def _identity(
    translator: "Translator", search: "SearchConfig", text: "InputText", args: argparse.Namespace
) -> dict[str, str]:
    """Return everything that decides the bytes of the output, by the name that a message uses."""
    from headway.inference.directory import hash_model

    assert translator.directory is not None, "the translator was read from a directory"
    form = {name: getattr(args, name) for name in ("scores", "alignment", "json", "prefix")}
    return {
        "model": hash_model(translator.directory),
        "input": text.sha256,
        "settings": json.dumps(asdict(search) | form),
        "device": translator.device.type,
        "version of Headway": __version__,
    }
