"""Text survives the tokenizer, control symbols cannot be typed, and a vocabulary is reproducible."""

import io
import os
import random
import subprocess
import sys

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.learning import LONGEST, learn_model
from headway.text.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw
from support.bounds import bounded
from support.cases import each_case, read_rows
from support.strange_texts import strange_texts
from support.toy_models import normalizing_tokenizer, sentences, write_several

TEXT = "the a cat dog sees hears green blue house tree runs under over small große Straße Ärger"
WORDS = TEXT.split()


def lines(count, seed):
    chooser = random.Random(seed)
    return [" ".join(chooser.choices(WORDS, k=chooser.randrange(3, 9))) for _ in range(count)]


def pairs():
    return list(zip(lines(300, 1), lines(300, 2), strict=True))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.learn(pairs(), TextConfig(vocab_size=331))


def hostile(count):
    """Return strange texts without halves of characters."""
    return [
        text.encode("utf-8", "replace").decode() for text in strange_texts(count, 7, longest=1_000)
    ]


def test_each_id_stands_for_a_part_of_the_text_as_it_is_written():
    """Also where normalization adds spaces or removes them, and a token stands for several characters or none."""
    tokenizer = normalizing_tokenizer()
    changed = [
        "the\u200bcat",
        "l´homme",
        " \u200b the  cat ²½ ﬁ ㌀ \u200b",
        "漢漢 cat",
        "\u200b",
        "\u200e",
    ]
    for text in [*changed, *hostile(500)]:
        [ids] = tokenizer.encode_source([text])
        parts = tokenizer.divide_source(text)
        assert "".join(parts) == text
        assert len(parts) == max(1, len(ids) - 1)
        assert "".join(tokenizer.decode_each(ids[:-1])) == tokenizer.decode(ids)
    subwords = tokenizer.source_subwords(tokenizer.encode_source(["the\u200bcat l´cat 漢漢"])[0])
    parts = tokenizer.divide_source("the\u200bcat l´cat 漢漢")
    assert parts[subwords.index("▁cat")] == "\u200bcat"
    assert parts[-1] == "漢漢"  # one unknown token


def test_the_symbol_of_a_language_stands_for_no_part(tmp_path):
    tokenizer = Tokenizer.load(write_several(tmp_path / "model"))
    parts = tokenizer.divide_source("the cat")
    named = f">>{tokenizer.target_languages[0]}<<the cat"
    assert tokenizer.divide_source(named) == ["", *parts]
    chosen = tokenizer.to(tokenizer.target_languages[0])
    assert chosen.divide_source("the cat") == ["", *parts]
    assert "".join(chosen.divide_source(named)) == named


def test_half_a_character_is_no_name_of_a_language(tokenizer):
    assert tokenizer.named_language(">>\ud800<< the cat") == ""


def test_each_id_has_its_own_text(tokenizer):
    ids = tokenizer.encode_target(["the cats 漢"])[0]
    texts = tokenizer.decode_each(ids)
    assert len(texts) == len(ids)
    assert texts[-4:] == ["", "", "漢", ""]  # three bytes and </s>
    assert texts[0] == tokenizer.decode(ids[:1])
    assert tokenizer.decode_each([tokenizer.target_pad, *ids[:1]]) == ["", texts[0]]
    assert tokenizer.decode_each([]) == []
    assert [text for text in texts if text.startswith(" ")]  # a space belongs to the word behind it


def test_subwords_with_dropout_spell_the_same_text_in_other_ways():
    tokenizer = Tokenizer.learn(pairs(), TextConfig(vocab_size=331))
    texts = [text for text, _ in pairs()] + hostile(200)
    best = tokenizer.encode_source(texts)
    drawn = [tokenizer.encode_source(texts, Draw(0.2, seed)) for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2]  # another call gives the same subwords
    assert drawn[0] != drawn[1]
    for ids in drawn:
        assert [tokenizer.decode_source(line) for line in ids] == texts
        longer = sum(map(len, ids)) / sum(map(len, best))
        assert 1.02 < longer < 2
    assert tokenizer.encode_source(texts, Draw(0.0, 1)) == best
    assert tokenizer.encode_source(texts) == best  # dropout changes no later call
    assert tokenizer.encode_source(texts[::-1], Draw(0.2, 1)) == drawn[0][::-1]


