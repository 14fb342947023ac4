"""Subwords that are learned from counted words are those that sentencepiece learns from the lines."""

import io
import random

import pytest
from sentencepiece import SentencePieceTrainer

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.learning import LONGEST, learn_model
from support.toy_models import sentences

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


@pytest.mark.slow
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
