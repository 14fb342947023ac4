import pytest
import torch
from test_trainer import make_trainer

from headway.training.steps.muon import Muon, orthogonalize
from headway.training.steps.optimizers import is_hidden_matrix

SHAPES = [(3, 5, 17), (2, 17, 5), (1, 7, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_updates_keep_the_singular_vectors_and_have_singular_values_near_one(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    own = u.mT @ orthogonalize(matrices) @ v.mT  # diagonal if the singular vectors are kept
    values = own.diagonal(dim1=1, dim2=2)
    assert (own - torch.diag_embed(values)).abs().max() < 1e-4
    assert values.min() > 0.6
    assert values.max() < 1.3


def test_updates_do_not_depend_on_the_size_of_the_gradient_and_zero_stays_zero():
    matrices = torch.randn(2, 5, 7)
    torch.testing.assert_close(orthogonalize(matrices * 1e-3), orthogonalize(matrices))
    assert not orthogonalize(torch.zeros(2, 5, 7)).any()


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_muon_equals_torchs_own_which_computes_matrix_by_matrix(decay):
    start = [torch.randn(shape) for shape in [(5, 17), (17, 5), (5, 17), (7, 7)]]
    own, theirs = ([torch.nn.Parameter(m.clone()) for m in start] for _ in range(2))
    ours = Muon(own, momentum=0.9, low_precision=True, weight_decay=decay)
    torchs = torch.optim.Muon(
        theirs, lr=0.3, weight_decay=decay, momentum=0.9, adjust_lr_fn="match_rms_adamw"
    )
    for _ in range(3):
        for one, other in zip(own, theirs, strict=True):
            one.grad = torch.randn_like(one)
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


@pytest.mark.slow
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


def test_a_matrix_has_the_same_update_in_every_block():
    matrices = torch.randn(8, 13, 29)
    together = orthogonalize(matrices)
    torch.testing.assert_close(torch.cat([orthogonalize(m[None]) for m in matrices]), together)