def test_subwords_with_dropout_are_as_long_as_those_of_sentencepiece():
    from sentencepiece import SentencePieceProcessor

    tokenizer = Tokenizer.learn(pairs(), TextConfig(vocab_size=331))
    theirs = SentencePieceProcessor(model_proto=tokenizer.models[0])
    texts = [text for text, _ in pairs()] * 5
    for dropout in (0.1, 0.5, 1.0):
        ours = sum(
            len(tokenizer.encode_source([t], Draw(dropout, i))[0]) - 1 for i, t in enumerate(texts)
        )
        drawn = theirs.encode(texts, enable_sampling=True, alpha=dropout)
        assert ours == pytest.approx(sum(map(len, drawn)), rel=0.04)


def test_subwords_with_dropout_are_the_same_in_every_process():
    code = f"""
pairs = {pairs()}
from headway.config import TextConfig
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw
tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
print(tokenizer.encode_source([text for text, _ in pairs], Draw(0.2, 1)))
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in "12"
    }  # fmt: skip
    assert len(outputs) == 1


def test_merge_dropout_rejects_a_unigram_vocabulary():
    tokenizer = Tokenizer.learn(pairs(), TextConfig(vocab_size=290, subwords="unigram"))
    with pytest.raises(HeadwayError, match="BPE"):
        tokenizer.encode_source(["a"], Draw(0.1, 1))


def test_control_symbols_have_the_documented_ids(tokenizer):
    assert tokenizer.source_vocab_size == tokenizer.target_vocab_size == 331
    assert tokenizer.source_pad == 330
    assert tokenizer.target_subwords([tokenizer.eos, 330]) == ["</s>", "<pad>"]
    ids = tokenizer.encode_target(["the cat"])[0]
    assert tokenizer.decode([*ids, 330, 5, 6]) == "the cat"
    assert tokenizer.decode([330, *ids]) == "the cat"
    assert "".join(tokenizer.source_subwords(ids[:-1])).replace("\u2581", " ").strip() == "the cat"


@pytest.mark.parametrize("joint", [True, False])
def test_a_saved_tokenizer_is_loaded_unchanged(tmp_path, joint):
    config = TextConfig(vocab_size=301, joint_vocab=joint)
    first, second = Tokenizer.learn(pairs(), config), Tokenizer.learn(pairs(), config)
    first.save(tmp_path)
    loaded = Tokenizer.load(tmp_path)
    assert first.fingerprint == second.fingerprint == loaded.fingerprint
    assert loaded.joint is joint
    text = ["the green cat", "große Straße"]
    assert loaded.encode_source(text) == first.encode_source(text)
    assert (first.encode_source(text) == first.encode_target(text)) is joint
    other = Tokenizer.learn(pairs()[:200], config)
    assert other.fingerprint != first.fingerprint


STRANGE = [
    "two  spaces", " before", "after ", "wide\u3000space", "no\u00a0break", "line\u2028end\x85",
    "a \u2581 b", "reserved \u2585 mark", "zero \0 byte", "1990 12:30 7,5 %", "e\u0301 \u200d \u202b",
    "\U0001f600\U0001f600 \U0001f600", "ünïcode Ünïcode", "x" * (LONGEST + 1), "ü" * (LONGEST // 2) + "x",
    "y" * 16_385, "中文 没有空格的句子", " ", "\r", "a\r b\r", "a\u200bb",
]  # fmt: skip


def learn_from_lines(lines, config):
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=(line for line in lines if line), model_writer=model, model_type=config.subwords,
        vocab_size=config.vocab_size - 1, character_coverage=config.character_coverage,
        split_digits=config.split_digits, byte_fallback=True, hard_vocab_limit=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, unk_id=0, eos_id=1, bos_id=-1,
        pad_id=-1, max_sentence_length=LONGEST, num_threads=1, minloglevel=3,
    )  # fmt: skip
    return model.getvalue()


def test_a_vocabulary_that_is_too_large_gives_an_option_that_is_not(monkeypatch):
    lines = sentences(300, seed=2)
    for size, has_advice in ((8000, False), (37_000, True)):
        with pytest.raises(HeadwayError, match="too large for this text") as raised:
            learn_model(iter(lines), TextConfig(vocab_size=size))
        option, wanted = str(raised.value).partition(";")[0].split()[-2:]
        assert option == "--text.vocab-size"
        assert ("--preset quick is made for little text" in str(raised.value)) == has_advice
        learn_model(iter(lines), TextConfig(vocab_size=int(wanted)))


@pytest.mark.parametrize(
    ("strange", "changes"),
    [
        (STRANGE, {"vocab_size": 520}),
        ([*STRANGE, "a\ttab", "x\t7\ty"], {"vocab_size": 520}),
        (STRANGE, {"vocab_size": 500, "split_digits": True, "character_coverage": 0.99}),
        ([], {"vocab_size": 460, "subwords": "unigram"}),
    ],
)
def test_counted_words_give_the_model_of_the_lines(strange, changes):
    draw = random.Random(3)
    words = ["".join(draw.choices("abcdefgh", k=4)) for _ in range(700)]
    lines = sentences(500, seed=2) + [" ".join(draw.choices(words, k=5)) for _ in range(400)]
    lines += ["", *strange] * 3
    draw.shuffle(lines)
    config = TextConfig(**changes)
    assert learn_model(iter(lines), config) == learn_from_lines(lines, config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (bytes(60 << 20), "not a sentencepiece model: it has more than"),
        (bytes(1 << 20), "not a sentencepiece model: it is damaged"),
        (b"\x0a\x00" * (5 << 20), "more than 300,000 pieces"),
        (b"\x12\x81\x80\x40" + bytes((1 << 20) + 1), "its settings have more than"),
        (b"\x0a\x05\x0a\x03\xff\xfe\xfd", "not UTF-8"),
        (b"\x0a\xff\xff\xff\xff\x0f", "not a sentencepiece model"),
        (b"\x12\x02\x18\x04", "it has no pieces"),
        (b"\x0a\x03\x0a\x01a\x12\x02\x18\x04", "unigrams, BPE or words"),  # model_type: characters
    ],
)
def test_a_damaged_file_is_rejected_at_once(content, message, tmp_path):
    (tmp_path / "source.spm").write_bytes(content)
    with pytest.raises(HeadwayError, match=message) as rejected, bounded():
        SentencePieceFile(tmp_path / "source.spm")
    assert str(tmp_path / "source.spm") in str(rejected.value)
    assert "\n" not in str(rejected.value)


# How users train their own models: the defaults of spm_train, and what they often change.
OWN = read_rows(__file__, "OWN")


def own_model(file, **options):
    """Train a model on toy sentences with punctuation, and write it."""
    model = io.BytesIO()
    lines = [f"{text.capitalize()}, {i}!" for i, text in enumerate(sentences(400, 1))]
    defaults = {"vocab_size": 400, "hard_vocab_limit": False}
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=3, **(defaults | options)
    )
    file.write_bytes(model.getvalue())
    return SentencePieceProcessor(model_proto=model.getvalue())


def strange_lines(count):
    chooser = random.Random(5)
    marks = "@@ <b> ﬁ Ａ é e\u0301 日本 😀 12345 <s> </s> [UNK]"
    odd = [*marks.split(), "  ", "\u00a0", ""]
    return [
        " ".join([*chooser.sample(odd, chooser.randrange(4)), text.upper() if i % 3 == 0 else text])
        for i, text in enumerate(sentences(count, 3))
    ]


@pytest.mark.parametrize("kind", OWN)
def test_a_model_of_ones_own_splits_text_as_sentencepiece_does(kind, tmp_path):
    file = tmp_path / "own.model"
    theirs = own_model(file, **OWN[kind])
    tokenizer = Tokenizer(SentencePieceFile(file).to_vocabulary())
    names = tokenizer.source_subwords(range(tokenizer.source_vocab_size))
    assert (names[0], names[1], names[-1]) == ("<unk>", "</s>", "<pad>")
    assert len(set(names)) == len(names)
    for text in strange_lines(1_000):
        [ids] = tokenizer.encode_source([text])
        expected = theirs.encode(text)
        assert ids.pop() == tokenizer.eos
        assert [i == tokenizer.unk for i in ids] == [i == theirs.unk_id() for i in expected]
        for own, other in zip(ids, expected, strict=True):
            assert own == tokenizer.unk or names[own] == theirs.id_to_piece(other)
        assert tokenizer.decode_source(ids) == theirs.decode(expected)


@each_case
def test_a_model_that_cannot_be_used_exactly_is_rejected(change, message, tmp_path):
    from google.protobuf.text_format import Merge
    from sentencepiece.sentencepiece_model_pb2 import ModelProto

    file = tmp_path / "own.model"
    own_model(file)
    proto = ModelProto.FromString(file.read_bytes())
    Merge(change, proto)
    file.write_bytes(proto.SerializeToString())
    with pytest.raises(HeadwayError, match=message) as rejected:
        SentencePieceFile(file).to_vocabulary()
    assert str(file) in str(rejected.value)
    assert "\n" not in str(rejected.value)
