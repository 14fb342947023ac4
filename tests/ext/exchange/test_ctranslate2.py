"""CTranslate2 directories: an export and its import compute the same as the model."""

import json
from dataclasses import replace

import pytest
import torch

from headway.config import SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.certificate import certify, random_lines
from headway.ext.exchange.ctranslate2 import spec
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.entries import read_entries
from headway.ext.exchange.ctranslate2.reader import read
from headway.ext.exchange.ctranslate2.runner import CTranslate2Runner
from headway.ext.exchange.ctranslate2.variables import TABLES
from headway.ext.exchange.ctranslate2.writer import write
from headway.ext.exchange.huggingface.writer import write as write_marian
from headway.model.embeddings import sinusoids
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, load_model, save_model
from support.bounds import bounded
from support.ctranslate2_models import write_variables
from support.exchange_models import SHAPES, SMALL, change_json, random_model
from support.toy_models import sentences, translate_words

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def parted():
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    return Tokenizer.learn(pairs, TextConfig(vocab_size=293, joint_vocab=False))


@pytest.fixture(params=SHAPES)
def model(request, tmp_path, tokenizer, parted):
    pieces = parted if request.param == "two vocabularies" else tokenizer
    return random_model(tmp_path / "model", pieces, SHAPES[request.param])


def logits(model):
    torch.manual_seed(1)
    sizes = model.tokenizer.source_vocab_size, model.tokenizer.target_vocab_size
    source, target = (torch.randint(0, size - 1, (3, 17)) for size in sizes)
    with torch.inference_mode():
        return model.transformer(source, target)


