"""The texts of a request, split and tokenized for the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.config import SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.inference.quality.quality_model import Rating
from headway.inference.text_translation import SplitText, TextTranslation, join_sentences
from headway.inference.translation import WordPairs
from headway.serving.rejection import too_long


@dataclass(frozen=True)
class TokenizedText:
    """A text of a request, ready for the queue.

    Attributes:
        split: The text and its sentences.
        lines: For each sentence the segments that the model takes.
    """

    split: SplitText
    lines: list[list[Segment]]

    @property
    def segments(self) -> list[Segment]:
        """The segments of all sentences."""
        return [segment for line in self.lines for segment in line]

    def join(
        self,
        translator: Translator,
        found: Sequence[list[Hypothesis]],
        links: Sequence[WordPairs] | None,
        ratings: Sequence[list[Rating]] | None,
        is_document: bool,
    ) -> TextTranslation:
        """Join the translations of the segments, best with best.

        Args:
            translator: The model that made them.
            found: For each segment its n best hypotheses.
            links: For each segment the word links of its best hypothesis; None: not requested.
            ratings: For each segment the ratings of its hypotheses; None: not requested.
            is_document: Whether the text is of a document; see `finish_sentence`.
        """
        lines, at = [], 0
        for segments in self.lines:
            here = slice(at, at + len(segments))
            at = here.stop
            linked = None if links is None else [[pairs] for pairs in links[here]]
            rated = None if ratings is None else ratings[here]
            lines.append(translator.join(segments, list(found[here]), linked, rated))
        language = translator.languages[1]
        return join_sentences(self.split, lines, language, links is not None, is_document)


def tokenize_texts(
    translator: Translator,
    search: SearchConfig,
    texts: Sequence[str],
    is_split: bool,
    max_tokens: int,
    is_document: bool = False,
) -> list[TokenizedText]:
    """Split and tokenize the texts of a request.

    Args:
        translator: The model that will translate them.
        search: Search settings, which limit the tokens of a segment.
        texts: Texts of any length.
        is_split: Translate each sentence of a line by itself.
        max_tokens: Tokens that all texts may have together.
        is_document: Whether the texts are of a document; see `SplitText.split`.

    Raises:
        Rejection: 400 as soon as the texts have more tokens.
    """
    found, total = [], 0
    for text in texts:
        split = SplitText.split(translator, text, is_split, is_document)
        lines = []
        for line in split.lines:
            segments = translator.split(line, search)
            lines.append(segments)
            total += sum(len(segment.ids) for segment in segments)
            if total > max_tokens:
                raise too_long(total, max_tokens)
        found.append(TokenizedText(split, lines))
    return found
