"""How good the translations of segments are, and better ones for those that look broken."""

from collections.abc import Sequence
from typing import NamedTuple

from headway.config import SearchConfig
from headway.inference.quality.defects import find_defects, keeps_words
from headway.inference.quality.evidence import examine
from headway.inference.quality.quality_model import QualityModel, Rating
from headway.inference.quality.repair import find_candidates
from headway.inference.search.beam_search import Hypothesis
from headway.inference.segments.splitting import Segment
from headway.inference.token_search import TokenSearch

DEFECT = 0.5  # factor of the quality for each defect, which a validation text seldom has


class RatedHypotheses(NamedTuple):
    """The n best translations of a segment and the rating of each."""

    hypotheses: list[Hypothesis]
    ratings: list[Rating]


class Rater:
    """Rates the translations of segments, each alone, so that a rating depends on nothing else.

    Args:
        model: Computes the quality.
        token_search: Has the models, and finds other translations.
        languages: Codes of source and target.
    """

    def __init__(
        self, model: QualityModel, token_search: TokenSearch, languages: tuple[str, str]
    ) -> None:
        self.model, self.token_search, self.languages = model, token_search, languages

    def rate(
        self,
        segment: Segment,
        hypotheses: Sequence[Hypothesis],
        search: SearchConfig,
        prefix: list[int] | None = None,
    ) -> RatedHypotheses:
        """Rate translations of a segment; if the best one looks broken, search for one that does not.

        Samples are never replaced.

        Args:
            segment: From `Translator.split`.
            hypotheses: Its n best translations, or its samples.
            search: The settings that found them.
            prefix: Token ids that the translations start with.
        """
        found = RatedHypotheses([*hypotheses], [self._rate(segment, each) for each in hypotheses])
        if search.sample or not found.ratings or not found.ratings[0].defects:
            return found
        return self._repair(segment, found, search, prefix or [])

    def _repair(
        self, segment: Segment, found: RatedHypotheses, search: SearchConfig, prefix: list[int]
    ) -> RatedHypotheses:
        """Put the best translation first that has no defect, and loses no words if only numbers were wrong."""
        broken = found.ratings[0].defects
        decode = self.token_search.tokenizer.decode
        first = decode(found.hypotheses[0].tokens)
        for candidates in find_candidates(self.token_search, segment, broken, search, prefix):
            rated = [(candidate, self._rate(segment, candidate)) for candidate in candidates]
            sound = [
                (candidate, rating)
                for candidate, rating in rated
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

    def _rate(self, segment: Segment, hypothesis: Hypothesis) -> Rating:
        search = self.token_search
        source, translation, features = examine(
            search.models, search.tokenizer, segment, hypothesis
        )
        defects = find_defects(source, translation, self.languages)
        return Rating(self.model.rate(features) * DEFECT ** len(defects), defects)
