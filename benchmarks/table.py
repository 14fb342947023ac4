"""Write measurements as Markdown tables with their ratios."""

import statistics
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NotRequired, TypeVar

from turns import Turn
from worker import Ids

from headway.text.tokenizer import Tokenizer

Clock = Literal["cpu", "wall"]
Key = TypeVar("Key", bound=Hashable)


class Record(Turn):
    """One repeat of one side, as it is written to a file; the paddings are shares of training batches."""

    part: str
    shape: str
    begun: str
    source_padding: NotRequired[float]
    target_padding: NotRequired[float]
    bleu: NotRequired[float]


REFERENCE = "torch.nn.Transformer"
OTHER = " (other code)"  # end of the names of sides that run another checkout or a wheel
PAIRS = [("Headway fp32", "CTranslate2 float32"), ("Headway int8", "CTranslate2 int8")]


def compute_bleu(found: Sequence[Ids], references: Sequence[str], tokenizer: Tokenizer) -> float:
    """Return the cased sacreBLEU of translations against the first references."""
    import sacrebleu

    texts = [tokenizer.decode(ids) for ids in found]
    return float(sacrebleu.corpus_bleu(texts, [list(references[: len(texts)])]).score)


def report(records: Sequence[Record]) -> str:
    """Return the tables of all parts and shapes."""
    parts: list[str] = []
    for (part, shape), group in grouped(records, lambda r: (r["part"], r["shape"])):
        write = {
            "train": training_table, "threads": threads_table, "translate": translation_tables,
        }[part]  # fmt: skip
        parts += [write(shape, group), ""]
        if any(r["side"].endswith(OTHER) for r in group):
            parts += [checkout_table(part, group), ""]
    return "\n".join(parts).rstrip()


def grouped(
    records: Sequence[Record], key: Callable[[Record], Key]
) -> list[tuple[Key, list[Record]]]:
    """Group records by a key, in the order in which the keys first occur."""
    groups: dict[Key, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return list(groups.items())


def training_table(shape: str, records: Sequence[Record]) -> str:
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
    return "\n".join([*lines, "", yardstick_line(records)])


def threads_table(shape: str, records: Sequence[Record]) -> str:
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
    return "\n".join([*lines, "", yardstick_line(records)])


def checkout_table(part: str, records: Sequence[Record]) -> str:
    """Return the table that compares the sides of this checkout with those of another one or of a wheel."""
    lines = [
        "| side | cell | this checkout : other code, median (minimum to maximum) | same result |",
        "|---|---|---|---|",
    ]
    for cell, group in grouped(records, cell_name):
        sides = dict(grouped(group, lambda r: r["side"]))
        for name, rows in sides.items():
            others = sides.get(f"{name}{OTHER}")
            if others is None:
                continue
            if part == "translate":
                is_same = all(r.get("found") == rows[0].get("found") for r in others)
            else:
                is_same = [r["loss"] for r in rows] == [r["loss"] for r in others]
            clock: Clock = "wall" if part == "threads" else "cpu"
            lines.append(
                f"| {name} | {cell} | {ratio(rows, others, clock)} | {'yes' if is_same else 'NO'} |"
            )
    return "\n".join(lines)


def translation_tables(shape: str, records: Sequence[Record]) -> str:
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
    for cell, group in grouped(records, cell_name):
        sides = dict(grouped(group, lambda r: r["side"]))
        for name, rows in sides.items():
            per_second = [sentences(r) / r["cpu"] for r in rows]
            wall = statistics.median(sentences(r) / r["wall"] for r in rows)
            score = f"{rows[0]['bleu']:.2f}" if free else ""
            lines.append(
                f"| {cell} | {name} | {statistics.median(per_second):,.1f}"
                f" | {spread(rates(rows, 'cpu'))} | {wall:,.1f} | {score}"
                f" | {count_same(rows[0], sides.get('Headway fp32'))} |"
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
                ratios.append(f"| {cell} | {ours} : {theirs} | {words} |")
    if len(ratios) > 2:
        lines += ["", *ratios]
    return "\n".join([*lines, "", yardstick_line(records)])


def cell_name(record: Record) -> str:
    """Return batch size x beam, and the length penalty unless it is 0; empty for training."""
    cell = record["cell"]
    if cell is None:
        return ""
    penalty = f", penalty {cell['penalty']:g}" if cell["penalty"] else ""
    return f"{cell['batch']}x{cell['beam']}{penalty}"


def sentences(record: Record) -> int:
    """Return the number of sentences that a repeat translated."""
    return record["cell"]["count"] if record["cell"] else 0


def count_same(record: Record, ours: Sequence[Record] | None) -> str:
    """Return how many sentences have the same translation as with Headway in fp32."""
    if not ours or not record.get("found"):
        return ""
    pairs = list(zip(record["found"], ours[0]["found"], strict=True))
    return f"{sum(a == b for a, b in pairs):,} of {len(pairs):,}"


def rates(rows: Sequence[Record], clock: Clock) -> list[float]:
    """Return the tokens per second of each repeat."""
    return [r["tokens"] / r[clock] for r in rows]


def median_rate(rows: Sequence[Record]) -> float:
    """Return the median of the tokens per CPU second."""
    return statistics.median(rates(rows, "cpu"))


def spread(values: Sequence[float]) -> str:
    """Return median, minimum and maximum as text."""
    return f"**{statistics.median(values):,.0f}** ({min(values):,.0f} to {max(values):,.0f})"


def ratio(rows: Sequence[Record], others: Sequence[Record] | None, clock: Clock = "cpu") -> str:
    """Return the ratio of the medians, and the minimum and maximum of the ratios of single repeats.

    The same repeat of two sides runs within one round, so slower changes of the machine cancel out.
    """
    if not others:
        return ""
    ours, theirs = rates(rows, clock), rates(others, clock)
    each = [a / b for a, b in zip(ours, theirs, strict=True)]
    middle = statistics.median(ours) / statistics.median(theirs)
    return f"**{middle:.2f}** ({min(each):.2f} to {max(each):.2f})"


def yardstick_line(records: Sequence[Record]) -> str:
    """Return the line that shows how steady the machine was."""
    times = [1000 * r["yardstick"] for r in records]
    return (
        f"Yardstick (a fixed piece of work) before each repeat: {statistics.median(times):.0f} ms"
        f" ({min(times):.0f} to {max(times):.0f})."
    )
