"""Write measurements as Markdown tables with their ratios."""

import statistics
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from headway.text.tokenizer import Tokenizer

Record = dict[str, Any]
REFERENCE = "torch.nn.Transformer"
OTHER = " (other checkout)"  # end of the names of sides that run another checkout
PAIRS = [("Headway fp32", "CTranslate2 float32"), ("Headway int8", "CTranslate2 int8")]


def bleu(found: Sequence[Sequence[int]], references: Sequence[str], tokenizer: Tokenizer) -> float:
    """Return the cased sacreBLEU of translations against the first references."""
    import sacrebleu

    texts = [tokenizer.decode(ids) for ids in found]
    return float(sacrebleu.corpus_bleu(texts, [list(references[: len(texts)])]).score)


def report(records: Sequence[Record]) -> str:
    """Return the tables of all parts and shapes."""
    parts: list[str] = []
    for (part, shape), group in grouped(records, lambda r: (r["part"], r["shape"])):
        write = {"train": training, "threads": threads, "translate": translation}[part]
        parts += [write(shape, group), ""]
        if any(str(r["side"]).endswith(OTHER) for r in group):
            parts += [checkouts(part, group), ""]
    return "\n".join(parts).rstrip()


def grouped(
    records: Sequence[Record], key: Callable[[Record], Any]
) -> list[tuple[Any, list[Record]]]:
    """Group records by a key, in the order in which the keys first occur."""
    order: dict[str, int] = {}
    for record in records:
        order.setdefault(repr(key(record)), len(order))
    ordered = sorted(records, key=lambda r: order[repr(key(r))])
    return [
        (key(group[0]), group)
        for _, g in groupby(ordered, lambda r: repr(key(r)))
        for group in [list(g)]
    ]


