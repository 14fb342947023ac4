"""The translation of a line, and how the translations of its segments make it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.inference.beam_search import Hypothesis
from headway.inference.splitting import Segment, join_translations
from headway.text.tokenizer import Tokenizer

LINE_ENDS = re.compile(r"[\n\r]")
WordPairs = list[tuple[int, int]]  # (number of a source word, number of a target word), from 0


@dataclass(frozen=True)
class Translation:
    """One translation of a line.

    Attributes:
        text: Raw text.
        score: What ranks the n best: log-probability divided by the length penalty, or what
            `headway.inference.choosing` ranks by.
        log_probability: Natural logarithm, summed over the tokens.
        tokens: The target tokens of all segments of the line.
        alignment: Pairs (source word, target word) by attention. Words are separated by white space
            and counted from 0. None if no alignment was asked for.
    """

    text: str
    score: float
    log_probability: float
    tokens: list[str] = field(default_factory=list)
    alignment: WordPairs | None = None


def join_segments(
    tokenizer: Tokenizer,
    segments: Sequence[Segment],
    found: Sequence[Sequence[Hypothesis]],
    written: Sequence[Sequence[str]],
    links: Sequence[Sequence[WordPairs]] | None,
) -> list[Translation]:
    """Join the hypotheses of segments to translations of a line; see `Translator.join`.

    Args:
        tokenizer: Of the model.
        segments: Of the line.
        found: For each segment its n best hypotheses.
        written: The text of each.
        links: The alignment of each, or None.
    """
    translations = []
    # Each segment starts with the target language that the line names.
    named = tokenizer.named_language(segments[0].text) if segments else ""
    sources = [segment.text.removeprefix(named) for segment in segments]
    for rank, hypotheses in enumerate(zip(*found, strict=False)):
        texts = [of[rank] for of in written]
        translations.append(
            Translation(
                # The model may spell line ends: a line must stay one line.
                text=" ".join(LINE_ENDS.split(join_translations(sources, texts))).strip(),
                score=sum(h.score for h in hypotheses),
                log_probability=sum(h.log_probability for h in hypotheses),
                tokens=[s for h in hypotheses for s in tokenizer.target_subwords(h.tokens[:-1])],
                alignment=None
                if links is None
                else _join_alignments(sources, texts, [of[rank] for of in links], named),
            )
        )
    return translations


def _join_alignments(
    sources: list[str], texts: list[str], links: Sequence[WordPairs], named: str
) -> WordPairs:
    """Renumber the words of segments as words of the line, which starts with ``named``."""
    pairs: WordPairs = []
    source_before, target_before = named, ""
    for at, (source, text) in enumerate(zip(sources, texts, strict=True)):
        first_source = _count_words_before(source_before, source)
        first_target = _count_words_before(target_before, text)
        pairs += [(s + first_source, t + first_target) for s, t in links[at]]
        source_before += source
        target_before = join_translations(sources[at : at + 2], [target_before + text, ""])
    return pairs


def _count_words_before(before: str, text: str) -> int:
    """Count the words before ``text``; a word that continues in ``text`` does not count."""
    is_split = before and not before[-1].isspace() and not text[:1].isspace()
    return len(before.split()) - bool(is_split)
