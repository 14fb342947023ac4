"""The text of a segment's translation, with what the segment keeps, and its word links."""

from headway.config import SearchConfig
from headway.text.capitals import to_capitals
from headway.text.tokenizer import Tokenizer
from headway.translation.alignment import alignment_layers, link_words, weigh_words
from headway.translation.requests import Job, Read
from headway.translation.scoring import GivenTarget, WordPairs
from headway.translation.search.beam_search import Hypothesis
from headway.translation.segments.kept_places import restore_kept
from headway.translation.segments.readings import Reading
from headway.translation.segments.rendered_words import link_parts, link_rendered
from headway.translation.segments.splitting import Segment
from headway.translation.token_search import TokenSearch


def link_found(
    forward: TokenSearch,
    segment: Segment,
    found: list[Hypothesis],
    search: SearchConfig,
    *,
    all_of_them: bool = False,
) -> Job[list[Hypothesis]]:
    """Link the words of a segment to those of its translations.

    Args:
        forward: The model that has searched.
        segment: The text.
        found: Its hypotheses.
        search: Gives the precision and the size of a batch.
        all_of_them: Whether hypotheses get links that nothing but an alignment needs; otherwise only those of texts
            with tags get them.
    """
    wanted = [
        rank
        for rank, hypothesis in enumerate(found)
        if _needs_links(_reading_of(segment, hypothesis), all_of_them)
    ]
    if not wanted:
        return found
    # The links are made where the model reads, so that a server's event loop has no part in it.
    links = yield [_read_links(forward, segment, found[rank], search) for rank in wanted]
    linked = [*found]
    for rank, pairs in zip(wanted, links, strict=True):
        linked[rank] = found[rank]._replace(links=pairs)
    return linked


def _read_links(
    forward: TokenSearch, segment: Segment, hypothesis: Hypothesis, search: SearchConfig
) -> Read:
    """Return the request for the links between the words of what the model has read and those of a translation."""
    request = read_attention(forward, segment, hypothesis, search)
    reading = _reading_of(segment, hypothesis)

    def measure(given: GivenTarget) -> WordPairs:
        weights = request.measure(given)
        if reading is None:
            return link_words(weights)
        known = link_rendered(forward.tokenizer, reading, hypothesis.tokens, weights)
        return link_words(weights, known)

    return request._replace(measure=measure)


def read_attention(
    forward: TokenSearch, segment: Segment, hypothesis: Hypothesis, search: SearchConfig
) -> Read:
    """Return the request for what `weigh_words` makes of a translation and of what the model has read.

    Args:
        forward: The model that has searched.
        segment: The text.
        hypothesis: Its translation.
        search: Gives the precision and the size of a batch.
    """
    source, target = _ids_of(segment, hypothesis), hypothesis.tokens
    text = _text_of(segment, hypothesis)

    def measure(given: GivenTarget) -> list[list[float]]:
        return weigh_words(forward.tokenizer, text, target, given.weights)

    return Read(forward, search, source, target, measure, alignment_layers, is_scored=False)


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
        tokenizer: Of the model that has searched.
        language: Code of the translations' language.
    """

    def __init__(self, tokenizer: Tokenizer, language: str) -> None:
        self.tokenizer, self.language = tokenizer, language

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
        links = (hypothesis.links or []) if reading.tags else []
        return restore_kept(self.tokenizer, reading, hypothesis.tokens, links).text

    def align(self, segment: Segment, hypothesis: Hypothesis) -> WordPairs:
        """Return the links between the words of a segment and those of a translation, which has links from `link_found`.

        If the segment starts with the name of a target language, that name is not a word.
        """
        links = hypothesis.links or []
        reading = _reading_of(segment, hypothesis)
        if reading is None:
            return links
        if not _has_words(reading):
            return []
        restored = restore_kept(self.tokenizer, reading, hypothesis.tokens, links)
        sources, targets = reading.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(reading.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])
