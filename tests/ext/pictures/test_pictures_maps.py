"""Attention maps contain the weights that the model used, and their labels are the text."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from headway.ext.pictures import AttentionMap, attention_maps, sentence_maps
from headway.ext.pictures.labels import START, spell, word_groups
from headway.model import Transformer
from headway.text.batches import Batch
from headway.translation.batching import pad_right
from support.attention_json import read_maps
from support.toy_models import sentences, small_config, translate_words


def make(tokenizer, texts):
    source, source_segments = pad_right(tokenizer.encode_source(texts), tokenizer.source_pad)
    targets = tokenizer.encode_target([translate_words(text) for text in texts])
    target, target_segments = pad_right(targets, tokenizer.target_pad)
    rows = np.arange(len(texts))
    return Batch(source, source_segments, target, target_segments, rows, sum(map(len, targets)))


def test_weights_times_values_give_the_output_of_the_attention(translator, tokenizer):
    """With W^V and W^O the maps give the output of each attention, so the model used these weights."""
    model, batch = translator.model, make(tokenizer, sentences(3, 21))
    maps = attention_maps(model, batch)
    assert list(maps) == ["encoder", "decoder", "cross"]
    parts = {
        "encoder": [layer.mixer.attention for layer in model.encoder.layers],
        "decoder": [layer.mixer.attention for layer in model.decoder.layers],
        "cross": [layer.cross for layer in model.decoder.layers],
    }
    received = {}
    hooks = [
        part.register_forward_hook(lambda m, i, o: received.update({m: (i[1], o)}))
        for layers in parts.values()
        for part in layers
    ]
    with torch.inference_mode():
        model(batch.source, batch.target, batch.source_segments, batch.target_segments)
        for kind, layers in parts.items():
            for weights, part in zip(maps[kind], layers, strict=True):
                memory, output = received[part]
                values = part.split(part.value(memory))
                assert torch.allclose(part.join(weights @ values), output, atol=1e-4), kind
    for hook in hooks:
        hook.remove()


def test_a_sentence_has_the_same_maps_alone_and_in_a_batch(translator, tokenizer):
    texts = sentences(4, 22)
    together = attention_maps(translator.model, make(tokenizer, texts))
    for row, text in enumerate(texts):
        for kind, alone in attention_maps(translator.model, make(tokenizer, [text])).items():
            here = together[kind][:, row : row + 1, :, : alone.size(3), : alone.size(4)]
            assert torch.allclose(here, alone, atol=1e-4)
            assert torch.allclose(alone.sum(-1), torch.ones_like(alone[..., 0]), atol=1e-5)


def test_maps_ignore_dropout_and_the_model_stays_in_training_mode(tokenizer):
    config = replace(small_config(tokenizer).model, dropout=0.5, attention_dropout=0.5)
    model = Transformer(config).train()
    batch = make(tokenizer, sentences(2, 23))
    first, second = attention_maps(model, batch), attention_maps(model, batch)
    assert model.training
    for kind in first:
        assert torch.equal(first[kind], second[kind])


@pytest.mark.parametrize("text", ["the cat sees a dog", "the  cat", "grün x", "a </s> <0xE2> ▁ b"])
def test_joined_labels_are_the_text(translator, text):
    maps = sentence_maps(translator, f" {text} ", "die Katze")
    assert (maps.source, maps.target) == (text, "die Katze")
    encoder, cross, decoder = (maps.maps[kind] for kind in ("encoder", "cross", "decoder"))
    assert encoder.queries == encoder.keys == cross.keys
    assert encoder.keys[-1] == cross.queries[-1] == "</s>"
    assert spell(encoder.keys[:-1]) == text
    assert "".join(cross.queries[:-1]) == " die Katze"
    # The row that predicts a subword has read the subword before it.
    assert decoder.queries == decoder.keys == [START, *cross.queries[:-1]]
    for found in (encoder, cross, decoder):
        assert found.weights.shape == (2, 3, len(found.queries), len(found.keys))
        assert found.weights.dtype == np.float32
    above = np.triu(np.ones(decoder.weights.shape[2:], bool), 1)
    assert (decoder.weights[..., above] == 0).all()
    merged = maps.words().maps["encoder"]
    assert merged.keys == merged.queries == [*(f" {word}" for word in text.split()), "</s>"]


def test_the_default_target_is_the_translation(translator):
    maps = sentence_maps(translator, "the cat sees")
    assert maps.target == translator.translate("the cat sees")


def test_words_sum_keys_and_average_queries():
    labels = [START, " gro", "ß", "er", " Hund", "</s>"]
    groups = word_groups(labels)
    assert groups == [[0], [1, 2, 3], [4], [5]]
    assert word_groups(["un", "der", "  ", "x", " ", " y"]) == [[0, 1], [2, 3], [4, 5]]
    weights = np.random.default_rng(1).dirichlet(np.ones(6), (2, 3, 6)).astype(np.float32)
    merged = AttentionMap(labels, labels, weights).words()
    assert merged.queries == merged.keys == [START, " großer", " Hund", "</s>"]
    for row, rows in enumerate(groups):
        for column, columns in enumerate(groups):
            expected = sum(weights[:, :, i, j] for i in rows for j in columns) / len(rows)
            assert np.allclose(merged.weights[:, :, row, column], expected, atol=1e-6)
    assert np.allclose(merged.weights.sum(-1), 1, atol=1e-5)
    assert merged.words().weights == pytest.approx(merged.weights)


def test_byte_tokens_become_their_character():
    assert spell([" <", "<0xE2>", "<0x82>", "<0xAC>", "5"]) == "<€5"
    assert spell(["<0xE2>"]) == "\ufffd"


def test_json_keeps_weights_within_half_a_byte(translator):
    maps = sentence_maps(translator, "the cat sees a dog", "die Katze sieht")
    written = json.loads(json.dumps(maps.to_json()))
    read = read_maps(written)
    assert (read.source, read.target, list(read.maps)) == (
        maps.source,
        maps.target,
        list(maps.maps),
    )
    for kind, found in maps.maps.items():
        assert (read.maps[kind].queries, read.maps[kind].keys) == (found.queries, found.keys)
        assert np.abs(read.maps[kind].weights - found.weights).max() <= 1 / 510 + 1e-6
    assert read.to_json() == written
