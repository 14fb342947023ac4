"""A language model at work: how likely text is, and text that goes on from a beginning.

The searches are those of translation; what was begun is a prefix that every hypothesis must have.
Shapes: N hypotheses, V vocabulary.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.inference.batching import batch_by_length, pad_right
from headway.inference.devices import resolve_device
from headway.inference.directory import load_network
from headway.inference.sampling import sample
from headway.inference.search import beam_search
from headway.inference.step_decoding import StepDecoding
from headway.model import DecoderState, LanguageModel
from headway.text.tokenizer import Tokenizer


class Likelihood(NamedTuple):
    """How likely a line is.

    Attributes:
        nll: Negative log-likelihood in nats, of all its tokens.
        tokens: How many they are, ``</s>`` included.
    """

    nll: float
    tokens: int


class TextGenerator:
    """Raw text in, raw text out, by a decoder alone.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: Its own.

    Example:
        >>> generator = TextGenerator.load("runs/lm")
        >>> generator.generate(["The dog"], SearchConfig(sample=True, n_best=2))
    """

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.device = model.embedding.weight.device

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> "TextGenerator":
        """Read a run or model directory, onto a device: auto, cpu, cuda or cuda:N.

        Raises:
            HeadwayError: If it holds another kind of model, or there is no such device.
        """
        network, tokenizer, *_ = load_network(path)
        if not isinstance(network, LanguageModel):
            raise HeadwayError(f"{path}: a {network.config.kind}, no language model")
        return cls(network.to(resolve_device(device)), tokenizer)

    @torch.inference_mode()
    def score(self, texts: Sequence[str], batch_tokens: int = 4000) -> list[Likelihood]:
        """Return how likely each line is, ``</s>`` included."""
        ids = self.tokenizer.encode_target(list(texts))
        found = [Likelihood(0.0, 0)] * len(ids)
        for rows in batch_by_length([len(i) for i in ids], batch_tokens):
            text, segments = pad_right([ids[row] for row in rows], self.tokenizer.target_pad)
            text, segments = text.to(self.device), segments.to(self.device)
            log_p_BTV = self.model(text, segments).float().log_softmax(-1)
            log_p_BT = log_p_BTV.gather(2, text[..., None])[..., 0] * (segments != 0)
            for row, total in zip(rows, log_p_BT.double().sum(1).tolist(), strict=True):
                found[row] = Likelihood(-total, len(ids[row]))
        return found

    @torch.inference_mode()
    def generate(
        self, prompts: Sequence[str], search: SearchConfig
    ) -> list[list[tuple[str, float]]]:
        """Continue each prompt: ``n_best`` draws with ``sample``, else the best of a beam search.

        Args:
            prompts: Beginnings; empty: from nothing.
            search: At most ``max_extra`` tokens are added.

        Returns:
            For each prompt whole texts, the prompt at their head, with their log-probability in nats.
        """
        starts = [ids[:-1] for ids in self.tokenizer.encode_target(list(prompts))]
        limits = [self._limit(len(start), search.max_extra) for start in starts]
        pad, eos = self.tokenizer.target_pad, self.tokenizer.eos
        found = []
        for number, (start, limit) in enumerate(zip(starts, limits, strict=True)):
            decoding: StepDecoding[DecoderState] = StepDecoding(
                self.model.step, self.model.start(), pad, self.device
            )
            if search.sample:
                # A draw depends on the seed, the prompt's tokens and its number alone.
                seeds = [[(search.seed, draw, *start) for draw in range(search.n_best)]]
                [hypotheses] = sample(
                    decoding, [limit], seeds=seeds, temperature=search.temperature,
                    top_k=search.top_k, top_p=search.top_p, eos=eos, pad=pad, prefixes=[start],
                )  # fmt: skip
            else:
                [hypotheses] = beam_search(
                    decoding, [limit], beam=search.beam, alpha=search.alpha,
                    n_best=search.n_best, eos=eos, pad=pad, prefixes=[start],
                )  # fmt: skip
            found.append(
                [
                    (prompts[number] + self._added(h.tokens, start), h.log_probability)
                    for h in hypotheses
                ]
            )
        return found

    def _added(self, tokens: Sequence[int], start: Sequence[int]) -> str:
        """Return what follows the prompt, with the space between them if there is one."""
        whole, begun = self.tokenizer.decode(tokens), self.tokenizer.decode(start)
        return whole[len(begun) :] if whole.startswith(begun) else whole

    def _limit(self, start: int, extra: int) -> int:
        shape = self.model.config
        limit = start + extra + 1
        if shape.positions == "learned":
            if start >= shape.max_positions:
                raise HeadwayError(
                    f"the beginning has {start} tokens, the model {shape.max_positions} positions"
                )
            limit = min(limit, shape.max_positions)
        return limit


def perplexity(likelihoods: Sequence[Likelihood]) -> float:
    """Return e to the mean negative log-likelihood of a token."""
    nll = sum(line.nll for line in likelihoods)
    return float(np.exp(min(nll / max(1, sum(line.tokens for line in likelihoods)), 700.0)))
