"""Marian directories: transformers and Headway compute the same from the same files."""

import json
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headway.config import ModelConfig, SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.certificate import certify
from headway.ext.exchange.huggingface.reader import read
from headway.ext.exchange.huggingface.runner import Runner
from headway.ext.exchange.huggingface.writer import find_refusals, write
from headway.ext.exchange.importing import import_model
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, load_model, save_model
from headway.translation.batching import pad_right
from headway.translation.directory import Model
from support.bounds import bounded
from support.marian_models import KINDS, to_old, write_marian
from support.random_models import EXACT, REFUSED_BY_MARIAN, make_model
from support.segments import align, cut, find
from support.toy_models import sentences, translate_words
from support.trap import Trap

transformers = pytest.importorskip("transformers")
# transformers takes seconds to import, and its warnings are not about Headway.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

# Text of both vocabularies, of neither, and characters that have no piece.
TEXTS = [
    *sentences(30, 5), *map(translate_words, sentences(9, 6)), "鳥鳥 the 鳥 cat", "the ß hört ö", "",
    ">>deu<< the cat", ">>nld<<the dog", ">>xyz<< cat", "the >>deu<< cat", "  two   spaces ", "ﬁ ① Ａ",
    "a\u2581b", "</p> <x>",
]  # fmt: skip
UNKNOWN_CODE = ">>xyz<<"  # not in the vocabulary: transformers drops it, Headway treats it as text


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("marian")
    return {kind: write_marian(top / kind, kind) for kind in KINDS}


@pytest.fixture(scope="module")
def two_vocabularies() -> Tokenizer:
    """A tokenizer whose source vocabulary is smaller than the target's."""
    lines = sentences(400, 1)
    joint = Tokenizer.learn([(line, line) for line in lines], TextConfig(vocab_size=311))
    other = [(translate_words(line), translate_words(line)) for line in lines]
    return Tokenizer(joint.models[0], Tokenizer.learn(other, TextConfig(vocab_size=331)).models[0])


def numbers(directory: Path, model: Model) -> tuple[list[int], list[int]]:
    """Return the Marian id of each of Headway's ids, for source and target."""
    known = json.loads((directory / "vocab.json").read_text())
    file = directory / "target_vocab.json"
    other = json.loads(file.read_text()) if file.exists() else known
    tokenizer = model.tokenizer
    return (
        [known[p] for p in tokenizer.source_subwords(range(tokenizer.source_vocab_size))],
        [other[p] for p in tokenizer.target_subwords(range(tokenizer.target_vocab_size))],
    )


def load_theirs(directory: Path) -> tuple[Any, Any]:
    load = transformers.AutoTokenizer, transformers.AutoModelForSeq2SeqLM
    tokenizer, model = (kind.from_pretrained(directory) for kind in load)
    return tokenizer, model.eval()


@torch.inference_mode()
def logits(directory: Path, model: Model) -> tuple[torch.Tensor, torch.Tensor]:
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
def test_an_imported_model_predicts_what_transformers_predicts(
    kind: str, directories: dict[str, Path]
) -> None:
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


@pytest.mark.parametrize("kind", KINDS)
def test_an_imported_tokenizer_splits_text_as_transformers_does(
    kind: str, directories: dict[str, Path]
) -> None:
    model = read(directories[kind])
    theirs, _ = load_theirs(directories[kind])
    rows, columns = numbers(directories[kind], model)
    for text in TEXTS:
        if not text.startswith(UNKNOWN_CODE):
            [ids] = model.tokenizer.encode_source([text])
            assert [rows[i] for i in ids] == theirs(text).input_ids, text
    for text in map(translate_words, sentences(9, 8)):
        [ids] = model.tokenizer.encode_target([text])
        assert [columns[i] for i in ids] == theirs(text_target=text).input_ids
        assert Tokenizer.unk in ids or model.tokenizer.decode(ids) == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beam", [1, 4])
