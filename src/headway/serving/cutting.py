"""Texts taken apart into what a model takes at once, and measured, before any of it waits."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.config import SearchConfig
from headway.inference import Segment, Translator
from headway.serving.passages import Passage
from headway.serving.refusal import too_long

DENSE = 16  # characters that a token has at most, as good as always


@dataclass(frozen=True)
class Cut:
    """A text, taken apart.

    Attributes:
        text: As it came.
        passage: Its sentences and what stands between them, without `named`.
        named: What the text begins with if that names a target language: ``>>deu<<``.
        lines: For each sentence the parts that the model takes; each of them begins with `named`.
        tokens: Of each part, one after the other.
    """

    text: str
    passage: Passage
    named: str
    lines: list[list[Segment]]
    tokens: list[int]

    @property
    def parts(self) -> list[Segment]:
        """All parts, one after the other."""
        return [part for line in self.lines for part in line]


def cut_texts(
    translator: Translator, search: SearchConfig, texts: Sequence[str], split: bool, most: int
) -> list[Cut]:
    """Take the texts of a request apart.

    Args:
        translator: Who will translate them.
        search: How.
        texts: Of any length.
        split: Whether each sentence of a line is translated by itself.
        most: Tokens that they may have together.

    Raises:
        Refusal: 400 as soon as they turn out to have more.
    """
    found, total = [], 0
    for text in texts:
        bare = text.lstrip()
        named = translator.tokenizer.named_language(bare)
        rest = text[: len(text) - len(bare)] + bare[len(named) :] if named else text
        passage = Passage.of(rest, translator.languages[0], split)
        lines, tokens = [], []
        for core in passage.cores:
            line = translator.split(named + core, search)
            lines.append(line)
            for part in line:
                tokens.append(len(part.ids))
                total += tokens[-1]
            if total > most:
                raise too_long(total, most)
        found.append(Cut(text, passage, named, lines, tokens))
    return found
