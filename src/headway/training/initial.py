"""Training that begins from a model instead of from chance: fine-tuning, or going on elsewhere.

The model's shape and vocabulary are kept, for its weights mean nothing in others; what is not a
weight (dropout, cleaning, the training regime) is the new run's own.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Config
from headway.errors import HeadwayError
from headway.inference.directory import Model, load_model
from headway.model import Network
from headway.text.prepare import PreparedData
from headway.training.facts import changes

OWN = ("dropout", "attention_dropout", "feed_forward_dropout")  # of a model, but no part of a shape
LEARNED = ("vocab_size", "joint_vocab", "subwords", "character_coverage", "split_digits")


def check_shape(wanted: Config, model: Model) -> None:
    """Refuse settings that the weights or the vocabulary of ``model`` cannot be used with.

    Raises:
        HeadwayError: Naming the settings.
    """
    own = {f"model.{name}" for name in OWN}
    fixed = {f"text.{name}" for name in LEARNED}
    settled = [
        change
        for change in changes(model.config, wanted)
        if change.split()[0] in fixed
        or (change.startswith("model.") and change.split()[0] not in own)
    ]
    if settled:
        raise HeadwayError(f"settled by --init {model.path}: {'; '.join(settled)}")


def check_vocabulary(data: PreparedData, model: Model) -> None:
    """Refuse data that was prepared with another vocabulary than the model's.

    Raises:
        HeadwayError: Saying how to prepare it.
    """
    if data.tokenizer.fingerprint != model.tokenizer.fingerprint:
        raise HeadwayError(
            f"{data.directory}: prepared with another vocabulary than {model.path} has:"
            f" prepare it with --vocabulary {model.path}"
        )


def describe(path: str | Path) -> dict[str, str]:
    """Return what a run remembers of the model it begins from."""
    path = Path(path).resolve()
    with (path / "model.safetensors").open("rb") as file:
        return {"path": str(path), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def begin_from(known: Mapping[str, Any], model: Network) -> None:
    """Copy the weights that `describe` described into a model of the same shape.

    Raises:
        HeadwayError: If they are no longer what they were.
    """
    if describe(known["path"]) != dict(known):
        raise HeadwayError(f"{known['path']}: not the model any more that this run begins from")
    model.load_state_dict(load_model(known["path"]).transformer.state_dict())
