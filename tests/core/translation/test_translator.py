"""`Translator`: lines keep their number and order, do not depend on each other, and scores are exact."""

import copy
import json
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.model import Transformer
from headway.text.words import find_words, simplify_breaks
from headway.translation import Hypothesis, Translator
from headway.translation.alignment import link_words, sum_by_words, weigh_words, words_of_tokens
from headway.translation.engines.protocols import GivenTarget
from headway.translation.requests import Read
from headway.translation.splitting import split_line
from headway.translation.token_stream import stream_tokens
from support.cases import each_case
from support.pieces import cut
from support.toy_models import normalizing_tokenizer, sentences, small_config


def test_a_string_gives_a_string_and_a_list_gives_a_list(translator):
    assert isinstance(translator.translate("the cat", SEARCH), str)
    assert translator.translate(["the cat"], SEARCH) == [translator.translate("the cat", SEARCH)]
    assert translator.translate([], SEARCH) == []


def test_a_translation_does_not_depend_on_other_lines(translator, tokenizer):
    # In float64, so that only an influence of other lines could make a difference of 1e-5: random
    # weights enlarge the last bits of float32, and trained weights do not.
    exact = Translator(copy.deepcopy(translator.model).double(), tokenizer)
    lines = sentences(7, 5)
    search = replace(SEARCH, n_best=3)
    alone = [next(exact.stream([line], search)) for line in lines]
    order = list(range(7))
    random.Random(1).shuffle(order)
    for batch_tokens in (1, 30, 100_000):
        batched = replace(search, batch_tokens=batch_tokens)
        shuffled = list(exact.stream([lines[i] for i in order], batched, window=5))
        for i, found in zip(order, shuffled, strict=True):
            assert [t.text for t in found] == [t.text for t in alone[i]]
            for a, b in zip(found, alone[i], strict=True):
                assert a.score == pytest.approx(b.score, abs=1e-5)


def test_blank_lines_and_order_are_kept(translator):
    lines = ["", "the cat", "   ", "\t", "the dog sees", ""]
    found = translator.translate(lines, SEARCH)
    assert [i for i, text in enumerate(found) if not text.strip()] == [0, 2, 3, 5]
    assert found[1] == translator.translate("the cat", SEARCH)
    assert found[4] == translator.translate("  the dog sees ", SEARCH)


def test_a_score_equals_what_the_search_reports(translator, tokenizer):
    search = replace(SEARCH, alpha=0.0)
    lines = sentences(20, 6)
    found = [translations[0] for translations in translator.stream(lines, search)]
    hypotheses = [[*(tokenizer_ids(tokenizer, t.tokens)), tokenizer.eos] for t in found]
    scores = translator.score_tokens(tokenizer.encode_source(lines), hypotheses)
    for translation, score in zip(found, scores, strict=True):
        # Two orders of summation in fp32, on random weights sharp enough to double every last bit
        # a few times: the search is within 1e-5 of float64, the other up to 3e-4 beside it.
        assert translation.log_probability == pytest.approx(score, abs=1e-3)
        assert translation.score == translation.log_probability


def tokenizer_ids(tokenizer, pieces):
    names = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    return [names.index(piece) for piece in pieces]


def test_scores_do_not_depend_on_the_batch(translator):
    sources, targets = sentences(30, 7), sentences(30, 8)
    together = translator.score(sources, targets)
    for source, target, score in zip(sources, targets, together, strict=True):
        assert translator.score(source, target) == pytest.approx(score, abs=1e-4)
    with pytest.raises(HeadwayError, match="30 sources, but 1 target"):
        translator.score(sources, ["x"])


def test_long_lines_are_split_and_joined(translator):
    for strange in ("x" * 3000, "a, b; c: " * 300, "Ende. Neu! " * 200, "日本語。" * 500, " "):
        divided = [*split_line(strange, "en", lambda text: [*map(ord, text)], 50)]
        assert "".join(piece.text for piece in divided) == strange
        assert all(len(piece.ids) <= 50 for piece in divided)
    line = " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences(40, 9))
    search = replace(SEARCH, max_tokens=40)
    pieces = cut(translator, line, search)
    assert "".join(piece.text for piece in pieces) == line
    assert len(pieces) > 5
    assert all(len(piece.ids) <= 40 for piece in pieces)
    alone = translator.translate([piece.text.strip() for piece in pieces], search)
    [[whole]] = translator.stream([line], search)
    parts = [each for [each] in translator.stream([piece.text.strip() for piece in pieces], search)]
    for name in ("score", "log_probability"):
        assert getattr(whole, name) == pytest.approx(sum(getattr(each, name) for each in parts))
    assert translator.translate(line, search).split() == " ".join(alone).split()


