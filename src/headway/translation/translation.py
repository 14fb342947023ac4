"""The translation of a line, and how the translations of its pieces make it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from headway.text.languages import Languages
from headway.text.tokenizer import Tokenizer
from headway.translation.search.beam_search import Hypothesis, WordPairs
from headway.translation.splitting import Piece, list_gaps

T = TypeVar("T")
LINE_ENDS = re.compile(r"[\n\r]")


class PieceRating(Protocol):
    """How good the translation of a piece is."""

    @property
    def quality(self) -> float:
        """From 0 to 1."""

    @property
    def defects(self) -> Sequence[str]:
        """What looks broken in it."""

    @property
    def repaired(self) -> Sequence[str]:
        """What looked broken in the first translation, which this one replaces."""


@dataclass(frozen=True)
class Translation:
    """One translation of a line.

    Attributes:
        text: Raw text.
        score: What ranks the n best: log-probability divided by the length penalty, or what
            `headway.translation.choosing` ranks by.
        log_probability: Natural logarithm, summed over the tokens.
        tokens: The target tokens of all pieces of the line.
        alignment: Pairs (source word, target word) by attention. Words are those of
            `headway.text.words.find_words`, counted from 0. None if no alignment was asked for.
        quality: From 0 to 1: the chrF2 against a reference that such a translation probably has, divided by
            100. None if no quality was asked for.
        defects: What looks broken in the translation: loop, numbers, untranslated, length, placeholders, names.
        repaired: What looked broken in the first translation, which this one replaces.
    """

    text: str
    score: float
    log_probability: float
    tokens: list[str] = field(default_factory=list)
    alignment: WordPairs | None = None
    quality: float | None = None
    defects: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()

    @property
    def notes(self) -> str:
        """What looks broken, in words, such as "numbers" or "loop repaired"."""
        return ", ".join([*(f"{defect} repaired" for defect in self.repaired), *self.defects])


def join_pieces(
    tokenizer: Tokenizer,
    languages: Languages,
    pieces: Sequence[Piece],
    found: Sequence[Sequence[Hypothesis]],
    written: Sequence[Sequence[str]],
    links: Sequence[Sequence[WordPairs]] | None,
    ratings: Sequence[Sequence[PieceRating]] | None,
) -> list[Translation]:
    """Join the hypotheses of pieces to translations of a line; see `Pipeline.join`.

    A piece with fewer hypotheses than another has its last one in the rest of the list.

    Args:
        tokenizer: Of the model.
        languages: Codes of source and target.
        pieces: Of the line.
        found: For each piece its n best hypotheses.
        written: The text of each.
        links: The alignment of each, or None.
        ratings: The rating of each, or None.
    """
    translations = []
    gaps = [*list_gaps(pieces, languages), ""]
    for rank in range(max(map(len, found)) if all(found) else 0):
        own = [min(rank, len(n_best) - 1) for n_best in found]
        hypotheses, texts = _pick(found, own), _pick(written, own)
        joined = "".join(text + gap for text, gap in zip(texts, gaps, strict=True))
        translations.append(
            Translation(
                # The model may spell line ends: a line must stay one line.
                text=" ".join(LINE_ENDS.split(joined)).strip(),
                score=sum(h.score for h in hypotheses),
                log_probability=sum(h.log_probability for h in hypotheses),
                tokens=[s for h in hypotheses for s in tokenizer.target_subwords(h.tokens[:-1])],
                alignment=None
                if links is None
                else _join_alignments(pieces, texts, gaps, _pick(links, own)),
                **({} if ratings is None else _join_ratings(hypotheses, _pick(ratings, own))),
            )
        )
    return translations


def _pick(lists: Sequence[Sequence[T]], places: Sequence[int]) -> list[T]:
    return [each[place] for each, place in zip(lists, places, strict=True)]


def _join_ratings(
    hypotheses: Sequence[Hypothesis], ratings: Sequence[PieceRating]
) -> dict[str, Any]:
    """Return the mean quality of pieces, by their lengths, and all their defects, by attribute."""
    lengths = [len(hypothesis.tokens) for hypothesis in hypotheses]
    total = sum(r.quality * n for r, n in zip(ratings, lengths, strict=True))
    return {
        "quality": total / sum(lengths),
        "defects": tuple(dict.fromkeys(defect for r in ratings for defect in r.defects)),
        "repaired": tuple(dict.fromkeys(defect for r in ratings for defect in r.repaired)),
    }


def _join_alignments(
    pieces: Sequence[Piece],
    texts: Sequence[str],
    gaps: Sequence[str],
    links: Sequence[WordPairs],
) -> WordPairs:
    """Renumber the words of pieces as words of the line."""
    from headway.text.word_links import WordLinks

    language_name = pieces[0].language_name
    line = language_name + "".join(piece.before + piece.text + piece.after for piece in pieces)
    joined = "".join(text + gap for text, gap in zip(texts, gaps, strict=True))
    of_line = WordLinks.between(line, joined)
    start, target_start = len(language_name), 0
    for piece, text, gap, pairs in zip(pieces, texts, gaps, links, strict=True):
        first = len(piece.before)
        written = text[first : len(text) - len(piece.after.rstrip())]
        if piece.before[-1:].isspace():  # else a word of the text may go on with it
            kept = WordLinks.identity(piece.before).pairs
            of_line.add_sentence(piece.before, start, piece.before, target_start, kept)
        of_line.add_sentence(piece.text, start + first, written, target_start + first, pairs)
        start += len(piece.before + piece.text + piece.after)
        target_start += len(text + gap)
    return of_line.pairs
