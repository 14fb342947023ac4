"""torch's fused attention: which of its kernels a GPU may take."""

import pytest
import torch
from torch.backends import cuda
from torch.nn import functional as F

from headway.model.plain_attention import fused_attention


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_gpu_never_takes_the_kernel_that_is_planned_anew_for_every_shape(device, monkeypatch):
    compute, seen = F.scaled_dot_product_attention, []

    def watched(*args, **settings):
        kernels = (cuda.cudnn_sdp_enabled, cuda.flash_sdp_enabled, cuda.mem_efficient_sdp_enabled)
        seen.append([is_enabled() for is_enabled in kernels])
        return compute(*args, **settings)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    q, k = torch.randn(2, 3, 5, 8, device=device), torch.randn(2, 3, 7, 8, device=device)
    allowed = torch.ones(2, 1, 1, 7, dtype=torch.bool, device=device)
    assert fused_attention(q, k, k, allowed, 0.5).shape == q.shape
    assert fused_attention(q, q, q, None, 0.5, is_causal=True).shape == q.shape
    assert seen == 2 * [[device == "cpu", True, True]]
    assert cuda.cudnn_sdp_enabled()  # as before
