"""How good the translations of pieces are, and better ones for those that look broken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from headway.config import SearchConfig
from headway.ext.protect import MaskedSource, spell_numbers, starts_sentence
from headway.ext.quality.defects import (
    Defect,
    find_defects,
    find_lost_names,
    has_similar_word,
    keeps_words,
)
from headway.ext.quality.quality_model import Numbers, QualityModel, examine
from headway.text import Tokenizer
from headway.translation import (
    Constraint,
    Find,
    Hypothesis,
    Job,
    Masking,
    Piece,
    TokenSearch,
    find_translations,
    spell_words,
)

load = QualityModel.load  # see `headway.extension.Extension.quality`
DEFECT = 0.5  # factor of the quality for each defect, which a validation text seldom has
RARE = 2.0  # letters of a subword, on average: the training text hardly had the word
MOST_ASKED = 16  # words of a piece
ASKED = 4  # letters, at least, of another word with a capital: shorter ones are months and days
IN_ONE_WORD = {"numbers", "names"}  # the other words of such a translation may be right
HIDDEN = "X"  # no word of small letters, no name, and no number
CANDIDATES = 8  # of each other search
EPSILON = 0.02  # samples have no token that is less likely


class RatedPiece(NamedTuple):
    """How good the translation of a piece is.

    Attributes:
        quality: From 0 to 1.
        defects: What looks broken in it.
        repaired: What looked broken in the first translation, which this one replaces.
    """

    quality: float
    defects: tuple[Defect, ...] = ()
    repaired: tuple[Defect, ...] = ()


Rated = tuple[Hypothesis, RatedPiece]


@dataclass(frozen=True)
class Rater:
    """Rates the translations of pieces.

    Attributes:
        model: Computes the quality.
        masking: What has masked the pieces.
        token_search: Has the models, and finds other translations.
        languages: Codes of source and target.
    """

    model: QualityModel
    masking: Masking
    token_search: TokenSearch
    languages: tuple[str, str]

    def rate(
        self,
        piece: Piece,
        found: list[Hypothesis],
        search: SearchConfig,
        prefix: Sequence[int] = (),
    ) -> Job[tuple[list[Hypothesis], list[RatedPiece]]]:
        """Rate the translations of a piece; if the best one looks broken, search for one that does not.

        It has no defect, but may lack the name that the first one lacks, too; and it loses no words if only numbers or names
        were wrong. Samples are never replaced.

        Args:
            piece: The text.
            found: Its n best translations, or its samples.
            search: The settings that found them.
            prefix: The token ids that its translations start with.
        """
        rated = yield from self._rate(piece, found, search)
        broken = rated[0][1].defects if rated and not search.sample else ()
        is_free = not {*broken} <= IN_ONE_WORD
        decode = self.token_search.tokenizer.decode
        for searched, settings in self._list_ways(piece, broken, search):
            candidates = yield from find_translations(
                self.token_search, None, searched, settings, prefix
            )
            others = yield from self._rate(piece, candidates, search)
            sound = [
                (each, rating)
                for each, rating in others
                if {*rating.defects} <= {"names"}
                and len(rating.defects) < len(broken)
                and (is_free or keeps_words(decode(found[0].tokens), decode(each.tokens)))
            ]
            if sound:
                best, rating = max(sound, key=lambda pair: pair[1].quality)
                kept = [pair for pair in rated if pair[0].tokens != best.tokens]
                repaired = tuple(each for each in broken if each not in rating.defects)
                rated = [(best, rating._replace(repaired=repaired)), *kept][: len(rated)]
                break
        return [hypothesis for hypothesis, _ in rated], [rating for _, rating in rated]

    def _list_ways(
        self, piece: Piece, broken: Sequence[Defect], search: SearchConfig
    ) -> Iterator[tuple[Piece, SearchConfig]]:
        """Yield the pieces and the settings of other searches: with the numbers if they differ, a wider beam, samples."""
        if not broken:
            return
        beam = max(CANDIDATES, 2 * search.beam)
        wide = replace(search, beam=beam, n_best=CANDIDATES, mbr=False)
        if "numbers" in broken:
            yield require_numbers(piece, self.token_search.tokenizer), wide
        yield piece, wide
        if not piece.masked_source:  # samples need not contain anything
            drawn = replace(wide, sample=True, epsilon=EPSILON, temperature=1.0, top_k=0, top_p=1.0)
            yield piece, drawn

    def _rate(
        self, piece: Piece, found: list[Hypothesis], search: SearchConfig
    ) -> Job[list[Rated]]:
        """Rate translations; they get links if these say where something stands in them.

        A name is lost if neither it stands in a translation nor what the model makes of it alone.
        """
        model, languages = self.token_search, self.languages
        found = yield from self.masking.link(model, piece, found, search)
        small = piece._replace(is_capital=False, before="", after="")
        texts = [
            _hide_terms(piece, self.masking.write(model.tokenizer, languages[1], small, each))
            for each in found
        ]
        lost = [
            [w for w in find_lost_names(*pair, languages) if self._may_be_name(w, *pair)]
            for pair in texts
        ]
        words = sorted({*chain(*lost)})[:MOST_ASKED]
        features, alone = yield from self._ask(piece, found, words, search)
        rated: list[Rated] = []
        for hypothesis, each, pair, names in zip(found, features, texts, lost, strict=True):
            defects = find_defects(*pair, languages)
            if any(w in alone and not has_similar_word(alone[w], pair[1]) for w in names):
                defects = (*defects, "names")
            quality = self.model.rate(each) * DEFECT ** len(defects)
            rated.append((hypothesis, RatedPiece(quality, defects)))
        return rated

    def _ask(
        self, piece: Piece, found: list[Hypothesis], words: Sequence[str], search: SearchConfig
    ) -> Job[tuple[list[Numbers], dict[str, str]]]:
        """Return the features of translations, and what the model makes of single words."""
        model = self.token_search
        encoded = model.tokenizer.encode_source([piece.language_name + word for word in words])
        plain = replace(search, sample=False, n_best=1)
        examined = (examine(model, piece, each, search) for each in found)
        answers = yield [*examined, *(Find(model, plain, ids) for ids in encoded)]
        texts = [model.tokenizer.decode(best.tokens) for [best, *_] in answers[len(found) :]]
        return answers[: len(found)], dict(zip(words, texts, strict=True))

    def _may_be_name(self, word: str, source: str, translation: str) -> bool:
        """Return whether a word with a capital that a translation lacks may be a name.

        The vocabulary has an ordinary word in small letters. The first word of a sentence has a capital anyway, short words may be days and
        months, and a translation without letters, such as a date, may have a number for any of them, unless a word has so many
        subwords that the training text hardly had it.
        """
        own, small = map(len, self.token_search.tokenizer.encode_source([word, word.lower()]))
        is_rare = len(word) <= RARE * (min(own, small) - 1)  # without </s>
        is_long = len(word) >= ASKED and any(map(str.isalpha, translation))
        is_inside = not starts_sentence(source[: source.index(word)])
        return small > 2 and (is_rare or (is_long and is_inside))


def _hide_terms(piece: Piece, translation: str) -> tuple[str, str]:
    """Return a piece and its translation with a letter for each term: what stands there is right."""
    if not piece.masked_source:
        return piece.text, translation
    source = ""
    for part in piece.masked_source.parts:
        rendering = next((r for r in part.renderings if part.is_term and r in translation), None)
        source += part.source if rendering is None else HIDDEN
        translation = translation.replace(rendering or HIDDEN, HIDDEN, 1)
    return source, translation


def require_numbers(piece: Piece, tokenizer: Tokenizer) -> Piece:
    """Return a piece that the search may only translate with the numbers that it has.

    Terms, placeholder words and literals are required anyway.
    """
    masked = piece.masked_source or MaskedSource(piece.text.strip(), piece.ids)
    texts = [part.read for part in masked.parts if part.kind == "text"]
    numbers = spell_numbers("\n".join(texts) if masked.parts else masked.text)
    constraints = (Constraint(spell_words(tokenizer, forms)) for forms in numbers)
    required = masked._replace(constraints=(*masked.constraints, *constraints))
    return piece._replace(masked_source=required)
