"""ONNX graphs beside the files of a Marian directory, as Hugging Face's Optimum and onnxruntime want them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.exchange.huggingface_text import notes, position_rows, vocabularies, write_text_side
from headway.exchange.place import appearing
from headway.inference.directory import Model
from headway.inference.grouping import pad_right
from headway.text.tokenizer import Tokenizer

__all__ = ["HOW", "PRECISIONS", "Engine", "refusals", "write"]

PRECISIONS = ("float32", "int8")
ENCODER, DECODER, STEP = (
    f"{name}.onnx" for name in ("encoder_model", "decoder_model", "decoder_with_past_model")
)
BATCH = 32  # sentences
HOW = """```python
from optimum.onnxruntime import ORTModelForSeq2SeqLM  # pip install optimum-onnx[onnxruntime]
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("DIR")
model = ORTModelForSeq2SeqLM.from_pretrained("DIR", use_merged=False)
batch = tokenizer(["..."], return_tensors="pt", padding=True)
found = model.generate(**batch, max_new_tokens=batch.input_ids.shape[1] + 50)
print(tokenizer.batch_decode(found, skip_special_tokens=True))
```"""


def refusals(config: ModelConfig) -> list[str]:
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
    from headway.exchange.onnx_model import Parts

    load_program("onnx")
    entries, _ = vocabularies(model.tokenizer)
    rows = position_rows(model.config.model)
    parts = Parts(model.transformer.cpu(), len(entries), rows, rounded=precision == "int8")
    with appearing(out) as temporary:
        temporary.mkdir()
        for name, made in (
            (ENCODER, parts.encoder),
            (DECODER, lambda: parts.decoder(past=False)),
            (STEP, lambda: parts.decoder(past=True)),
        ):
            (temporary / name).write_bytes(made().SerializeToString())
        write_text_side(model, temporary, "float32")
    found = [
        *notes(model),
        f"positions are stored up to {rows}; longer text is an error",
        "config.json is there for Optimum, which takes from it sizes and control symbols: the graphs say"
        " the model itself",
    ]
    if precision == "int8":
        found.append("weights are rounded to 8 bits a row, and inputs alike")
    return found


class Engine:
    """An exported directory, run by onnxruntime.

    Args:
        path: What `write` wrote.

    Raises:
        HeadwayError: If onnxruntime is not installed.
    """

    def __init__(self, path: Path) -> None:
        program = load_program("onnxruntime")
        options = program.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        self.encoder, self.decoder, self.next = (
            program.InferenceSession(path / name, options, providers=["CPUExecutionProvider"])
            for name in (ENCODER, DECODER, STEP)
        )
        self.names = [output.name for output in self.decoder.get_outputs()]
        self.pad = int(self.decoder.get_outputs()[0].shape[-1]) - 1

    def greedy(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids greedily; each translation ends in ``</s>``, at its limit if not before."""
        found: list[list[int]] = []
        for rows in _batches(len(sources)):
            found += self._greedy([sources[i] for i in rows], np.array([limits[i] for i in rows]))
        return found

    def _greedy(self, sources: Sequence[Sequence[int]], limits: Any) -> list[list[int]]:
        hidden, mask = self._encode(sources)
        tokens = np.full((len(sources), 1), self.pad, np.int64)
        chosen: list[Any] = []
        past: dict[str, Any] = {}
        open_ = np.ones(len(sources), bool)
        while open_.any():
            feed = {"input_ids": tokens, "encoder_attention_mask": mask}
            if past:
                names = ["logits", *(name for name in self.names if ".decoder." in name)]
                answers = dict(zip(names, self.next.run(names, feed | past), strict=True))
            else:
                feed["encoder_hidden_states"] = hidden
                answers = dict(zip(self.names, self.decoder.run(None, feed), strict=True))
            logits = answers.pop("logits")[:, -1]
            past |= {n.replace("present", "past_key_values"): v for n, v in answers.items()}
            logits[:, self.pad] = -np.inf
            token = logits.argmax(-1)
            token[len(chosen) + 1 >= limits] = Tokenizer.eos
            chosen.append(token)
            open_ &= token != Tokenizer.eos
            tokens = token[:, None]
        rows = np.stack(chosen, 1).tolist()
        return [row[: row.index(Tokenizer.eos) + 1] for row in rows]

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        found: list[list[float]] = []
        for rows in _batches(len(sources)):
            hidden, mask = self._encode([sources[i] for i in rows])
            wanted, _ = pad_right([targets[i] for i in rows], self.pad)
            before = torch.nn.functional.pad(wanted[:, :-1], (1, 0), value=self.pad)
            feed = {
                "input_ids": before.numpy(),
                "encoder_attention_mask": mask,
                "encoder_hidden_states": hidden,
            }
            [logits] = self.decoder.run(["logits"], feed)
            log_p = torch.from_numpy(logits).log_softmax(-1).gather(2, wanted[..., None])
            found += [log_p[at, : len(targets[i]), 0].tolist() for at, i in enumerate(rows)]
        return found

    def _encode(self, sources: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        ids, mask = (tensor.numpy() for tensor in pad_right(sources, self.pad))
        [hidden] = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})
        return hidden, mask


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


def _batches(count: int) -> Iterator[range]:
    for at in range(0, count, BATCH):
        yield range(at, min(at + BATCH, count))
