"""ONNX graphs beside the files of a Marian directory, as Hugging Face's Optimum and onnxruntime want them."""

from pathlib import Path
from typing import Any

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.exchange.creation import add_files, create_atomically
from headway.exchange.huggingface.text_files import (
    notes,
    position_rows,
    vocabularies,
    write_text_files,
)
from headway.inference.directory import Model

__all__ = ["PRECISIONS", "USAGE", "add_files", "find_refusals", "write"]

PRECISIONS = ("float32", "int8")
ENCODER, DECODER, STEP = (
    f"{name}.onnx" for name in ("encoder_model", "decoder_model", "decoder_with_past_model")
)
USAGE = """```python
from optimum.onnxruntime import ORTModelForSeq2SeqLM  # pip install optimum-onnx[onnxruntime]
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("DIR")
model = ORTModelForSeq2SeqLM.from_pretrained("DIR", use_merged=False)
batch = tokenizer(["..."], return_tensors="pt", padding=True)
found = model.generate(**batch, max_new_tokens=batch.input_ids.shape[1] + 50)
print(tokenizer.batch_decode(found, skip_special_tokens=True))
```"""


def find_refusals(config: ModelConfig) -> list[str]:
    """Return why these graphs cannot say such a model; nothing: they can, exactly."""
    found = [
        f"{name} = '{getattr(config, name)}': the cache of keys and values is for attention only"
        for name in ("encoder_mixer", "decoder_mixer")
        if getattr(config, name) != "attention"
    ]
    if config.compatibility != "dot":
        found.append(f"compatibility = '{config.compatibility}': only dot products are written")
    if config.window:
        found.append(f"window = {config.window}: only full attention is written")
    if config.num_decoder_layers == 0:
        found.append("num_decoder_layers = 0: there would be no past to go on from")
    return found


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write three graphs and the text side, as `formats.Format` says; ``int8`` is of the matrices.

    Raises:
        HeadwayError: If onnx is not installed, or a graph is too large for a file.
    """
    from headway.exchange.onnx.model import Parts

    load_program("onnx")
    entries, _ = vocabularies(model.tokenizer)
    rows = position_rows(model.config.model)
    parts = Parts(model.transformer.cpu(), len(entries), rows, rounded=precision == "int8")
    with create_atomically(out) as temporary:
        temporary.mkdir()
        for name, made in (
            (ENCODER, parts.encoder),
            (DECODER, lambda: parts.decoder(past=False)),
            (STEP, lambda: parts.decoder(past=True)),
        ):
            (temporary / name).write_bytes(made().SerializeToString())
        write_text_files(model, temporary, "float32")
    found = [
        *notes(model),
        f"positions are stored up to {rows}; longer text is an error",
        "config.json is there for Optimum, which takes from it sizes and control symbols: the graphs say"
        " the model itself",
    ]
    if precision == "int8":
        found.append("weights are rounded to 8 bits a row, and inputs alike")
    return found


def load_program(name: str) -> Any:
    """Import onnx or onnxruntime.

    Raises:
        HeadwayError: If it is not installed.
    """
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise HeadwayError(
            f'this needs {name}, which is not installed: pip install "headway[export]"'
        ) from None
