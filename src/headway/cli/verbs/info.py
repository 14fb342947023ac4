"""``headway info``: show what a run or model directory holds."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.options import Argument, add_extension_options, add_options, use_extension_options
from headway.extension import load_first, require

if TYPE_CHECKING:
    from headway.config import Config
    from headway.translation.directory import Model

EXAMPLE = "headway info runs/mine --settings --json\nheadway info runs/mine --diagram model.svg"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("MODEL", "run or model directory, hub name, or preset"),
        Argument("--settings", "also print all settings as TOML"),
        "--json",
    )
    parser.set_defaults(takes_preset=True)
    add_extension_options(parser, "info")


def run(args: argparse.Namespace) -> None:
    """Print facts about a model or a preset."""
    from headway.config import PRESETS
    from headway.config.departures import paper_values
    from headway.config.toml import to_toml
    from headway.translation.directory import load_any_model

    if args.model in PRESETS and not Path(args.model).exists():
        config = PRESETS[args.model]
        facts = preset_facts(args.model, config)
    else:
        model = load_any_model(args.model)
        config, facts = model.config, model_facts(model)
    use_extension_options(args, args.model, config.model)
    if args.json:
        settings = {"settings": config.to_dict()} if args.settings else {}
        print(json.dumps(facts | settings, indent=2))
        return
    paper = paper_values(str(facts["nearest model of the paper"]))
    for fact, value in facts.items():
        if fact.startswith("departures") and isinstance(value, dict):
            value = {
                name: f"{own} (the paper: {paper[name]})" if name in paper else own
                for name, own in value.items()
            }
        print(f"{fact:<34}{_words(value)}")
    if args.settings:
        print(f"\n{to_toml(config.sections())}")


def model_facts(model: "Model") -> dict[str, object]:
    """Return the facts of a model, and of its run if its directory is one."""
    from headway.model import parameter_count

    network, config, facts = model.network, model.config, kind_facts(model)
    of_translator: dict[str, object] = {}
    if config.model.kind == "translator":
        how = "one by one" if config.search.split_sentences is True else "together"
        of_translator["sentences of a line"] = f"translated {how}"
        if (list_facts := load_first("facts")) is not None:
            of_translator |= list_facts(model.path)
    return {
        "model": str(model.path),
        "kind": config.model.kind,
        **facts,
        "parameters": parameter_count(network),
        "parameters in embeddings": sum(
            p.numel() for n, p in network.named_parameters() if "embedding" in n
        ),
        **shape_and_departures(config, model.origin),
        **of_translator,
        "vocabulary fingerprint": model.tokenizer.fingerprint[:16],
        **run_facts(model.path, config),
    }


def preset_facts(name: str, config: "Config") -> dict[str, object]:
    """Return the facts of a preset, as if its vocabulary had the size that the settings ask for."""
    from headway.model import make_model_without_memory, parameter_count

    network = make_model_without_memory(config.largest_model())
    return {
        "preset": name,
        "vocabulary": config.text.vocab_size,
        "parameters with this vocabulary": parameter_count(network),
        "layers": [config.model.num_encoder_layers, config.model.num_decoder_layers],
        **shape_and_departures(config),
    }


def shape_and_departures(config: "Config", origin: str = "") -> dict[str, object]:
    """Return the sizes of a model, and all its differences from the nearest model of the paper.

    Args:
        config: Its settings.
        origin: The program that trained it, if its training and its text are not known.
    """
    from headway.config.departures import list_departures

    shape = config.model
    nearest, departures = list_departures(config)
    unknown = f"not known: it was trained by {origin}" if origin else None
    return {
        "d_model": shape.d_model,
        "d_ff": shape.d_ff,
        "heads": shape.num_heads,
        "dropout": shape.dropout,
        "nearest model of the paper": nearest,
        "departures from the paper's model": departures["model"],
        "departures from its training": unknown or departures["training"],
        "departures from its text": unknown or departures["text"],
        "departures from its search": departures["search"],
    }


def run_facts(directory: Path, config: "Config") -> dict[str, object]:
    """Return how far the training of a run is, its data, and the scores of its model; nothing for a model alone."""
    from headway.files import OtherVersionError
    from headway.training.storage.run_directory import RunDirectory

    run = RunDirectory(directory)
    if not run.started:
        return {}
    try:
        record, steps = run.record(), run.steps()
    except OtherVersionError:
        return {"run": {"not read": "run.json of another version"}}
    facts: dict[str, object] = {
        "run": {
            "step": max(steps, default=0),
            "max_steps": config.training.max_steps,
            "finished": record.finished,
        },
        "data": {
            "training_pairs": record.data.training_pairs,
            "validation_pairs": record.data.validation_pairs,
        },
    }
    if record.installed:
        scores = asdict(record.installed)
        facts["installed weights"] = {name: scores[name] for name in ("step", "averaged")}
        facts["their validation scores"] = {
            name: round(scores[name], 3)
            for name in ("bleu", "chrf", "accuracy", "perplexity")
            if scores[name]
        }
    return facts


def kind_facts(model: "Model") -> dict[str, object]:
    """Return the facts that depend on the kind of the model: languages or labels, vocabulary, layers."""
    shape, tokenizer = model.config.model, model.tokenizer
    if shape.kind != "translator":
        kind = require("these facts", "kinds", shape.kind)
        return dict(kind.list_facts(shape, tokenizer))
    named: dict[str, object] = {"languages": list(model.languages)}
    if model.pairs:
        named = {"pairs of languages": tuple("-".join(pair) for pair in model.pairs)}
    elif tokenizer.target_languages:
        named["target languages"] = tuple(tokenizer.target_languages)
    return {
        **named,
        "vocabulary": [shape.source_vocab_size, shape.target_vocab_size],
        "joint vocabulary": tokenizer.joint,
        "layers": [shape.num_encoder_layers, shape.num_decoder_layers],
    }


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, list):
        # Languages are translated from one to the other; sizes are those of encoder and decoder.
        between = " to " if isinstance(value[0], str) else " and "
        return between.join(_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{n} = {str(v).lower()}" for n, v in value.items()) or "none"
    return str(value)
