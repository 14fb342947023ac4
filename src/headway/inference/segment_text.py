"""The text of a segment's translation, with what the segment keeps, and its word links."""

from collections.abc import Iterator, Sequence

from headway.config import SearchConfig
from headway.inference.alignment import WordPairs, link_words, weigh_words
from headway.inference.given_translations import attend
from headway.inference.search.beam_search import Hypothesis
from headway.inference.segments.kept_places import restore_kept
from headway.inference.segments.readings import Reading
from headway.inference.segments.rendered_words import link_parts, link_rendered
from headway.inference.segments.splitting import Segment
from headway.inference.token_search import TokenSearch
from headway.text.capitals import to_capitals


def link_found(
    forward: TokenSearch,
    segments: Sequence[Segment],
    found: Sequence[list[Hypothesis]],
    search: SearchConfig,
    *,
    all_of_them: bool = False,
) -> list[list[Hypothesis]]:
    """Link the words of segments to those of their translations, in batches.

    Args:
        forward: The model that has searched.
        segments: The texts.
        found: For each segment its hypotheses.
        search: Gives the precision and the size of a batch.
        all_of_them: Whether hypotheses get links that nothing but an alignment needs; otherwise only those of texts
            with tags get them.
    """
    wanted = [
        (row, rank)
        for row, (segment, n_best) in enumerate(zip(segments, found, strict=True))
        for rank, hypothesis in enumerate(n_best)
        if _needs_links(_reading_of(segment, hypothesis), all_of_them)
    ]
    linked = [list(n_best) for n_best in found]
    pairs = [(segments[row], found[row][rank]) for row, rank in wanted]
    each = zip(wanted, pairs, weigh_found(forward, pairs, search), strict=True)
    for (row, rank), (segment, hypothesis), weights in each:
        tokenizer, reading = forward.tokenizer, _reading_of(segment, hypothesis)
        tokens = hypothesis.tokens
        known = [] if reading is None else link_rendered(tokenizer, reading, tokens, weights)
        linked[row][rank] = hypothesis._replace(links=link_words(weights, known))
    return linked


def weigh_found(
    forward: TokenSearch, pairs: Sequence[tuple[Segment, Hypothesis]], search: SearchConfig
) -> Iterator[list[list[float]]]:
    """Yield for each translation what `weigh_words` returns for it and for what the model has read.

    Args:
        forward: The model that has searched.
        pairs: Segments, each with a translation.
        search: Gives the precision and the size of a batch.
    """
    sources = [_ids_of(*pair) for pair in pairs]
    targets = [hypothesis.tokens for _, hypothesis in pairs]
    attention = attend(forward, sources, targets, search) if pairs else []
    for pair, target, weights_TS in zip(pairs, targets, attention, strict=True):
        yield weigh_words(forward.tokenizer, _text_of(*pair), target, weights_TS)


def _reading_of(segment: Segment, hypothesis: Hypothesis) -> Reading | None:
    """Return what the model has read instead of a segment, if anything."""
    return segment.readings[hypothesis.reading] if segment.readings else None


def _ids_of(segment: Segment, hypothesis: Hypothesis) -> list[int]:
    reading = _reading_of(segment, hypothesis)
    return segment.ids if reading is None else reading.ids


def _text_of(segment: Segment, hypothesis: Hypothesis) -> str:
    """Return what the model has read, with the name of a target language at its beginning, if any."""
    reading = _reading_of(segment, hypothesis)
    return segment.language_name + (segment if reading is None else reading).text.strip()


def _needs_links(reading: Reading | None, all_of_them: bool) -> bool:
    """Return whether a translation of a reading, or of the segment as it is, gets links."""
    if reading is None:
        return all_of_them
    return _has_words(reading) and (all_of_them or bool(reading.tags))


def _has_words(reading: Reading) -> bool:
    """Return whether the model has read anything."""
    return any(map(str.isalnum, reading.text))


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
        text = to_capitals(text, self.language) if segment.is_capital else text
        if segment.before:
            text = segment.before + text.lstrip()
        if segment.after:  # its white space joins the next segment
            text = text.rstrip() + segment.after.rstrip()
        return text

    def _write_small(self, segment: Segment, hypothesis: Hypothesis) -> str:
        """Return the text as the model has written it, with what the segment keeps."""
        reading = _reading_of(segment, hypothesis)
        if reading is None:
            return self.tokenizer.decode(hypothesis.tokens)
        if not _has_words(reading):
            return "".join(source for _, source in reading.pieces)
        links = self._link(segment, hypothesis) if reading.tags else []
        return restore_kept(self.tokenizer, reading, hypothesis.tokens, links).text

    def align(self, segment: Segment, hypothesis: Hypothesis) -> WordPairs:
        """Link the words of a segment to the words of its translation; see `Translator.align`."""
        reading = _reading_of(segment, hypothesis)
        if reading is None:
            return self._link(segment, hypothesis)
        if not _has_words(reading):
            return []
        links = self._link(segment, hypothesis)
        restored = restore_kept(self.tokenizer, reading, hypothesis.tokens, links)
        sources, targets = reading.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(reading.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])

    def _link(self, segment: Segment, hypothesis: Hypothesis) -> WordPairs:
        """Return the links of a hypothesis, which the search has made where it was asked for them."""
        if hypothesis.links is None:
            both = [segment], [[hypothesis]]
            [[hypothesis]] = link_found(self.forward, *both, self.search, all_of_them=True)
        assert hypothesis.links is not None
        return hypothesis.links
