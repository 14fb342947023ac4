"""The layer types of Table 1 as this package builds them, and the costs that the paper states.

n positions, d width, k kernel, r neighborhood. Paper: section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from headway.config import Mixer, ModelConfig
from headway.model import make_layer

Term = Callable[[int, int, int, int], float]


@dataclass(frozen=True)
class LayerType:
    """A row of Table 1.

    Attributes:
        name: For people.
        mixer_name: What a model's settings call it.
        terms: The summands of its complexity, functions of (n, d, k, r).
        complexity: The paper's complexity of a layer, without the O.
        sequential: The paper's number of sequential operations.
        path: The paper's maximum path length.
    """

    name: str
    mixer_name: Mixer
    terms: tuple[Term, ...]
    complexity: str
    sequential: str
    path: str

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
        """Build the part of a layer that mixes positions; ``index`` is the layer's place in a stack."""
        config = ModelConfig(
            d_model=d,
            d_ff=4 * d,
            num_heads=heads,
            kernel_size=k,
            window=r if self.name == "restricted" else 0,
            dropout=0.0,
            positions="none",
            encoder_mixer=self.mixer_name,
            decoder_mixer=self.mixer_name,
        )
        mixer = make_layer(config, index, causal=causal, cross=False).mixer
        assert isinstance(mixer, nn.Module)
        return mixer.eval()


LAYER_TYPES = (
    LayerType("self-attention", "attention", (lambda n, d, k, r: n * n * d,), "n²·d", "1", "1"),
    LayerType("recurrent", "lstm", (lambda n, d, k, r: n * d * d,), "n·d²", "n", "n"),
    LayerType(
        "convolution", "convolution", (lambda n, d, k, r: k * n * d * d,),
        "k·n·d²", "1", "n/k, contiguous",
    ),
    LayerType(
        "dilated", "dilated", (lambda n, d, k, r: k * n * d * d,), "k·n·d²", "1", "log_k(n)"
    ),
    LayerType(
        "separable", "separable", (lambda n, d, k, r: k * n * d, lambda n, d, k, r: n * d * d),
        "k·n·d + n·d²", "1", "as contiguous",
    ),
    LayerType(
        "restricted", "attention", (lambda n, d, k, r: r * n * d,), "r·n·d", "1", "n/r"
    ),
)  # fmt: skip
BY_NAME = {layer.name: layer for layer in LAYER_TYPES}
