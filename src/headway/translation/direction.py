"""The direction of a translation: which of its pairs of languages a model translates."""

from collections.abc import Sequence
from typing import NamedTuple

from headway.errors import UsageError
from headway.text.languages import (
    Languages,
    find_code,
    list_codes,
    list_pairs,
    name_pair,
    shorten_code,
)

SHOWN = 12  # target languages in a message


class KnownLanguages(NamedTuple):
    """What a model translates.

    Attributes:
        languages: Codes of source and target, of a model of one pair.
        pairs: The pairs that a model of several pairs was trained on; none: of one pair, or imported.
        symbols: The codes of the target languages that the vocabulary has symbols for.
    """

    languages: Languages
    pairs: Sequence[Languages]
    symbols: Sequence[str]

    def find(
        self, target: str, source: str = "", *, zero_shot: bool = False
    ) -> tuple[Languages, str]:
        """Return the codes of source and target, and the code of the symbol of the target language.

        A model of one pair has no symbol: "".

        Args:
            target: A code of the target language, of two or three letters.
            source: A code of the source language; empty: the only one that was trained with the target.
            zero_shot: Allow a pair that was not trained, of languages that were.

        Raises:
            UsageError: If the model does not translate so; the message names what it translates.
        """
        if not self.symbols:
            wanted = (source or self.languages[0], target)
            for code, own in zip(wanted, self.languages, strict=True):
                if find_code(code, [own]) is None:
                    raise UsageError(
                        f"{name_pair(wanted)}: this model translates only {name_pair(self.languages)}"
                    )
            return self.languages, ""
        symbol = find_code(target, self.symbols)
        if symbol is None:
            codes = ", ".join(self.symbols[:SHOWN]) + ", ..." * (len(self.symbols) > SHOWN)
            trained = list_pairs(self.pairs) if self.pairs else f"into {codes}"
            raise UsageError(f"{target}: no target language of this model, which has {trained}")
        if not self.pairs:
            return (source or self.languages[0], shorten_code(symbol)), symbol
        sources = self.list_sources(symbol)
        if not source and len(sources) != 1:
            known = ", ".join(sources or list_codes(self.pairs))
            raise UsageError(
                f"--to {target}: give the source language too: --from with one of {known}"
            )
        own = source or sources[0]
        found = find_code(own, sources) or find_code(own, list_codes(self.pairs))
        if found is None:
            raise UsageError(
                f"{source}: no language of this model, which has {list_pairs(self.pairs)}"
            )
        if found not in sources and not zero_shot:
            raise UsageError(
                f"{source}-{symbol}: this model was not trained on this pair, but on"
                f" {list_pairs(self.pairs)}: --zero-shot translates it all the same"
            )
        return (found, symbol), symbol

    def list_sources(self, target: str) -> list[str]:
        """Return the source languages that were trained with a target language."""
        return [source for source, into in self.pairs if into == target]

    @property
    def example(self) -> str:
        """The options that choose the first pair of a model of several."""
        source, target = self.pairs[0]
        is_clear = len(self.list_sources(target)) == 1
        return f"--to {target}" if is_clear else f"--from {source} --to {target}"
