"""``headway picture``: the attention of one sentence, as a picture, a page, data or numbers."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli import DIRECTION, Argument, add_options
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.ext.pictures.views import ViewName

EXAMPLE = (
    'headway picture runs/demo "Rosa ordered two lamps on Tuesday." --out page.html\n'
    'headway picture runs/demo "430 people live in Rome." --word leben --out a.svg\n'
    'headway picture runs/demo "430 people live in Rome." --word leben --explain'
)
DRAWN = (".svg", ".png", ".pdf")
SUFFIXES = (*DRAWN, ".json", ".html")
ONE_HEAD = {"kind", "layer", "heads", "word"}
# The options that choose what is shown, with the value that they have if they are not given.
CHOICES = {"view": "heads", "words": False} | dict.fromkeys(sorted(ONE_HEAD))
# Those that each view heeds, besides --words.
VIEWS: dict["ViewName", set[str]] = {
    "heads": ONE_HEAD,
    "paper": ONE_HEAD,
    "grid": {"kind"},
    "heat": {"kind", "layer", "heads"},
    "alignment": {"layer"},
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    meaning = (
        "heads (default): lines between tokens; paper: the same in rows, as in the paper; grid: a small map of each head;"
        " heat: one large map; alignment: lines between words"
    )
    kinds = ("encoder", "decoder", "cross")
    add_options(
        parser,
        "MODEL",
        Argument("SENTENCE", "sentence to translate"),
        Argument("--target TEXT", "translation of SENTENCE (default: the model translates)"),
        Argument("--out FILE", "file to write: .svg, .png, .pdf, .json or .html"),
        Argument("--view VIEW", meaning, {"metavar": None, "choices": VIEWS, "default": "heads"}),
        Argument(
            "--kind KIND", "which attention (default: cross)", {"metavar": None, "choices": kinds}
        ),
        Argument("--layer N", "layer, from 1 (default: the one that usually aligns best)"),
        Argument("--heads N,N", "heads, from 1, such as 1,3 (default: all)"),
        Argument("--word WORD", "draw only this token, given by its text or its number"),
        Argument("--words", "merge subwords into words"),
        Argument(
            "--explain",
            "print the numbers by which one head attends from one token (default: the first); --out draws them,"
            " without --word for all tokens",
        ),
        *DIRECTION,
    )


def run(args: argparse.Namespace) -> None:
    """Write the picture, or print the numbers."""
    if not args.out and not args.explain:
        raise UsageError("give --out FILE or --explain")
    suffix, written = Path(args.out or "").suffix, DRAWN if args.explain else SUFFIXES
    if args.out and suffix not in written:
        raise UsageError(f"--out {args.out}: must end in {', '.join(written)}")
    check_effects(args, suffix)
    if suffix in DRAWN:
        from headway.ext.pictures.drawing import check_output

        check_output(args.out)

    from headway.cli import choose_direction
    from headway.ext.pictures.labels import find_token
    from headway.ext.pictures.sentences import sentence_maps
    from headway.files import replace_text
    from headway.translation import Translator, usual_layer

    translator = choose_direction(Translator.load(args.model), args)
    maps = sentence_maps(translator, args.sentence, args.target)
    if not maps.maps:
        raise HeadwayError(f"{args.model}: this model has no attention to draw")
    maps = maps.words() if args.words else maps
    kind = args.kind or ("cross" if "cross" in maps.maps else next(iter(maps.maps)))
    attention = maps.pick("cross" if args.view == "alignment" else kind)
    layers, count = attention.weights.shape[:2]
    layer = usual_layer(layers)
    if args.layer is not None:
        [layer] = numbers("--layer", str(args.layer), layers)
    heads = numbers("--heads", args.heads, count) if args.heads else range(count)
    query = find_token(attention.queries, args.word) if args.word else None
    if args.explain:
        from headway.ext.pictures.explain import explain
        from headway.ext.pictures.lanes import lanes

        if args.heads and len(heads) > 1:
            raise UsageError(f"--heads {args.heads}: --explain shows one head")
        steps = explain(translator, maps.source, maps.target, kind=kind, layer=layer, head=heads[0])
        print(steps.to_text(query or 0))
        if args.out:
            lanes(steps, None if query is None else [query]).save(args.out)
    elif suffix == ".html":
        from headway.ext.pictures.html_page import html

        replace_text(Path(args.out), html(maps))
    elif suffix == ".json":
        replace_text(Path(args.out), json.dumps(maps.to_json(), ensure_ascii=False) + "\n")
    else:
        from headway.ext.pictures.views import draw_view

        draw_view(maps, args.view, kind, layer=layer, heads=heads, query=query).save(args.out)


def check_effects(args: argparse.Namespace, suffix: str) -> None:
    """Refuse an option that would change nothing in what is written or printed."""
    heeded, shown = {*VIEWS[args.view], "view", "words"}, f"--view {args.view}"
    if args.explain:
        heeded, shown = ONE_HEAD, "--explain"
    elif suffix not in DRAWN:  # pages and JSON hold all attention
        heeded, shown = {"words"}, f"--out {args.out}"
    for option, usual in CHOICES.items():
        if getattr(args, option) != usual and option not in heeded:
            raise UsageError(f"--{option} has no effect with {shown}")


def numbers(option: str, text: str, count: int) -> Sequence[int]:
    """Parse numbers from 1 to ``count``, separated by commas; returns them from 0, sorted."""
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= count for part in parts):
        raise UsageError(f"{option} {text}: must be from 1 to {count}")
    return sorted({int(part) - 1 for part in parts})
