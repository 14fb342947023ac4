"""An exported CTranslate2 directory, run by CTranslate2."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from headway.errors import HeadwayError
from headway.text.tokenizer import Tokenizer

BATCH_TOKENS = 2000


class Runner:
    """An exported directory, run by CTranslate2.

    Args:
        path: What `write` wrote.
        threads: Of one batch; 0: CTranslate2's choice.

    Raises:
        HeadwayError: If CTranslate2 is not installed, or refuses the directory.
    """

    def __init__(self, path: Path, threads: int = 0) -> None:
        program = load_program()
        self.source, self.target = _read_vocabularies(path)
        self.ids = {piece: i for i, piece in enumerate(self.target)}
        try:
            self.translator = program.Translator(
                str(path), device="cpu", intra_threads=threads or torch.get_num_threads()
            )
        except (RuntimeError, ValueError) as error:
            raise HeadwayError(f"{path}: CTranslate2 says: {error}") from None

    def greedy(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids greedily; each translation ends in ``</s>``, at its limit if not before."""
        found = self.translator.translate_batch(
            self._pieces(sources),
            beam_size=1,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max(limits),
            suppress_sequences=[[self.target[-1]]],
        )
        return [
            [*(self.ids[piece] for piece in result.hypotheses[0][: limit - 1]), Tokenizer.eos]
            for result, limit in zip(found, limits, strict=True)
        ]

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        pieces = [[self.target[i] for i in target[:-1]] for target in targets]
        found = self.translator.score_batch(
            self._pieces(sources),
            pieces,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
        )
        return [list(result.log_probs) for result in found]

    def _pieces(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        return [[self.source[i] for i in source[:-1]] for source in sources]


def load_program() -> Any:
    """Import CTranslate2.

    Raises:
        HeadwayError: If it is not installed.
    """
    try:
        import ctranslate2
    except ImportError:
        raise HeadwayError('this needs CTranslate2: pip install "headway[export]"') from None
    return ctranslate2


def _read_vocabularies(path: Path) -> tuple[list[str], list[str]]:
    shared = path / "shared_vocabulary.json"
    names = (
        [shared]
        if shared.exists()
        else [path / f"{side}_vocabulary.json" for side in ("source", "target")]
    )
    found = [json.loads(name.read_text(encoding="utf-8")) for name in names]
    return found[0], found[-1]
