"""Roles of heads are counted from attention maps; a head that is switched off has no output."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.evaluation import bleu
from headway.ext.pictures import AttentionMap, head_ablation, roles, sentence_maps
from headway.ext.pictures.head_ablation import measure_losses, remove_heads
from headway.ext.pictures.labels import word_groups
from headway.ext.pictures.occlusion import occlusion_links
from headway.ext.pictures.roles import Head, average_roles, find_aligned, head_roles, measure_roles
from headway.ext.pictures.sentences import read_sentence
from headway.model import MultiHeadAttention
from headway.translation import Translator
from support.toy_models import sentences, translate_words, write_several

SOURCES = sentences(5, 31)
REFERENCES = [translate_words(text) for text in SOURCES]


def count_heads(kind, *maps, labels=None):
    """Return the heads of one layer with these maps."""
    tokens = labels or [f" w{i}" for i in range(len(maps[0]) - 1)] + ["</s>"]
    found = AttentionMap(tokens, tokens, np.stack(maps)[None].astype(np.float32))
    measured = {(kind, name): [values] for name, values in measure_roles(kind, found).items()}
    return average_roles(measured)


def test_a_head_that_always_does_one_thing_has_that_role():
    """The share of that role is one, and the entropy is that of the rows."""
    n = 7
    itself, behind, ahead = np.eye(n), np.eye(n, k=-1), np.eye(n, k=1)
    end = np.tile(np.eye(n)[-1], (n, 1))
    even = np.full((n, n), 1 / n)
    heads = count_heads("encoder", itself, behind, ahead, end, even)
    assert [head.role for head in heads[:4]] == ["itself", "previous", "following", "end"]
    shares = [head.shares for head in heads]
    assert [shares[i][head.role] for i, head in enumerate(heads[:4])] == [1, 1, 1, 1]
    assert shares[0]["previous"] == shares[0]["following"] == shares[1]["following"] == 0
    assert shares[2]["itself"] == 0
    assert shares[3]["following"] == pytest.approx(1 / (n - 1))  # of the last token but one
    assert all(head.to_json()["start"] is head.to_json()["aligns"] is None for head in heads)
    assert [head.entropy for head in heads] == pytest.approx([0, 0, 0, 0, np.log(n)], abs=1e-6)


def test_heads_are_compared_with_the_alignment_word_by_word():
    """Subwords of both sides are merged to words before the comparison."""
    queries, keys = [" gro", "ß", " Hund", "</s>"], [" big", " d", "og", "</s>"]
    right = np.array([[1, 0, 0, 0], [0.2, 0, 0.3, 0.5], [0.4, 0.3, 0.3, 0], [0, 0, 0, 1]])
    wrong = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 0, 0, 0]])
    weights = np.stack([right, wrong])[None].astype(np.float32)
    maps = AttentionMap(queries, keys, weights)
    assert find_aligned(maps, [(0, 0), (1, 1)]).tolist() == [[[True, True], [False, False]]]
    assert find_aligned(maps, [(1, 0)]).tolist() == [[[False], [False]]]
    assert find_aligned(maps, []).shape == (1, 2, 0)


def test_shares_equal_a_count_over_every_row_of_all_sentences(translator):
    heads = {head.place: head for head in head_roles(translator, SOURCES, REFERENCES)}
    maps = [sentence_maps(translator, s, t).maps for s, t in zip(SOURCES, REFERENCES, strict=True)]
    assert len(heads) == 3 * 2 * 3
    for (kind, layer, number), head in heads.items():
        hits = {"itself": [], "previous": [], "following": [], "end": []}
        for found in maps:
            weights = found[kind].weights[layer, number]
            for i, row in enumerate(weights):
                top = int(row.argmax())
                hits["end"].append(top == len(row) - 1)
                if i or kind == "encoder":
                    hits["itself"].append(top == i)
                if i:
                    hits["previous"].append(top == i - 1)
                if i < len(weights) - 1:
                    hits["following"].append(top == i + 1)
        able = {"encoder": "itself previous following end", "decoder": "itself previous",
                "cross": "end"}[kind].split()  # fmt: skip
        for name in able:
            assert head.shares[name] == pytest.approx(np.mean(hits[name])), (kind, name)
        assert set(head.shares) - {"aligns", "start"} == set(able)


@pytest.fixture(scope="module")
def to_french(tmp_path_factory):
    """Return a translator whose sources begin with the symbol of the target language."""
    path = write_several(tmp_path_factory.mktemp("several"))
    return Translator.load(path, "cpu").to("fr", "en")


def test_the_symbol_of_a_language_is_no_word_of_an_alignment(to_french, monkeypatch):
    source, target, links = "the cat sees", "der Hund läuft", [(0, 0), (2, 1), (1, 2)]
    words = sentence_maps(to_french, source, target).words().maps["cross"]
    assert words.keys == [" >>fr<<", " the", " cat", " sees", "</s>"]
    picked = words.weights.argmax(-1)
    monkeypatch.setattr(roles, "occlusion_links", lambda *_: links)
    for head in head_roles(to_french, [source], [target]):
        if head.kind == "cross":
            right = [picked[head.layer, head.head, t] == s + 1 for s, t in links]
            assert head.shares["aligns"] == pytest.approx(np.mean(right))
    # A head that picks the symbol alone picks no word.
    assert any((row == 0).any() for row in picked.reshape(-1, picked.shape[-1]))


class Reader(torch.nn.Module):
    """Predicts each of some target tokens from one known source token, and from nothing else.

    Args:
        pads: The ids of ``<pad>`` of both sides.
        read: Pairs of a source token, and the target tokens that depend on it.
    """

    def __init__(self, pads, read):
        super().__init__()
        self.pads, self.read = pads, read

    def forward(self, source_BS, target_BT):
        logits = torch.zeros(*target_BT.shape, self.pads[1] + 1)
        for source, targets in self.read:
            there = source_BS[:, source] != self.pads[0]
            for t in targets:
                logits[there, t] += 9 * torch.eye(len(logits[0, 0]))[target_BT[there, t]]
        return logits


@pytest.mark.parametrize("largest", [1, 1 << 24], ids=["one by one", "all at once"])
@pytest.mark.parametrize("names_a_language", [False, True])
def test_occlusion_finds_the_word_that_a_prediction_depends_on(
    translator, to_french, names_a_language, largest,
    monkeypatch
):  # fmt: skip
    """The last target word depends on no source word; a symbol of a language is no word."""
    model = to_french if names_a_language else translator
    sentence = read_sentence(model, "the cat sees", "der Hund läuft grün")
    pads = model.tokenizer.source_pad, model.tokenizer.target_pad
    words, targets = (word_groups(labels)[:-1] for labels in reversed(sentence.labels["cross"]))
    read = [(words[source][-1], targets[target]) for source, target in ((1, 0), (0, 1), (1, 2))]
    monkeypatch.setattr(model, "model", Reader(pads, read))
    monkeypatch.setattr("headway.ext.pictures.occlusion.MOST_LOGITS", largest)
    found = occlusion_links(model, sentence)
    assert found == ([(0, 0), (0, 2)] if names_a_language else [(1, 0), (0, 1), (1, 2)])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_removing_a_head_equals_a_zero_output_of_that_head(translator, kind):
    """The logits are the same as with a hook that sets the head's output to zero before W^O."""
    layer, head = 1, 2
    model, tokenizer = translator.model, translator.tokenizer
    stack = model.encoder if kind == "encoder" else model.decoder
    part = stack.layers[layer].cross if kind == "cross" else stack.layers[layer].mixer.attention
    assert isinstance(part, MultiHeadAttention)
    source = torch.tensor(tokenizer.encode_source(SOURCES[:1]))
    target = torch.tensor(tokenizer.encode_target(REFERENCES[:1]))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    less = remove_heads(translator, [(kind, layer, head)])

    def set_head_to_zero(_module, _inputs, heads):
        heads = heads.clone()
        heads[:, head] = 0
        return heads

    with torch.inference_mode():
        whole = model(source, target)
        hook = part.core.register_forward_hook(set_head_to_zero)
        expected = model(source, target)
        hook.remove()
        assert torch.allclose(less.model(source, target), expected, atol=1e-4)
    assert not torch.allclose(expected, whole, atol=1e-2)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_each_head_is_removed_then_the_aligning_ones_and_as_many_others(translator, monkeypatch):
    """With all heads BLEU is 100, because the references are the model's own translations; each head is compared with that."""
    greedy = replace(translator.default_search, beam=1)
    references = translator.translate(SOURCES, greedy)
    tried = []

    def remove(of, places):
        tried.append({*places})
        return remove_heads(of, places)

    monkeypatch.setattr(head_ablation, "remove_heads", remove)
    shares = [0.9, 0.2, 0.6]
    heads = [
        Head("cross", layer, i, {"aligns": each / (1 + layer), "end": 0.4}, 1.0)
        for layer in range(2)
        for i, each in enumerate(shares)
    ]
    found = measure_losses(translator, SOURCES, references, heads)
    assert found.bleu == pytest.approx(100)
    (none, *singles), others, aligning = tried[:7], tried[7:-1], tried[-1]
    assert none == set()
    assert singles == [{head.place} for head in heads]
    assert aligning == {*found.aligning} == {("cross", 0, 0), ("cross", 0, 2)}
    assert len(others) == len(found.others) == 5
    assert all(len(places) == 2 and not places & aligning for places in others)
    alone = remove_heads(translator, aligning)
    score = bleu(alone.translate(SOURCES, greedy), references, "de")
    assert found.lost == pytest.approx(100 - score)
    assert [head.bleu_lost for head in found.heads] != [0] * 6
    # If no head aligns, the best one counts; without cross-attention there is none.
    weak = [replace(head, shares={"aligns": head.shares["aligns"] / 3}) for head in heads]
    assert measure_losses(translator, SOURCES[:1], references[:1], weak).aligning == [
        ("cross", 0, 0)
    ]
    alone = [Head("encoder", 0, 0, {"end": 0.9}, 1.0)]
    assert measure_losses(translator, SOURCES[:1], references[:1], alone).aligning == []


