"""``headway bench``: measure how fast this machine trains and translates with a model."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.cli import PRESET, add_options, launch, settings_from
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import Config

EXAMPLE = """\
headway bench --device cuda --json gpu.json
headway bench train --preset tiny
headway bench train --preset big --device cuda --text news --json big.json
headway bench translate --preset base --cells 32x4 1x1"""
CELLS = [(32, 4), (32, 1), (1, 4), (1, 1)]
GPU_CELLS = [(512, 4), (512, 1), (32, 4), (1, 4)]  # of the whole machine
SETTINGS = ("text", "model", "training", "search")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "work",
        nargs="?",
        choices=("train", "translate"),
        help="what to measure (default: the whole machine in at most ten minutes: matrix rate, training"
        " and decoding of tiny, base and big on a GPU, of tiny on a processor)",
    )
    add_options(parser, *PRESET, "--ranks N")
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
    parser.add_argument("--cells", nargs="+", metavar="NxK",
                        help="translate: batch sizes and beams to measure, such as 32x4")  # fmt: skip
    parser.add_argument(
        "--repeats",
        type=int,
        metavar="N",
        help="measure so many times (default: 5; 3 for the whole machine)",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="also write JSON to FILE; -: print JSON instead of the table"
    )


def run(args: argparse.Namespace) -> int:
    """Set the process up as `headway train` does, measure, and print a table."""
    from headway.config import read_changes

    cells = [_parse_cell(word) for word in args.cells or ()]
    if args.repeats is None:
        args.repeats = 5 if args.work else 3
    if args.repeats < 1:
        raise UsageError(f"--repeats {args.repeats}: must be 1 or more")
    chosen = {}
    for option in ("device", "precision", "threads"):
        if getattr(args, option) is not None:
            section = "search" if (option, args.work) == ("precision", "translate") else "training"
            chosen[f"{section}.{option}"] = str(getattr(args, option))
    args.changes += read_changes(overrides=chosen)
    if args.work is None:
        return report_machine(args, cells)
    config = settings_from(args)
    if args.work == "translate" and config.search.shortlist:
        raise UsageError(
            "--search.shortlist: a model with random weights has no shortlist; time `headway translate`"
        )
    if args.work == "train":
        from headway.training import Machine, count_ranks

        ranks = count_ranks(Machine.resolve(config.training), config.training, args.ranks)
        if ranks > 1 and not launch.is_launched():
            return launch.launch(report, (args, config, cells or CELLS), ranks)
    return report(args, config, cells or CELLS)


def report(args: argparse.Namespace, config: "Config", cells: list[tuple[int, int]]) -> int:
    """Prepare this process, alone or as one of several ranks, measure, and print a table."""
    import torch

    from headway.ext.bench.bench_tables import format_table
    from headway.ext.bench.bench_training import bench_training
    from headway.ext.bench.bench_translation import bench_translation
    from headway.training import Machine, configure_process, parallel

    parallel.join()
    try:
        machine = Machine.resolve(config.training)
        configure_process(machine.threads_per_rank, machine.torch_device)
        torch.manual_seed(config.training.seed)
        if args.work == "train":
            result = bench_training(config, machine, args.text, repeats=args.repeats)
        else:
            result = bench_translation(config, machine, args.text, cells, repeats=args.repeats)
        if parallel.rank():
            return 0
    finally:
        parallel.leave()
    write_result(args, result.to_dict(), format_table(result))
    return 0


def report_machine(args: argparse.Namespace, cells: list[tuple[int, int]]) -> int:
    """Measure the matrix rate, training and decoding in this process, and print tables."""
    import torch

    from headway.ext.bench.bench_machine import bench_machine
    from headway.ext.bench.bench_tables import format_machine_table
    from headway.training import Machine, configure_process

    if args.ranks or launch.is_launched():
        raise UsageError("bench: name a part (train) to measure several ranks")
    machine = Machine.resolve(settings_from(args).training)
    is_gpu = machine.torch_device.type == "cuda"
    presets = (args.preset,) if args.preset else ("tiny", "base", "big") if is_gpu else ("tiny",)
    configs = {}
    for args.preset in presets:
        configs[args.preset] = settings_from(args)
    cells = cells or (GPU_CELLS if is_gpu else CELLS)
    configure_process(machine.threads, machine.torch_device)
    torch.manual_seed(1)
    result = bench_machine(configs, machine, args.text, cells, repeats=args.repeats)
    write_result(args, result.to_dict(), format_machine_table(result))
    return 0


def write_result(args: argparse.Namespace, values: dict[str, Any], table: str) -> None:
    """Print the table, or JSON in its place, and write the file of ``--json``."""
    text = json.dumps(values, indent=2)
    if args.json == "-":
        print(text)
        return
    if args.json:
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    print(table)


def _parse_cell(word: str) -> tuple[int, int]:
    """Read 32x4 as a batch size and a beam."""
    batch, _, beam = word.partition("x")
    if not (batch.isdigit() and beam.isdigit() and int(batch) and int(beam)):
        raise UsageError(f"--cells {word}: must be batch size x beam, such as 32x4")
    return int(batch), int(beam)