def training(shape: str, records: Sequence[Record]) -> str:
    """Return the table of training speeds."""
    sides = dict(grouped(records, lambda r: r["side"]))
    first = records[0]
    lines = [
        f"### Training, {shape.upper()}: target tokens a CPU second of one core",
        "",
        f"Padding of the batches: source {first['source_padding']:.1%}, target"
        f" {first['target_padding']:.1%}; {len(sides[first['side']])} repeats,"
        f" {first['tokens']:,} target tokens each.",
        "",
        "| | parameters | median (minimum to maximum) | of torch.nn.Transformer | wall tokens/s |"
        " peak memory | of torch.nn.Transformer's | last loss |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in sides.items():
        memory = max(r["memory"] for r in rows)
        reference_memory = max((r["memory"] for r in sides.get(REFERENCE, [])), default=0)
        lines.append(
            f"| {name} | {rows[0]['parameters'] / 1e6:.2f} M | {spread(rates(rows, 'cpu'))}"
            f" | {ratio(rows, sides.get(REFERENCE))} | {statistics.median(rates(rows, 'wall')):,.0f}"
            f" | {memory / 1e9:.2f} GB | {f'{memory / reference_memory:.0%}' if reference_memory else ''}"
            f" | {rows[-1]['loss']:.2f} |"
        )
    return "\n".join([*lines, "", noise(records)])


def threads(shape: str, records: Sequence[Record]) -> str:
    """Return the table of training speeds on one core and on several."""
    sides = dict(grouped(records, lambda r: r["side"]))
    lines = [
        f"### Training with several cores, {shape.upper()}: target tokens a second of the clock",
        "",
        "| | median (minimum to maximum) | of one core |",
        "|---|---|---|",
    ]
    for name, rows in sides.items():
        other = OTHER if name.endswith(OTHER) else ""
        one = sides.get(name.removesuffix(OTHER).partition(",")[0] + other)
        lines.append(f"| {name} | {spread(rates(rows, 'wall'))} | {ratio(rows, one, 'wall')} |")
    return "\n".join([*lines, "", noise(records)])


def checkouts(part: str, records: Sequence[Record]) -> str:
    """Return the table that compares the sides of this checkout with those of another one."""
    lines = [
        "| side | cell | this checkout : other checkout, median (minimum to maximum) | same result |",
        "|---|---|---|---|",
    ]
    for cell, group in grouped(records, lambda r: r["cell"]):
        sides = dict(grouped(group, lambda r: r["side"]))
        for name, rows in sides.items():
            others = sides.get(f"{name}{OTHER}")
            if others is None:
                continue
            if part == "translate":
                is_same = all(r.get("found") == rows[0].get("found") for r in others)
            else:
                is_same = [r["loss"] for r in rows] == [r["loss"] for r in others]
            clock = "wall" if part == "threads" else "cpu"
            lines.append(
                f"| {name} | {name_of(cell) if cell else ''} | {ratio(rows, others, clock)}"
                f" | {'yes' if is_same else 'NO'} |"
            )
    return "\n".join(lines)


def translation(shape: str, records: Sequence[Record]) -> str:
    """Return two tables of translation speeds: all figures, and the ratios."""
    free = any("bleu" in r for r in records)
    kind = "free-running" if free else "lengths forced, random weights"
    lines = [
        f"### Translation, {shape.upper()}, {kind}: a CPU second of one core",
        "",
        "| batch x beam | | sentences | output tokens, median (minimum to maximum) | wall sentences/s |"
        " BLEU | same as Headway fp32 |",
        "|---|---|---|---|---|---|---|",
    ]
    ratios = [
        "| batch x beam | ratio of output tokens | median (minimum to maximum) |",
        "|---|---|---|",
    ]
    for cell, group in grouped(records, lambda r: r["cell"]):
        sides = dict(grouped(group, lambda r: r["side"]))
        for name, rows in sides.items():
            per_second = [cell["count"] / r["cpu"] for r in rows]
            wall = statistics.median(cell["count"] / r["wall"] for r in rows)
            score = f"{rows[0]['bleu']:.2f}" if free else ""
            lines.append(
                f"| {name_of(cell)} | {name} | {statistics.median(per_second):,.1f}"
                f" | {spread(rates(rows, 'cpu'))} | {wall:,.1f} | {score}"
                f" | {same(rows[0], sides.get('Headway fp32'))} |"
            )
        fastest = [
            max(
                (n for n in sides if n.startswith(who)),
                key=lambda n: median_rate(sides[n]),
                default="",
            )
            for who in ("Headway", "CTranslate2")
        ]
        for ours, theirs in dict.fromkeys([*PAIRS, (fastest[0], fastest[1])]):
            if ours in sides and theirs in sides:
                words = ratio(sides[ours], sides[theirs])
                ratios.append(f"| {name_of(cell)} | {ours} : {theirs} | {words} |")
    if len(ratios) > 2:
        lines += ["", *ratios]
    return "\n".join([*lines, "", noise(records)])


def name_of(cell: Record) -> str:
    """Return the name of a cell: batch size x beam, and the length penalty unless it is 0."""
    penalty = f", penalty {cell['penalty']:g}" if cell["penalty"] else ""
    return f"{cell['batch']}x{cell['beam']}{penalty}"


def same(record: Record, ours: Sequence[Record] | None) -> str:
    """Return how many sentences have the same translation as with Headway in fp32."""
    if not ours or not record.get("found"):
        return ""
    pairs = list(zip(record["found"], ours[0]["found"], strict=True))
    return f"{sum(a == b for a, b in pairs):,} of {len(pairs):,}"


def rates(rows: Sequence[Record], clock: str) -> list[float]:
    """Return the tokens per second of each repeat."""
    return [r["tokens"] / r[clock] for r in rows]


def median_rate(rows: Sequence[Record]) -> float:
    """Return the median of the tokens per CPU second."""
    return statistics.median(rates(rows, "cpu"))


def spread(values: Sequence[float]) -> str:
    """Return median, minimum and maximum as text."""
    return f"**{statistics.median(values):,.0f}** ({min(values):,.0f} to {max(values):,.0f})"


def ratio(rows: Sequence[Record], others: Sequence[Record] | None, clock: str = "cpu") -> str:
    """Return the ratio of the medians, and the minimum and maximum of the ratios of single repeats.

    The same repeat of two sides runs within one round, so slower changes of the machine cancel out.
    """
    if not others:
        return ""
    ours, theirs = rates(rows, clock), rates(others, clock)
    each = [a / b for a, b in zip(ours, theirs, strict=True)]
    middle = statistics.median(ours) / statistics.median(theirs)
    return f"**{middle:.2f}** ({min(each):.2f} to {max(each):.2f})"


def noise(records: Sequence[Record]) -> str:
    """Return the line that shows how steady the machine was."""
    times = [1000 * r["yardstick"] for r in records]
    return (
        f"Yardstick (a fixed piece of work) before each repeat: {statistics.median(times):.0f} ms"
        f" ({min(times):.0f} to {max(times):.0f})."
    )
