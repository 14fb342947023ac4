"""A side of ``toolkits.py``: train a MarianMTModel with Seq2SeqTrainer on subwords, or translate with it.

python huggingface.py train TEXT SEED WARMUP
python huggingface.py translate TEXT
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import (
    MarianConfig,
    MarianMTModel,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
)

EVERY = 100  # steps between checkpoints
BATCH = 128  # sentences of a step: about as many tokens as in the other toolkits
IGNORED = -100  # a label that is no token
SHAPE = {"layers": 4, "ffn_dim": 512, "attention_heads": 4}


class Pairs(Dataset[dict[str, Any]]):
    """Pairs of subwords as ids; each side ends in ``</s>``."""

    def __init__(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> None:
        self._rows = [
            {"input_ids": source, "labels": target, "length": len(source)}
            for source, target in zip(sources, targets, strict=True)
        ]
        self.tokens = sum(map(len, targets))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self._rows[number]


class Rate(TrainerCallback):  # type: ignore[misc]
    """Prints the target tokens per second."""

    def __init__(self, tokens: int) -> None:
        self._tokens, self._started = tokens, time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """See transformers."""
        seconds = time.monotonic() - self._started
        print(f"tokens per second: {state.epoch * self._tokens / seconds:.0f}", flush=True)


class Text:
    """A directory with the subwords that ``toolkits.py`` has written.

    Attributes:
        pieces: The vocabulary, by id.
        padding: The id of ``<pad>``, the last one, which also starts a translation.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        known = (directory / "vocab.txt").read_text("utf-8").splitlines()
        self.pieces = ["</s>", "<unk>", *known, "<pad>"]
        self.padding = len(self.pieces) - 1
        self._ids = {piece: number for number, piece in enumerate(self.pieces)}

    def read(self, split: str, language: str) -> list[list[int]]:
        """Return the ids of each line of a split."""
        lines = (self._directory / f"{split}.bpe.{language}").read_text("utf-8").splitlines()
        return [[*(self._ids.get(piece, 1) for piece in line.split()), 0] for line in lines]

    def collate(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return a batch: [B, S] of the sources, [B, T] of the targets."""
        sources = pad([row["input_ids"] for row in rows], self.padding)
        labels = pad([row["labels"] for row in rows], IGNORED)
        inputs = torch.cat([torch.full_like(labels[:, :1], self.padding), labels[:, :-1]], 1)
        return {
            "input_ids": sources,
            "attention_mask": (sources != self.padding).long(),
            "decoder_input_ids": inputs.masked_fill(inputs == IGNORED, self.padding),
            "labels": labels,
        }


def pad(rows: Sequence[list[int]], value: int) -> Tensor:
    """Return rows of ids as one tensor."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


def train(text: Text, seed: int, warmup: int) -> None:
    """Train until the process is stopped; checkpoints are in ``model``."""
    torch.manual_seed(seed)
    layers = {
        f"{side}_{what}": size for side in ("encoder", "decoder") for what, size in SHAPE.items()
    }
    config = MarianConfig(
        vocab_size=len(text.pieces), d_model=128, **layers, dropout=0.3, activation_function="relu",
        scale_embedding=True, max_position_embeddings=512, pad_token_id=text.padding, eos_token_id=0,
        forced_eos_token_id=0, decoder_start_token_id=text.padding,
    )  # fmt: skip
    arguments = Seq2SeqTrainingArguments(
        output_dir="model", seed=seed, use_cpu=True, report_to="none", dataloader_pin_memory=False,
        per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH,
        train_sampling_strategy="group_by_length", max_steps=1_000_000,
        learning_rate=5e-4, lr_scheduler_type="inverse_sqrt", warmup_steps=warmup, adam_beta2=0.98,
        weight_decay=0.0001, max_grad_norm=0.0, label_smoothing_factor=0.1, logging_steps=20,
        eval_strategy="steps", eval_steps=EVERY, save_strategy="steps", save_steps=EVERY,
        save_total_limit=2,
    )  # fmt: skip
    pairs, others = (
        Pairs(*(text.read(name, code) for code in ("en", "de"))) for name in ("train", "valid")
    )
    Seq2SeqTrainer(
        model=MarianMTModel(config),
        args=arguments,
        train_dataset=pairs,
        eval_dataset=others,
        data_collator=text.collate,
        callbacks=[Rate(pairs.tokens)],
    ).train()


def translate(text: Text) -> Iterator[str]:
    """Yield the subwords of the translation of each line of the test text, by the newest checkpoint."""
    newest = max(Path("model").glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    model = MarianMTModel.from_pretrained(newest).eval()
    sources = text.read("test", "en")
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    lines: dict[int, str] = {}
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        batch = pad([sources[number] for number in rows], text.padding)
        mask = (batch != text.padding).long()
        with torch.inference_mode():
            found = model.generate(batch, attention_mask=mask, num_beams=5, max_length=150)
        for number, ids in zip(rows, found.tolist(), strict=True):
            kept = (text.pieces[i] for i in ids if i not in (0, text.padding))
            lines[number] = " ".join(kept)
    yield from (lines[number] for number in range(len(sources)))


if __name__ == "__main__":
    task, directory, *numbers = sys.argv[1:]
    if task == "train":
        train(Text(Path(directory)), *map(int, numbers))
    else:
        output = "".join(f"{line}\n" for line in translate(Text(Path(directory))))
        Path("output.txt").write_text(output, "utf-8")