def test_an_export_translates_and_scores_as_the_model(model, tmp_path):
    notes = write(model, tmp_path / "out", "float32")
    runner, lines = CTranslate2Runner(tmp_path / "out"), random_lines(model, 11)
    found = certify(model, runner, "ctranslate2", "float32", notes, lines)
    assert not found.failures
    assert found.identical + found.ties == found.lines == 11
    assert found.largest_difference is not None
    assert found.largest_difference < 1e-4
    again = read(tmp_path / "out")
    assert again.languages == model.languages
    assert again.config.search == model.config.search
    assert again.tokenizer.fingerprint == model.tokenizer.fingerprint
    torch.testing.assert_close(logits(again), logits(model), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("joint", [True, False])
def test_sources_without_an_end_are_read_trained_and_written_so(joint, tmp_path, tokenizer, parted):
    write(
        random_model(tmp_path / "model", tokenizer if joint else parted, SMALL), tmp_path / "theirs"
    )
    change_json(tmp_path / "theirs" / "config.json", add_source_eos=False)
    model = read(tmp_path / "theirs")
    text = "eine Katze"
    [source], [target] = (
        model.tokenizer.encode_source([text]),
        model.tokenizer.encode_target([text]),
    )
    assert Tokenizer.eos not in source
    assert model.tokenizer.decode_source(source) == model.tokenizer.decode(target) == text
    assert target[-1] == Tokenizer.eos
    assert model.tokenizer.encode_source([""]) == [[Tokenizer.unk]]
    save_model(
        tmp_path / "ours", model.network, model.tokenizer, model.config, model.languages, "a card"
    )
    again = load_model(tmp_path / "ours")
    assert again.tokenizer.encode_source([text]) == [source]
    write(again, tmp_path / "out")
    for folder in ("theirs", "out"):
        runner, lines = CTranslate2Runner(tmp_path / folder), random_lines(again, 11)
        found = certify(again, runner, "ctranslate2", "float32", [], lines)
        assert found.identical + found.ties == 11
        assert found.largest_difference < 1e-4
    with pytest.raises(HeadwayError, match="do not end in </s>"):
        write_marian(again, tmp_path / "marian")


@pytest.mark.parametrize(("precision", "bound"), [("int8", 1 / 254), ("float16", 2**-11)])
def test_rounded_weights_are_read_as_the_values_they_represent(
    precision, bound, tmp_path, tokenizer
):
    model = random_model(tmp_path / "model", tokenizer, SMALL, sharp=1.0)
    before = {name: value.clone() for name, value in model.transformer.state_dict().items()}
    write(model, tmp_path / "out", precision)
    again = read(tmp_path / "out").transformer.state_dict()
    rounded = 0
    for name, value in before.items():
        # CTranslate2 rounds the tensors of a specification in place.
        assert torch.equal(model.transformer.state_dict()[name], value)
        largest = value.abs().amax(-1, keepdim=True)
        assert ((again[name] - value).abs() <= bound * largest * 1.001 + 1e-7).all(), name
        rounded += int((again[name] != value).any())
    assert rounded > 20


def test_a_wrong_position_table_fails_the_certificate(small, tmp_path, monkeypatch):
    def halves(length, d_model):
        table = sinusoids(length, d_model)
        return torch.cat([table[:, ::2], table[:, 1::2]], 1)

    monkeypatch.setattr(spec, "sinusoids", halves)
    for precision, failures in (("float32", 2), ("int8", 1)):
        write(small, tmp_path / precision, precision)
        runner, lines = CTranslate2Runner(tmp_path / precision), random_lines(small, 11)
        found = certify(small, runner, "ctranslate2", precision, [], lines)
        assert len(found.failures) == failures


@pytest.fixture
def changed(tmp_path, tokenizer):
    """Change the variables, entries and settings of an export of a model with these settings."""

    def change_export(change, shape=SMALL, **settings):
        model, out = random_model(tmp_path / "model", tokenizer, shape), tmp_path / "out"
        write(model, out, "float32")
        variables = read_variables(out / "model.bin")
        entries = json.loads((out / "shared_vocabulary.json").read_text(encoding="utf-8"))
        entries = change(variables, entries) or entries
        write_variables(out / "model.bin", variables)
        (out / "shared_vocabulary.json").write_text(json.dumps(entries), encoding="utf-8")
        change_json(out / "config.json", **settings)
        (out / "headway.json").unlink()
        return model, out

    return change_export


ZERO_START = "decoder/start_from_zero_embedding"


def test_foreign_vocabularies_are_put_into_headways_order(changed):
    """Another order of ids, and a start symbol with an embedding, change no result."""

    def shuffle(variables, entries):
        order = torch.randperm(len(entries), generator=torch.Generator().manual_seed(3))
        for name in TABLES:
            variables[name] = variables[name].clone()
            if "projection" not in name:
                variables[name][-1] = torch.linspace(-1, 1, 24)  # of <s>
            variables[name] = variables[name][order]
        variables[ZERO_START] = torch.tensor(0, dtype=torch.int8)
        renamed = ["<s>" if entry == "<pad>" else entry for entry in entries]
        return [renamed[i] for i in order]

    shape, start = replace(SMALL, tying="none"), "<s>"
    model, out = changed(shuffle, shape, bos_token=start, decoder_start_token=start)
    again = read(out)
    assert again.languages == ("und", "und")
    translator, theirs = Translator(again.transformer, again.tokenizer), CTranslate2Runner(out)
    for text in sentences(7, 2):
        [pieces] = map(again.tokenizer.source_subwords, again.tokenizer.encode_source([text]))
        assert [pieces] == [
            *map(model.tokenizer.source_subwords, model.tokenizer.encode_source([text]))
        ]
        [[found]] = translator.stream([text], SearchConfig(beam=1, max_extra=3))
        [answer] = theirs.translator.translate_batch(
            [pieces[:-1]],
            beam_size=1,
            max_decoding_length=len(pieces) + 3,
            suppress_sequences=[[start]],
        )
        count = min(len(found.tokens), len(answer.hypotheses[0]))
        assert count > 3
        assert found.tokens[:count] == answer.hypotheses[0][:count]


def test_a_vocabulary_without_a_start_symbol_gets_one(changed):
    """Converted OPUS-MT models start from zero and have no entry <pad>."""

    def drop_pad(variables, entries):
        for name in (*TABLES, "decoder/projection/bias"):
            variables[name] = variables[name][:-1].clone()
        return entries[:-1]

    model, out = changed(drop_pad, replace(SMALL, output_bias=True), decoder_start_token="</s>")
    again = read(out)
    assert again.tokenizer.target_vocab_size == model.tokenizer.target_vocab_size
    found, known = logits(again), logits(model)
    torch.testing.assert_close(found[..., :-1], known[..., :-1], rtol=1e-5, atol=1e-4)
    assert (found[..., -1] < -9000).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("encoder/layer_0/self_attention/relative_position_keys", torch.ones(3, 8), "no such part"),
        ("encoder/layernorm_embedding/gamma", torch.ones(24), "no such part"),
        ("decoder/activation", torch.tensor(1, dtype=torch.int8), "unknown to Headway"),
        ("decoder/num_heads", torch.tensor(0, dtype=torch.int16), "num_heads = 3 and 0"),
        ("decoder/scale_embeddings", torch.tensor(3.0), r"Headway has 4\.89898 or 1"),
        ("encoder/layer_1/ffn/linear_0/weight", torch.ones(41, 24), "was expected"),
        ("encoder/layer_0/ffn/linear_0/bias", torch.full((37,), torch.nan), "not finite"),
        ("encoder/layer_0/self_attention/linear_0/weight", torch.ones(71, 24), "was expected"),
        ("encoder/embeddings_0/weight", torch.ones(5, 24), "was expected"),
        (ZERO_START, torch.tensor(0, dtype=torch.int8), "'<nowhere>' is not in the vocabulary"),
    ],
)
def test_other_models_are_rejected_in_one_line(name, value, message, changed):
    start = {"decoder_start_token": "<nowhere>"} if name == ZERO_START else {}
    _, out = changed(lambda variables, _: variables.update({name: value}), **start)
    with pytest.raises(HeadwayError, match=message) as refused:
        read(out)
    assert "\n" not in str(refused.value)
    assert str(out) in str(refused.value)


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_an_excessive_vocabulary_is_rejected_before_python_walks_it(kind, tmp_path):
    content = "[" + '"",' * 4_000_000 + '""]' if kind == "json" else "\n" * 15_000_000
    (tmp_path / f"shared_vocabulary.{kind}").write_text(content)
    del content
    with pytest.raises(HeadwayError, match="has more than"), bounded():
        read_entries(tmp_path, "source")


def test_an_alias_of_a_rounded_tensor_has_its_scale(tmp_path):
    """Headway 0.1 wrote an alias of the scale as well; CTranslate2 does not."""
    weight = torch.tensor([[2, 4]], dtype=torch.int8)
    variables = {"a/weight": weight, "a/weight_scale": torch.ones(1)}
    for aliases in ({}, {"b/weight_scale": "a/weight_scale"}):
        write_variables(tmp_path / "model.bin", variables, {"b/weight": "a/weight"} | aliases)
        found = read_variables(tmp_path / "model.bin")
        assert found.keys() == {"a/weight", "a/weight_scale", "b/weight", "b/weight_scale"}
        assert torch.equal(found["b/weight_scale"], torch.ones(1))
