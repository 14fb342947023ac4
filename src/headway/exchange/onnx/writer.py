"""Writing ONNX graphs beside the files of a Marian directory, as Hugging Face's Optimum expects them."""

from pathlib import Path

from headway.config import ModelConfig
from headway.exchange.huggingface.text_files import (
    notes,
    position_rows,
    vocabularies,
    write_text_files,
)
from headway.exchange.onnx.exporter import Exporter
from headway.exchange.optional_package import import_package
from headway.exchange.output import add_files
from headway.exchange.refusals import find_other_attention
from headway.inference.directory import Model

__all__ = ["PRECISIONS", "USAGE", "add_files", "find_refusals", "write"]

PRECISIONS = ("float32", "int8")
ENCODER, DECODER, DECODER_WITH_PAST = (
    "encoder_model.onnx",
    "decoder_model.onnx",
    "decoder_with_past_model.onnx",
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
    """Return the reasons why the graphs cannot express a model exactly; none: they can."""
    reasons = find_other_attention(config)
    if config.num_decoder_layers == 0:
        reasons.append("num_decoder_layers = 0: the decoder would have no cache")
    return reasons


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write three graphs and the text files; see `headway.exchange.formats.Writer`.

    Raises:
        HeadwayError: If onnx is not installed, or a graph is too large for a file.
    """
    import_package("onnx")
    entries, _ = vocabularies(model.tokenizer)
    rows = position_rows(model.config.model)
    exporter = Exporter(model.transformer.cpu(), len(entries), rows, is_rounded=precision == "int8")
    out.mkdir()
    (out / ENCODER).write_bytes(exporter.encoder())
    (out / DECODER).write_bytes(exporter.decoder())
    (out / DECODER_WITH_PAST).write_bytes(exporter.decoder_with_past())
    write_text_files(model, out, "float32")
    found = [
        *notes(model),
        f"positions are stored up to {rows}; longer text is an error",
        "Optimum reads sizes and control symbols from config.json; the graphs hold the model itself",
    ]
    if precision == "int8":
        found.append("weights are rounded to 8 bits a row, and inputs likewise")
    return found
