"""The structured self-attentive sentence embedding: a matrix that stands for a sentence.

Lin, Feng, Nogueira dos Santos, Yu, Xiang, Zhou & Bengio, 2017, "A Structured Self-attentive Sentence
Embedding", https://arxiv.org/abs/1703.03130. The paper of the Transformer names it in section 2.

Shapes: B rows, S tokens of a row, P sentences of a row, D both directions of the LSTM (the paper's 2u), R
hops, N texts, C classes.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.ext.kinds import Recurrent
from headway.model import Embedding, Segments, SegmentsLike
from headway.text import EOS

HOPS = 4  # r
PENALTY = 1.0  # the weight of the penalty in the loss


class SelfAttentiveClassifier(nn.Module):
    """A bidirectional LSTM whose states several hops of attention sum up; a perceptron names the class.

    It reads ``source_vocab_size``, ``d_model`` (of embeddings and both directions together, and d_a),
    ``d_ff`` (of the perceptron) and ``dropout`` of a configuration.

    Args:
        config: The sizes.
        num_classes: C.
        sentences: Of a text: 1, or 2 if texts are pairs, whose embeddings meet in gates.

    Attributes:
        departs: As in `Rival`.
    """

    departs: ClassVar[str] = (
        f"{HOPS} hops; one layer of ReLU; word vectors are learned from the start; Adam with the Transformer's"
        f" learning rate instead of SGD; the penalty has the weight {PENALTY:g}, also on pairs (0.3 there); dropout of"
        " 0.1 in the perceptron, no L2 regularization and no clipping of gradients"
    )

    def __init__(self, config: ModelConfig, num_classes: int, sentences: int) -> None:
        super().__init__()
        width = config.d_model
        self.embedding = Embedding(config.source_vocab_size, width, width, scale=1.0)
        self.encoder = Recurrent(width, "lstm")
        self.first = nn.Linear(width, width, bias=False)  # W_s1
        self.second = nn.Linear(width, HOPS, bias=False)  # W_s2
        self.gates = None
        if sentences == 2:  # W_fh and W_fp
            self.gates = nn.Parameter(torch.empty(2, HOPS, width, width))
            nn.init.normal_(self.gates, std=width**-0.5)
        self.perceptron = nn.Sequential(
            nn.Linear(HOPS * width, config.d_ff),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.d_ff, num_classes),
        )

    def forward(self, text_BS: Tensor, segments: SegmentsLike = None) -> tuple[Tensor, Tensor]:
        """Return scores of the classes, [N, C], and the penalty of each text, [N].

        Args:
            text_BS: Tokens; each sentence ends with ``</s>``. Rows have equally many texts.
            segments: 0 is padding; None: there is none.
        """
        weights_BPRS, embedded_BPRD = self.embed(text_BS, segments)
        penalties_BP = penalty(weights_BPRS)
        if self.gates is None:
            related_NRD = embedded_BPRD.flatten(0, 1)
            return self.perceptron(related_NRD.flatten(1)), penalties_BP.flatten()
        pairs_N2RD = embedded_BPRD.flatten(0, 1).unflatten(0, (-1, 2))
        gated_N2RD = (pairs_N2RD[..., None, :] @ self.gates)[..., 0, :]
        related_NRD = gated_N2RD.prod(1)
        return self.perceptron(related_NRD.flatten(1)), penalties_BP.view(-1, 2).sum(1)

    def embed(self, text_BS: Tensor, segments: SegmentsLike = None) -> tuple[Tensor, Tensor]:
        """Return A, the attention of each hop, and M = A H, the embeddings of all sentences.

        A = softmax(W_s2 tanh(W_s1 H^T)), where no hop sees another sentence.
        """
        segments = Segments.of(segments, text_BS)
        ends_BS = (text_BS == EOS).long()
        sentence_BS = ends_BS.cumsum(1) - ends_BS + 1
        if segments is not None:
            sentence_BS = sentence_BS * (segments.ids != 0)
        count = int(sentence_BS.max())
        states_BSD = self.encoder(self.embedding(text_BS), Segments(sentence_BS, is_packed=True))
        scores_BRS = self.second(self.first(states_BSD).tanh()).transpose(1, 2)
        number_P1 = torch.arange(1, count + 1, device=text_BS.device)[:, None]
        is_inside_BPS = sentence_BS[:, None] == number_P1
        scores_BPRS = scores_BRS[:, None].masked_fill(~is_inside_BPS[:, :, None], -torch.inf)
        weights_BPRS = scores_BPRS.softmax(-1)
        return weights_BPRS, weights_BPRS @ states_BSD[:, None]


def penalty(weights_RS: Tensor) -> Tensor:
    """Return the squared Frobenius norm of A A^T - I, which is 0 if each hop looks at one token of its own.

    Args:
        weights_RS: A, [..., R, S].
    """
    overlap_RR = weights_RS @ weights_RS.transpose(-1, -2)
    unit_RR = torch.eye(overlap_RR.size(-1), device=overlap_RR.device, dtype=overlap_RR.dtype)
    return (overlap_RR - unit_RR).square().sum((-1, -2))
