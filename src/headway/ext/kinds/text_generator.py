"""Score and continue text with a language model.

The searches are those of translation; the prompt is the prefix of every hypothesis.
Shapes: N hypotheses, V vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.kinds.language_model import LanguageModel
from headway.ext.kinds.text_model import TextModel
from headway.text import Tokenizer
from headway.translation import (
    StepDecoding,
    batch_by_length,
    find_hypotheses,
    padded_batches,
    take_log_probabilities,
)


class Likelihood(NamedTuple):
    """The likelihood of a line.

    Attributes:
        nll: Negative log-likelihood in nats, summed over the tokens.
        tokens: Number of tokens, ``</s>`` included.
    """

    nll: float
    tokens: int


class TextGenerator(TextModel[LanguageModel, Tokenizer]):
    """Raw text in, raw text out, by a language model.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: The tokenizer that it was trained with.

    Examples:
        >>> generator = TextGenerator.load("runs/lm")
        >>> generator.generate(["The dog"], SearchConfig(sample=True, n_best=2))
    """

    NETWORKS = (LanguageModel,)
    REFUSED = "is a {}, not a language model"

    @torch.inference_mode()
    def score(self, texts: Sequence[str], batch_tokens: int = 4000) -> list[Likelihood]:
        """Return the likelihood of each line, ``</s>`` included."""
        ids = self.tokenizer.encode_target(list(texts))
        found = [Likelihood(0.0, 0)] * len(ids)
        pad = self.tokenizer.target_pad
        for rows, text, segments in padded_batches(ids, batch_tokens, pad, self.device):
            log_p_BT = take_log_probabilities(self.model(text, segments), text)
            for row, total in zip(rows, (log_p_BT * segments).sum(1).tolist(), strict=True):
                found[row] = Likelihood(-total, len(ids[row]))
        return found

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[str], search: SearchConfig, batch_tokens: int = 4000
    ) -> list[list[tuple[str, float]]]:
        """Continue each prompt, by ``n_best`` samples or by the ``n_best`` of a beam search.

        Other prompts of a batch change only the last bits.

        Args:
            prompts: Texts to continue; an empty text starts a new one.
            search: ``sample`` chooses between the two; at most ``max_extra`` tokens are added.
            batch_tokens: Tokens of all hypotheses of a batch, with the prompts.

        Returns:
            For each prompt its texts, which start with the prompt, and their log-probabilities in nats.
        """
        starts = [ids[:-1] for ids in self.tokenizer.encode_target(prompts)]
        limits = [self._limit(len(start), search.max_extra) for start in starts]
        pad, eos = self.tokenizer.target_pad, self.tokenizer.eos
        beams = search.n_best if search.sample else search.beam
        found: dict[int, list[tuple[str, float]]] = {}
        for rows in batch_by_length(limits, batch_tokens // beams):
            decoding = StepDecoding(self.model.step, self.model.start(), pad, self.device)
            begun = [starts[row] for row in rows]
            # A sample depends on the seed, the tokens of the prompt, and the number of the sample.
            batch = find_hypotheses(
                decoding, [limits[row] for row in rows], search,
                keys=begun, prefixes=begun, eos=eos, pad=pad,
            )  # fmt: skip
            for row, start, texts in zip(rows, begun, batch, strict=True):
                found[row] = [
                    (self._append(prompts[row], t.tokens, start), t.log_probability) for t in texts
                ]
        return [found[row] for row in range(len(prompts))]

    def _append(self, prompt: str, tokens: Sequence[int], start: Sequence[int]) -> str:
        """Return the prompt and the text after it, with one space between words."""
        whole, begun = self.tokenizer.decode(tokens), self.tokenizer.decode(start)
        added = whole[len(begun) :] if whole.startswith(begun) else whole
        # Subwords begin with the space before them, and the prompt may end with it.
        return prompt + (added.removeprefix(" ") if prompt[-1:].isspace() else added)

    def _limit(self, start: int, extra: int) -> int:
        shape = self.model.config
        if shape.positions != "learned":
            return start + extra + 1
        if start >= shape.max_positions:
            raise HeadwayError(
                f"the prompt has {start} tokens, but the model has {shape.max_positions} positions"
            )
        return min(start + extra + 1, shape.max_positions)
