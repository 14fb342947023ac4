"""Text survives the tokenizer, control symbols cannot be typed, and a vocabulary is reproducible."""

import os
import random
import subprocess
import sys

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Draw
from support.strange_texts import strange_texts
from support.toy_models import normalizing_tokenizer, write_several

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


@pytest.mark.slow
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
        assert ours == pytest.approx(sum(map(len, drawn)), rel=0.02)


@pytest.mark.slow
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
