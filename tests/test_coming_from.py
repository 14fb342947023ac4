"""Each name of Headway that docs/coming-from.md gives for a name of another implementation exists."""

import argparse
import importlib
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import list_verbs, load_verb
from headway.config import Config
from headway.model import Transformer, parameter_count

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text(encoding="utf-8")
ROWS = [
    line.strip("|").split("|")
    for line in PAGE.splitlines()
    if line.startswith("| `") or line.startswith("| -")
]
NAMES = sorted({name for _, ours in ROWS for name in re.findall(r"`(.+?)`", ours)})
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
# Values and arguments inside the sentences of the right column.
WORDS = {"emb", "prj", "load", "decode", "logits", "is_causal", "make_model", "d_model"}
WORDS |= {"query", "key", "value", "output", "inner", "outer"}


def verb_module(verb: str) -> object:
    assert verb in list_verbs()
    return load_verb(verb)


def check(name: str, row: str) -> None:
    """Fail if a name does not exist."""
    if name.startswith("headway."):
        module, attribute = name.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), attribute), name
    elif name.startswith("headway "):
        _, verb, *words = shlex.split(name)
        module = verb_module(verb)
        if words:
            parse(verb, module, words)  # type: ignore[arg-type]
    elif "." in name:
        section, setting = name.split()[0].removeprefix("--").split(".")
        settings = type(getattr(Config(), section))
        assert setting.replace("-", "_") in {field.name for field in fields(settings)}, name
        if " " in name and section != "search":
            words = ["run", *shlex.split(name)]
            parse("train", verb_module("train"), words)  # type: ignore[arg-type]
    else:
        [verb] = re.findall(r"`headway (\w+)`", row)
        parser = argparse.ArgumentParser()
        verb_module(verb).configure(parser)  # type: ignore[attr-defined]
        assert name in parser.format_help(), name


def test_each_name_of_headway_exists() -> None:
    for name in NAMES:
        for _, ours in ROWS:
            if name not in WORDS and f"`{name}`" in ours:
                check(name, ours)


def run(example: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(example, "coming-from.md", "exec"), found)
    return found


@pytest.mark.slow
def test_the_tensors_of_the_example_have_the_shapes_beside_them() -> None:
    found = run(EXAMPLES[0])
    shapes = re.findall(r"^(\w+) = .*# \[(\d.*)\]$", EXAMPLES[0], re.MULTILINE)
    assert [name for name, _ in shapes] == ["memory", "hidden", "logits"]
    for name, shape in shapes:
        assert shape == ", ".join(map(str, found[name].shape))


def build(example: str) -> Transformer:
    model = run(example)["model"]
    assert isinstance(model, Transformer)
    return model


@pytest.mark.slow
def test_the_models_have_as_many_parameters_as_theirs() -> None:
    """Their numbers follow from their layers: maps with or without biases, norms, and tied matrices."""
    d, f = 512, 2048
    network, norm = d * f + f + f * d + d, 2 * d

    def stacks(attention: int) -> int:
        return 6 * (attention + network + 2 * norm) + 6 * (2 * attention + network + 3 * norm)

    annotated, shared, of_2018 = EXAMPLES
    tables = 113 * d + 127 * d + 127 * d + 127  # two embeddings and the generator with its bias
    assert parameter_count(build(annotated)) == stacks(4 * (d * d + d)) + 2 * norm + tables
    # Their norms on the two embeddings are the only part without a counterpart.
    assert parameter_count(build(shared)) == stacks(4 * d * d) + 113 * d
    # Their tables of positions are no parameters.
    assert parameter_count(build(of_2018)) == stacks(4 * (d * d + d)) + 113 * d + 2 * 50 * d
