"""The text of a segment's translation, with what the segment keeps, and its word links."""

from collections.abc import Sequence

from headway.inference.alignment import align_words
from headway.inference.search.beam_search import Hypothesis
from headway.inference.segments.kept_places import restore_kept
from headway.inference.segments.readings import Reading
from headway.inference.segments.splitting import Segment
from headway.inference.translation import WordPairs
from headway.model import Transformer
from headway.text.capitals import to_capitals
from headway.text.tokenizer import Tokenizer


class SegmentWriter:
    """Writes the translations of segments.

    Args:
        models: In evaluation mode; several are an ensemble.
        tokenizer: Of the models.
        language: Code of the translations' language.
    """

    def __init__(self, models: Sequence[Transformer], tokenizer: Tokenizer, language: str) -> None:
        self.models, self.tokenizer, self.language = models, tokenizer, language

    def write(self, segment: Segment, hypothesis: Hypothesis) -> str:
        """Return the text of a hypothesis, with what the segment keeps."""
        text = self._write_small(segment, hypothesis)
        return to_capitals(text, self.language) if segment.is_capital else text

    def _write_small(self, segment: Segment, hypothesis: Hypothesis) -> str:
        """Return the text as the model has written it, with what the segment keeps."""
        if not segment.readings:
            return self.tokenizer.decode(hypothesis.tokens)
        reading = segment.readings[hypothesis.reading]
        if not any(map(str.isalnum, reading.text)):  # the model has read nothing
            return "".join(source for _, source in reading.pieces)
        links = self._align_reading(reading, hypothesis) if reading.tags else []
        return restore_kept(self.tokenizer, reading, hypothesis.tokens, links).text

    def align(self, segment: Segment, hypothesis: Hypothesis) -> WordPairs:
        """Link the words of a segment to the words of its translation; see `Translator.align`."""
        if not segment.readings:
            return align_words(
                self.models, self.tokenizer, segment.text, segment.ids, hypothesis.tokens
            )
        reading = segment.readings[hypothesis.reading]
        if not any(map(str.isalnum, reading.text)):
            return []
        links = self._align_reading(reading, hypothesis)
        restored = restore_kept(self.tokenizer, reading, hypothesis.tokens, links)
        return [(reading.words[source], restored.words[target]) for source, target in links]

    def _align_reading(self, reading: Reading, hypothesis: Hypothesis) -> WordPairs:
        """Link the words of a reading to the words of its translation."""
        named = self.tokenizer.decode_source(reading.ids[:1])
        text = named + reading.text if self.tokenizer.named_language(named) else reading.text
        return align_words(self.models, self.tokenizer, text, reading.ids, hypothesis.tokens)
