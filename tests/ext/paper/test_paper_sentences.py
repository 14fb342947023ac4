"""The structured self-attentive sentence embedding: against its paper's equations, and in a batch."""

import pytest
import torch

from headway.config import ModelConfig
from headway.ext.paper.rivals.self_attentive import HOPS, SelfAttentiveClassifier

CONFIG = ModelConfig(
    source_vocab_size=23, d_model=14, d_ff=11, num_heads=1, dropout=0.3, tying="none"
)
# Token 1 ends a sentence: texts of one sentence, and pairs of sentences; 22 is padding.
ONE = torch.tensor([[5, 7, 2, 9, 1], [8, 3, 1, 22, 22]])
TWO = torch.tensor([[5, 7, 2, 1, 4, 1, 22], [8, 1, 3, 6, 9, 2, 1]])


def make(sentences):
    torch.manual_seed(3)
    return SelfAttentiveClassifier(CONFIG, 3, sentences).double().eval()


def lstm(model, words, suffix):
    """An LSTM by Hochreiter & Schmidhuber's equations; torch's gates are i, f, g and o."""
    cell = model.encoder.cell
    w_x, w_h, b_x, b_h = (
        getattr(cell, f"{name}_l0{suffix}")
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    h = c = torch.zeros(7).double()
    states = []
    for word in words:
        i, f, g, o = (w_x @ word + b_x + w_h @ h + b_h).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return states


def embed(model, sentence):
    """Equations 5 to 8 of Lin et al. (2017), hop by hop; returns M and the penalty."""
    words = [model.embedding.weight[token] for token in sentence]
    ahead, back = lstm(model, words, ""), lstm(model, words[::-1], "_reverse")[::-1]
    h = [torch.cat(pair) for pair in zip(ahead, back, strict=True)]
    hops, rows = [], []
    for hop in range(HOPS):
        e = [
            torch.exp(model.second.weight[hop] @ torch.tanh(model.first.weight @ h_t)) for h_t in h
        ]
        a = [e_t / sum(e) for e_t in e]
        hops.append(a)
        rows.append(sum(a_t * h_t for a_t, h_t in zip(a, h, strict=True)))
    p = sum(
        (sum(x * y for x, y in zip(hops[i], hops[j], strict=True)) - int(i == j)) ** 2
        for i in range(HOPS)
        for j in range(HOPS)
    )
    return torch.stack(rows), p


def classify(model, matrix):
    first, last = model.perceptron[0], model.perceptron[3]
    hidden = first.weight @ torch.cat(list(matrix)) + first.bias
    return last.weight @ hidden.clamp(min=0) + last.bias


def test_a_text_of_one_sentence_follows_the_equations():
    model = make(1)
    scores, penalties = model(ONE, (ONE != 22).long())
    for row, length in enumerate((5, 3)):
        matrix, p = embed(model, ONE[row, :length].tolist())
        torch.testing.assert_close(scores[row], classify(model, matrix))
        torch.testing.assert_close(penalties[row], p)


def test_a_pair_of_sentences_follows_the_equations():
    model = make(2)
    scores, penalties = model(TWO, (TWO != 22).long())
    for row, (first, second) in enumerate([([5, 7, 2, 1], [4, 1]), ([8, 1], [3, 6, 9, 2, 1])]):
        (m_h, p_h), (m_p, p_p) = embed(model, first), embed(model, second)
        f_h = [m_h[i] @ model.gates[0, i] for i in range(HOPS)]  # batched product
        f_p = [m_p[i] @ model.gates[1, i] for i in range(HOPS)]
        matrix = torch.stack([x * y for x, y in zip(f_h, f_p, strict=True)])
        torch.testing.assert_close(scores[row], classify(model, matrix))
        torch.testing.assert_close(penalties[row], p_h + p_p)


@pytest.mark.parametrize(("sentences", "texts"), [(1, ONE), (2, TWO)])
def test_texts_alone_in_a_batch_and_packed_into_one_row_are_equal(sentences, texts):
    model = make(sentences)
    inside = (texts != 22).long()
    scores, penalties = model(texts, inside)
    alone = [
        model(text[None, : int(n)]) for text, n in zip(texts, inside.sum(1).tolist(), strict=True)
    ]
    torch.testing.assert_close(torch.cat([score for score, _ in alone]), scores)
    torch.testing.assert_close(torch.cat([p for _, p in alone]), penalties)
    packed = texts[inside == 1][None]
    number = torch.repeat_interleave(torch.tensor([1, 2]), inside.sum(1))[None]
    together, of_packed = model(packed, number)
    torch.testing.assert_close(together, scores)
    torch.testing.assert_close(of_packed, penalties)
