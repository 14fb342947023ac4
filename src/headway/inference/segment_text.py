"""The text of a segment's translation, with what the segment keeps, and its word links."""

from collections.abc import Sequence

from headway.config import SearchConfig
from headway.inference.alignment import link_words, weigh_words
from headway.inference.search.beam_search import Hypothesis
from headway.inference.segments.kept_places import restore_kept
from headway.inference.segments.readings import Reading
from headway.inference.segments.rendered_words import link_parts, link_rendered
from headway.inference.segments.splitting import Segment
from headway.inference.token_search import TokenSearch
from headway.inference.translation import WordPairs
from headway.text.capitals import to_capitals


class SegmentWriter:
    """Writes the translations of segments.

    Args:
        forward: The model that has searched.
        search: Search settings.
        language: Code of the translations' language.
    """

    def __init__(self, forward: TokenSearch, search: SearchConfig, language: str) -> None:
        self.forward, self.search, self.language = forward, search, language
        self.tokenizer = forward.tokenizer

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
            return link_words(self._weigh(segment.text, segment.ids, hypothesis))
        reading = segment.readings[hypothesis.reading]
        if not any(map(str.isalnum, reading.text)):
            return []
        links = self._align_reading(reading, hypothesis)
        restored = restore_kept(self.tokenizer, reading, hypothesis.tokens, links)
        sources, targets = reading.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(reading.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])

    def _align_reading(self, reading: Reading, hypothesis: Hypothesis) -> WordPairs:
        """Link the words of a reading to the words of its translation."""
        named = self.tokenizer.decode_source(reading.ids[:1])
        text = named + reading.text if self.tokenizer.named_language(named) else reading.text
        weights = self._weigh(text, reading.ids, hypothesis)
        return link_words(
            weights, link_rendered(self.tokenizer, reading, hypothesis.tokens, weights)
        )

    def _weigh(self, text: str, source: Sequence[int], hypothesis: Hypothesis) -> list[list[float]]:
        """Return for each word of a translation how much it attends to each word of a text."""
        target = hypothesis.tokens
        [weights_TS] = self.forward.attend([source], [target], self.search)
        return weigh_words(self.tokenizer, text, source, target, weights_TS)
