"""What the processor can do that changes what is worth doing."""

import torch


def has_bf16(device: torch.device) -> bool:
    """Whether bf16 products are faster than fp32 ones: only with instructions made for them.

    oneDNN and CUDA also say that they "support" bf16 where they merely emulate it, several times
    slower than fp32.
    """
    if device.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
