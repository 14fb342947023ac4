"""``headway picture``: the attention of one sentence, as a picture, a page, data or numbers."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli import DIRECTION, Argument, add_options
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.ext.pictures.links import Selection
    from headway.ext.pictures.maps import AttentionMap, AttentionMaps
    from headway.ext.pictures.picture import Picture
    from headway.ext.pictures.views import ViewName
    from headway.translation import Translator

EXAMPLE = (
    'headway picture runs/demo "Rosa ordered two lamps on Tuesday." --out page.html\n'
    'headway picture runs/demo "430 people live in Rome." --word leben --out a.svg\n'
    'headway picture runs/demo "430 people live in Rome." --word leben --explain'
)
DRAWN = (".svg", ".png", ".pdf")
SUFFIXES = (*DRAWN, ".json", ".html")
ONE_HEAD = ("kind", "layer", "heads", "word")
VIEWS: dict["ViewName", set[str]] = {  # the options that each view heeds, besides --words
    "heads": {*ONE_HEAD},
    "paper": {*ONE_HEAD},
    "grid": {"kind"},
    "heat": {"kind", "layer", "heads"},
    "alignment": {"layer"},
}
# The options that choose what is shown, with the value that they have if they are not given.
CHOICES = {"view": "heads", "words": False} | dict.fromkeys(ONE_HEAD)


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
    if args.out and Path(args.out).suffix not in SUFFIXES:
        raise UsageError(f"--out {args.out}: must end in {', '.join(SUFFIXES)}")
    check_effects(args)
    if args.out and Path(args.out).suffix in DRAWN:
        from headway.ext.pictures.drawing import check_output

        check_output(args.out)

    from headway.cli import choose_direction
    from headway.ext.pictures.sentences import sentence_maps
    from headway.translation import Translator

    translator = choose_direction(Translator.load(args.model), args)
    maps = sentence_maps(translator, args.sentence, args.target)
    if not maps.maps:
        raise HeadwayError(f"{args.model}: this model has no attention to draw")
    args.kind = args.kind or ("cross" if "cross" in maps.maps else next(iter(maps.maps)))
    if args.explain:
        explain_token(translator, maps, args)
        if args.out and Path(args.out).suffix in DRAWN:
            return
    if args.out:
        write(maps, args)


def check_effects(args: argparse.Namespace) -> None:
    """Refuse an option that would change nothing in what is written or printed."""
    suffix = Path(args.out or "").suffix
    heeded, shown = (set(ONE_HEAD), "--explain") if args.explain else (set(), "")
    if suffix in (".json", ".html"):  # which hold all attention
        heeded, shown = {*heeded, "words"}, f"--out {args.out}"
    elif not args.explain:
        heeded, shown = {*VIEWS[args.view], "view", "words"}, f"--view {args.view}"
    for option, usual in CHOICES.items():
        if getattr(args, option) != usual and option not in heeded:
            raise UsageError(f"--{option} has no effect with {shown}")


def write(maps: "AttentionMaps", args: argparse.Namespace) -> None:
    """Write the file of ``--out``."""
    from headway.files import replace_text

    out = Path(args.out)
    maps = maps.words() if args.words else maps
    if out.suffix == ".html":
        from headway.ext.pictures.html_page import write_html

        write_html(out, maps)
    elif out.suffix == ".json":
        replace_text(out, json.dumps(maps.to_json(), ensure_ascii=False) + "\n")
    else:
        draw(maps, args).save(out)


def draw(maps: "AttentionMaps", args: argparse.Namespace) -> "Picture":
    """Return the picture of a view."""
    from headway.ext.pictures.views import draw_view

    kind = "cross" if args.view == "alignment" else args.kind
    chosen = choose(maps.pick(kind), args)
    return draw_view(
        maps, args.view, kind, layer=chosen.layer, heads=chosen.heads, query=chosen.query
    )


def explain_token(
    translator: "Translator", maps: "AttentionMaps", args: argparse.Namespace
) -> None:
    """Print the numbers of one head and one token, by default of the first ones; draw those of this token or of all."""
    from headway.ext.pictures.explain import explain
    from headway.ext.pictures.lanes import lanes

    chosen = choose(maps.pick(args.kind), args)
    if args.heads and len(chosen.heads) > 1:
        raise UsageError(f"--heads {args.heads}: --explain shows one head")
    place = {"kind": args.kind, "layer": chosen.layer, "head": chosen.heads[0]}
    steps = explain(translator, maps.source, maps.target, **place)
    print(steps.to_text(chosen.query or 0))
    if args.out and Path(args.out).suffix in DRAWN:
        lanes(steps, None if chosen.query is None else [chosen.query]).save(args.out)


def choose(attention: "AttentionMap", args: argparse.Namespace) -> "Selection":
    """Return the layer, the heads and the token of the command line."""
    from headway.ext.pictures.labels import find_token
    from headway.ext.pictures.links import Selection

    layers, count = attention.weights.shape[:2]
    layer = None if args.layer is None else numbers("--layer", str(args.layer), layers)[0]
    heads = numbers("--heads", args.heads, count) if args.heads else None
    query = find_token(attention.queries, args.word) if args.word else None
    return Selection.of(attention, layer, heads, query)


def numbers(option: str, text: str, count: int) -> Sequence[int]:
    """Parse numbers from 1 to ``count``, separated by commas; returns them from 0, sorted."""
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= count for part in parts):
        raise UsageError(f"{option} {text}: must be from 1 to {count}")
    return sorted({int(part) - 1 for part in parts})
