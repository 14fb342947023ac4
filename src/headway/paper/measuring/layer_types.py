"""The layer types of Table 1, as this package builds them, and what the paper says each costs.

n positions, d width, k kernel, r neighbourhood. Paper: section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from headway.config import ModelConfig
from headway.config.sections import Mixer
from headway.kernels.linear import Linear
from headway.model.attention import SelfAttention
from headway.model.layers import make_layer

Term = Callable[[int, int, int, int], float]


@dataclass(frozen=True)
class Rival:
    """A row of Table 1.

    Attributes:
        name: Ours.
        word: What a model's settings call it.
        terms: The summands of its complexity a layer, of (n, d, k, r).
        said: The paper's three entries: complexity, sequential operations, longest path.
    """

    name: str
    word: Mixer
    terms: tuple[Term, ...]
    said: tuple[str, str, str]

    def config(self, d: int, *, k: int = 3, r: int = 0, heads: int = 4) -> ModelConfig:
        """Return a model's settings with this layer in encoder and decoder."""
        return ModelConfig(
            d_model=d,
            d_ff=4 * d,
            num_heads=heads,
            kernel_size=k,
            window=r if self.name == "restricted" else 0,
            dropout=0.0,
            positions="none",
            encoder_mixer=self.word,
            decoder_mixer=self.word,
        )

    def mixer(
        self,
        d: int,
        *,
        k: int = 3,
        r: int = 0,
        heads: int = 4,
        causal: bool = False,
        index: int = 0,
    ) -> nn.Module:
        """Build what mixes positions, out of the ``index``-th layer of a stack."""
        config = self.config(d, k=k, r=r, heads=heads)
        return make_layer(config, index, causal=causal, cross=False).mixer.eval()


RIVALS = (
    Rival(
        "self-attention", "attention",
        (lambda n, d, k, r: n * n * d,), ("n²·d", "1", "1"),
    ),
    Rival(
        "recurrent", "lstm",
        (lambda n, d, k, r: n * d * d,), ("n·d²", "n", "n"),
    ),
    Rival(
        "convolution", "convolution",
        (lambda n, d, k, r: k * n * d * d,), ("k·n·d²", "1", "n/k, contiguous"),
    ),
    Rival(
        "dilated", "dilated",
        (lambda n, d, k, r: k * n * d * d,), ("k·n·d²", "1", "log_k(n)"),
    ),
    Rival(
        "separable", "separable",
        (lambda n, d, k, r: k * n * d, lambda n, d, k, r: n * d * d),
        ("k·n·d + n·d²", "1", "as contiguous"),
    ),
    Rival(
        "restricted", "attention",
        (lambda n, d, k, r: r * n * d,), ("r·n·d", "1", "n/r"),
    ),
)  # fmt: skip
BY_NAME = {rival.name: rival for rival in RIVALS}


def projections(mixer: nn.Module) -> dict[str, nn.Module]:
    """Return the maps of an attention layer that mix no positions, by name; others have none.

    A convolution's linear map is what mixes, so it is not among them, and a recurrence's map of its
    input has no module: `headway.paper.measuring.ledger` knows it by its rows.
    """
    if not isinstance(mixer, SelfAttention):
        return {}
    return {name: part for name, part in mixer.named_modules() if type(part) is Linear}
