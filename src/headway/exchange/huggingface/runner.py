"""An exported Marian directory, run by transformers in float32."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch

from headway.errors import HeadwayError
from headway.inference.batching import pad_right
from headway.text.tokenizer import Tokenizer

BATCH = 32  # sentences


class Runner:
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

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
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
