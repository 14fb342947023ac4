"""Train with ``torch.nn.Transformer`` as tutorials do, in fp32, or in bf16 by autocast.

The model has scaled embeddings with sinusoids and a tied output; training uses ``CrossEntropyLoss`` and
unfused Adam. Its ``dropout`` is applied to residual sums, inside the feed-forward and to attention
weights; with ``paper_dropout`` only to residual sums and embeddings, as in the paper and in Headway.
"""

import math

import torch
from torch import Tensor, nn
from worker import Facts, Ids, Shape, TrainingTask, Work, serve, training_work


class Model(nn.Module):
    """An encoder-decoder around ``torch.nn.Transformer``."""

    def __init__(self, shape: Shape, vocab_size: int, dropout: float) -> None:
        super().__init__()
        width, layers = shape["d_model"], shape["layers"]
        self.pad = vocab_size - 1
        self.embedding = nn.Embedding(vocab_size, width, padding_idx=self.pad)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        rate = 10000 ** (-torch.arange(0, width, 2) / width)
        angle = torch.arange(512)[:, None] * rate
        self.table: Tensor
        self.register_buffer("table", torch.stack((angle.sin(), angle.cos()), -1).flatten(1))
        self.dropout = nn.Dropout(dropout)
        self.core = nn.Transformer(
            width, shape["heads"], layers, layers, shape["d_ff"], dropout, batch_first=True
        )
        self.output = nn.Linear(width, vocab_size, bias=False)
        self.output.weight = self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        """Look ids up and add positions."""
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.table[: ids.size(1)])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict the target; it is shifted here."""
        shifted = nn.functional.pad(target[:, :-1], (1, 0), value=self.pad)
        length = target.size(1)
        hidden = self.core(
            self.embed(source),
            self.embed(shifted),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=source == self.pad,
            tgt_key_padding_mask=target == self.pad,
            memory_key_padding_mask=source == self.pad,
        )
        return self.output(hidden)


def use_paper_dropout(model: Model) -> None:
    """Remove dropout from attention weights and from inside the feed-forward."""
    for part in model.core.modules():
        if isinstance(part, nn.MultiheadAttention):
            part.dropout = 0.0
        elif isinstance(part, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
            part.add_module("dropout", nn.Identity())


def start(task: TrainingTask) -> tuple[Work, Facts]:
    """Build the model and its optimizer."""
    torch.set_num_threads(task["threads"])
    torch.manual_seed(1)
    model = Model(task["shape"], task["vocab_size"], task["dropout"])
    if task.get("paper_dropout"):
        use_paper_dropout(model)
    measure = nn.CrossEntropyLoss(ignore_index=model.pad, label_smoothing=task["smoothing"])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def ready(source: list[Ids], target: list[Ids]) -> tuple[Tensor, Tensor]:
        return pad_rows(source, model.pad), pad_rows(target, model.pad)

    def step(batch: tuple[Tensor, Tensor]) -> Tensor:
        source, target = batch
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=task.get("autocast", False)):
            loss = measure(model(source, target).flatten(0, 1), target.flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    parameters = sum(p.numel() for p in model.parameters())
    return training_work(task, ready, step), {"parameters": parameters, "torch": torch.__version__}


def pad_rows(rows: list[Ids], pad: int) -> Tensor:
    """Stack rows, padded on the right."""
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


if __name__ == "__main__":
    serve(start)
