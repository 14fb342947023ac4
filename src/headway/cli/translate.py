"""``headway translate``: n lines in, n lines out, in order, as they come."""

import argparse
import json
import queue
import sys
import threading
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.translation import Translation

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
    from headway.cli.main import limit_threads, search_from
    from headway.translation import Translator

    limit_threads(args.threads)
    search = search_from(args)
    translator = Translator.load(args.model, args.device)
    for lines in arriving(sys.stdin.buffer):
        stream = translator.stream(lines, search, prefix=args.prefix, align=args.alignment)
        for line, translations in zip(lines, stream, strict=True):
            if args.json:
                print(json.dumps(_object(line, translations), ensure_ascii=False))
                continue
            for translation in translations:
                print(*_columns(translation, args), sep="\t")
        sys.stdout.flush()


def arriving(file: IO[bytes], most: int = 1024) -> Iterator[list[str]]:
    """Yield the lines that are there: at once when they trickle in, many together when they pour.

    A reading thread fills a queue; each turn waits for one line and takes what else has come.

    Raises:
        HeadwayError: If a line is not UTF-8, after all lines before it were yielded.
    """
    lines: queue.Queue[bytes | None] = queue.Queue(maxsize=4 * most)

    def read() -> None:
        for line in file:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    number, more = 0, True
    while more:
        raw = [lines.get()]
        while raw[-1] is not None and len(raw) < most and not lines.empty():
            raw.append(lines.get())
        taken: list[str] = []
        for line in raw:
            if line is None:
                more = False
                break
            number += 1
            try:
                taken.append(line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8"))
            except UnicodeDecodeError as error:
                yield taken
                raise HeadwayError(
                    f"standard input: line {number}: not UTF-8 at byte {error.start + 1}"
                ) from None
        if taken:
            yield taken


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
