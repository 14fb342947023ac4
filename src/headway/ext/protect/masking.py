"""The stage: what of a line must stay, and which terms must come, is hidden from the model, and restored in the translation.

What such lines need is imported when one comes: `headway.ext.protect.line_pieces` masks them, `headway.ext.protect.masked_source` restores them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.text import Tokenizer
from headway.translation import Hypothesis, Masking, Piece

if TYPE_CHECKING:
    from headway.ext.protect.placeholder_words import PlaceholderWords
    from headway.text import Languages
    from headway.translation import Pipeline


class ProtectedTextMasking(Masking):
    """Lines in which placeholders, code, tags, numbers with units and terms are hidden, and capitals are small letters."""

    follows_terms = True

    def __init__(self) -> None:
        # Of one translator, and of its copies for other languages, which share its weights.
        self._words: dict[Languages, PlaceholderWords] = {}

    def split(self, pipeline: "Pipeline", line: str) -> Iterator[Piece]:
        """Yield the pieces of a line; see `Masking.split`."""
        from headway.ext.protect.line_pieces import PlaceholderWords, list_pieces

        if pipeline.languages not in self._words:
            words = PlaceholderWords(pipeline.forward, pipeline.languages)
            self._words[pipeline.languages] = words
        return list_pieces(pipeline, line, self._words[pipeline.languages])

    def write(
        self, tokenizer: Tokenizer, language: str, piece: Piece, hypothesis: Hypothesis
    ) -> str:
        """Return the text of a translation, in capitals if the line is, and between what stays before and after it."""
        text = super().write(tokenizer, language, piece, hypothesis)
        if piece.is_capital:
            from headway.ext.protect.capitals import to_capitals

            text = to_capitals(text, language)
        if piece.before:
            text = piece.before + text.lstrip()
        if piece.after:  # its white space joins the next piece
            text = text.rstrip() + piece.after.rstrip()
        return text
