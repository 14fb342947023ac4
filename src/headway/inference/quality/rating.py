"""How good the translations of segments are, and better ones for those that look broken."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from headway.config import SearchConfig
from headway.inference.quality.defects import find_defects, keeps_words
from headway.inference.quality.evidence import Found, examine
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
    """Rates the translations of segments.

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
        segments: Sequence[Segment],
        found: Sequence[Sequence[Hypothesis]],
        search: SearchConfig,
        prefixes: Sequence[list[int]],
    ) -> list[RatedHypotheses]:
        """Rate translations of segments; where the best one looks broken, search for one that does not.

        Samples are never replaced.

        Args:
            segments: From `Translator.split`.
            found: For each segment its n best translations, or its samples.
            search: The settings that found them.
            prefixes: For each segment the token ids that its translations start with.
        """
        translations = [
            Found(segment, each, len(prefix))
            for segment, n_best, prefix in zip(segments, found, prefixes, strict=True)
            for each in n_best
        ]
        ratings = iter(self._rate(translations, search))
        rated = [RatedHypotheses([*n_best], [*islice(ratings, len(n_best))]) for n_best in found]
        return [
            self._repair(segment, each, search, prefix)
            if not search.sample and each.ratings and each.ratings[0].defects
            else each
            for segment, each, prefix in zip(segments, rated, prefixes, strict=True)
        ]

    def _repair(
        self, segment: Segment, found: RatedHypotheses, search: SearchConfig, prefix: list[int]
    ) -> RatedHypotheses:
        """Put the best translation first that has no defect, and loses no words if only numbers were wrong."""
        broken = found.ratings[0].defects
        decode = self.token_search.tokenizer.decode
        first = decode(found.hypotheses[0].tokens)
        ways = find_candidates(self.token_search, segment, broken, search, prefix)
        for searched, candidates in ways:
            ratings = self._rate(
                [Found(searched, candidate, len(prefix)) for candidate in candidates], search
            )
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

    def _rate(self, translations: Sequence[Found], search: SearchConfig) -> list[Rating]:
        ratings = []
        for source, translation, features in examine(self.token_search, translations, search):
            defects = find_defects(source, translation, self.languages)
            quality = self.model.rate(features) * DEFECT ** len(defects)
            ratings.append(Rating(quality, defects))
        return ratings
