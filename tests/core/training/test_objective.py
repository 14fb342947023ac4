import numpy as np
import pytest
import torch
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.model import Transformer
from headway.text.batches import Batch
from headway.training.steps.objective import Objective, chunked_loss, plain_loss
from support.cases import each_case

N, D, V = 23, 13, 31


def padded_batch(lengths, vocab_size, seed=7):
    """Return random sentences of these (source, target) lengths."""
    random = np.random.default_rng(seed)
    sides = []
    for side in (0, 1):
        longest = max(pair[side] for pair in lengths)
        ids = np.full((len(lengths), longest), vocab_size - 1)
        real = np.zeros_like(ids)
        for row, pair in enumerate(lengths):
            ids[row, : pair[side]] = random.integers(2, vocab_size - 1, pair[side])
            real[row, : pair[side]] = 1
        sides += [torch.from_numpy(ids), torch.from_numpy(real)]
    tokens = sum(target for _, target in lengths)
    return Batch(*sides, pair_indices=np.arange(len(lengths)), target_tokens=tokens)


@pytest.fixture
def rows():
    generator = torch.Generator().manual_seed(5)
    hidden = torch.randn(N, D, generator=generator)
    weight = torch.randn(V, D, generator=generator)
    labels = torch.randint(0, V, (N,), generator=generator)
    labels[[4, 12]] = -1  # padding
    return hidden.requires_grad_(), weight.requires_grad_(), labels


@pytest.mark.parametrize("chunk", [1, 7, N, 100])
def test_chunked_loss_equals_plain_loss_in_value_and_gradients(rows, chunk):
    hidden, weight, labels = rows
    bias = torch.linspace(-1, 1, V, requires_grad=True)

    def project(x):
        return F.linear(x * 0.5, weight, bias)

    plain = plain_loss(project(hidden), labels, 0.1)
    for smoothed, smoothing in ((plain.smoothed, 0.1), (plain.nll, 0.0)):
        options = {"reduction": "sum", "ignore_index": -1, "label_smoothing": smoothing}
        theirs = F.cross_entropy(project(hidden), labels, **options)
        torch.testing.assert_close(smoothed, theirs)
    expected = torch.autograd.grad(plain.smoothed / 11, (hidden, weight, bias))
    loss = chunked_loss(hidden, labels, project, (weight, bias), 0.1, chunk)
    torch.testing.assert_close(loss.smoothed, plain.smoothed)
    torch.testing.assert_close(loss.nll, plain.nll)
    with torch.no_grad():
        without = chunked_loss(hidden, labels, project, (weight, bias), 0.1, chunk)
    torch.testing.assert_close((without.smoothed, without.nll), (loss.smoothed, loss.nll))
    torch.testing.assert_close(
        torch.autograd.grad(loss.smoothed / 11, (hidden, weight, bias)), expected
    )


def test_huge_logits_do_not_overflow():
    hidden = torch.tensor([[300.0], [-300.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0], [0.0]], requires_grad=True)
    labels = torch.tensor([1, 2])
    plain = plain_loss(hidden @ weight.T, labels, 0.1)
    loss = chunked_loss(hidden, labels, lambda x: x @ weight.T, (weight,), 0.1)
    torch.testing.assert_close(loss.smoothed, plain.smoothed)
    torch.testing.assert_close(loss.nll, torch.tensor(900.0))


