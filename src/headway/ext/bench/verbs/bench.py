"""``headway bench``: measure how fast this machine trains and translates with a model."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli import PRESET, Argument, add_options, launch, settings_from
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
    add_options(
        parser,
        *PRESET,
        "--ranks N",
        Argument("--device NAME", "auto, cpu, cuda or cuda:N"),
        Argument("--precision NAME", "auto, fp32 or bf16; translate also has int8"),
        Argument("--threads N", "processor threads (default: all)"),
    )
    parser.add_argument(
        "--text",
        default="captions",
        choices=("captions", "news"),
        help="sentence lengths of image captions (default) or of news",
    )
    add_options(
        parser,
        Argument("--cells NxK...", "translate: batch sizes and beams to measure, such as 32x4"),
        Argument("--repeats N", "measure so many times (default: 5; 3 for the whole machine)"),
        Argument("--json FILE", "also write JSON to FILE; -: print JSON instead of the table"),
    )


def run(args: argparse.Namespace) -> int:
    """Set the process up as `headway train` does, measure, and print a table."""
    from headway.config import read_changes
    from headway.training import Machine, count_ranks

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
    config = settings_from(args)
    machine = Machine.resolve(config.training)
    if args.work is None:
        if args.ranks or launch.is_launched():
            raise UsageError("bench: name a part (train) to measure several ranks")
        is_gpu = machine.torch_device.type == "cuda"
        presets = ("tiny", "base", "big") if is_gpu else ("tiny",)
        configs = {}
        for preset in (args.preset,) if args.preset else presets:
            args.preset = preset
            configs[preset] = settings_from(args)
        return report(args, configs, cells or (GPU_CELLS if is_gpu else CELLS))
    if args.work == "translate" and config.search.shortlist:
        raise UsageError(
            "--search.shortlist: a model with random weights has no shortlist; time `headway translate`"
        )
    if args.work == "train":
        ranks = count_ranks(machine, config.training, args.ranks)
        if ranks > 1 and not launch.is_launched():
            return launch.launch(report, (args, {"": config}, cells or CELLS), ranks)
    return report(args, {"": config}, cells or CELLS)


def report(
    args: argparse.Namespace, configs: "dict[str, Config]", cells: list[tuple[int, int]]
) -> int:
    """Prepare this process, alone or as one of several ranks, measure, and print a table.

    Args:
        args: The command line.
        configs: Settings by name of a preset; of one part, those of its model alone.
        cells: Pairs of batch size and beam.
    """
    import torch

    from headway.ext.bench.bench import bench, bench_machine
    from headway.ext.bench.bench_tables import format_table
    from headway.training import Machine, configure_process, parallel

    [config, *_] = configs.values()
    parallel.join()
    try:
        machine = Machine.resolve(config.training)
        configure_process(machine.threads_per_rank, machine.torch_device)
        torch.manual_seed(config.training.seed)
        if args.work:
            found = bench(args.work, config, machine, args.text, cells, repeats=args.repeats)
        else:
            found = bench_machine(configs, machine, args.text, cells, repeats=args.repeats)
        if parallel.rank():
            return 0
    finally:
        parallel.leave()
    text = json.dumps(found, indent=2)
    if args.json and args.json != "-":
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    print(text if args.json == "-" else format_table(found))
    return 0


def _parse_cell(word: str) -> tuple[int, int]:
    """Read 32x4 as a batch size and a beam."""
    batch, _, beam = word.partition("x")
    if not (batch.isdigit() and beam.isdigit() and int(batch) and int(beam)):
        raise UsageError(f"--cells {word}: must be batch size x beam, such as 32x4")
    return int(batch), int(beam)
