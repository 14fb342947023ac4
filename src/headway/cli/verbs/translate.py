"""``headway translate``: a line out for each line in, in order, as they arrive."""

import argparse
import gc
import json
import sys
from typing import TYPE_CHECKING

from headway.cli.options import add_machine, add_model

if TYPE_CHECKING:
    from headway.inference import Translation

EXAMPLE = (
    "headway translate runs/mine < text.en > text.de\n"
    "headway translate runs/mine --search.beam 8 --search.n-best 3 --json < text.en"
)
SETTINGS = ("search",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_model(parser)
    parser.add_argument(
        "--scores",
        action="store_true",
        help="print SCORE TAB TRANSLATION; the score is log-probability / length penalty",
    )
    parser.add_argument(
        "--alignment",
        action="store_true",
        help="print TRANSLATION TAB word pairs such as 0-0 1-2 (source-target, from 0)",
    )
    parser.add_argument(
        "--prefix", default="", metavar="TEXT", help="start every translation with this text"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a JSON object for each line, with scores, tokens and n-best list",
    )
    add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Translate standard input to standard output."""
    from headway.cli.process import report_native_code, set_threads
    from headway.cli.settings import override_search
    from headway.cli.standard_input import read_input
    from headway.inference import Translator

    gc.freeze()  # the garbage collector need not search the objects of torch's modules: 0.1 s
    set_threads(args.threads)
    translator = Translator.load(args.model, args.device)
    search = override_search(translator, args.overrides)
    report_native_code("decoding", translator.device)
    for lines in read_input("translate"):
        stream = translator.stream(lines, search, prefix=args.prefix, align=args.alignment)
        for line, translations in zip(lines, stream, strict=True):
            if args.json:
                print(json.dumps(_object(line, translations), ensure_ascii=False))
                continue
            for translation in translations:
                print(*_columns(translation, args), sep="\t")
        sys.stdout.flush()


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