@each_case
def test_the_gradients_of_a_batch_equal_those_of_all_its_logits(departure):
    sizes = {"source_vocab_size": V, "target_vocab_size": V} | departure
    config = ModelConfig(
        num_encoder_layers=1, num_decoder_layers=1, d_model=22, d_ff=17, num_heads=2,
        dropout=0.0, **sizes,
    )  # fmt: skip
    torch.manual_seed(3)
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.01
    batch = padded_batch([(5, 3), (2, 7), (11, 1)], V)

    logits = model(batch.source, batch.target, batch.source_segments)
    reference = F.cross_entropy(
        logits.flatten(0, 1),
        batch.target.masked_fill(batch.target_segments == 0, -1).flatten(),
        ignore_index=-1, label_smoothing=0.1, reduction="sum",
    )  # fmt: skip
    reference.backward()
    expected = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()

    loss = Objective(model, 0.1)(batch)
    loss.smoothed.backward()
    torch.testing.assert_close(loss.smoothed, reference)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name], msg=name, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_packed_sentences_have_the_loss_and_gradient_of_padded_ones(norm):
    lengths = [(5, 13), (7, 11), (3, 2), (2, 1)]
    padded = padded_batch(lengths, V)
    sides = []
    for ids, real in (
        (padded.source, padded.source_segments),
        (padded.target, padded.target_segments),
    ):
        segments = real * torch.arange(1, 5)[:, None]
        sides += [ids[real == 1][None], segments[real == 1][None]]
    packed = Batch(
        *sides, pair_indices=padded.pair_indices, target_tokens=padded.target_tokens, is_packed=True
    )
    torch.manual_seed(3)
    model = Transformer(
        ModelConfig(
            source_vocab_size=V, target_vocab_size=V, d_model=22, d_ff=17, num_heads=2,
            num_encoder_layers=2, num_decoder_layers=2, norm=norm, dropout=0.0,
        )
    )  # fmt: skip
    found = []
    for batch in (padded, packed):
        model.zero_grad()
        loss = Objective(model, 0.1)(batch)
        loss.smoothed.backward()
        found.append((loss.smoothed.detach(), [p.grad.clone() for p in model.parameters()]))
    torch.testing.assert_close(found[1][0], found[0][0], rtol=1e-6, atol=0)
    for a, b in zip(found[1][1], found[0][1], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def small_model(dropout):
    torch.manual_seed(3)
    config = ModelConfig(
        source_vocab_size=V, target_vocab_size=V, d_model=22, d_ff=17, num_heads=2,
        num_encoder_layers=2, num_decoder_layers=2, dropout=dropout,
    )  # fmt: skip
    return Transformer(config).train()


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return [p.grad.clone() for p in model.parameters()]


@pytest.mark.parametrize("cut", [0.0, 0.4])
@pytest.mark.parametrize("chunk", [2, 9, 1000])
def test_agreement_draws_the_dropout_of_both_passes_at_once(chunk, cut):
    model, batch = small_model(0.3), padded_batch([(5, 13), (7, 11), (3, 2)], V)
    objective = Objective(model, 0.1, agreement=5.0, cut=cut)
    objective.chunk = chunk
    torch.manual_seed(7)
    loss = objective(batch)
    found = gradients(model, loss.smoothed)

    torch.manual_seed(7)  # the same dropout masks, and the loss by its formula
    source, target = batch.source, batch.target
    if cut:  # the second pass sees zeros in the place of some tokens
        source = source.where(torch.rand(source.shape) >= cut, V - 1)
        target = target.where(torch.rand(target.shape) >= cut, V - 1)
        hidden = [(source != batch.source).sum(), (target != batch.target).sum()]
        assert 0 < min(hidden) <= max(hidden) < 15
        assert not model.source_embedding.weight[V - 1].any()
    both = [torch.cat(each) for each in ((batch.source, source), (batch.target, target))]
    logits = model(*both, torch.cat((batch.source_segments,) * 2))
    log_p, log_q = logits.log_softmax(2).chunk(2)
    assert not torch.equal(log_p, log_q)
    labels = batch.target.masked_fill(batch.target_segments == 0, -1).flatten()
    cross = sum(
        F.cross_entropy(
            each.flatten(0, 1), labels, ignore_index=-1, label_smoothing=0.1, reduction="sum"
        )
        for each in (log_p, log_q)
    )
    real = batch.target_segments > 0
    apart = sum(
        F.kl_div(a[real], b[real], log_target=True, reduction="sum")
        for a, b in ((log_p, log_q), (log_q, log_p))
    )
    expected = cross / 2 + 5.0 / 2 * apart / 2
    torch.testing.assert_close(loss.smoothed, expected)
    for a, b in zip(found, gradients(model, expected), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
