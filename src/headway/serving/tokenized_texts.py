"""The texts of a request, split and tokenized for the queue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.config import SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.inference.alignment import WordPairs
from headway.inference.quality.quality_model import Rating
from headway.inference.text_translation import SplitText, TextTranslation, join_sentences
from headway.serving.rejection import Rejection
from headway.text.glossary import Glossary

MAX_TRIES = 1_000_000  # of a glossary's terms at places of texts: about two seconds


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


class Tokenization:
    """Texts that are split and tokenized little by little.

    Args:
        translator: The model that will translate them.
        search: Search settings, which limit the tokens of a segment.
        texts: Texts of any length.
        is_split: Translate each sentence of a line by itself.
        is_document: Whether the texts are of a document; see `SplitText.split`.

    Attributes:
        texts: Those that have been reached; the last one may lack segments.
    """

    def __init__(
        self,
        translator: Translator,
        search: SearchConfig,
        texts: Sequence[str],
        is_split: bool,
        is_document: bool = False,
    ) -> None:
        self.translator = translator
        self.search = replace(search, split_sentences=False)  # `SplitText` splits
        self.texts: list[TokenizedText] = []
        self._segments = self._iterate(texts, is_split, is_document)

    def take(self, tokens: int) -> list[Segment]:
        """Return the next segments, until they have so many tokens; none: all texts are tokenized.

        Raises:
            Rejection: 400 if the terms of a glossary would take too long in a sentence.
        """
        taken, total = [], 0
        for segment in self._segments:
            taken.append(segment)
            total += len(segment.ids)
            if total >= tokens:
                break
        return taken

    def _iterate(
        self, texts: Sequence[str], is_split: bool, is_document: bool
    ) -> Iterator[Segment]:
        for text in texts:
            split = SplitText.split(self.translator, text, is_split, is_document)
            self.texts.append(TokenizedText(split, []))
            for line in split.lines:
                count_tries(self.translator.glossary, [line])
                segments: list[Segment] = []
                self.texts[-1].lines.append(segments)
                for segment in self.translator.iterate_segments(line, self.search):
                    segments.append(segment)
                    yield segment


def count_tries(glossary: Glossary | None, texts: Sequence[str]) -> int:
    """Return about how many terms of a glossary will be compared with texts.

    Raises:
        Rejection: 400 if this would take many seconds.
    """
    tries = sum(map(glossary.count_tries, texts)) if glossary is not None else 0
    if tries > MAX_TRIES:
        raise Rejection(
            400,
            "Invalid request: too many terms of the glossary begin alike for so long a text;"
            " send less text at once",
        )
    return tries
