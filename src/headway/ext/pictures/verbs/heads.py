"""``headway heads``: the role of each attention head, and the BLEU lost without it."""

import argparse
import json
import sys
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from headway.cli import DIRECTION, MACHINE, Argument, add_options, read_parallel_files
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.ext.pictures.head_ablation import HeadLosses
    from headway.ext.pictures.roles import Head
    from headway.translation import Translator

EXAMPLE = (
    "headway heads runs/mine --source test.en --reference test.de\n"
    "headway heads runs/mine --source a.en --reference a.de --no-bleu --json"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        "MODEL",
        Argument("--source FILE", "source text, one sentence on each line", {"required": True}),
        Argument("--reference FILE", "reference translations, line by line", {"required": True}),
        Argument(
            "--pairs N", "measure on the first N sentence pairs (default: 200)", {"default": 200}
        ),
        Argument("--no-bleu", "do not measure the BLEU lost without each head"),
        Argument("--json", "print JSON"),
        *DIRECTION,
        *MACHINE,
    )


def run(args: argparse.Namespace) -> None:
    """Print a line for each head, and the BLEU lost without the aligning heads."""
    if args.pairs < 1:
        raise UsageError(f"--pairs {args.pairs}: must be 1 or more")

    from rich.console import Console
    from rich.progress import track

    from headway.cli import choose_direction, set_threads
    from headway.ext.pictures.head_ablation import measure_losses
    from headway.ext.pictures.roles import head_roles
    from headway.translation import Translator

    set_threads(args.threads)
    translator = choose_direction(Translator.load(args.model, args.device), args)
    sources, references = read_pairs(args, translator)
    heads, losses = head_roles(translator, sources, references), None
    if not args.no_bleu:
        console = Console(stderr=True)
        shown = track(heads, "without each head", console=console, transient=True,
                      disable=not console.is_terminal)  # fmt: skip
        losses = measure_losses(translator, sources, references, shown)
        heads = losses.heads
    if args.json:
        values: dict[str, object] = {"pairs": len(sources), "bleu": losses and losses.bleu}
        values["heads"] = [head.to_json() for head in heads]
        if losses and losses.aligning:
            values["aligning"] = {
                "aligning": losses.aligning, "lost": losses.lost, "others": losses.others,
            }  # fmt: skip
        print(json.dumps(values, indent=2))
        return
    print(table(heads))
    if losses and losses.aligning:
        print(f"\nBLEU {losses.bleu:.2f}, greedily, {len(sources)} pairs\n{format_losses(losses)}")


def read_pairs(args: argparse.Namespace, translator: "Translator") -> tuple[list[str], list[str]]:
    """Read the first pairs that are neither blank nor too long.

    Raises:
        HeadwayError: If the files have different numbers of lines, or no such pair.
    """
    from headway.ext.pictures.sentences import LONGEST_SOURCE, LONGEST_TARGET

    columns = read_parallel_files(args.source, args.reference)
    tokenizer = translator.tokenizer
    encoded = tokenizer.encode_source(columns[0]), tokenizer.encode_target(columns[1])
    chosen = [
        row
        for row, (source, target) in enumerate(zip(*encoded, strict=True))
        if 1 < len(source) <= LONGEST_SOURCE and 1 < len(target) <= LONGEST_TARGET
    ][: args.pairs]
    if not chosen:
        raise HeadwayError(
            f"{args.source}: no pair of lines fits: both need text, of fewer than {LONGEST_SOURCE} subwords in the"
            f" source and {LONGEST_TARGET} in the reference"
        )
    if skipped := max(chosen) + 1 - len(chosen):
        print(f"{skipped} lines are blank or too long: left out", file=sys.stderr)
    return [columns[0][row] for row in chosen], [columns[1][row] for row in chosen]


def table(heads: Sequence["Head"]) -> str:
    """Return a line for each head; layers and heads are counted from 1."""
    from headway.ext.pictures.roles import ROLES

    row = "{:<8}{:>5}{:>6}{:>8}{:>7}{:>6}{:>8}{:>6}{:>9}{:>9}{:>11}  {}"
    names = ["kind", "layer", "head", "aligns", "prev.", "next", "itself", "</s>", "<start>"]
    lines = [row.format(*names, "entropy", "BLEU lost", "role")]
    for head in heads:
        shares = [head.shares.get(name) for name in ROLES]
        words = ["-" if share is None else f"{share:.0%}" for share in shares]
        lost = "-" if head.bleu_lost is None else f"{head.bleu_lost:.2f}"
        place = head.kind, head.layer + 1, head.head + 1
        lines.append(row.format(*place, *words, f"{head.entropy:.2f}", lost, head.role))
    return "\n".join(line.rstrip() for line in lines)


def format_losses(losses: "HeadLosses") -> str:
    """Return the BLEU lost without the aligning heads, in words."""
    names = ", ".join(f"{layer + 1}.{head + 1}" for _, layer, head in losses.aligning)
    count, others = len(losses.aligning), losses.others
    text = f"aligning heads (layer.head): {names}\nlost without all {count}: {losses.lost:.2f}"
    if others:
        text += (
            f"\nlost without {count} others, {len(others)} draws: {fmean(others):.2f}"
            f" ({min(others):.2f} to {max(others):.2f})"
        )
    return text
