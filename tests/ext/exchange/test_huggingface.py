"""Marian directories: transformers and Headway compute the same from the same files."""

import json
import pickle
import shutil
from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import pytest
import torch

from headway.config import ModelConfig, SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.certificate import certify
from headway.ext.exchange.huggingface.reader import read
from headway.ext.exchange.huggingface.runner import TransformersRunner
from headway.ext.exchange.huggingface.writer import find_refusals, write
from headway.ext.exchange.importing import import_model
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, load_model, save_model
from headway.translation.batching import pad_right
from support.bounds import bounded
from support.exchange_models import EXACT, REFUSED_BY_MARIAN, change_json, make_model
from support.marian_models import KINDS, to_old, write_marian
from support.pieces import align, cut, find
from support.toy_models import sentences, translate_words
from support.trap import Trap

# transformers takes seconds to import, and its warnings are not about Headway.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("transformers") is None, reason="needs transformers"),
]

# Text of both vocabularies, of neither, and characters that have no piece.
TEXTS = [
    *sentences(30, 5), *map(translate_words, sentences(9, 6)), "鳥鳥 the 鳥 cat", "the ß hört ö", "",
    ">>deu<< the cat", ">>nld<<the dog", ">>xyz<< cat", "the >>deu<< cat", "  two   spaces ", "ﬁ ① Ａ",
    "a\u2581b", "</p> <x>",
]  # fmt: skip
UNKNOWN_CODE = ">>xyz<<"  # not in the vocabulary: transformers drops it, Headway treats it as text


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    top = tmp_path_factory.mktemp("marian")
    return {kind: write_marian(top / kind, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def two_vocabularies():
    """A tokenizer whose source vocabulary is smaller than the target's."""
    lines = sentences(400, 1)
    joint = Tokenizer.learn([(line, line) for line in lines], TextConfig(vocab_size=311))
    other = [(translate_words(line), translate_words(line)) for line in lines]
    return Tokenizer(joint.models[0], Tokenizer.learn(other, TextConfig(vocab_size=331)).models[0])


def numbers(directory, model):
    """Return the Marian id of each of Headway's ids, for source and target."""
    known = json.loads((directory / "vocab.json").read_text())
    file = directory / "target_vocab.json"
    other = json.loads(file.read_text()) if file.exists() else known
    tokenizer = model.tokenizer
    return (
        [known[p] for p in tokenizer.source_subwords(range(tokenizer.source_vocab_size))],
        [other[p] for p in tokenizer.target_subwords(range(tokenizer.target_vocab_size))],
    )


@cache
def load_theirs(directory):
    import transformers

    load = transformers.AutoTokenizer, transformers.AutoModelForSeq2SeqLM
    tokenizer, model = (kind.from_pretrained(directory) for kind in load)
    return tokenizer, model.eval()


@torch.inference_mode()
def logits(directory, model):
    """Return the logits of a padded batch by Headway and by transformers, in Headway's order."""
    lines = sentences(7, 3)
    sources = model.tokenizer.encode_source(lines)
    targets = model.tokenizer.encode_target([translate_words(line) for line in lines])
    source, segments = pad_right(sources, model.tokenizer.source_pad)
    target, real = pad_right(targets, model.tokenizer.target_pad)
    rows, columns = (torch.tensor(ids) for ids in numbers(directory, model))
    _, theirs = load_theirs(directory)
    before = torch.nn.functional.pad(columns[target][:, :-1], (1, 0), value=int(columns[-1]))
    found = theirs(input_ids=rows[source], attention_mask=segments, decoder_input_ids=before)
    return model.transformer(source, target, segments)[real == 1], found.logits[real == 1][
        :, columns
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_an_imported_model_is_that_of_transformers(kind, directories, tmp_path):
    """It predicts and splits text alike, also when it was saved, or exported again."""
    model = read(directories[kind])
    ours, theirs = logits(directories[kind], model)
    assert theirs.std() > 0.5
    assert torch.allclose(ours, theirs, rtol=0, atol=1e-5)
    shape = model.config.model
    assert shape.output_bias == bool(KINDS[kind].get("bias"))
    assert (shape.positions == "learned") == bool(KINDS[kind].get("positions"))
    assert shape.tying == {"untied": "none", "target": "target", "two vocabularies": "target"}.get(
        kind, "three-way"
    )
    write(model, tmp_path / "out", "float32")
    again = read(tmp_path / "out")
    assert replace(again.config.model, max_positions=67) == shape
    card = "# A model\n"
    save_model(tmp_path, model.transformer, model.tokenizer, model.config, model.languages, card)
    saved = load_model(tmp_path)
    assert saved.config == model.config
    for other in (again, saved):
        for name, value in other.transformer.state_dict().items():
            assert torch.equal(value, model.transformer.state_dict()[name]), name
    original, copied = (load_theirs(where)[0] for where in (directories[kind], tmp_path / "out"))
    rows, columns = numbers(directories[kind], model)
    for text in TEXTS:
        assert copied.tokenize(text) == original.tokenize(text)
        if not text.startswith(UNKNOWN_CODE):
            [ids] = model.tokenizer.encode_source([text])
            assert [rows[i] for i in ids] == original(text).input_ids, text
            assert saved.tokenizer.encode_source([text]) == [ids]
    for text in map(translate_words, sentences(9, 8)):
        [ids] = model.tokenizer.encode_target([text])
        assert [columns[i] for i in ids] == original(text_target=text).input_ids
        assert Tokenizer.unk in ids or model.tokenizer.decode(ids) == text


def test_an_import_keeps_the_beam(directories, tmp_path):
    shutil.copytree(directories["opus"], tmp_path / "model")
    for stored, kept in ((1, 1), (64, 64), (65, 4), (0, 4)):
        settings = {"num_beams": stored, "length_penalty": 1.5, "forced_bos_token_id": None}
        (tmp_path / "model" / "generation_config.json").write_text(json.dumps(settings))
        assert read(tmp_path / "model").config.search == SearchConfig(beam=kept)


def test_an_old_directory_is_the_same_model(directories, tmp_path):
    old = shutil.copytree(directories["opus"], tmp_path / "old")
    to_old(old)
    assert not (old / "model.safetensors").exists()
    new = read(directories["opus"]).transformer.state_dict()
    for name, value in read(old).transformer.state_dict().items():
        assert torch.equal(value, new[name])


def test_every_piece_of_a_long_line_starts_with_its_language(directories):
    model = read(directories["opus"])
    search = SearchConfig(max_tokens=17)
    translator = Translator(model.transformer, model.tokenizer, search, "cpu")
    line = " ".join(sentences(13, 2))
    pieces = cut(translator, f">>deu<< {line}")
    parts = [piece.text for piece in pieces]
    assert len(parts) > 2
    assert {piece.language_name for piece in pieces} == {">>deu<< "}
    assert "".join(parts) == line
    assert all(len(piece.ids) <= 17 for piece in pieces)
    encoded = translator.tokenizer.encode_source([">>deu<<" + part.strip() for part in parts])
    assert [piece.ids for piece in pieces] == encoded
    assert "".join(piece.text for piece in cut(translator, line)) == line


def test_words_are_aligned_in_a_line_that_starts_with_its_language(directories):
    model = read(directories["opus"])
    line = " ".join(sentences(13, 2))
    for longest, named in ((200, ">>deu<< "), (17, ">>deu<< "), (17, ">>deu<<")):
        search = SearchConfig(max_tokens=longest, max_extra=5)
        translator = Translator(model.transformer, model.tokenizer, search, "cpu")
        pieces = cut(translator, named + line)
        assert len(pieces) == (1 if longest == 200 else 5)
        [translation] = next(iter(translator.stream([named + line], align=True)))
        pairs = translation.alignment
        assert pairs is not None
        # For each part: the numbers of its words in the line, and those of the words of its translation.
        words, said, first, expected = (named + line).split(), 0, int(named[-1] == " "), []
        for piece in pieces:
            bare = piece.text.split()
            assert bare == [w.removeprefix(">>deu<<") for w in words[first : first + len(bare)]]
            [found] = find(translator, [piece])[0]
            links = align(translator, piece, found)
            assert all(0 <= source < len(bare) for source, _ in links)
            expected += [(source + first, target + said) for source, target in links]
            first += len(bare)
            said += len(model.tokenizer.decode(found.tokens).split())
        assert pairs == expected


def check_exact(model, out):
    """Export a model, and check that transformers computes the same on 20 lines."""
    assert find_refusals(model.config.model) == []
    notes = write(model, out, "float32")
    found = certify(
        model, TransformersRunner(out), "huggingface", "float32", notes, sentences(20, 9, 15)
    )
    assert found.largest_difference is not None
    assert found.largest_difference <= 1e-4
    assert found.identical == found.lines == 20


@pytest.mark.parametrize("changes", EXACT.values(), ids=EXACT)
def test_an_export_is_exact(changes, tokenizer, tmp_path):
    check_exact(make_model(tokenizer, **changes), tmp_path / "out")


def test_an_exported_tokenizer_splits_text_as_the_model_does(tokenizer, tmp_path):
    write(make_model(tokenizer), tmp_path / "out", "float32")
    loaded, _ = load_theirs(tmp_path / "out")
    texts = [*sentences(9, 8), "größer ①ﬁ 👩‍👩‍👧 \t x", "a  b", "日本", "don't  stop…"]
    for text in texts:
        [ids] = tokenizer.encode_source([text])
        assert loaded(text).input_ids == ids
        assert loaded.decode(ids, skip_special_tokens=True).split() == tokenizer.decode(ids).split()


@pytest.mark.parametrize("turned", [False, True])
def test_two_vocabularies_of_two_sizes_are_exact(turned, two_vocabularies, tmp_path):
    models = two_vocabularies.models
    tokenizer = Tokenizer(*(models[::-1] if turned else models))
    assert (tokenizer.source_vocab_size > tokenizer.target_vocab_size) == turned
    model = make_model(tokenizer, tying="target")
    check_exact(model, tmp_path / "out")
    loaded, _ = load_theirs(tmp_path / "out")
    for text in sentences(9, 8):
        assert loaded(text).input_ids == tokenizer.encode_source([text])[0]
        target = translate_words(text)
        assert loaded(text_target=target).input_ids == tokenizer.encode_target([target])[0]


def test_weights_can_be_stored_in_16_bits(two_vocabularies, tmp_path):
    model = make_model(two_vocabularies, tying="target")
    write(model, tmp_path / "whole", "float32")
    assert any("float16" in note for note in write(model, tmp_path / "half", "float16"))
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("whole", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    ours, theirs = logits(tmp_path / "half", read(tmp_path / "half"))
    assert torch.allclose(ours, theirs.float(), rtol=0.1, atol=0.3)


def test_an_unsupported_setting_is_rejected():
    config = ModelConfig(source_vocab_size=11, target_vocab_size=11, d_model=24, num_heads=3)
    assert find_refusals(config) == []
    for name, change in REFUSED_BY_MARIAN.items():
        [reason] = find_refusals(replace(config, **change))
        assert reason.startswith(name)


def changed(name, **values):
    return lambda directory: change_json(directory / name, **values)


def pickled(directory):
    (directory / "model.safetensors").unlink()
    (directory / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(directory / "canary")))


def without(name):
    def change(directory):
        (directory / name).unlink()

    return change


def with_weight(name, change):
    """Change a tensor of the weights; one that is not there is added."""

    def rewrite(directory):
        from safetensors.torch import load_file, save_file

        weights = load_file(directory / "model.safetensors")
        weights[name] = change(weights.get(name, torch.zeros(3)))
        save_file(weights, directory / "model.safetensors")

    return rewrite


BIAS = "model.encoder.layers.0.fc1.bias"
WIDE = {"encoder_attention_heads": 1, "decoder_attention_heads": 1}
# Wrong values of single fields, and files of any content, are cases of `support.damaged_models`.
HOSTILE = {
    "pickle": (pickled, "pytorch_model.bin"),
    "no weights": (without("model.safetensors"), "no model.safetensors"),
    "NaN": (with_weight(BIAS, lambda value: value * torch.nan), "not finite"),
    "shape": (with_weight(BIAS, lambda value: value[1:]), "fc1.bias is"),
    "foreign": (with_weight("adapter.weight", lambda value: value), "adapter.weight"),
    "integers": (with_weight(BIAS, lambda value: value.long()), "int64"),
    "forced start": (changed("config.json", forced_bos_token_id=3), "forced_bos_token_id = 3"),
    "layers that are not there": (changed("config.json", encoder_layers=900), "model.safetensors"),
    "10^6 wide": (changed("config.json", d_model=10**6, **WIDE), "must be at most 16,384"),
    "10^6 words": (changed("config.json", vocab_size=10**6, decoder_vocab_size=10**6), "vocab.json"),
    "activation": (changed("config.json", activation_function="gelu_new"), "gelu_new"),
    "two widths": (changed("config.json", encoder_ffn_dim=36), "ffn_dim"),
    "another start": (changed("config.json", decoder_start_token_id=3), "decoder_start_token_id"),
    "another end": (changed("config.json", eos_token_id=5), "</s>"),
    "twice the same number": (changed("vocab.json", **{"▁x": 3}), "vocab.json"),
    "heads": (changed("config.json", encoder_attention_heads=7, decoder_attention_heads=7), "config.json"),
    "two vocabularies": (changed("tokenizer_config.json", separate_vocabs=True), "target_vocab.json"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_directory_gives_a_message_of_one_line(name, directories, tmp_path):
    directory = tmp_path / "model"
    shutil.copytree(directories["opus"], directory)
    damage, words = HOSTILE[name]
    damage(directory)
    with pytest.raises(HeadwayError) as error, bounded():
        read(directory)
    assert words in str(error.value)
    assert all(str(directory) in line for line in str(error.value).split("\n"))
    assert not (directory / "canary").exists()


def test_an_imported_model_translates_to_the_languages_that_it_has_symbols_for(
    directories, tmp_path
):
    import_model(directories["opus"], tmp_path / "out", ("en", "gem"))
    plain = Translator.load(tmp_path / "out")
    assert plain.tokenizer.target_languages == ["deu", "nld"]
    texts = sentences(9, 3)
    for wanted, symbol in (("de", "deu"), ("nl", "nld"), ("nld", "nld")):
        chosen = plain.to(wanted)
        assert chosen.languages == ("en", wanted[:2])
        named = [f">>{symbol}<<{text}" for text in texts]
        assert chosen.translate(texts) == plain.translate(named)
        aligned, again = (
            [best.alignment for best, *_ in each.stream(lines, align=True)]
            for each, lines in ((chosen, texts), (plain, named))
        )
        assert aligned == again  # the symbol is no word
        # A text that names its language itself still does.
        assert chosen.translate([f">>deu<<{text}" for text in texts]) == plain.to("de").translate(
            texts
        )
    assert [each.languages for each in plain.list_directions()] == [
        ("en", "de"), ("en", "nl"), ("en", "gem"),
    ]  # fmt: skip
    with pytest.raises(HeadwayError, match="which has into deu, nld"):
        plain.to("fr")
