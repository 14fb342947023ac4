"""An exported directory of ONNX graphs, run by onnxruntime."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headway.exchange.onnx.writer import DECODER, ENCODER, STEP, load_program
from headway.inference.batching import pad_right
from headway.text.tokenizer import Tokenizer

BATCH = 32  # sentences


class Runner:
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

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
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


def _batches(count: int) -> Iterator[range]:
    for at in range(0, count, BATCH):
        yield range(at, min(at + BATCH, count))
