"""Foreign sentencepiece models: exact use of their pieces, and damaged files."""

import io
import random

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from headway.errors import HeadwayError
from headway.text.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer
from support.bounds import bounded
from support.toy_models import sentences


@pytest.mark.slow
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
OWN = {
    "unigram": {},
    "bpe": {"model_type": "bpe"},
    "bytes": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity"},
    "unigram with bytes": {"byte_fallback": True, "character_coverage": 0.98},
    "other ids": {"pad_id": 0, "unk_id": 3, "bos_id": 2, "eos_id": 1},
    "no ends": {"bos_id": -1, "eos_id": -1, "model_type": "bpe"},
    "other names": {"unk_piece": "[UNK]", "eos_piece": "[EOS]", "pad_id": 3, "pad_piece": "[PAD]"},
    "symbols": {"user_defined_symbols": ["@@", "<b>"], "control_symbols": ["<mask>", ">>deu<<"]},
    "no prefix": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "lower case": {"normalization_rule_name": "nmt_nfkc_cf", "split_digits": True},
    "words": {"model_type": "word"},
}


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


@pytest.mark.slow
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


def without_unknown(proto):
    del proto.pieces[0]


def with_suffixes(proto):
    proto.trainer_spec.treat_whitespace_as_suffix = True


def with_plain_spaces(proto):
    proto.normalizer_spec.escape_whitespaces = False


def with_a_text_called_unknown(proto):
    proto.pieces.add(piece="<unk>", type=proto.SentencePiece.USER_DEFINED)
    proto.pieces[0].piece = "[UNK]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_unknown, "has 0 pieces for unknown text"),
        (with_suffixes, "marks spaces in another way"),
        (with_plain_spaces, "marks spaces in another way"),
        (with_a_text_called_unknown, "has a piece twice, or <unk>"),
    ],
)
def test_a_model_that_cannot_be_used_exactly_is_rejected(change, message, tmp_path):
    from sentencepiece.sentencepiece_model_pb2 import ModelProto

    file = tmp_path / "own.model"
    own_model(file)
    proto = ModelProto.FromString(file.read_bytes())
    change(proto)
    file.write_bytes(proto.SerializeToString())
    with pytest.raises(HeadwayError, match=message) as rejected:
        SentencePieceFile(file).to_vocabulary()
    assert str(file) in str(rejected.value)
    assert "\n" not in str(rejected.value)