def test_a_piece_has_the_ids_of_its_text(translator):
    long = " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences(40, 9))
    for line in ("  the cat ", long, "x" * 400, "a\u3000\u3000b " * 60, "\ud800 cat. " * 30):
        for search in (SEARCH, replace(SEARCH, max_tokens=40, split_sentences=True)):
            pieces = cut(translator, line, search)
            texts = [simplify_breaks(piece.text.strip()) for piece in pieces]
            encoded = translator.tokenizer.encode_source(texts)
            assert [piece.ids for piece in pieces] == encoded


@each_case
def test_sentences_are_joined_as_the_language_of_the_translation_writes_them(
    translator, languages, line, sentences, gap
):
    own = Translator(
        translator.model,
        translator.tokenizer,
        replace(SEARCH, split_sentences=True),
        "cpu",
        tuple(languages),
    )
    assert own.translate(line) == gap.join(own.translate(sentences)).strip()
    [[found]] = own.stream([line], align=True)
    assert found.alignment is not None
    assert {target for _, target in found.alignment} <= set(range(len(find_words(found.text))))


def test_auto_divides_lines_as_the_models_own_search_does(translator):
    line = "The cat sees a dog. The tree runs."
    auto = SearchConfig(beam=2)
    assert len(cut(translator, line, auto)) == 1  # this model was not trained
    own = Translator(
        translator.model, translator.tokenizer, replace(SEARCH, split_sentences=True), "cpu"
    )
    assert len(cut(own, line)) == len(cut(own, line, auto)) == 2
    assert len(cut(own, line, replace(auto, split_sentences=False))) == 1
    [found] = own.stream(
        [line], replace(SEARCH, beam=3, n_best=3, split_sentences=True), align=True
    )
    assert len(found) == 3
    assert all(t.alignment for t in found)


def test_a_prefix_starts_the_translation(translator):
    [found] = next(translator.stream(["the cat sees"], SEARCH, prefix="Hund sieht"))
    assert found.text.startswith("Hund sieht")
    for spaced in ("Hund sieht ", " Hund  sieht"):
        assert next(translator.stream(["the cat sees"], SEARCH, prefix=spaced)) == [found]


def test_samples_depend_on_the_text_and_not_on_its_line_number(translator):
    search = replace(SEARCH, sample=True, n_best=3)
    lines = sentences(10, 3)
    first = [[t.text for t in found] for found in translator.stream(lines, search)]
    again = [[t.text for t in found] for found in translator.stream(lines[::-1], search)]
    other = [[t.text for t in f] for f in translator.stream(lines, replace(search, seed=2))]
    assert first == again[::-1]
    assert first != other
    assert len({text for found in first for text in found}) > 10


def test_words_are_linked_by_the_largest_weights():
    # Three source words of 1, 2 and 1 tokens; two target words of 2 and 1; then </s> on both sides.
    weights = torch.tensor(
        [
            [0.1, 0.4, 0.4, 0.0, 0.1],  # the second word's tokens together have the largest weight
            [0.1, 0.3, 0.1, 0.4, 0.1],
            [0.6, 0.1, 0.1, 0.1, 0.1],
            [0.0, 0.0, 0.0, 1.0, 0.0],  # </s> belongs to no word
        ]
    )
    source = [range(0, 1), range(1, 2), range(1, 2), range(2, 3)]
    target = [range(0, 1), range(0, 1), range(1, 2)]
    assert link_words(sum_by_words(weights, source, target)) == [(1, 0), (0, 1)]
    assert link_words(sum_by_words(weights, [], target)) == []
    assert link_words(sum_by_words(weights, source, [])) == []
    # All characters of a token are linked where no spaces separate words.
    words = words_of_tokens(["犬", "を見", "た", "。"])
    assert words == [range(0, 1), range(1, 3), range(3, 4), range(0)]
    weights = torch.tensor([[0.5, 0.2, 0.1, 0.2], [0.1, 0.6, 0.2, 0.1]])
    english = [range(0, 1), range(1, 2)]
    assert link_words(sum_by_words(weights, words, english)) == [(0, 0), (1, 1), (2, 1)]
    assert link_words(sum_by_words(weights.T, english, words)) == [(0, 0), (1, 1), (1, 2), (1, 3)]