def test_an_imported_model_translates_as_transformers_does(
    kind: str, beam: int, directories: dict[str, Path]
) -> None:
    model = read(directories[kind])
    tokenizer, theirs = load_theirs(directories[kind])
    _, columns = numbers(directories[kind], model)
    translator = Translator(model.transformer, model.tokenizer, device="cpu")
    search = SearchConfig(beam=beam, alpha=0.0, max_extra=3)
    for text in sentences(5, 4):
        batch = tokenizer([text], return_tensors="pt")
        how = {"length_penalty": 0.0} if beam > 1 else {}
        longest = batch.input_ids.shape[1] + 3
        [answer] = theirs.generate(
            **batch, num_beams=beam, min_new_tokens=1, max_new_tokens=longest, **how
        ).tolist()
        [[found]] = find(translator, cut(translator, text), search)
        assert [columns[i] for i in found.tokens] == answer[1:][: len(found.tokens)]
        assert len(answer) - 1 == len(found.tokens)
        said = tokenizer.decode(answer, skip_special_tokens=True)
        if Tokenizer.unk not in found.tokens:  # Headway shows <unk>, transformers omits it
            assert model.tokenizer.decode(found.tokens).split() == said.split()


@pytest.mark.parametrize("kind", KINDS)
def test_an_imported_model_can_be_exported_again(
    kind: str, directories: dict[str, Path], tmp_path: Path
) -> None:
    model = read(directories[kind])
    write(model, tmp_path / "out", "float32")
    again = read(tmp_path / "out")
    assert replace(again.config.model, max_positions=67) == model.config.model
    for name, value in again.transformer.state_dict().items():
        assert torch.equal(value, model.transformer.state_dict()[name]), name
    first, second = logits(directories[kind], model)[1], logits(tmp_path / "out", again)[1]
    assert torch.allclose(first, second, rtol=0, atol=1e-5)
    original, copied = (load_theirs(where)[0] for where in (directories[kind], tmp_path / "out"))
    for text in TEXTS:
        assert copied.tokenize(text) == original.tokenize(text)


