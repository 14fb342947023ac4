"""End-to-end memory networks, which answer questions about stories.

Sukhbaatar, Szlam, Weston & Fergus, 2015, "End-To-End Memory Networks", https://arxiv.org/abs/1503.08895.
The paper of the Transformer names them in section 2.

Shapes: B questions, S sentences of a story, W words of a sentence, Q words of a question, D width, V words.
"""

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

CLIP = 40.0  # norm of the gradient (section 4.2)
FIRST_RATE = 0.01  # halved after each quarter of the epochs: every 25 of the paper's 100


class MemoryNetwork(nn.Module):
    """Reads a memory of sentences several times; embeddings of neighboring hops are one matrix.

    Position encoding and temporal encoding of section 4.1, adjacent weights of section 2.2:
    A^1 = B, A^(k+1) = C^k and W^T = C^K, also of the temporal matrices T_A and T_C.

    Args:
        vocab_size: V; 0 is padding.
        width: D; the paper's d is 20 for a single task.
        hops: K; the paper's is 3.
        max_sentences: The longest story.

    Attributes:
        departs: As in `Rival`.
    """

    departs: ClassVar[str] = (
        "stories in the manner of the first two bAbI tasks, from a generator; no linear start; no random empty"
        " memories; each seed counts, where the paper trains ten times and keeps the network with the smallest"
        " training error"
    )

    def __init__(self, vocab_size: int, width: int, hops: int, max_sentences: int) -> None:
        super().__init__()
        self.words = nn.ModuleList(
            nn.Embedding(vocab_size, width, padding_idx=0) for _ in range(hops + 1)
        )
        self.times = nn.ModuleList(
            nn.Embedding(max_sentences + 1, width, padding_idx=0) for _ in range(hops + 1)
        )
        for table in (*self.words, *self.times):
            nn.init.normal_(table.weight, std=0.1)  # section 4.2
            with torch.no_grad():
                table.weight[0] = 0

    def forward(self, story_BSW: Tensor, question_BQ: Tensor) -> Tensor:
        """Return logits of the answer, [B, V]; a row of zeros in the story is no sentence."""
        real_BS = (story_BSW != 0).any(-1)
        # The last sentence of a story has time 1.
        time_BS = real_BS.long().flip(1).cumsum(1).flip(1) * real_BS
        state_BD = encode(self.words[0], question_BQ)
        memories = [
            encode(words, story_BSW) + times(time_BS)
            for words, times in zip(self.words, self.times, strict=True)
        ]
        for memory_BSD, output_BSD in pairwise(memories):
            scores_BS = (memory_BSD @ state_BD[..., None])[..., 0]
            weights_BS = scores_BS.masked_fill(~real_BS, -torch.inf).softmax(1)  # equation 1
            # Equation 2, and u^(k+1) = u^k + o^k.
            state_BD = state_BD + (weights_BS[:, None] @ output_BSD)[:, 0]
        words_VD = self.words[-1].get_parameter("weight")
        # W^T; its row 0 is a constant, because training must not change the embedding of padding (section 4.2).
        answers_VD = nn.functional.pad(words_VD[1:], (0, 0, 1, 0))
        return state_BD @ answers_VD.T  # equation 3, before its softmax


def encode(words: nn.Module, ids: Tensor) -> Tensor:
    """Return the sum of l_j * (A x_j) over the words of each sentence, [..., W] to [..., D].

    l_kj = (1 - j/J) - (k/d) (1 - 2j/J), with j the word's place from 1, J the sentence's words and k the
    component from 1 (section 4.1). Padding on the right adds nothing.
    """
    embedded = words(ids)
    place_W1 = torch.arange(1, ids.size(-1) + 1, device=ids.device)[:, None].to(embedded.dtype)
    length = (ids != 0).sum(-1)[..., None, None].clamp(min=1)
    component_D = torch.arange(1, embedded.size(-1) + 1, device=ids.device) / embedded.size(-1)
    share = place_W1 / length
    encoded: Tensor = (embedded * ((1 - share) - component_D * (1 - 2 * share))).sum(-2)
    return encoded


def train_network(
    model: MemoryNetwork, data: tuple[Tensor, Tensor, Tensor], epochs: int, batch: int = 32
) -> None:
    """Train by plain stochastic gradient descent, as in section 4.2, without its linear start.

    Args:
        model: Changed in place.
        data: Stories [B, S, W], questions [B, Q] and answers [B].
        epochs: How often each question is seen; the paper's are 100.
        batch: Questions of a step.
    """
    optimizer = torch.optim.SGD(model.parameters(), FIRST_RATE)
    halving = torch.optim.lr_scheduler.StepLR(optimizer, max(1, epochs // 4), 0.5)
    for _ in range(epochs):
        for rows in torch.randperm(len(data[0])).split(batch):
            story_BSW, question_BQ, answer_B = (part[rows] for part in data)
            loss = nn.functional.cross_entropy(
                model(story_BSW, question_BQ), answer_B, reduction="sum"
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
        halving.step()


@torch.inference_mode()
def count_right(model: MemoryNetwork, data: tuple[Tensor, Tensor, Tensor]) -> float:
    """Return the share of right answers in percent."""
    story_BSW, question_BQ, answer_B = data
    right_B = model(story_BSW, question_BQ).argmax(1) == answer_B
    return 100 * float(right_B.double().mean())
