"""Split a line into the segments that a model translates, each with its placeholders and terms of a glossary."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from headway.config import SearchConfig
from headway.inference.segments.marked_text import MarkedText
from headway.inference.segments.reading_writer import ReadingWriter
from headway.inference.segments.readings import Reading, StandIn
from headway.inference.segments.splitting import Segment, split_line, split_sentences
from headway.text.capitals import is_in_capitals
from headway.text.glossary import Glossary
from headway.text.kept_text import divide_at_breaks, find_kept_text, has_words
from headway.text.languages import is_translatable
from headway.text.tokenizer import Tokenizer
from headway.text.words import simplify_breaks


def _is_kept(line: str) -> bool:
    """Return whether a line has no letter and no digit, or no words besides what is kept."""
    return not is_translatable(line) or (not has_words(line) and bool(find_kept_text(line)))


def _put_between(before: str, segments: Iterator[Segment], after: str) -> Iterator[Segment]:
    """Yield the segments of a text with the tags before the first and behind the last of them."""
    last = next(segments)._replace(before=before)
    for segment in segments:
        yield last
        last = segment
    yield last._replace(after=after)


def split_into_segments(
    line: str,
    tokenizer: Tokenizer,
    language: str,
    search: SearchConfig,
    longest: int,
    glossary: Glossary | None,
    stand_ins: Callable[[], Sequence[StandIn]],
) -> Iterator[Segment]:
    """Yield the segments of a line; see `Translator.split`.

    Args:
        line: Raw text.
        tokenizer: Of the model.
        language: Code of the line's language.
        search: Search settings: what is kept, and whether each sentence is translated alone.
        longest: Tokens of a segment, at most.
        glossary: Prescribes the translations of terms; None: there is none.
        stand_ins: Returns those of the model; called if there is text to replace.
    """
    stripped = line.strip()
    if not stripped or (search.keep and _is_kept(stripped)):
        return

    def encode(text: str) -> list[int]:
        return tokenizer.encode_source([simplify_breaks(text)])[0]

    def encode_marked(text: str) -> list[int]:
        return encode(marked.restore(text))

    named = tokenizer.named_language(stripped)
    gap, *parts = divide_at_breaks(stripped.removeprefix(named)) if search.keep else [""]
    if len(parts) > 2 or (parts and (gap.strip() or parts[1])):
        for part, after in zip(parts[::2], parts[1::2], strict=True):
            of_part = split_into_segments(
                named + part, tokenizer, language, search, longest, glossary, stand_ins
            )
            yield from _put_between(gap, of_part, after)
            gap = ""
        return
    marked = MarkedText(stripped, tokenizer, keep=search.keep, glossary=glossary)
    # The text as it is written decides: its only words may be terms.
    if is_capital := search.keep and is_in_capitals(stripped.removeprefix(named)):
        marked.to_small_letters(named, language)
    longest = max(1, longest - bool(named))
    encode_part = encode_marked if marked.marks else encode
    texts = (
        split_sentences(marked.text, language) if search.split_sentences is True else [marked.text]
    )
    writer = ReadingWriter(marked, tokenizer, stand_ins, named) if marked.marks else None
    segments = (split_line(text, language, encode_part, longest) for text in texts)
    for number, segment in enumerate(chain.from_iterable(segments)):
        text, ids = segment.text, segment.ids
        if named and number:
            text = named + text
            ids = encode_part(text.strip())
        readings: tuple[Reading, ...] = ()
        if writer is not None:
            readings = writer.readings(text.removeprefix(named))
            text = marked.restore(text)
        yield Segment(text, ids, readings, is_capital)
