"""How good the translations of pieces are, and better ones for those that look broken."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headway.config import SearchConfig
from headway.ext.quality.defects import find_defects, keeps_words
from headway.ext.quality.evidence import Evidence, examine
from headway.ext.quality.other_searches import list_ways
from headway.ext.quality.quality_model import QualityModel, RatedPiece
from headway.translation import (
    LONG,
    Hypothesis,
    Job,
    Masking,
    Piece,
    TokenSearch,
    call,
    find_translations,
)

DEFECT = 0.5  # factor of the quality for each defect, which a validation text seldom has


def load(directory: Path) -> QualityModel:
    """Return the quality model of a model's directory; see `headway.extension.Extension.quality`."""
    return QualityModel.load(directory)


class RatedHypotheses(NamedTuple):
    """The n best translations of a piece and the rating of each."""

    hypotheses: list[Hypothesis]
    ratings: list[RatedPiece]


class Rater:
    """Rates the translations of pieces.

    Args:
        model: Computes the quality.
        masking: What has masked the pieces.
        token_search: Has the models, and finds other translations.
        languages: Codes of source and target.
    """

    def __init__(
        self,
        model: QualityModel,
        masking: Masking,
        token_search: TokenSearch,
        languages: tuple[str, str],
    ) -> None:
        self.model, self.masking = model, masking
        self.token_search, self.languages = token_search, languages

    def rate(
        self,
        piece: Piece,
        found: list[Hypothesis],
        search: SearchConfig,
        prefix: Sequence[int] = (),
    ) -> Job[RatedHypotheses]:
        """Rate the translations of a piece; if the best one looks broken, search for one that does not.

        Samples are never replaced.

        Args:
            piece: The text.
            found: Its n best translations, or its samples.
            search: The settings that found them.
            prefix: The token ids that its translations start with.
        """
        ratings = yield from self._rate(piece, found, search, prefix)
        rated = RatedHypotheses(found, ratings)
        if not search.sample and ratings and ratings[0].defects:
            return (yield from self._repair(piece, rated, search, prefix))
        return rated

    def _repair(
        self, piece: Piece, found: RatedHypotheses, search: SearchConfig, prefix: Sequence[int]
    ) -> Job[RatedHypotheses]:
        """Put the best translation first that has no defect, and loses no words if only numbers were wrong."""
        broken = found.ratings[0].defects
        decode = self.token_search.tokenizer.decode
        first = decode(found.hypotheses[0].tokens)
        for searched, settings in list_ways(self.token_search.tokenizer, piece, broken, search):
            candidates = yield from find_translations(
                self.masking, self.token_search, None, searched, settings, prefix
            )
            ratings = yield from self._rate(searched, candidates, search, prefix)
            sound = [
                (candidate, rating)
                for candidate, rating in zip(candidates, ratings, strict=True)
                if not rating.defects
                and (broken != ("numbers",) or keeps_words(first, decode(candidate.tokens)))
            ]
            if sound:
                best, rating = max(sound, key=lambda pair: pair[1].quality)
                others = [
                    pair for pair in zip(*found, strict=True) if pair[0].tokens != best.tokens
                ]
                pairs = [(best, rating._replace(repaired=broken)), *others][: len(found.ratings)]
                return RatedHypotheses([h for h, _ in pairs], [r for _, r in pairs])
        return found

    def _rate(
        self,
        piece: Piece,
        found: Sequence[Hypothesis],
        search: SearchConfig,
        prefix: Sequence[int],
    ) -> Job[list[RatedPiece]]:
        evidence = yield from examine(self.token_search, piece, found, search, prefix)
        # To look for defects takes about a millisecond.
        return (yield from call(lambda: [*map(self._judge, evidence)], LONG * len(found)))

    def _judge(self, evidence: Evidence) -> RatedPiece:
        """Return the rating of a translation."""
        source, translation, features = evidence
        defects = find_defects(source, translation, self.languages)
        return RatedPiece(self.model.rate(features) * DEFECT ** len(defects), defects)
