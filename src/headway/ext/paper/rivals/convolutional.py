"""ConvS2S: convolutional sequence to sequence learning.

Gehring, Auli, Grangier, Yarats & Dauphin, 2017, "Convolutional Sequence to Sequence Learning",
https://arxiv.org/abs/1705.03122. The paper of the Transformer names it in sections 2 and 6.1.

Shapes: B batch, S source length, T target length, D d_model, N hypotheses.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

from headway.config import ModelConfig
from headway.ext.kinds import Convolution
from headway.ext.paper.rivals.rival import Rival, RivalState, real_positions
from headway.model import Embedding, Segments, SegmentsLike

HALF = math.sqrt(0.5)  # halves the variance of a sum of two (section 3.4)


def normalized_map(inputs: int, outputs: int, dropout: float = 0.0) -> nn.Linear:
    """Make a linear map with weight normalization, initialized with N(0, sqrt(p / n)) (section 3.5).

    Args:
        inputs: n.
        outputs: The width of the result.
        dropout: Of the input, which is kept with the probability p.
    """
    linear = nn.Linear(inputs, outputs)
    nn.init.normal_(linear.weight, std=math.sqrt((1 - dropout) / inputs))
    nn.init.zeros_(linear.bias)
    weight_norm(linear)
    return linear


class GatedBlock(nn.Module):
    """A gated convolution with a residual: (v(W [h_(i-k/2), ..., h_(i+k/2)] + b) + h_i) sqrt(0.5).

    Section 3.2. The input of the convolution has dropout, with which its weights are initialized:
    N(0, sqrt(4 p / n)), p the probability of keeping an input (section 3.5).

    Args:
        width: D.
        kernel_size: k.
        dropout: Of the input.
        causal: Read no later position (a decoder's).
    """

    def __init__(self, width: int, kernel_size: int, dropout: float, *, causal: bool) -> None:
        super().__init__()
        self.convolution = Convolution(width, kernel_size, gated=True, causal=causal)
        linear = self.convolution.output
        nn.init.normal_(linear.weight, std=math.sqrt(4 * (1 - dropout) / (kernel_size * width)))
        nn.init.zeros_(linear.bias)
        weight_norm(linear)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x_BTD: Tensor, segments: Segments | None = None) -> Tensor:
        """Transform [B, T, D]; a tap in padding reads zero."""
        return (self.convolution(self.dropout(x_BTD), segments) + x_BTD) * HALF


class ConvolutionalTranslator(Rival):
    """Gated convolutions on both sides, and attention in each layer of the decoder.

    It reads ``num_encoder_layers``, ``num_decoder_layers``, ``kernel_size``, ``dropout`` and
    ``max_positions`` (of the learned positions). Embeddings and all layers have width D.
    """

    departs = (
        "all widths are one; as many blocks as the Transformer has layers, which is three on each side instead of"
        " 15 to 20; a step of the search reads all tokens before it again"
    )

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        width, k, p = config.d_model, config.kernel_size, config.dropout
        self.source_positions = nn.Embedding(config.max_positions, width)
        self.target_positions = nn.Embedding(config.max_positions, width)
        for table in self.modules():
            if isinstance(table, Embedding | nn.Embedding):
                nn.init.normal_(table.weight, std=0.1)  # section 3.5
        for embedding in (self.source_embedding, self.target_embedding):
            with torch.no_grad():
                embedding.weight[-1] = 0
        self.dropout = nn.Dropout(p)
        # Maps between the embeddings and the layers, and before the scores (section 3.2).
        self.into_encoder = normalized_map(width, width, p)
        self.out_of_encoder = normalized_map(width, width)
        self.into_decoder = normalized_map(width, width, p)
        self.out_of_decoder = normalized_map(width, width)
        self.output = normalized_map(width, config.target_vocab_size, p)
        depth = config.num_decoder_layers
        self.encoder = nn.ModuleList(
            GatedBlock(width, k, p, causal=False) for _ in range(config.num_encoder_layers)
        )
        self.decoder = nn.ModuleList(GatedBlock(width, k, p, causal=True) for _ in range(depth))
        self.queries = nn.ModuleList(normalized_map(width, width) for _ in range(depth))  # W_d

    def start(self, source_BS: Tensor, source_segments: SegmentsLike = None) -> RivalState:
        """Encode: the keys are z, and the values z + e, with e the embeddings (equation 2)."""
        real_BS = real_positions(source_BS, source_segments)
        segments = Segments(real_BS.long(), is_packed=False)
        embedded_BSD = self._embed(source_BS, self.source_embedding, self.source_positions)
        x_BSD = self.into_encoder(embedded_BSD)
        for block in self.encoder:
            x_BSD = block(x_BSD, segments)
        # Each layer of the decoder sends a gradient here: their mean goes on (section 3.4).
        z_BSD = scale_gradient(self.out_of_encoder(x_BSD), 1 / len(self.decoder))
        return RivalState(keys=z_BSD, values=z_BSD + embedded_BSD, real=real_BS)

    def _embed(self, tokens_BT: Tensor, words: Embedding, places: nn.Embedding) -> Tensor:
        """Add the embeddings of words and absolute positions (section 3.1)."""
        place_T = torch.arange(tokens_BT.size(1), device=tokens_BT.device)
        embedded_BTD: Tensor = self.dropout(words(tokens_BT) + places(place_T))
        return embedded_BTD

    def decode(self, shifted_BT: Tensor, state: RivalState) -> Tensor:
        """Run the decoder; equations 1 and 2 of section 3.3 in each layer."""
        embedded_BTD = self._embed(shifted_BT, self.target_embedding, self.target_positions)
        hidden_B1S = ~state["real"][:, None]
        sources_B11 = state["real"].sum(1)[:, None, None]
        x_BTD = self.into_decoder(embedded_BTD)
        for block, query in zip(self.decoder, self.queries, strict=True):
            x_BTD = block(x_BTD)
            query_BTD = query(x_BTD) + embedded_BTD  # d = W_d h + b_d + g
            scores_BTS = query_BTD @ state["keys"].transpose(1, 2)
            weights_BTS = scores_BTS.masked_fill(hidden_B1S, -torch.inf).softmax(-1)
            # A mean of m vectors has 1/m of their variance: times m sqrt(1/m) (section 3.4).
            x_BTD = x_BTD + weights_BTS @ state["values"] * sources_B11.sqrt()
        return F.dropout(self.out_of_decoder(x_BTD), self.config.dropout, self.training)


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """Return x itself; in the backward pass, its gradient is multiplied by a factor."""
    return x * factor + x.detach() * (1 - factor)
