"""Links between the words of a text and the words of its translation."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.text.words import Span, find_words, word_at


@dataclass
class WordLinks:
    """Which words of two texts belong together.

    Attributes:
        source: Where each source word starts and ends, in characters.
        target: Where each word of the translation starts and ends, in characters.
        pairs: (number of a source word, number of a target word).
    """

    source: list[Span] = field(default_factory=list)
    target: list[Span] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def between(cls, text: str, translation: str) -> "WordLinks":
        """Return the words of two texts without links."""
        return cls(find_words(text), find_words(translation))

    @classmethod
    def identity(cls, text: str) -> "WordLinks":
        """Return the links of a text that stays as it is: each word to itself."""
        spans = find_words(text)
        return cls(spans, list(spans), [(i, i) for i in range(len(spans))])

    def add_sentence(
        self,
        sentence: str,
        start: int,
        translation: str,
        target_start: int,
        pairs: Sequence[tuple[int, int]],
    ) -> None:
        """Add the links of a sentence.

        Args:
            sentence: Part of the source text.
            start: Where the sentence starts in the source text.
            translation: Part of the translated text.
            target_start: Where the translation starts in the translated text.
            pairs: Word numbers within the sentence and within its translation.
        """
        source, target = find_words(sentence, start), find_words(translation, target_start)
        self.pairs += dict.fromkeys(
            (word_at(self.source, source[s][0]), word_at(self.target, target[t][0]))
            for s, t in pairs
            if s < len(source) and t < len(target)
        )

    def then(self, other: "WordLinks") -> "WordLinks":
        """Return the links through a text in the middle: this one's target, the other's source."""
        sources: dict[int, list[int]] = {}
        for source, middle in self.pairs:
            sources.setdefault(middle, []).append(source)
        through = dict.fromkeys(
            (source, target)
            for middle, target in other.pairs
            for source in sources.get(word_at(self.target, other.source[middle][0]), [])
        )
        return WordLinks(self.source, other.target, list(through))
