"""Foreign sentencepiece models: their pieces in another order, and damaged files."""

from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.exchange.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer
from support.bounds import bounded
from support.marian_models import cutter
from support.toy_models import sentences


@pytest.mark.parametrize("algorithm", ["unigram", "bpe"])
def test_another_order_splits_text_in_the_same_way(algorithm: str, tmp_path: Path) -> None:
    model = cutter(sentences(400, 1), algorithm, 71)
    (tmp_path / "source.spm").write_bytes(model.serialized_model_proto())
    file = SentencePieceFile(tmp_path / "source.spm")
    assert file.algorithm == algorithm
    assert file.pieces == [model.id_to_piece(i) for i in range(model.vocab_size())]
    others = [piece for piece in file.pieces if piece not in ("<unk>", "<s>", "</s>")]
    entries = ["<unk>", "</s>", ">>deu<<", *reversed(others), "<pad>"]
    tokenizer = Tokenizer(file.reordered(entries))
    assert tokenizer.source_subwords(range(tokenizer.source_vocab_size)) == entries
    for text in sentences(9, 2):
        [ids] = tokenizer.encode_source([text])
        assert tokenizer.source_subwords(ids[:-1]) == model.encode(text, out_type=str)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (bytes(60 << 20), "not a sentencepiece model: it has more than"),
        (bytes(1 << 20), "not a sentencepiece model: it is damaged"),
        (b"\x0a\x00" * (5 << 20), "more than 500,000 pieces"),
        (b"\x12\x81\x80\x80\x02" + bytes((4 << 20) + 1), "its settings have more than"),
        (b"\x0a\x05\x0a\x03\xff\xfe\xfd", "not UTF-8"),
        (b"\x0a\xff\xff\xff\xff\x0f", "not a sentencepiece model"),
        (b"\x12\x02\x18\x04", "it has no pieces"),
        (b"\x0a\x03\x0a\x01a\x12\x02\x18\x04", "unigrams or of BPE"),  # model_type: characters
    ],
)
def test_a_damaged_file_is_rejected_at_once(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "source.spm").write_bytes(content)
    with pytest.raises(HeadwayError, match=message) as rejected, bounded():
        SentencePieceFile(tmp_path / "source.spm")
    assert str(tmp_path / "source.spm") in str(rejected.value)
    assert "\n" not in str(rejected.value)
