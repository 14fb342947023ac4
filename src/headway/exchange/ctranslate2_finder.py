"""Headway's translator on CTranslate2: the same text to text, another program's search in between.

The export it needs is made once and kept in the user's cache, under a name made of the weights, the
vocabulary and the shape. CTranslate2's search divides by another length penalty than the paper's; so
it is asked for as many hypotheses as there are beams, and they are ranked by the paper's.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from headway.config import Config, SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.exchange import ctranslate2
from headway.exchange.ctranslate2_weights import LONGEST
from headway.exchange.place import appearing
from headway.files import cache_directory, remove
from headway.inference import Translator
from headway.inference.directory import Model
from headway.inference.finder import Finder
from headway.inference.search import Hypothesis, length_penalty
from headway.text.vocabulary import EOS

NAMES = ("headway", "ctranslate2")
FORMAT = 1  # of the cached exports; another number, another name
KEPT = 16  # exports, those used last: each is as large as its model
COMPUTING = {"fp32": "float32", "int8": "int8_float32", "bf16": "bfloat16"}


def choose_engine(translator: Translator, name: str) -> Translator:
    """Let a translator search by another program.

    Args:
        translator: Changed in place.
        name: One of `NAMES`.

    Returns:
        The translator.

    Raises:
        HeadwayError: If CTranslate2 is not installed, or cannot say the model.
    """
    if name not in NAMES:
        raise HeadwayError(f"--engine {name}: must be {' or '.join(NAMES)}")
    if name == "ctranslate2":
        translator.finder = CTranslate2Finder(translator)
    return translator


class CTranslate2Finder(Finder):
    """A `Finder` whose hypotheses CTranslate2 finds; alignments and scores of given text stay ours.

    Args:
        translator: What it finds for.

    Raises:
        HeadwayError: If CTranslate2 is not installed, or cannot say the model.
    """

    def __init__(self, translator: Translator) -> None:
        super().__init__(translator.model, translator.tokenizer, translator.finder.directory)
        self.program = ctranslate2.load_program()
        reasons = ctranslate2.refusals(self.model.config)
        if reasons:
            raise HeadwayError("\n".join(f"ctranslate2 cannot say model.{r}" for r in reasons))
        self.languages, self.device = translator.languages, translator.device
        self.entries = ctranslate2.vocabularies(self.tokenizer)
        self.ids = {piece: i for i, piece in enumerate(self.entries[1][:-1])}
        self._translators: dict[str, Any] = {}
        _ = self.export

    @property
    def positions(self) -> int:
        """The most tokens a side can have: the exported table ends."""
        return min(super().positions, max(LONGEST, self.model.config.max_positions))

    def parallel(self, precision: str) -> bool:
        """Whether several batches may run at once."""
        return True

    @cached_property
    def export(self) -> Path:
        """The exported directory, made if it is not in the cache."""
        weights = {n: t.detach().cpu() for n, t in self.model.state_dict().items()}
        digest = hashlib.sha256(json.dumps([FORMAT, asdict(self.model.config)]).encode())
        digest.update(self.tokenizer.fingerprint.encode())
        for name in sorted(weights):
            digest.update(weights[name].contiguous().view(-1).view(torch.uint8).numpy().data)
        out = cache_directory() / "ctranslate2" / digest.hexdigest()[:32]
        if not out.is_dir():
            shape = self.model.config
            text = TextConfig(max_tokens=min(TextConfig.max_tokens, shape.max_positions))
            config = Config(model=shape, text=text)
            model = Model(self.model, self.tokenizer, config, self.languages, out)
            try:
                with appearing(out) as temporary:
                    ctranslate2.write(model, temporary)
            except (HeadwayError, OSError):
                if not out.is_dir():  # else another process has made the same meanwhile
                    raise
        os.utime(out)
        with suppress(FileNotFoundError):  # another process deletes the same
            exports = out.parent.glob("[!.]*")
            for unused in sorted(exports, key=lambda path: -path.stat().st_mtime)[KEPT:]:
                remove(unused)
        return out

    def translator(self, precision: str) -> Any:
        """Return CTranslate2's translator of a precision: auto, fp32, int8 or bf16."""
        if precision == "auto":
            precision = "bf16" if self.device.type == "cuda" else "fp32"
        if precision not in self._translators:
            kind = COMPUTING[precision]
            known = self.program.get_supported_compute_types(self.device.type)
            if kind not in known:
                raise HeadwayError(
                    f"search.precision = '{precision}': CTranslate2 has no {kind} here, only"
                    f" {', '.join(sorted(known))}"
                )
            self._translators[precision] = self.program.Translator(
                str(self.export),
                device=self.device.type,
                device_index=self.device.index or 0,
                compute_type=kind,
                inter_threads=torch.get_num_threads() if self.device.type == "cpu" else 1,
                intra_threads=1,
            )
        return self._translators[precision]

    def check(self, search: SearchConfig) -> None:
        """Raise a `HeadwayError` if something is asked for that only our own search does."""
        for name in ("sample", "shortlist"):
            if getattr(search, name):
                raise HeadwayError(f"search.{name} is Headway's own: leave --engine out")

    def find_all(
        self, sources: Sequence[list[int]], starts: Sequence[list[int]], search: SearchConfig
    ) -> list[list[Hypothesis]]:
        """Search for the translations of any number of sources; see `Finder`."""
        return self._find(sources, starts, search, search.batch_tokens)

    def find(
        self,
        sources: Sequence[list[int]],
        starts: Sequence[list[int]],
        search: SearchConfig,
        wanted: Callable[[int], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search in one batch; ``wanted`` is not asked, for CTranslate2 goes on to the end."""
        return self._find(sources, starts, search, 0)

    def _find(
        self,
        sources: Sequence[list[int]],
        starts: Sequence[list[int]],
        search: SearchConfig,
        batch_tokens: int,
    ) -> list[list[Hypothesis]]:
        self.check(search)
        if any(starts):
            raise HeadwayError("--prefix is Headway's own: leave --engine out")
        if not sources:
            return []
        limits = [self.limit(source, search) for source in sources]
        # Its own penalty orders what ends in the same step; with none at all it would stop at the
        # first end, however short.
        penalty = max(search.alpha, 1e-6)
        try:
            results = self.translator(search.precision).translate_batch(
                [[self.entries[0][i] for i in source[:-1]] for source in sources],
                beam_size=search.beam,
                num_hypotheses=search.beam,
                length_penalty=penalty,
                return_scores=True,
                return_end_token=True,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=max(limits),
                max_batch_size=batch_tokens,
                batch_type="tokens",
            )
        except (RuntimeError, ValueError) as error:
            raise HeadwayError(f"CTranslate2 says: {error}") from None
        return [
            self._ranked(source, result, limit, search, penalty)
            for source, result, limit in zip(sources, results, limits, strict=True)
        ]

    def _ranked(
        self, source: list[int], result: Any, limit: int, search: SearchConfig, penalty: float
    ) -> list[Hypothesis]:
        """Rank the n best by the paper's penalty; those that our search could not find are left out."""
        found = []
        for pieces, score in zip(result.hypotheses, result.scores, strict=True):
            ids = [self.ids.get(piece, -1) for piece in pieces]
            if ids[-1] != EOS or min(ids) < 0 or len(ids) > limit:
                continue
            total = float(score) * len(ids) ** penalty
            found.append(Hypothesis(ids, total / length_penalty(len(ids), search.alpha), total))
        if not found:  # a model that says nothing, or never ends
            return super().find([source], [[]], search)[0]
        return sorted(found, key=lambda hypothesis: -hypothesis.score)[: search.n_best]
