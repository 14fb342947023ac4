"""Marian directories of Hugging Face transformers: a Headway model written as one, and run as one.

The layout is the one of the OPUS-MT models: ``<pad>`` is the last entry, its row is zero, and the
decoder starts from it, as ours does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from headway.errors import HeadwayError
from headway.exchange.huggingface_reader import read
from headway.exchange.huggingface_text import notes, vocabularies, write_text_side
from headway.exchange.huggingface_weights import refusals, to_marian
from headway.exchange.place import appearing
from headway.inference.directory import Model
from headway.inference.grouping import pad_right
from headway.text.tokenizer import Tokenizer

__all__ = ["HOW", "PRECISIONS", "Engine", "read", "refusals", "write"]

PRECISIONS = ("float32", "float16", "bfloat16")
BATCH = 32  # sentences
HOW = """```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("DIR")
model = AutoModelForSeq2SeqLM.from_pretrained("DIR")
batch = tokenizer(["..."], return_tensors="pt", padding=True)
found = model.generate(**batch, max_new_tokens=batch.input_ids.shape[1] + 50)
print(tokenizer.batch_decode(found, skip_special_tokens=True))
```"""


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a Marian directory, as `formats.Format` says.

    Raises:
        HeadwayError: If a weight is too large for the precision.
    """
    entries, _ = vocabularies(model.tokenizer)
    weights = to_marian(model.transformer, len(entries))
    for name, value in weights.items():
        weights[name] = value.to(getattr(torch, precision))
        if not weights[name].isfinite().all():
            raise HeadwayError(f"{model.path}: {name} is too large for {precision}: use bfloat16")
    with appearing(out) as temporary:
        temporary.mkdir()
        write_text_side(model, temporary, precision)
        save_file(weights, temporary / "model.safetensors", metadata={"format": "pt"})
    found = notes(model)
    if precision != "float32":
        found.append(f"weights are stored as {precision}, and transformers computes in it")
    return found


class Engine:
    """An exported directory, run by transformers in float32.

    Args:
        path: What `write` wrote.

    Raises:
        HeadwayError: If transformers is not installed.
    """

    def __init__(self, path: Path) -> None:
        program = load_program()
        with _without_bars(program):
            self.model = program.AutoModelForSeq2SeqLM.from_pretrained(
                path, dtype=torch.float32, local_files_only=True
            ).eval()
        self.pad = int(self.model.config.pad_token_id)
        self.model.generation_config = program.GenerationConfig(
            num_beams=1,
            do_sample=False,
            eos_token_id=Tokenizer.eos,
            pad_token_id=self.pad,
            decoder_start_token_id=self.pad,
            bad_words_ids=[[self.pad]],
        )

    def greedy(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids greedily; each translation ends in ``</s>``, at its limit if not before."""
        found: list[list[int]] = [[]] * len(sources)
        for rows in _batches(sorted(range(len(sources)), key=limits.__getitem__)):
            ids, mask = pad_right([sources[i] for i in rows], self.pad)
            longest = max(limits[i] for i in rows)
            with torch.inference_mode():
                answers = self.model.generate(
                    input_ids=ids, attention_mask=mask, max_new_tokens=longest
                )
            for i, answer in zip(rows, answers[:, 1:].tolist(), strict=True):
                before = takewhile(lambda token: token != Tokenizer.eos, answer[: limits[i] - 1])
                found[i] = [*before, Tokenizer.eos]
        return found

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        found: list[list[float]] = []
        for rows in _batches(range(len(sources))):
            ids, mask = pad_right([sources[i] for i in rows], self.pad)
            wanted, _ = pad_right([targets[i] for i in rows], self.pad)
            before = torch.nn.functional.pad(wanted[:, :-1], (1, 0), value=self.pad)
            with torch.inference_mode():
                answer = self.model(input_ids=ids, attention_mask=mask, decoder_input_ids=before)
            log_p = answer.logits.log_softmax(-1).gather(2, wanted[..., None]).squeeze(2)
            found += [log_p[at, : len(targets[i])].tolist() for at, i in enumerate(rows)]
        return found


def load_program() -> Any:
    """Import transformers.

    Raises:
        HeadwayError: If it is not installed.
    """
    try:
        import transformers
    except ImportError:
        raise HeadwayError(
            'to compare needs transformers: pip install "transformers>=4.57", or give --no-verify'
        ) from None
    return transformers


@contextmanager
def _without_bars(program: Any) -> Iterator[None]:
    """Draw no bar for a load that takes a moment."""
    logging = program.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(rows), BATCH):
        yield rows[at : at + BATCH]
