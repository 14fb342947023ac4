"""Check whether bf16 learns as well as fp32: compare losses of the first steps over several seeds.

    python benchmarks/loss_curve.py --train train.en train.de --valid valid.en valid.de

A seed sets the weights, the order of batches and dropout. A loss is the mean over the last 20 steps,
because the loss of a single step depends mostly on its batch. For each point the table gives the minimum
and maximum of the fp32 seeds and of the bf16 seeds. The last column says how far bf16 lies outside the
range of fp32, as a multiple of the width of that range; 0 means inside.
"""

import argparse
import tempfile
from dataclasses import replace
from typing import Literal

import torch

from headway.config import PRESETS, Config
from headway.model import Transformer
from headway.text.preparation.preparing import prepare
from headway.text.prepared import PreparedData
from headway.training import with_vocabulary
from headway.training.machine import Machine, configure_process
from headway.training.steps.feed import Feed
from headway.training.steps.trainer import Trainer

POINTS = 15
WINDOW = 20


def train_losses(
    data: PreparedData, config: Config, precision: Literal["fp32", "bf16"], seed: int, steps: int
) -> list[float]:
    """Train from a seed; return the loss of each step."""
    config = replace(config, training=replace(config.training, seed=seed))
    machine = Machine(device="cpu", precision=precision, threads=1)
    device = machine.torch_device
    torch.manual_seed(seed)
    trainer = Trainer(Transformer(config.model).to(device), config.training, precision)
    configure_process(machine.threads)
    feed = Feed(data, config.training, device)
    return [trainer.step(feed.next()).loss for _ in range(steps)]


def smooth(values: list[float]) -> list[float]:
    """Average the losses before each point."""
    ends = [len(values) * (i + 1) // POINTS for i in range(POINTS)]
    return [sum(values[max(0, e - WINDOW) : e]) / min(e, WINDOW) for e in ends]


def main() -> None:
    """Run all seeds in both precisions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs=2, required=True)
    parser.add_argument("--valid", nargs=2, required=True)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    config = PRESETS[args.preset]
    with tempfile.TemporaryDirectory() as directory:
        prepare(args.train, args.valid, f"{directory}/data", config.text, None)
        data = PreparedData.open(f"{directory}/data")
        config = with_vocabulary(config, data)
        curves = {
            precision: [
                smooth(train_losses(data, config, precision, seed, args.steps))
                for seed in range(1, args.seeds + 1)
            ]
            for precision in ("fp32", "bf16")
        }
    print("| step | fp32 | bf16 | outside |\n|---|---|---|---|")
    for i in range(POINTS):
        full, low = (sorted(curve[i] for curve in curves[p]) for p in ("fp32", "bf16"))
        width = full[-1] - full[0]
        outside = max(full[0] - low[0], low[-1] - full[-1], 0) / width
        print(
            f"| {args.steps * (i + 1) // POINTS} | {full[0]:.4f} to {full[-1]:.4f} |"
            f" {low[0]:.4f} to {low[-1]:.4f} | {outside:.2f} |"
        )


if __name__ == "__main__":
    main()
