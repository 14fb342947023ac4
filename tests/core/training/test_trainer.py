import pytest
import torch
from test_objective import padded_batch
from torch.nn import functional as F

from headway.config import ModelConfig, TrainingConfig
from headway.model import Transformer
from headway.training.steps.trainer import Trainer

V = 31
LONG, SHORT = [(5, 13), (7, 11)], [(3, 2), (2, 1), (5, 1)]


def make_trainer(dropout=0.0, precision="fp32", **training):
    torch.manual_seed(3)
    model = Transformer(
        ModelConfig(
            source_vocab_size=V,
            target_vocab_size=V,
            num_encoder_layers=1,
            num_decoder_layers=1,
            d_model=22,
            d_ff=17,
            num_heads=2,
            dropout=dropout,
        )
    )
    return Trainer(model, TrainingConfig(**({"warmup_steps": 7} | training)), precision)


def everything(trainer):
    return {f"{f}.{n}": t.clone() for f, g in trainer.tensors().items() for n, t in g.items()}


def test_accumulated_micro_batches_equal_one_batch():
    whole, parts = make_trainer(), make_trainer()
    rows = padded_batch(LONG + SHORT, V)
    halves = []
    for rows_of_half in (slice(0, 2), slice(2, 5)):
        tensors = {
            name: getattr(rows, name)[rows_of_half]
            for name in ("source", "source_segments", "target", "target_segments", "pair_indices")
        }
        tokens = int(tensors["target_segments"].sum())
        halves.append(type(rows)(**tensors, target_tokens=tokens))
    for _ in range(3):
        one, two = whole.step([rows]), parts.step(halves)
        assert one.tokens == two.tokens == 28
        assert two.loss == pytest.approx(one.loss, rel=1e-5)
        assert two.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-5)
    for name, weight in whole.model.state_dict().items():
        torch.testing.assert_close(parts.model.state_dict()[name], weight, rtol=1e-4, atol=1e-6)


def test_the_loss_is_a_mean_over_tokens_not_over_batches():
    trainer = make_trainer(label_smoothing=0.0)
    batches = [padded_batch(LONG, V), padded_batch(SHORT, V)]
    with torch.no_grad():
        sums = [
            F.cross_entropy(
                trainer.model(b.source, b.target, b.source_segments)[b.target_segments == 1],
                b.target[b.target_segments == 1],
                reduction="sum",
            ).item()
            for b in batches
        ]
    report = trainer.step(batches)
    assert report.loss == pytest.approx(sum(sums) / 28, rel=1e-5)
    assert report.nll == pytest.approx(report.loss, rel=1e-6)
    assert abs(sums[0] / 24 + sums[1] / 4 - 2 * report.loss) > 1e-3  # the two losses differ


def test_clipping_limits_the_gradient_and_reports_its_norm_before():
    free, clipped = make_trainer(), make_trainer(clip_norm=0.01)
    batch = padded_batch(LONG, V)
    reports = [trainer.step([batch]) for trainer in (free, clipped)]
    assert reports[0].gradient_norm == reports[1].gradient_norm > 0.01
    moments = [t for n, t in clipped.tensors()["optimizer"].items() if n.startswith("exp_avg.")]
    norm = torch.stack([m.norm() for m in moments]).norm().item()
    assert norm == pytest.approx(0.1 * 0.01, rel=1e-3)  # (1 - beta1) times the clipped gradient


@pytest.mark.parametrize("change", ["seed", "step", "micro-batch"])
def test_dropout_depends_on_seed_step_and_micro_batch(change):
    """Two micro-batches of the same text differ, too."""
    batch = padded_batch(LONG, V)
    one = make_trainer(dropout=0.3).step([batch])
    trainer = make_trainer(dropout=0.3, seed=2 if change == "seed" else 1)
    trainer.steps = 1 if change == "step" else 0
    batches = [batch, batch] if change == "micro-batch" else [batch]
    assert trainer.step(batches).loss != one.loss


def test_bf16_keeps_weights_and_state_in_fp32_and_learns_as_well():
    full, half = make_trainer(), make_trainer(precision="bf16")
    batch = padded_batch(LONG, V)
    for _ in range(5):
        one, two = full.step([batch]), half.step([batch])
    assert two.loss != one.loss
    assert two.loss == pytest.approx(one.loss, rel=0.02)
    assert {tensor.dtype for tensor in everything(half).values()} == {torch.float32}
