"""``headway info``: what a run or model directory holds."""

import argparse
import json
from collections.abc import Container
from typing import Any

EXAMPLE = "headway info runs/mine --settings --json\nheadway info runs/mine --diagram model.svg"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", metavar="MODEL", help="a run or model directory")
    parser.add_argument("--settings", action="store_true", help="print all settings as TOML, too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--diagram", metavar="FILE", help="also draw it, as the paper's Figures 1 and 2 (.svg)"
    )


def run(args: argparse.Namespace) -> None:
    """Print the model's facts."""
    from dataclasses import asdict

    from headway.cli.main import native_code
    from headway.config import ModelConfig, TrainingConfig, describe
    from headway.model import parameter_count
    from headway.translation import load_model

    found = load_model(args.model)
    native_code("decoding", found.transformer.source_embedding.weight.device)
    shape = found.config.model
    embeddings = sum(p.numel() for n, p in found.transformer.named_parameters() if "embedding" in n)
    count = parameter_count(found.transformer)
    if args.diagram:
        from headway.pictures.diagram import diagram

        diagram(shape).save(args.diagram)
    training = asdict(found.config.training)
    facts = {
        "model": str(found.path),
        "languages": list(found.languages),
        "parameters": count,
        "parameters in embeddings": embeddings,
        "vocabulary": [shape.source_vocab_size, shape.target_vocab_size],
        "joint vocabulary": found.tokenizer.joint,
        "layers": [shape.num_encoder_layers, shape.num_decoder_layers],
        "d_model": shape.d_model,
        "d_ff": shape.d_ff,
        "heads": shape.num_heads,
        "departures from the paper's model": departures(asdict(shape), ModelConfig(), SIZES),
        "departures from its training": departures(training, TrainingConfig(), BOOKKEEPING),
        "vocabulary fingerprint": found.tokenizer.fingerprint[:16],
    }
    if args.json:
        if args.settings:
            facts["settings"] = found.config.to_dict()
        print(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        print(f"{name:<34}{_words(value)}")
    if args.settings:
        print(f"\n{describe(found.config)}")


def departures(values: dict[str, Any], paper: Any, aside: Container[str]) -> dict[str, Any]:
    """Return the settings that differ from the paper's, but for some that say nothing of it."""
    return {
        name: value
        for name, value in values.items()
        if getattr(paper, name) != value and name not in aside
    }


# A model of another size is no departure from the paper's architecture.
SIZES = {
    "source_vocab_size",
    "target_vocab_size",
    "num_encoder_layers",
    "num_decoder_layers",
    "d_model",
    "d_ff",
    "num_heads",
    "d_k",
    "d_v",
    "dropout",
}
# These change what is watched and kept, or where a run computes, not what it learns from.
BOOKKEEPING = {
    "micro_batch_tokens",
    "validate_every",
    "checkpoint_every",
    "patience",
    "validation_beam",
    "validation_sentences",
    "seed",
    "precision",
    "device",
    "threads",
    "max_failures",
    "tensorboard",
}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return " to ".join(_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} = {item}" for name, item in value.items()) or "none"
    return str(value)
