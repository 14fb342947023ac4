"""Adam changes the parameters as PyTorch's own class does, bit by bit."""

import torch

from headway.training.steps.optimizers import Adam


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
