"""An exported CTranslate2 directory, run by CTranslate2."""

from collections.abc import Sequence
from pathlib import Path

import torch

from headway.errors import HeadwayError, require_packages
from headway.ext.exchange.ctranslate2.entries import read_entries
from headway.ext.exchange.json_file import read_json_object
from headway.text import Tokenizer

BATCH_TOKENS = 2000


class CTranslate2Runner:
    """An export, run by CTranslate2; see `headway.ext.exchange.formats.ExportRunner`.

    Args:
        path: A directory that `headway.ext.exchange.ctranslate2.writer.write` wrote.

    Raises:
        HeadwayError: If CTranslate2 is not installed, or cannot load the directory.
    """

    def __init__(self, path: Path) -> None:
        require_packages("ctranslate2")
        import ctranslate2

        self.source, self.target = (read_entries(path, side) for side in ("source", "target"))
        settings = read_json_object(path / "config.json")
        # CTranslate2 adds the symbol of an only target, and </s>.
        self.own = slice(
            settings.get("add_source_bos") is True,
            -1 if settings.get("add_source_eos") is True else None,
        )
        self.ids = {entry: i for i, entry in enumerate(self.target)}
        try:
            self.translator = ctranslate2.Translator(
                str(path), device="cpu", intra_threads=torch.get_num_threads()
            )
        except (RuntimeError, ValueError) as error:
            raise HeadwayError(f"{path}: CTranslate2 cannot load it: {error}") from None

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate ids; each translation ends in ``</s>``, at its limit at the latest."""
        results = self.translator.translate_batch(
            self._to_entries(sources),
            beam_size=1,
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
            min_decoding_length=1,  # its default, too
            max_decoding_length=max(limits),
            suppress_sequences=[[self.target[-1]]],
        )
        return [
            [*(self.ids[entry] for entry in result.hypotheses[0][: limit - 1]), Tokenizer.eos]
            for result, limit in zip(results, limits, strict=True)
        ]

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, ``</s>`` last."""
        results = self.translator.score_batch(
            self._to_entries(sources),
            [[self.target[i] for i in target[:-1]] for target in targets],
            max_batch_size=BATCH_TOKENS,
            batch_type="tokens",
            max_input_length=0,
        )
        return [list(result.log_probs) for result in results]

    def _to_entries(self, sources: Sequence[Sequence[int]]) -> list[list[str]]:
        """Name the tokens of sources, without those that CTranslate2 adds."""
        return [[self.source[i] for i in source[self.own]] for source in sources]