@pytest.fixture
def files(tmp_path):
    """Return the arguments of the command; the third pair is blank."""
    columns = {
        "source": [*SOURCES[:2], "", *SOURCES[2:]],
        "reference": [*REFERENCES[:2], "", *REFERENCES[2:]],
    }
    words = []
    for name, lines in columns.items():
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        words += [f"--{name}", str(path)]
    return words


@pytest.mark.slow
def test_the_command_prints_every_head(model_directory, files, capsys):
    words = ["heads", str(model_directory), *files, "--no-bleu"]
    dispatch([*words, "--json"])
    captured = capsys.readouterr()
    values = json.loads(captured.out)
    assert values["pairs"] == 5
    assert "1 lines are blank" in captured.err
    translator = Translator.load(model_directory)
    expected = head_roles(translator, SOURCES, REFERENCES)
    assert [head["aligns"] for head in values["heads"]] == [
        head.shares.get("aligns") for head in expected
    ]
    assert [head["entropy"] for head in values["heads"]] == [head.entropy for head in expected]
    dispatch(words)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 18
    assert lines[1].split()[:3] == ["encoder", "1", "1"]


@pytest.mark.slow
def test_the_command_prints_the_lost_bleu(model_directory, files, capsys):
    dispatch(["heads", str(model_directory), *files, "--pairs", "2"])
    text = capsys.readouterr().out
    assert "aligning heads (layer.head): " in text
    assert "others, 5 draws" in text
    assert "greedily, 2 pairs" in text
