"""``headway bench``: measure how fast this machine trains and translates with a model."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli import launch
from headway.cli.arguments import usage_error
from headway.cli.options import add_preset, add_ranks
from headway.cli.settings import settings_from

if TYPE_CHECKING:
    from headway.checks.bench import BenchResult
    from headway.config import Config

EXAMPLE = """\
headway bench train --preset tiny
headway bench train --preset big --device cuda --text news --json big.json
headway bench translate --preset base --cells 32x4 1x1"""
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("work", choices=("train", "translate"), help="what to measure")
    add_preset(parser)
    add_ranks(parser)
    parser.add_argument("--device", metavar="NAME", help="auto, cpu, cuda or cuda:N")
    parser.add_argument(
        "--precision", metavar="NAME", help="auto, fp32 or bf16; translate also has int8"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="processor threads (default: all)")
    parser.add_argument(
        "--text",
        default="captions",
        choices=("captions", "news"),
        help="sentence lengths of image captions (default) or of news",
    )
    parser.add_argument("--cells", nargs="+", default=["32x4", "32x1", "1x4", "1x1"],
                        metavar="NxK", help="translate: batch sizes and beams to measure, such as 32x4")  # fmt: skip
    parser.add_argument(
        "--repeats", type=int, default=5, metavar="N", help="measure so many times (default: 5)"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="also write JSON to FILE; -: print JSON instead of the table"
    )


def run(args: argparse.Namespace) -> int:
    """Set the process up as `headway train` does, measure, and print a table."""
    cells = [_parse_cell(word) for word in args.cells]
    if args.repeats < 1:
        usage_error(f"--repeats {args.repeats}: must be 1 or more")
    for option in ("device", "precision", "threads"):
        if getattr(args, option) is not None:
            section = "search" if (option, args.work) == ("precision", "translate") else "training"
            args.overrides[f"{section}.{option}"] = str(getattr(args, option))
    config = settings_from(args)
    if args.work == "translate" and config.search.shortlist:
        usage_error(
            "--search.shortlist: a model with random weights has no shortlist; time `headway translate`"
        )
    if args.work == "train" and not launch.is_launched():
        from headway.training.machine import Machine
        from headway.training.rank_count import count_ranks

        ranks = count_ranks(Machine.resolve(config.training), config.training, args.ranks)
        if ranks > 1:
            return launch.launch(report, (args, config, cells), ranks)
    return report(args, config, cells)


def report(args: argparse.Namespace, config: "Config", cells: list[tuple[int, int]]) -> int:
    """Measure, alone or as one of several ranks, and print a table."""
    from headway.training import parallel

    parallel.join()
    try:
        result = measure(args.work, config, args.text, cells, args.repeats)
        if parallel.rank():
            return 0
    finally:
        parallel.leave()
    text = json.dumps(result.to_dict(), indent=2)
    if args.json == "-":
        print(text)
        return 0
    if args.json:
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    print(format_table(result))
    return 0


def measure(
    work: str, config: "Config", text: str, cells: list[tuple[int, int]], repeats: int
) -> "BenchResult":
    """Prepare this process and run the benchmark."""
    import torch

    from headway.checks.bench_training import bench_training
    from headway.checks.bench_translation import bench_translation
    from headway.training.machine import Machine, configure_process

    machine = Machine.resolve(config.training)
    configure_process(machine.threads_per_rank, machine.torch_device)
    torch.manual_seed(config.training.seed)
    if work == "train":
        return bench_training(config, machine, text, repeats=repeats)
    return bench_translation(config, machine, text, cells, repeats=repeats)


def format_table(result: "BenchResult") -> str:
    """Return the results as text."""
    values = result.to_dict()
    facts = {
        "processor": result.processor,
        "device, precision, threads": f"{result.device}, {result.precision}, {result.threads}",
        "parameters": f"{result.parameters:,}",
        "repeats": f"{result.repeats}: median (minimum to maximum)",
    }
    if result.work == "train":
        [row] = values["rows"]
        facts |= {
            "target tokens/s": _format_spread(row["tokens_per_second"]),
            "tokens a step, steps": f"{row['tokens'] / row['steps']:,.0f}, {row['steps']}",
            "padding, source and target": f"{row['source_padding']:.1%}, {row['target_padding']:.1%}",
            "GFLOP/s": f"{row['flop_per_second'] / 1e9:,.0f}",
            "share of the matrix rate": f"{row['share_of_matrix_rate']:.0%}",
        }
    facts |= {
        "matrix rate, GFLOP/s": f"{result.matrix_rate / 1e9:,.0f}",
        "peak memory": f"{result.peak_memory / 1e9:.2f} GB",
    }
    lines = [f"{name:<30}{value}" for name, value in facts.items()]
    if result.work == "translate":
        head = ("batch x beam", "sentences/s", "output tokens/s", "GFLOP/s", "of matrix rate")
        lines += ["", _format_row(head)]
        for row in values["rows"]:
            cell = (
                f"{row['batch']}x{row['beam']}",
                _format_spread(row["sentences_per_second"]),
                _format_spread(row["tokens_per_second"]),
                f"{row['flop_per_second'] / 1e9:,.1f}",
                f"{row['share_of_matrix_rate']:.1%}",
            )
            lines.append(_format_row(cell))
    return "\n".join(lines)


def _format_row(cells: tuple[str, ...]) -> str:
    widths = (14, 26, 30, 10, 0)
    return "".join(f"{word:<{width}}" for word, width in zip(cells, widths, strict=True))


def _format_spread(values: dict[str, float]) -> str:
    digits = 0 if values["median"] >= 100 else 1
    median, low, high = (f"{values[name]:,.{digits}f}" for name in ("median", "low", "high"))
    if low == high:
        return median
    return f"{median} ({low} to {high})"


def _parse_cell(word: str) -> tuple[int, int]:
    """Read 32x4 as a batch size and a beam."""
    batch, _, beam = word.partition("x")
    if not (batch.isdigit() and beam.isdigit() and int(batch) and int(beam)):
        usage_error(f"--cells {word}: must be batch size x beam, such as 32x4")
    return int(batch), int(beam)
