"""Writing a Marian directory of Hugging Face transformers.

The layout is that of the OPUS-MT models: ``<pad>`` is the last entry, its embedding is zero, and the
decoder starts from it.
"""

from pathlib import Path

import torch

from headway.errors import HeadwayError
from headway.ext.exchange.huggingface.text_files import notes, vocabularies, write_text_files
from headway.ext.exchange.huggingface.weights import find_refusals, to_marian
from headway.ext.exchange.output import add_files
from headway.ext.exchange.own_settings import write_own_settings
from headway.translation import Model, save_tensors

__all__ = ["PRECISIONS", "USAGE", "add_files", "find_refusals", "write"]

PRECISIONS = ("float32", "float16", "bfloat16")
USAGE = """```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("DIR")
model = AutoModelForSeq2SeqLM.from_pretrained("DIR")
batch = tokenizer(["..."], return_tensors="pt", padding=True)
found = model.generate(**batch, max_new_tokens=batch.input_ids.shape[1] + 50)
print(tokenizer.batch_decode(found, skip_special_tokens=True))
```"""


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a Marian directory; see `headway.ext.exchange.formats.ExportWriter`.

    Raises:
        HeadwayError: If a weight is too large for the precision, or sources do not end in ``</s>``.
    """
    if not model.tokenizer.ends_sources:
        raise HeadwayError(
            f"{model.path}: its sources do not end in </s>, as those of every Marian model do: export it to"
            " ctranslate2 or argos"
        )
    entries, _ = vocabularies(model.tokenizer)
    weights = to_marian(model.transformer, len(entries))
    for name, value in weights.items():
        weights[name] = value.to(getattr(torch, precision))
        if not weights[name].isfinite().all():
            raise HeadwayError(f"{model.path}: {name} is too large for {precision}: use bfloat16")
    out.mkdir()
    write_text_files(model, out, precision)
    write_own_settings(model, out)
    save_tensors(out / "model.safetensors", weights, {"format": "pt"})
    found = notes(model)
    if precision != "float32":
        found.append(f"weights are stored as {precision}; transformers computes in {precision}")
    return found
