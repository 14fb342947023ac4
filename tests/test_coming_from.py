"""Each name of Headway that docs/coming-from.md gives for a name of another implementation exists."""

import argparse
import importlib
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from headway.cli.arguments import parse
from headway.cli.verbs import list_verbs, load_verb
from headway.config import Config
from headway.model import Transformer, parameter_count
from support import code_of_2018

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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES[2:])
def test_the_model_of_2018_has_the_same_logits(example):
    """With the same weights, in float64, and with padding on both sides."""
    vocab, longest, pad, start, end = 113, 50, 0, 2, 3
    torch.manual_seed(18)
    theirs = code_of_2018.Transformer(vocab, vocab, longest).double().eval()
    ours = build(example).double().eval()
    # Headway's id of each of their ids: <s> is the last one.
    ids = torch.tensor([i - (i > start) if i != start else vocab - 1 for i in range(vocab)])
    copy_weights(theirs, ours, ids)
    rows = [[start, *torch.randint(4, vocab, (n,)).tolist(), end] for n in (9, 4, 1, 17, 6)]
    source, target = (pad_sequence(list(map(torch.tensor, part)), batch_first=True)
                      for part in (rows, rows[::-1]))  # fmt: skip
    assert pad in source
    places = [torch.arange(1, x.size(1) + 1) * (x != pad) for x in (source, target)]
    labels = target[:, 1:]
    with torch.no_grad():
        expected = theirs(source, places[0], target, places[1]).view(*labels.shape, vocab)
        found = ours(ids[source], ids[labels], (source != pad).long(), (labels != pad).long())
    is_token = labels != pad
    assert (found[..., ids] - expected)[is_token].abs().max() < 1e-12
    assert expected[is_token].std() > 0.1


def copy_weights(theirs, ours, ids):
    """Give a model of Headway the weights of the code of 2018."""
    names = {
        "slf_attn": "mixer.attention", "enc_attn": "cross", "w_qs": "query", "w_ks": "key", "w_vs": "value",
        "fc": "output", "pos_ffn": "feed_forward", "w_1": "inner", "w_2": "outer",
    }  # fmt: skip
    found = {}
    for name, value in theirs.state_dict().items():
        if match := re.match(r"(encoder|decoder)\.layer_stack\.(\d+)\.(\w+)\.(.*)", name):
            stack, layer, part, rest = match.groups()
            places = ["slf_attn", "pos_ffn"] if stack == "encoder" else ["slf_attn", "enc_attn", "pos_ffn"]  # fmt: skip
            whole = f"{part}.{rest}".replace(
                f"{part}.layer_norm", f"residuals.{places.index(part)}.norm"
            )
            whole = ".".join(names.get(word, word) for word in whole.split("."))
            found[f"{stack}.layers.{layer}.{whole}"] = value.squeeze(-1)
        elif name.endswith("position_enc.weight"):
            side = "source" if name.startswith("encoder") else "target"
            found[f"{side}_positions.table"] = value[1:]
    found["source_embedding.weight"] = theirs.tgt_word_prj.weight[ids.argsort()]
    ours.load_state_dict(found)
