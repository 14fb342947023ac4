"""``headway translate --input report.md --output report.de.md``: a document, with progress."""

import argparse
import sys
from pathlib import Path

from headway.cli import LineProgress, check_output, load_translator
from headway.errors import UsageError

LINE_OPTIONS = ("workers", "cluster", "scores", "alignment", "json", "prefix")


def takes(name: str) -> bool:
    """Return whether a file of this name is a document; see `headway.extension.Extension.inputs`."""
    from headway.ext.documents.opening import is_document

    return is_document(name)


def check(args: argparse.Namespace) -> None:
    """Check that no option for lines is given with a document, that the output is of the same kind, and its report.

    Raises:
        UsageError: If not.
    """
    from headway.ext.documents.opening import has_states, is_table

    if args.columns and not is_table(args.input):
        raise UsageError("--columns needs --input, a table (.csv or .tsv)")
    if args.finished is not None and not has_states(args.input):
        raise UsageError(
            "--finished needs --input, a file that says what is finished (.po, .xliff)"
        )
    if args.finished is not None and not 0 <= args.finished <= 1:
        raise UsageError(f"--finished {args.finished}: must be from 0 to 1")
    if args.finished and not args.quality:
        raise UsageError(f"--finished {args.finished}: needs --quality")
    for name in LINE_OPTIONS:
        if getattr(args, name):
            raise UsageError(f"--{name} is for lines of text: {args.input} is a document")
    suffixes = [Path(name).suffix.lower() for name in (args.input, args.output)]
    if suffixes[0] != suffixes[1]:
        raise UsageError(f"--output {args.output}: must end in {suffixes[0]}, as --input does")
    if args.quality:
        check_output("--output", _report_path(args), {"--input": args.input})


def check_lines(args: argparse.Namespace) -> None:
    """Check that a file may be lines of text, and that its translation does not get the name of a document.

    No program could open that. Rows of scores are a table, and objects are JSON.

    Raises:
        HeadwayError: If the name of the file says that it has no lines; the message says what to do.
        UsageError: If ``--output`` has the suffix of a document.
    """
    from headway.ext.documents.opening import check_is_lines, is_document

    check_is_lines(args.input)
    has_rows = args.scores or args.quality or args.alignment or args.json
    if is_document(args.output) and not has_rows:
        raise UsageError(
            f"--output {args.output}: {args.input} has lines of text, which are no {Path(args.output).suffix}"
        )


def translate(args: argparse.Namespace) -> None:
    """Translate ``--input`` to ``--output``, which appears when it is finished."""
    from headway.ext.documents.document_translation import (
        describe_defects,
        rate_document,
        write_document,
    )
    from headway.ext.documents.document_translation import (
        translate_document as translate_paragraphs,
    )
    from headway.ext.documents.opening import list_notices, open_document
    from headway.ext.documents.paragraph import DocumentOptions
    from headway.ext.documents.quality_table import summarize, write_table
    from headway.files import replace_bytes

    data = Path(args.input).read_bytes()
    translator, search = load_translator(args)
    source, target = translator.languages
    options = DocumentOptions(source, target, tuple(args.columns or ()))
    document = open_document(data, args.input, options)
    found = []
    with LineProgress(len(document.paragraphs), 0, "paragraphs") as progress:
        translations = translate_paragraphs(translator, document, search, quality=args.quality)
        for paragraph, translated in zip(document.paragraphs, translations, strict=True):
            found.append(translated)
            progress.update(len(found), len(paragraph.text.split()))
    replace_bytes(Path(args.output), write_document(document, found, args.finished))
    texts = [paragraph.text for paragraph in document.paragraphs]
    if translator.glossary:
        list(translator.glossary.watch(args.glossary, [texts]))
    if not found:
        print(f"{args.input}: has nothing to translate", file=sys.stderr)
    for notice in list_notices(document):
        print(f"{args.output}: {notice}", file=sys.stderr)
    if said := describe_defects(found, translator.languages, is_rated=args.quality):
        print(f"{args.output}: {said}", file=sys.stderr)
    if args.quality:
        rows = rate_document(translator, document, found)
        replace_bytes(_report_path(args), write_table(rows))
        print(f"{args.output}: {summarize(rows, str(_report_path(args)))}", file=sys.stderr)


def _report_path(args: argparse.Namespace) -> Path:
    return Path(f"{args.output}.quality.tsv")
