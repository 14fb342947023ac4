"""Prepare a comparison: the environment of the other toolkits, batches, sentences and weights."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from shapes import DROPOUT, SHAPES, SMOOTHING, VOCAB_SIZE, config_of

from headway.checks.bench_translation import make_endless
from headway.config import SearchConfig
from headway.inference import save_model
from headway.model import Transformer
from headway.text.readers import read_pairs
from headway.text.tokenizer import Tokenizer

LANGUAGES = ("en", "de")
BATCH_TOKENS = 2500  # target tokens of a training batch
KEPT_BATCHES = 60  # written to disk; more than any comparison uses
PEERS = ("transformers==5.23.0", "ctranslate2==4.8.5", "numpy", "safetensors")
# Settings that train a usable model in about ten minutes on one core; good quality takes longer.
QUICK = (
    "--training.batch-tokens=1200", "--training.micro-batch-tokens=600",
    "--training.warmup-steps=500", "--training.rate-scale=0.6", "--training.max-steps=2000",
    "--training.validate-every=1000", "--training.checkpoint-every=250", "--training.average=3",
    "--training.threads=1",
)  # fmt: skip


def make_environment(directory: Path) -> Path:
    """Create the virtual environment of the other toolkits, unless it exists; return its Python."""
    python = directory / "bin" / "python"
    done = directory / "installed"
    if not done.exists():
        say(f"{directory}: installing the peers")
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        # torch is installed first and by version, so that the toolkits do not choose another one.
        for packages in ([f"torch=={version('torch').partition('+')[0]}"], list(PEERS)):
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        done.touch()
    return python


def train_tiny(text: Path, run: Path, cores: Sequence[int]) -> None:
    """Train the model that the free translations use, if it is not there."""
    say(f"{run}: training a tiny model")
    command = [sys.executable, "-m", "headway.cli.main", "train", str(run), "--preset", "tiny"]
    command += ["--train", *map(str, files(text, "train"))]
    command += ["--valid", *map(str, files(text, "valid"))]
    pinned = ["taskset", "-c", str(cores[0])]
    subprocess.run([*pinned, *command, *QUICK], check=True)


def files(text: Path, split: str) -> list[Path]:
    """Return the files of both languages of a split, such as train.en or train.en.gz."""
    names = [f"{split}.{code}{end}" for code in LANGUAGES for end in ("", ".gz")]
    found = [text / name for name in names if (text / name).exists()]
    if len(found) != len(LANGUAGES):
        raise SystemExit(f"{text}: holds no {split}.en and {split}.de, plain or .gz")
    return found


def write_batches(text: Path, tokenizer: Tokenizer, path: Path) -> dict[str, Any]:
    """Write training batches of similar lengths in random order; return their counts."""
    pairs = list(read_pairs(files(text, "train")))
    sources = tokenizer.encode_source([pair.source for pair in pairs])
    targets = tokenizer.encode_target([pair.target for pair in pairs])
    order = sorted(range(len(pairs)), key=lambda i: (len(targets[i]), len(sources[i])))
    batches = list(cut(order, targets))
    random.Random(1).shuffle(batches)
    values = {
        "batches": [
            {"source": [sources[i] for i in rows], "target": [targets[i] for i in rows]}
            for rows in batches[:KEPT_BATCHES]
        ]
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return {"pairs": len(pairs), "batches": len(batches), "target tokens": sum(map(len, targets))}


def cut(order: Sequence[int], targets: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Divide sorted rows into batches of about `BATCH_TOKENS` target tokens."""
    rows: list[int] = []
    tokens = 0
    for i in order:
        rows.append(i)
        tokens += len(targets[i])
        if tokens >= BATCH_TOKENS:
            yield rows
            rows, tokens = [], 0


def write_sentences(text: Path, tokenizer: Tokenizer, path: Path) -> list[str]:
    """Write the ids of the test set; return the references as text."""
    pairs = list(read_pairs(files(text, "test_2016_flickr")))
    values = {
        "sources": tokenizer.encode_source([pair.source for pair in pairs]),
        "references": tokenizer.encode_target([pair.target for pair in pairs]),
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return [pair.target for pair in pairs]


def write_pieces(tokenizer: Tokenizer, path: Path) -> None:
    """Write the subwords of the vocabulary in the order of their ids, ``<pad>`` included."""
    pieces = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    path.write_text(json.dumps(pieces, ensure_ascii=False), encoding="utf-8")


def write_random(tokenizer: Tokenizer, shape: str, directory: Path) -> None:
    """Write a model with random weights that never predicts ``</s>``, for forced lengths."""
    torch.manual_seed(1)
    config = config_of(task_of(shape))
    model = make_endless(Transformer(config.model))
    config = replace(config, search=SearchConfig())
    save_model(directory, model, tokenizer, config, LANGUAGES, "Random weights.\n")


def task_of(shape: str) -> dict[str, Any]:
    """Return the part of the task that describes the model."""
    return {
        "shape": SHAPES[shape],
        "vocab_size": VOCAB_SIZE,
        "dropout": DROPOUT,
        "smoothing": SMOOTHING,
    }


def say(line: str) -> None:
    """Print a message on standard error."""
    print(line, file=sys.stderr, flush=True)
