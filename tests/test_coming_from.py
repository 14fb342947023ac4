"""Each name of Headway that docs/coming-from.md gives for a name of another implementation exists."""

import argparse
import importlib
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from headway.cli.arguments import parse
from headway.cli.verbs import list_verbs, load_verb
from headway.config import Config
from headway.model import Transformer, parameter_count
from support.torch_layers import copy_layer

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


def verb_module(verb):
    assert verb in list_verbs()
    return load_verb(verb)


def check(name, row):
    """Fail if a name does not exist."""
    if name.startswith("headway."):
        module, attribute = name.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), attribute), name
    elif name.startswith("headway "):
        _, verb, *words = shlex.split(name)
        module = verb_module(verb)
        if words:
            parse(verb, module, words)
    elif "." in name:
        section, setting = name.split()[0].removeprefix("--").split(".")
        settings = type(getattr(Config(), section))
        assert setting.replace("-", "_") in {field.name for field in fields(settings)}, name
        if " " in name and section != "search":
            words = ["run", *shlex.split(name)]
            parse("train", verb_module("train"), words)
    else:
        [verb] = re.findall(r"`headway (\w+)`", row)
        parser = argparse.ArgumentParser()
        verb_module(verb).configure(parser)
        assert name in parser.format_help(), name


def test_each_name_of_headway_exists():
    for name in NAMES:
        for _, ours in ROWS:
            if name not in WORDS and f"`{name}`" in ours:
                check(name, ours)


def run(example):
    found = {}
    exec(compile(example, "coming-from.md", "exec"), found)
    return found


def test_the_tensors_of_the_example_have_the_shapes_beside_them():
    found = run(EXAMPLES[0])
    shapes = re.findall(r"^(\w+) = .*# \[(\d.*)\]$", EXAMPLES[0], re.MULTILINE)
    assert [name for name, _ in shapes] == ["memory", "hidden", "logits"]
    for name, shape in shapes:
        assert shape == ", ".join(map(str, found[name].shape))


def build(example):
    model = run(example)["model"]
    assert isinstance(model, Transformer)
    return model


def test_the_models_have_as_many_parameters_as_theirs():
    """Their numbers follow from their layers: maps with or without biases, norms, and tied matrices."""
    d, f = 512, 2048
    network, norm = d * f + f + f * d + d, 2 * d

    def stacks(attention):
        return 6 * (attention + network + 2 * norm) + 6 * (2 * attention + network + 3 * norm)

    annotated, shared, of_2018 = EXAMPLES
    tables = 113 * d + 127 * d + 127 * d + 127  # two embeddings and the generator with its bias
    assert parameter_count(build(annotated)) == stacks(4 * (d * d + d)) + 2 * norm + tables
    # Their norms on the two embeddings are the only part without a counterpart.
    assert parameter_count(build(shared)) == stacks(4 * d * d) + 113 * d
    # Their tables of positions are no parameters.
    assert parameter_count(build(of_2018)) == stacks(4 * (d * d + d)) + 113 * d + 2 * 50 * d


def sinusoids_of_2018(count, d):
    """Return the table of positions; theirs begin at 1."""
    angles = torch.arange(1.0, count + 1).double()[:, None] / 10000 ** (
        torch.arange(d) // 2 * 2 / d
    )
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())


@pytest.mark.parametrize("example", EXAMPLES[2:])
def test_the_model_of_2018_has_the_same_logits(example):
    """Theirs is torch's post-norm stacks without final norms, one scaled matrix, and positions from 1."""
    vocab, longest, pad, start, end, d = 113, 50, 0, 2, 3, 512
    torch.manual_seed(18)
    ours = build(example).double().eval()
    shape = {"nhead": 8, "dim_feedforward": 2048, "batch_first": True, "dtype": torch.float64}
    layer = nn.TransformerEncoderLayer(d, **shape)
    encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).eval()
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(d, **shape), 6).eval()
    for a, b in zip((ours.encoder, ours.decoder), (encoder, decoder), strict=True):
        for mine, other in zip(a.layers, b.layers, strict=True):
            copy_layer(mine, other)
    table, matrix = sinusoids_of_2018(longest, d), torch.randn(vocab, d).double()
    # Headway's id of each of their ids: <s> is the last one.
    ids = torch.tensor([i - (i > start) if i != start else vocab - 1 for i in range(vocab)])
    rows = [[start, *torch.randint(4, vocab, (n,)).tolist(), end] for n in (9, 4, 1, 17, 6)]
    source, target = (pad_sequence(list(map(torch.tensor, part)), batch_first=True)
                      for part in (rows, rows[::-1]))  # fmt: skip
    labels = target[:, 1:]
    assert pad in source
    with torch.no_grad():
        ours.source_positions.table.copy_(table)
        ours.target_positions.table.copy_(table)
        ours.source_embedding.weight.copy_(matrix[ids.argsort()])
        hidden = source == pad
        memory = encoder(matrix[source] + table[: source.size(1)], src_key_padding_mask=hidden)
        later = torch.ones(labels.size(1), labels.size(1)).triu(1).bool()
        states = decoder(
            matrix[target[:, :-1]] + table[: labels.size(1)], memory,
            tgt_mask=later, memory_key_padding_mask=hidden,
        )  # fmt: skip
        expected = states @ matrix.T * d**-0.5
        found = ours(ids[source], ids[labels], (source != pad).long(), (labels != pad).long())
    is_token = labels != pad
    assert (found[..., ids] - expected)[is_token].abs().max() < 1e-12 * expected.abs().max()
    assert expected[is_token].std() > 0.1
