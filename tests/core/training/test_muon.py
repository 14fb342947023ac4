"""Adam, Muon and the learning rate: against torch's own classes and the paper's equation."""

import math

import pytest
import torch
from test_trainer import make_trainer

from headway.training.steps.muon import Muon, orthogonalize
from headway.training.steps.optimizers import (
    Adam,
    is_hidden_matrix,
    learning_rate,
)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_muon_equals_torchs_own_which_computes_matrix_by_matrix(decay):
    start = [torch.randn(shape) for shape in [(5, 17), (17, 5), (5, 17), (7, 7)]]
    own, theirs = ([torch.nn.Parameter(m.clone()) for m in start] for _ in range(2))
    ours = Muon(own, momentum=0.9, low_precision=True, weight_decay=decay)
    torchs = torch.optim.Muon(
        theirs, lr=0.3, weight_decay=decay, momentum=0.9, adjust_lr_fn="match_rms_adamw"
    )
    for step in range(3):
        for number, (one, other) in enumerate(zip(own, theirs, strict=True)):
            one.grad = torch.randn_like(one) * (step + number > 0)  # also a gradient of zeros
            other.grad = one.grad.clone()
        ours.step(0.3)
        torchs.step()
    for before, one, other in zip(start, own, theirs, strict=True):
        assert (one - before).abs().max() > 0.1
        torch.testing.assert_close(one, other, rtol=0.02, atol=0.02)


def test_muon_changes_the_matrices_of_the_layers_and_adam_the_rest():
    trainer = make_trainer(optimizer="muon")
    names = set(trainer.tensors()["optimizer"])
    hidden = {n.removeprefix("momentum.") for n in names if n.startswith("momentum.")}
    rest = {n.removeprefix("exp_avg.") for n in names if n.startswith("exp_avg.")}
    assert len(hidden) == 6 + 10  # an encoder layer, and a decoder layer with both attentions
    assert hidden | rest == {name for name, _ in trainer.model.named_parameters()}
    assert not hidden & rest
    assert "source_embedding.weight" in rest
    assert not is_hidden_matrix("encoder.layers.0.feed_forward.inner.bias", torch.zeros(3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_number_of_threads_changes_no_bit(dtype):
    matrices = torch.randn(6, 128, 256).to(dtype)
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 3):
            torch.set_num_threads(count)
            found.append(orthogonalize(matrices))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(found[0], other) for other in found[1:])


def test_adam_equals_torchs_own_class_bit_for_bit():
    start = [torch.randn(shape) for shape in [(5, 17), (3,), (7, 1)]]
    own, theirs = ([torch.nn.Parameter(m.clone()) for m in start] for _ in range(2))
    ours = Adam(own, beta1=0.9, beta2=0.98, epsilon=1e-9)
    torchs = torch.optim.Adam(theirs, betas=(0.9, 0.98), eps=1e-9, fused=True)
    for step, rate in enumerate((0.3, 0.1, 0.2, 0.3)):
        for group in torchs.param_groups:
            group["lr"] = rate
        for number, (one, other) in enumerate(zip(own, theirs, strict=True)):
            one.grad = None if step == number == 2 else torch.randn_like(one)  # or no gradient
            other.grad = None if one.grad is None else one.grad.clone()
        ours.step(rate)
        torchs.step()
        assert all(torch.equal(one, other) for one, other in zip(own, theirs, strict=True))
    for before, one in zip(start, own, strict=True):
        assert (one - before).abs().max() > 0.1
        assert sorted(ours.state[one]) == ["exp_avg", "exp_avg_sq", "step"]


def test_the_learning_rate_is_equation_3():
    for step in (1, 7, 3999, 4000, 4001, 100000):
        expected = 512**-0.5 * min(1 / math.sqrt(step), step * 4000**-1.5)
        assert learning_rate(step, d_model=512, warmup_steps=4000) == pytest.approx(expected)
        scaled = learning_rate(step, d_model=512, warmup_steps=4000, scale=3.0)
        assert scaled == pytest.approx(3 * expected)


def test_the_learning_rate_cools_linearly_to_zero_after_the_last_step():
    def rate(step, cool_steps):
        return learning_rate(step, d_model=17, warmup_steps=7, cool_steps=cool_steps, max_steps=101)

    shares = [rate(step, 20) / rate(step, 0) for step in range(1, 103)]
    assert shares[:82] == [1.0] * 82  # steps 1 to 82
    assert shares[82:] == pytest.approx([share / 20 for share in range(19, -1, -1)])


def test_without_decay_the_learning_rate_stays_at_the_peak_until_it_cools():
    def rate(step, decay):
        return learning_rate(
            step, d_model=17, warmup_steps=7, decay=decay, cool_steps=20, max_steps=101
        )

    both = [[rate(step, decay) for step in range(1, 103)] for decay in ("inverse-sqrt", "none")]
    assert both[0][:7] == pytest.approx(both[1][:7])
    assert both[1][6:82] == pytest.approx([both[0][6]] * 76)
    assert both[1][82:] == pytest.approx([both[0][6] * share / 20 for share in range(19, -1, -1)])