def test_a_preposition_that_looks_at_a_noun_is_not_linked_to_it():
    """Weights as they were for "plays guitar on the street" and "spielt auf der Straße Gitarre"."""
    weights = [
        [0.50, 0.19, 0.04, 0.01, 0.05],
        [0.07, 0.42, 0.11, 0.03, 0.10],
        [0.04, 0.07, 0.08, 0.16, 0.31],
        [0.03, 0.05, 0.04, 0.10, 0.46],
        [0.06, 0.48, 0.04, 0.02, 0.09],
    ]
    assert link_words(weights) == [(0, 0), (2, 1), (4, 2), (4, 3), (1, 4)]
    # Without another source word, every target word still has a link.
    assert link_words([row[1:2] for row in weights]) == [(0, target) for target in range(5)]


def test_words_with_known_links_have_no_others():
    weights = [[0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.1, 0.8, 0.1]]
    assert link_words(weights) == [(0, 0), (2, 1), (1, 2)]
    assert link_words(weights, [(1, 1), (2, 1)]) == [(0, 0), (1, 1), (2, 1), (0, 2)]


def test_punctuation_has_no_part_in_the_links_of_the_word_that_it_touches():
    pieces = ["(", "A", " dog", ".", ")", " -", " we", "'", "ll", "!"]
    words = words_of_tokens(pieces)
    assert [list(of) for of in words] == [[], [0], [1], [], [], [2], [3], [], [3], []]
    # Most attention rests on the final mark.
    weights = torch.tensor([[0.3, 0.2, 0.5], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
    pieces = [" Hunde", " bellen", "."]
    words = words_of_tokens(pieces)
    assert link_words(sum_by_words(weights, words, words)) == [(0, 0), (1, 1)]


def test_links_count_the_words_of_the_text_and_not_of_what_it_is_normalized_to():
    tokenizer = normalizing_tokenizer()
    text = "the\u200bcat l´cat x² 漢漢 a\u200bb tree"
    [source], [target] = tokenizer.encode_source([text]), tokenizer.encode_target(["tree"])
    place = tokenizer.source_subwords(source).index("▁tree")
    weights_TS = torch.zeros(len(target), len(source))
    weights_TS[:, place] = 1.0
    last = len(find_words(text)) - 1
    assert link_words(weigh_words(tokenizer, text, target, weights_TS)) == [(last, 0)]
    weights = weigh_words(
        tokenizer, "\x01", target, torch.ones(len(target), 1)
    )  # only </s> is left
    assert link_words(weights) == []


def test_the_alignment_of_a_split_line_counts_all_its_words(translator, monkeypatch):
    """With attention along the diagonal, a copied line aligns each word with itself."""
    assert translator.tokenizer.joint  # so the ids of a source are also those of its copy

    def echo(sources, *_):
        return [[Hypothesis(ids, 0.0, 0.0)] for ids in sources]

    def diagonal(requests):
        weights = [torch.eye(len(each.target), len(each.source)) for each in requests]
        return [
            each.measure(GivenTarget(np.empty(0), weight))
            for each, weight in zip(requests, weights, strict=True)
        ]

    monkeypatch.setattr(translator.token_search, "search", echo)
    monkeypatch.setattr(Read, "answer", staticmethod(diagonal))
    for line in ("the cat sees a dog. " * 9 + "it runs", "x" * 200 + " y", "the   cat"):
        search = replace(SEARCH, max_tokens=20)
        [found] = next(translator.stream([line], search, align=True))
        words = len(line.split())
        assert set(found.alignment) == {(i, i) for i in range(words)}


def test_learned_positions_limit_lines_and_translations(tokenizer):
    config = replace(small_config(tokenizer).model, positions="learned", max_positions=29)
    translator = Translator(Transformer(config), tokenizer)
    line = " ".join(sentences(20, 3))
    for found in translator.stream([line, "the cat"], replace(SEARCH, beam=2)):
        assert found[0].text is not None
    with pytest.raises(HeadwayError, match="29 were learned"):
        translator.score(line, line)


def test_the_command_keeps_the_lines_and_their_order(
    model_directory, translator, tmp_path, monkeypatch, capsys
):
    text, lines = tmp_path / "text", ["the cat", "", "a dog\u2028sees", "the green house  "]
    text.write_text("\n".join(lines), encoding="utf-8")
    with text.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert dispatch(["translate", str(model_directory), "--search.max-extra", "7"]) == 0
    printed = capsys.readouterr().out
    assert printed.split("\n") == [*translator.translate(lines, SEARCH), ""]
    text.write_text("the cat\n\nthe dog\n")
    options = ["--json", "--search.n-best", "2", "--alignment", "--search.max-extra", "7"]
    with text.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert dispatch(["translate", str(model_directory), *options]) == 0
    rows = [json.loads(row) for row in capsys.readouterr().out.split("\n")[:-1]]
    assert [row["source"] for row in rows] == ["the cat", "", "the dog"]
    assert [len(row["translations"]) for row in rows] == [2, 1, 2]
    expected = next(translator.stream(["the cat"], replace(SEARCH, n_best=2)))
    for printed, found in zip(rows[0]["translations"], expected, strict=True):
        assert (printed["text"], printed["tokens"]) == (found.text, found.tokens)
        assert printed["score"] == pytest.approx(found.score)
        assert printed["log_probability"] == pytest.approx(found.log_probability)


def test_streamed_tokens_equal_greedy_search(translator):
    for line in [*sentences(2, 12), "日本 🎉 ü", "THE CAT SEES {x}", "THE CAT SEES THE DOG."]:
        bits = list(stream_tokens(translator, *cut(translator, line)))
        greedy = translator.translate(line, replace(translator.default_search, beam=1))
        assert "".join(bits) == greedy
        assert len(bits) > 1 or len(greedy.split()) < 3 or line.isupper() or "{" in line


@pytest.mark.parametrize("second", ["</s>", "\u2581"])
def test_a_text_with_letters_has_a_translation(model_directory, monkeypatch, second):
    """The model's first choice is the end of the sentence, and its second one a token without text; so is every other one."""
    translator = Translator.load(model_directory)
    weight = translator.model.output.weight
    weight = translator.model.target_table.weight if weight is None else weight
    assert translator.model.output.bias is None
    subwords = translator.tokenizer.target_subwords(range(len(weight) - 1))
    with torch.no_grad():
        translator.model.decoder.layers[-1].residuals[-1].norm.weight.zero_()
        of_end = weight[translator.tokenizer.eos]
        weight[subwords.index(second)] = of_end * (1 if second == "</s>" else 0.95)
        translator.model.decoder.layers[-1].residuals[-1].norm.bias.copy_(of_end * 9)
    lines = ["the cat", "bought", "R&D", "a dog sees {x}"]
    for search in (SEARCH, replace(SEARCH, beam=1), replace(SEARCH, n_best=3)):
        together = list(translator.stream(lines, search))
        assert all(each.text.strip() for n_best in together for each in n_best)
        for line, n_best in zip(lines, together, strict=True):
            [alone] = translator.stream([line], search)
            assert [each.text for each in alone] == [each.text for each in n_best]
    greedy = translator.translate("the cat", replace(translator.default_search, beam=1))
    assert greedy.strip()
    assert "".join(stream_tokens(translator, *cut(translator, "the cat"))) == greedy


SEARCH = SearchConfig(max_extra=7)


@pytest.mark.parametrize("text", [None, 3, b"a", ["a", 3], ["a", None], [["a"]]])
def test_what_is_no_text_is_refused_in_a_line(translator, text):
    with pytest.raises(HeadwayError, match=r"^(a text|text \d) is of type \w+: give"):
        translator.translate(text)


def test_a_text_in_the_place_of_several_is_refused(translator):
    for take in (translator.stream, translator.tokenizer.encode_source):
        with pytest.raises(HeadwayError, match="give a list of texts"):
            list(take("a text"))


def test_what_is_no_search_is_refused_in_a_line(translator):
    for search in (5, {"beam": 4}):
        with pytest.raises(
            HeadwayError, match=r"^search is of type \w+: give a headway\.SearchConfig"
        ):
            translator.translate("a", search)


def test_a_translator_is_pickled_and_copied_after_its_use(translator):
    found = translator.translate("the cat", SEARCH)
    engine = translator.token_search.engine("auto")
    for other in (pickle.loads(pickle.dumps(translator)), copy.deepcopy(translator)):
        assert other.translate("the cat", SEARCH) == found
    assert copy.copy(translator.token_search).engine("auto") is engine  # directions share it


def test_layers_of_ones_own_are_not_saved_as_a_model_that_cannot_be_read(translator, tmp_path):
    model = Transformer(translator.model.config, make_decoder_mixer=lambda _: torch.nn.Linear(3, 3))
    own = Translator(model, translator.tokenizer)
    with pytest.raises(HeadwayError, match="the model has layers of its own"):
        own.save_pretrained(tmp_path / "own")
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize("glossary", ["terms.tsv", {"wall": "Mauer"}])
def test_what_is_no_glossary_is_refused_in_a_line(translator, glossary):
    with pytest.raises(HeadwayError, match=r"^glossary: give what headway\.read_glossary"):
        translator.translate("a", glossary=glossary)
