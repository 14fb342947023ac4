"""An exported Marian directory, run by transformers in float32."""

from contextlib import redirect_stderr
from io import StringIO
from itertools import takewhile
from pathlib import Path

import torch

from headway.errors import require_packages
from headway.text import Tokenizer
from headway.translation import batch_rows, pad_right


class TransformersRunner:
    """An export, run by transformers; see `headway.ext.exchange.formats.ExportRunner`.

    Args:
        path: A directory that `headway.ext.exchange.huggingface.writer.write` wrote.

    Raises:
        HeadwayError: If transformers is not installed.
    """

    def __init__(self, path: Path) -> None:
        require_packages("transformers")
        import transformers

        with redirect_stderr(StringIO()):  # a progress bar
            self.model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
                path, dtype=torch.float32, local_files_only=True
            ).eval()
        self.pad = int(self.model.config.pad_token_id)
        self.model.generation_config = transformers.GenerationConfig(
            num_beams=1,
            do_sample=False,
            eos_token_id=Tokenizer.eos,
            pad_token_id=self.pad,
            decoder_start_token_id=self.pad,
            bad_words_ids=[[self.pad]],
            min_new_tokens=1,
        )

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids; each translation ends in ``</s>``, at its limit at the latest."""
        translations: list[list[int]] = [[]] * len(sources)
        for rows in batch_rows(sorted(range(len(sources)), key=limits.__getitem__)):
            ids, mask = pad_right([sources[i] for i in rows], self.pad)
            longest = max(limits[i] for i in rows)
            with torch.inference_mode():
                answers = self.model.generate(
                    input_ids=ids, attention_mask=mask, max_new_tokens=longest
                )
            for i, answer in zip(rows, answers[:, 1:].tolist(), strict=True):
                before = takewhile(lambda token: token != Tokenizer.eos, answer[: limits[i] - 1])
                translations[i] = [*before, Tokenizer.eos]
        return translations

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        log_probs: list[list[float]] = []
        for rows in batch_rows(range(len(sources))):
            ids, mask = pad_right([sources[i] for i in rows], self.pad)
            labels, _ = pad_right([targets[i] for i in rows], self.pad)
            decoder_ids = torch.nn.functional.pad(labels[:, :-1], (1, 0), value=self.pad)
            with torch.inference_mode():
                answer = self.model(
                    input_ids=ids, attention_mask=mask, decoder_input_ids=decoder_ids
                )
            log_p = answer.logits.log_softmax(-1).gather(2, labels[..., None]).squeeze(2)
            log_probs += [log_p[row, : len(targets[i])].tolist() for row, i in enumerate(rows)]
        return log_probs
