"""``headway translate``: n lines in, n lines out, in order, as they come."""

import argparse
import codecs
import gc
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.inference import Translation

EXAMPLE = (
    "headway translate runs/mine < text.en > text.de\n"
    "headway translate runs/mine --search.beam 8 --search.n-best 3 --json < text.en"
)
SETTINGS = ("search",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", metavar="MODEL", help="a run or model directory")
    parser.add_argument("--scores", action="store_true", help="score TAB translation on each line")
    parser.add_argument(
        "--alignment", action="store_true", help="translation TAB source-target word pairs"
    )
    parser.add_argument("--prefix", default="", metavar="TEXT", help="translations start with it")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object a line, with all of it"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")


def run(args: argparse.Namespace) -> None:
    """Translate standard input to standard output."""
    from headway.cli.process import report_native_code, set_threads
    from headway.cli.settings import override_search
    from headway.inference import Translator

    gc.freeze()  # the garbage collector need not search the objects of torch's modules: 0.1 s
    set_threads(args.threads)
    translator = Translator.load(args.model, args.device)
    search = override_search(translator, args.overrides)
    report_native_code("decoding", translator.device)
    if sys.stdin is None:
        raise HeadwayError("standard input is closed: nothing to translate")
    for lines in arriving(sys.stdin.fileno()):
        stream = translator.stream(lines, search, prefix=args.prefix, align=args.alignment)
        for line, translations in zip(lines, stream, strict=True):
            if args.json:
                print(json.dumps(_object(line, translations), ensure_ascii=False))
                continue
            for translation in translations:
                print(*_columns(translation, args), sep="\t")
        sys.stdout.flush()


def arriving(file: int, most: int = 1024) -> Iterator[list[str]]:
    """Yield the lines that are there: at once when they trickle in, many together when they pour.

    A read of the bare descriptor waits until there is something, and takes no more than there is.

    Args:
        file: A descriptor.
        most: Lines yielded at a time.

    Raises:
        HeadwayError: If a line is not UTF-8, after all lines before it were yielded.
    """
    number = 0
    unfinished = bytearray()
    while chunk := os.read(file, 1 << 16):
        unfinished += chunk
        if b"\n" not in chunk:
            continue
        *lines, rest = bytes(unfinished).split(b"\n")
        unfinished = bytearray(rest)
        for start in range(0, len(lines), most):
            yield from _decoded(lines[start : start + most], number)
            number += len(lines[start : start + most])
    if unfinished:
        yield from _decoded([bytes(unfinished)], number)


def _decoded(lines: list[bytes], number: int) -> Iterator[list[str]]:
    """Yield the lines as text, in one list; those before a bad one first."""
    texts: list[str] = []
    for line in lines:
        number += 1
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        try:
            texts.append(line.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            yield texts
            raise HeadwayError(
                f"standard input: line {number}: not UTF-8 at byte {error.start + 1}"
            ) from None
    yield texts


def _columns(translation: "Translation", args: argparse.Namespace) -> list[str]:
    columns = [f"{translation.score:.4f}"] if args.scores else []
    columns.append(translation.text)
    if args.alignment:
        columns.append(" ".join(f"{s}-{t}" for s, t in translation.alignment or ()))
    return columns


def _object(line: str, translations: list["Translation"]) -> dict[str, object]:
    return {
        "source": line,
        "translations": [
            {
                "text": t.text,
                "score": t.score,
                "log_probability": t.log_probability,
                "tokens": t.tokens,
                **({} if t.alignment is None else {"alignment": t.alignment}),
            }
            for t in translations
        ],
    }