@pytest.mark.parametrize(("stored", "kept"), [(1, 1), (20, 20), (64, 64), (65, 4), (0, 4)])
def test_an_import_keeps_the_beam(
    stored: int, kept: int, directories: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(directories["opus"], tmp_path / "model")
    settings = {"num_beams": stored, "length_penalty": 1.5, "forced_bos_token_id": None}
    (tmp_path / "model" / "generation_config.json").write_text(json.dumps(settings))
    assert read(tmp_path / "model").config.search == SearchConfig(beam=kept)


def test_an_old_directory_is_the_same_model(directories: dict[str, Path], tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(directories["opus"], old)
    to_old(old)
    assert not (old / "model.safetensors").exists()
    new = read(directories["opus"]).transformer.state_dict()
    for name, value in read(old).transformer.state_dict().items():
        assert torch.equal(value, new[name])


def test_every_segment_of_a_long_line_starts_with_its_language(
    directories: dict[str, Path],
) -> None:
    model = read(directories["opus"])
    search = SearchConfig(max_tokens=17)
    translator = Translator(model.transformer, model.tokenizer, search, "cpu")
    line = " ".join(sentences(13, 2))
    segments = cut(translator, f">>deu<< {line}")
    parts = [segment.text for segment in segments]
    assert len(parts) > 2
    assert {segment.language_name for segment in segments} == {">>deu<< "}
    assert "".join(parts) == line
    assert all(len(segment.ids) <= 17 for segment in segments)
    encoded = translator.tokenizer.encode_source([">>deu<<" + part.strip() for part in parts])
    assert [segment.ids for segment in segments] == encoded
    assert "".join(segment.text for segment in cut(translator, line)) == line


def test_words_are_aligned_in_a_line_that_starts_with_its_language(
    directories: dict[str, Path],
) -> None:
    model = read(directories["opus"])
    line = " ".join(sentences(13, 2))
    for longest, named in ((200, ">>deu<< "), (17, ">>deu<< "), (17, ">>deu<<")):
        search = SearchConfig(max_tokens=longest, max_extra=5)
        translator = Translator(model.transformer, model.tokenizer, search, "cpu")
        segments = cut(translator, named + line)
        assert len(segments) == (1 if longest == 200 else 5)
        [translation] = next(iter(translator.stream([named + line], align=True)))
        pairs = translation.alignment
        assert pairs is not None
        # For each part: the numbers of its words in the line, and those of the words of its translation.
        words, said, first, expected = (named + line).split(), 0, int(named[-1] == " "), []
        for segment in segments:
            bare = segment.text.split()
            assert bare == [w.removeprefix(">>deu<<") for w in words[first : first + len(bare)]]
            [found] = find(translator, [segment])[0]
            links = align(translator, segment, found)
            assert all(0 <= source < len(bare) for source, _ in links)
            expected += [(source + first, target + said) for source, target in links]
            first += len(bare)
            said += len(model.tokenizer.decode(found.tokens).split())
        assert pairs == expected


@pytest.mark.parametrize("kind", ["opus", "two vocabularies", "bpe"])
def test_an_import_can_be_saved_and_loaded(
    kind: str, directories: dict[str, Path], tmp_path: Path
) -> None:
    model = read(directories[kind])
    assert model.languages == ("en", "de")
    save_model(
        tmp_path, model.transformer, model.tokenizer, model.config, model.languages, "# A model\n"
    )
    again = load_model(tmp_path)
    assert again.config == model.config
    assert again.tokenizer.encode_source(TEXTS) == model.tokenizer.encode_source(TEXTS)
    a, b = (Translator(m.transformer, m.tokenizer, device="cpu") for m in (model, again))
    search = SearchConfig(max_extra=2)
    assert a.translate(TEXTS[:5], search) == b.translate(TEXTS[:5], search)


def check_exact(model: Model, out: Path) -> None:
    """Export a model, and check that transformers computes the same on 60 lines."""
    assert find_refusals(model.config.model) == []
    notes = write(model, out, "float32")
    found = certify(model, Runner(out), "huggingface", "float32", notes, sentences(60, 9, 15))
    assert found.largest_difference is not None
    assert found.largest_difference <= 1e-4
    assert found.identical == found.lines == 60


@pytest.mark.parametrize("name", EXACT)
def test_an_export_is_exact(name: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = make_model(tokenizer, **EXACT[name])
    check_exact(model, tmp_path / "out")


@pytest.mark.parametrize("turned", [False, True])
def test_two_vocabularies_of_two_sizes_are_exact(
    turned: bool, two_vocabularies: Tokenizer, tmp_path: Path
) -> None:
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


def test_an_exported_tokenizer_splits_text_as_the_model_does(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    write(make_model(tokenizer), tmp_path / "out", "float32")
    loaded, _ = load_theirs(tmp_path / "out")
    texts = [*sentences(9, 8), "größer ①ﬁ 👩‍👩‍👧 \t x", "a  b", "日本", "don't  stop…"]
    for text in texts:
        [ids] = tokenizer.encode_source([text])
        assert loaded(text).input_ids == ids
        assert loaded.decode(ids, skip_special_tokens=True).split() == tokenizer.decode(ids).split()


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_weights_can_be_stored_in_16_bits(
    precision: str, two_vocabularies: Tokenizer, tmp_path: Path
) -> None:
    model = make_model(two_vocabularies, tying="target")
    write(model, tmp_path / "full", "float32")
    notes = write(model, tmp_path / "half", precision)
    assert any(precision in note for note in notes)
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("full", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    ours, theirs = logits(tmp_path / "half", read(tmp_path / "half"))
    assert torch.allclose(ours, theirs.float(), rtol=0.1, atol=0.3)


@pytest.mark.parametrize("name", REFUSED_BY_MARIAN)
def test_an_unsupported_setting_is_rejected(name: str) -> None:
    config = ModelConfig(source_vocab_size=11, target_vocab_size=11, d_model=24, num_heads=3)
    assert find_refusals(config) == []
    [reason] = find_refusals(replace(config, **REFUSED_BY_MARIAN[name]))
    assert reason.startswith(name)


def test_the_penalty_matches_at_a_typical_length() -> None:
    from headway.ext.exchange.huggingface.text_files import matched_penalty
    from headway.translation.search.beam_search import length_penalty

    exponent = matched_penalty(0.6)
    ours = length_penalty(21, 0.6) / length_penalty(19, 0.6)
    assert ours == pytest.approx((21 / 19) ** exponent, rel=1e-3)


def changed(name: str, **values: object) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        file = directory / name
        file.write_text(json.dumps(json.loads(file.read_text()) | values))

    return change


def pickled(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    (directory / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(directory / "canary")))


def pickled_safetensors(directory: Path) -> None:
    (directory / "model.safetensors").write_bytes(pickle.dumps(Trap(directory / "canary")))


def pickled_in_zip(directory: Path) -> None:
    to_old(directory)
    file = directory / "pytorch_model.bin"
    with zipfile.ZipFile(file) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    with zipfile.ZipFile(file, "w") as archive:
        for part, data in parts.items():
            trap = pickle.dumps(Trap(directory / "canary"), 2)
            archive.writestr(part, trap if part.endswith(".pkl") else data)


def compressed(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    with zipfile.ZipFile(directory / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(1 << 26))
        archive.writestr("archive/version", "3")


def not_a_state(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    torch.save([1, 2, torch.zeros(3000)], directory / "pytorch_model.bin")


def stretched(directory: Path) -> None:
    """Store a tensor with a huge shape and one number."""
    to_old(directory)
    file = directory / "pytorch_model.bin"
    weights = torch.load(file, weights_only=True)
    weights["model.shared.weight"] = torch.zeros(1).expand(10**6, 10**6)
    torch.save(weights, file)


def no_weights(directory: Path) -> None:
    (directory / "model.safetensors").unlink()


def without(name: str) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        (directory / name).unlink()

    return change


def rewritten(directory: Path, edit: Callable[[dict[str, torch.Tensor]], None]) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(directory / "model.safetensors")
    edit(weights)
    save_file(weights, directory / "model.safetensors")


def not_finite(directory: Path) -> None:
    rewritten(directory, lambda w: w["model.encoder.layers.0.fc1.bias"].fill_(float("nan")))


def wrong_shape(directory: Path) -> None:
    rewritten(directory, lambda w: w.update({"model.encoder.layers.0.fc1.bias": torch.zeros(36)}))


def foreign_weight(directory: Path) -> None:
    rewritten(directory, lambda w: w.update({"adapter.weight": torch.zeros(3)}))


def whole_numbers(directory: Path) -> None:
    def edit(weights: dict[str, torch.Tensor]) -> None:
        name = "model.encoder.layers.0.fc1.bias"
        weights[name] = weights[name].long()

    rewritten(directory, edit)


def huge_header(directory: Path) -> None:
    (directory / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 40) + b"{" * 5000)


def cut_short(name: str) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        data = (directory / name).read_bytes()
        (directory / name).write_bytes(data[: len(data) // 2])

    return change


def deep(directory: Path) -> None:
    (directory / "vocab.json").write_text('{"a":' * 100_000)


def huge_spm(directory: Path) -> None:
    with (directory / "source.spm").open("wb") as file:
        file.truncate(1 << 40)


def huge_config(directory: Path) -> None:
    with (directory / "config.json").open("wb") as file:
        file.truncate(1 << 40)


def huge_weights(directory: Path) -> None:
    with (directory / "model.safetensors").open("ab") as file:
        file.truncate(1 << 40)


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "pickle": (pickled, "pytorch_model.bin"),
    "pickle in an archive": (pickled_in_zip, "pytorch_model.bin"),
    "pickle as safetensors": (pickled_safetensors, "model.safetensors"),
    "compressed": (compressed, "pytorch_model.bin"),
    "a list": (not_a_state, "pytorch_model.bin"),
    "stretched": (stretched, "pytorch_model.bin"),
    "no weights": (no_weights, "no model.safetensors"),
    "no words": (without("vocab.json"), "no vocab.json"),
    "no source.spm": (without("source.spm"), "no source.spm"),
    "no config": (without("config.json"), "no config.json"),
    "NaN": (not_finite, "not finite"),
    "shape": (wrong_shape, "fc1.bias is"),
    "foreign": (foreign_weight, "adapter.weight"),
    "forced start": (changed("config.json", forced_bos_token_id=3), "forced_bos_token_id = 3"),
    "integers": (whole_numbers, "int64"),
    "huge header": (huge_header, "model.safetensors"),
    "cut weights": (cut_short("model.safetensors"), "model.safetensors"),
    "cut spm": (cut_short("source.spm"), "source.spm"),
    "cut words": (cut_short("vocab.json"), "vocab.json"),
    "deep": (deep, "vocab.json"),
    "huge spm": (huge_spm, "source.spm"),
    "huge config": (huge_config, "config.json"),
    "huge weights": (huge_weights, "model.safetensors"),
    "10^9 layers": (changed("config.json", encoder_layers=10**9), "encoder_layers"),
    "layers that are not there": (changed("config.json", encoder_layers=900), "model.safetensors"),
    "10^9 wide": (changed("config.json", d_model=10**9), "d_model"),
    "10^6 wide": (changed("config.json", d_model=10**6, encoder_attention_heads=1,
                          decoder_attention_heads=1), "d_model = 1000000 must be at most 16,384"),
    "10^4 wide": (changed("config.json", d_model=10**4, encoder_attention_heads=1,
                          decoder_attention_heads=1), "model.safetensors"),
    "10^9 positions": (changed("config.json", max_position_embeddings=10**9), "max_position"),
    "10^6 words": (changed("config.json", vocab_size=10**6, decoder_vocab_size=10**6), "vocab.json"),
    "negative": (changed("config.json", d_model=-24), "d_model"),
    "true": (changed("config.json", d_model=True), "d_model"),
    "words": (changed("config.json", d_model="wide"), "d_model"),
    "activation": (changed("config.json", activation_function="gelu_new"), "gelu_new"),
    "two widths": (changed("config.json", encoder_ffn_dim=36), "ffn_dim"),
    "another start": (changed("config.json", decoder_start_token_id=3), "decoder_start_token_id"),
    "another end": (changed("config.json", eos_token_id=5), "</s>"),
    "another model": (changed("config.json", model_type="bart"), "model_type"),
    "twice the same number": (changed("vocab.json", **{"▁x": 3}), "vocab.json"),
    "numbers that are words": (changed("vocab.json", **{"▁x": "3"}), "vocab.json"),
    "heads": (changed("config.json", encoder_attention_heads=7, decoder_attention_heads=7),
              "config.json"),
    "dropout": (changed("config.json", dropout=-1), "dropout"),
    "tied": (changed("config.json", tie_word_embeddings="yes"), "tie_word_embeddings"),
    "two vocabularies": (changed("tokenizer_config.json", separate_vocabs=True), "target_vocab.json"),
}  # fmt: skip


def test_a_decoder_may_start_from_another_vector_than_zero(
    directories: dict[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "model"
    shutil.copytree(directories["opus"], other)
    before, _ = logits(other, read(other))
    rewritten(other, lambda weights: weights["model.shared.weight"][-1].normal_())
    model = read(other)
    ours, theirs = logits(other, model)
    assert torch.allclose(ours, theirs, rtol=0, atol=1e-5)
    assert not torch.allclose(ours, before, rtol=0, atol=1e-2)
    assert model.config.model.tying == "three-way"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_directory_gives_a_message_of_one_line(
    name: str, directories: dict[str, Path], tmp_path: Path
) -> None:
    directory = tmp_path / "model"
    shutil.copytree(directories["opus"], directory)
    damage, words = HOSTILE[name]
    damage(directory)
    with pytest.raises(HeadwayError) as error, bounded():
        read(directory)
    assert words in str(error.value)
    assert all(str(directory) in line for line in str(error.value).split("\n"))
    assert not (directory / "canary").exists()


def test_the_hostile_pickle_would_run_code_if_it_were_loaded(tmp_path: Path) -> None:
    pickle.loads(
        pickle.dumps(Trap(tmp_path / "canary"))
    )  # the tests above check that no import does this
    assert (tmp_path / "canary").exists()


def test_an_imported_model_translates_to_the_languages_that_it_has_symbols_for(
    directories: dict[str, Path], tmp_path: Path
) -> None:
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
