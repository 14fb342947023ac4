"""Muon: momentum whose updates are orthogonal matrices.

A departure from the paper, which trains with Adam. Source: Jordan et al. (2024), "Muon: An optimizer for
hidden layers in neural networks"; the size of the updates is that of Liu et al. (2025), "Muon is scalable
for LLM training", section 2.2.

Shapes: N matrices of one shape, R rows, C columns.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.torch_private import for_each
from headway.training import parallel

# A step of the Newton-Schulz iteration maps each singular value s to a·s + b·s³ + c·s⁵. With these
# coefficients, five steps bring all values that are not tiny to between 0.7 and 1.2.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
# Entries of an orthogonal matrix of size n are about n^-0.5; Adam's updates are about 0.2 of its rate.
UPDATE_SIZE = 0.2
BLOCK = 8  # matrices that are computed together


class Muon:
    """Changes each matrix by the orthogonal matrix that is nearest to its momentum.

    Blocks of matrices of one shape are computed together. The ranks share the blocks, which do not
    depend on the number of ranks.

    Args:
        matrices: Weights of linear layers, [R, C].
        momentum: Share of the earlier gradients that stays in the momentum at each step.
        low_precision: Whether the orthogonal matrices are computed in bfloat16.
        weight_decay: Each step takes so much of each weight away, times the learning rate.
    """

    def __init__(
        self,
        matrices: Sequence[Tensor],
        momentum: float,
        low_precision: bool,
        weight_decay: float = 0.0,
    ) -> None:
        self.matrices = list(matrices)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dtype = torch.bfloat16 if low_precision else torch.float32
        self.blocks = _make_blocks(matrices)
        self.sizes = [sum(matrices[n].numel() for n in block) for block in self.blocks]
        self.nothing = matrices[0].new_empty(0, dtype=self.dtype)
        self.state = {matrix: {"momentum": torch.zeros_like(matrix)} for matrix in matrices}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the matrices by their gradients, which all of them have, at this learning rate."""
        matrices = self.matrices
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        momenta = [self.state[matrix]["momentum"] for matrix in matrices]
        for_each("lerp_", momenta, gradients, weight=1 - self.momentum)
        # Nesterov's momentum: where the momentum will be after another gradient like this one.
        ahead = for_each("lerp", gradients, momenta, weight=self.momentum)
        rank, ranks = parallel.rank(), parallel.world_size()
        own = [
            orthogonalize(torch.stack([ahead[n] for n in block]).to(self.dtype)).flatten()
            for block in self.blocks[rank::ranks]
        ]
        for block, flat in zip(self.blocks, self._exchange(own), strict=True):
            changed = [matrices[n] for n in block]
            shape = changed[0].shape
            if self.weight_decay:
                for_each("add_", changed, changed, alpha=-rate * self.weight_decay)
            size = rate * UPDATE_SIZE * math.sqrt(max(shape))
            for_each("add_", changed, list(flat.float().view(-1, *shape)), alpha=-size)

    def _exchange(self, own: Sequence[Tensor]) -> list[Tensor]:
        """Return the flat updates of all blocks; rank r has computed blocks r, r + ranks, ..."""
        ranks = parallel.world_size()
        if ranks == 1:
            return list(own)
        sizes = [self.sizes[rank::ranks] for rank in range(ranks)]
        row = torch.cat([self.nothing, *own])
        padded = F.pad(row, (0, max(map(sum, sizes)) - len(row)))
        parts = [
            flat[: sum(own_sizes)].split(own_sizes)
            for flat, own_sizes in zip(parallel.gather(padded), sizes, strict=True)
        ]
        return [parts[n % ranks][n // ranks] for n in range(len(self.blocks))]


def _make_blocks(matrices: Sequence[Tensor]) -> list[list[int]]:
    """Divide matrices into blocks of at most 8 of one shape, and return their numbers."""
    alike: dict[torch.Size, list[int]] = defaultdict(list)
    for number, matrix in enumerate(matrices):
        alike[matrix.shape].append(number)
    return [
        numbers[start : start + BLOCK]
        for numbers in alike.values()
        for start in range(0, len(numbers), BLOCK)
    ]


def orthogonalize(matrices_NRC: Tensor) -> Tensor:
    """Return matrices with the same singular vectors, and singular values of about 1, [N, R, C].

    A matrix of zeros stays zero.
    """
    x = matrices_NRC
    is_tall = x.size(1) > x.size(2)
    if is_tall:
        x = x.mT
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)  # no singular value is above 1
    a, b, c = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x
