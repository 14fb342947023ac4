"""The translation of a line, and how the translations of its pieces make it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from headway.text.tokenizer import Tokenizer
from headway.translation.search.beam_search import Hypothesis, WordPairs
from headway.translation.splitting import Piece, join_translations

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
        defects: What looks broken in the translation: loop, numbers, untranslated.
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
    pieces: Sequence[Piece],
    found: Sequence[Sequence[Hypothesis]],
    written: Sequence[Sequence[str]],
    links: Sequence[Sequence[WordPairs]] | None,
    ratings: Sequence[Sequence[PieceRating]] | None,
) -> list[Translation]:
    """Join the hypotheses of pieces to translations of a line; see `Translator.join`.

    Args:
        tokenizer: Of the model.
        pieces: Of the line.
        found: For each piece its n best hypotheses.
        written: The text of each.
        links: The alignment of each, or None.
        ratings: The rating of each, or None.
    """
    translations = []
    sources = [s.before + s.text + s.after for s in pieces]
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
                else _join_alignments(pieces, sources, texts, [of[rank] for of in links]),
                **(
                    {} if ratings is None else _join_ratings(hypotheses, [r[rank] for r in ratings])
                ),
            )
        )
    return translations


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
    sources: list[str],
    texts: list[str],
    links: Sequence[WordPairs],
) -> WordPairs:
    """Renumber the words of pieces as words of the line."""
    from headway.text.word_links import WordLinks

    language_name = pieces[0].language_name
    of_line = WordLinks.between(language_name + "".join(sources), join_translations(sources, texts))
    start, before = len(language_name), ""
    for at, (piece, source, text) in enumerate(zip(pieces, sources, texts, strict=True)):
        first = len(piece.before)
        own = source[first : len(source) - len(piece.after)]
        written = text[first : len(text) - len(piece.after.rstrip())]
        if piece.before[-1:].isspace():  # else a word of the text may go on with it
            kept = WordLinks.identity(piece.before).pairs
            of_line.add_sentence(piece.before, start, piece.before, len(before), kept)
        of_line.add_sentence(own, start + first, written, len(before) + first, links[at])
        start += len(source)
        before = join_translations(sources[at : at + 2], [before + text, ""])
    return of_line.pairs
