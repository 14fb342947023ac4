"""An exported directory of ONNX graphs, run by onnxruntime."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from headway.exchange.onnx.writer import DECODER, DECODER_WITH_PAST, ENCODER
from headway.exchange.optional_package import import_package
from headway.inference.batching import batch_rows, pad_right
from headway.text.tokenizer import Tokenizer

Tensors = dict[str, NDArray[np.generic]]


class Runner:
    """An export, run by onnxruntime; see `headway.exchange.formats.Runner`.

    Args:
        path: A directory that `headway.exchange.onnx.writer.write` wrote.

    Raises:
        HeadwayError: If onnxruntime is not installed.
    """

    def __init__(self, path: Path) -> None:
        program = import_package("onnxruntime")
        options = program.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        self.encoder, self.decoder, self.decoder_with_past = (
            program.InferenceSession(path / name, options, providers=["CPUExecutionProvider"])
            for name in (ENCODER, DECODER, DECODER_WITH_PAST)
        )
        self.outputs = [output.name for output in self.decoder.get_outputs()]
        self.step_outputs = [output.name for output in self.decoder_with_past.get_outputs()]
        self.pad = int(self.decoder.get_outputs()[0].shape[-1]) - 1

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids; each translation ends in ``</s>``, at its limit at the latest."""
        translations: list[list[int]] = []
        for rows in batch_rows(range(len(sources))):
            batch, batch_limits = [sources[i] for i in rows], [limits[i] for i in rows]
            translations += self._translate_batch(batch, np.array(batch_limits))
        return translations

    def _translate_batch(
        self, sources: Sequence[Sequence[int]], limits: NDArray[np.int64]
    ) -> list[list[int]]:
        hidden, mask = self._encode(sources)
        tokens = np.full((len(sources), 1), self.pad, np.int64)
        is_open = np.ones(len(sources), bool)
        chosen: list[NDArray[np.int64]] = []
        past: Tensors = {}
        while is_open.any():
            feed: Tensors = {"input_ids": tokens, "encoder_attention_mask": mask}
            if past:
                names, answer = self.step_outputs, self.decoder_with_past.run(None, feed | past)
            else:
                feed["encoder_hidden_states"] = hidden
                names, answer = self.outputs, self.decoder.run(None, feed)
            outputs = dict(zip(names, answer, strict=True))
            logits = outputs.pop("logits")[:, -1]
            past |= {name.replace("present", "past_key_values"): v for name, v in outputs.items()}
            logits[:, self.pad] = -np.inf
            if not chosen:  # no translation is empty
                logits[:, Tokenizer.eos] = -np.inf
            token = logits.argmax(-1)
            token[len(chosen) + 1 >= limits] = Tokenizer.eos
            chosen.append(token)
            is_open &= token != Tokenizer.eos
            tokens = token[:, None]
        rows = np.stack(chosen, 1).tolist()
        return [row[: row.index(Tokenizer.eos) + 1] for row in rows]

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        log_probs: list[list[float]] = []
        for rows in batch_rows(range(len(sources))):
            hidden, mask = self._encode([sources[i] for i in rows])
            labels, _ = pad_right([targets[i] for i in rows], self.pad)
            decoder_ids = torch.nn.functional.pad(labels[:, :-1], (1, 0), value=self.pad)
            feed = {
                "input_ids": decoder_ids.numpy(),
                "encoder_attention_mask": mask,
                "encoder_hidden_states": hidden,
            }
            [logits] = self.decoder.run(["logits"], feed)
            log_p = torch.from_numpy(logits).log_softmax(-1).gather(2, labels[..., None])
            log_probs += [log_p[row, : len(targets[i]), 0].tolist() for row, i in enumerate(rows)]
        return log_probs

    def _encode(
        self, sources: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the encoder's output and the mask of the sources."""
        ids, mask = (tensor.numpy() for tensor in pad_right(sources, self.pad))
        [hidden] = self.encoder.run(None, {"input_ids": ids, "attention_mask": mask})
        return hidden, mask
