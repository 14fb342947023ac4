"""The models that translate: a trained one, and one with random weights."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from inputs import LANGUAGES, find_files
from shapes import make_config, make_task

from headway.config import SearchConfig
from headway.ext.bench.bench_translation import make_endless
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation import save_model

# Settings that train a usable model in about ten minutes on one core; good quality takes longer.
QUICK = (
    "--training.batch-tokens=1200", "--training.micro-batch-tokens=600",
    "--training.warmup-steps=500", "--training.rate-scale=0.6", "--training.max-steps=2000",
    "--training.validate-every=1000", "--training.checkpoint-every=250", "--training.average=3",
    "--training.threads=1",
)  # fmt: skip


def train_tiny(text: Path, run: Path, cores: Sequence[int]) -> None:
    """Train the model that translates freely."""
    print(f"{run}: training a tiny model", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "headway", "train", str(run), "--preset", "tiny"]
    command += ["--train", *map(str, find_files(text, "train"))]
    command += ["--valid", *map(str, find_files(text, "valid"))]
    pinned = ["taskset", "-c", str(cores[0])]
    subprocess.run([*pinned, *command, *QUICK], check=True)


def write_random(tokenizer: Tokenizer, shape: str, directory: Path) -> None:
    """Write a model with random weights that never predicts ``</s>``, for forced lengths."""
    torch.manual_seed(1)
    config = make_config(make_task(shape))
    model = make_endless(Transformer(config.model))
    config = replace(config, search=SearchConfig())
    save_model(directory, model, tokenizer, config, LANGUAGES, "Random weights.\n")
