"""How a line is translated: it is cut into pieces, each is searched for, rated and linked, and they are joined again."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.text.languages import Languages
from headway.translation.masking import Masking, Terms
from headway.translation.requests import Find, Job, together
from headway.translation.search.beam_search import Hypothesis
from headway.translation.splitting import (
    Encode,
    Piece,
    is_plain,
    split_line,
    split_sentences,
)
from headway.translation.token_search import TokenSearch
from headway.translation.translation import PieceRating, Translation, join_pieces

# A stage of an extension is called with a line. It yields the line to translate instead, receives the translations of
# that, and returns the translations of the line that it was called with.
Flow = Generator[str, list[Translation], list[Translation]]
Stage = Callable[[str], Flow]


def find_translations(
    forward: TokenSearch,
    backward: TokenSearch | None,
    piece: Piece,
    search: SearchConfig,
    prefix: Sequence[int] = (),
) -> Job[list[Hypothesis]]:
    """Search for the translations of a piece, and choose among them if the settings say how.

    Args:
        forward: The model that searches, with its tokenizer.
        backward: Chooses among them; None: there is no backward model.
        piece: The text.
        search: Search settings.
        prefix: The tokens that its translation must start with.

    Returns:
        Its n best hypotheses, or its n samples if nothing chooses; fewer if they are known without a search.
    """
    if piece.masked_source and not prefix:
        known = piece.masked_source.list_known(forward.tokenizer)
        if known:
            return [Hypothesis(tokens, 0.0, 0.0) for tokens in known[: search.n_best]]
    is_chosen = search.mbr or backward is not None
    if is_chosen:
        from headway.translation.choosing import choose, widen_search

    wide = widen_search(search) if is_chosen else search
    constraints = piece.masked_source.constraints if piece.masked_source else ()
    read = (piece.masked_source or piece).ids
    [found] = yield [Find(forward, wide, read, prefix, constraints)]
    if is_chosen:
        found = yield from choose(forward, backward, piece, found, search)
    return found


class PieceRater(Protocol):
    """Rates translations, and finds other ones for those that look broken."""

    def rate(
        self,
        piece: Piece,
        found: list[Hypothesis],
        search: SearchConfig,
        prefix: Sequence[int] = (),
    ) -> Job[tuple[list[Hypothesis], Sequence[PieceRating]]]:
        """Return the n best translations of a piece and the rating of each.

        Args:
            piece: The text.
            found: Its n best translations, or its samples.
            search: The settings that found them.
            prefix: The token ids that its translations start with.
        """


class Found(NamedTuple):
    """What was found for a piece.

    Attributes:
        hypotheses: Its n best translations, or its samples; with links if they were asked for, or are needed.
        ratings: The rating of each; None if they were not asked for.
    """

    hypotheses: list[Hypothesis]
    ratings: Sequence[PieceRating] | None = None


def _begin_stage(name: str, stage: Stage, line: str) -> tuple[Flow, str]:
    """Return what goes on in a stage of an extension, and the line that it wants to be translated."""
    try:
        flow = stage(line)
        changed = next(flow, None)
    except Exception as error:
        raise _blame(name, stage, f"{type(error).__name__}: {error}") from error
    if not isinstance(changed, str):
        raise _blame(name, stage, f"it yielded {changed!r:.40} instead of a line")
    return flow, changed


def _end_stage(name: str, stage: Stage, flow: Flow, found: list[Translation]) -> list[Translation]:
    """Return what a stage of an extension makes of translations."""
    try:
        flow.send(found)
    except StopIteration as end:
        returned = end.value
    except Exception as error:
        raise _blame(name, stage, f"{type(error).__name__}: {error}") from error
    else:
        raise _blame(name, stage, "it yielded two lines")
    if not isinstance(returned, list) or not all(isinstance(t, Translation) for t in returned):
        raise _blame(name, stage, f"it returned {returned!r:.40} instead of translations")
    if not returned:
        raise _blame(name, stage, "it returned no translations")
    return returned


def _blame(name: str, stage: Stage, why: str) -> HeadwayError:
    return HeadwayError(f"extension {name!r}: stage {getattr(stage, '__name__', stage)}: {why}")


@dataclass(frozen=True)
class Pipeline:
    """How lines are translated in one direction, with given settings.

    Attributes:
        forward: The model that translates.
        languages: Codes of source and target.
        search: Search settings.
        masking: Hides parts of lines, and restores them in translations.
        longest: Tokens of a piece, at most.
        glossary: Prescribes the translations of terms; None: there is none.
        backward: Chooses among several candidates; None: there is no backward model.
        rater: Rates the translations, and looks for others where one looks broken; None: they are not rated.
        stages: What extensions do with each line and its translations, with their names; the first is the outermost.
        align: Whether the words of source and translation are linked.
        prefix: Text with which the model starts the translation of every line that has one.
    """

    forward: TokenSearch
    languages: Languages
    search: SearchConfig
    masking: Masking
    longest: int
    glossary: Terms | None = None
    backward: TokenSearch | None = None
    rater: PieceRater | None = None
    stages: Sequence[tuple[str, Stage]] = ()
    align: bool = False
    prefix: str = ""

    def translate(self, line: str) -> Job[list[Translation]]:
        """Translate a line.

        Args:
            line: Raw text, without a line end; a blank one stays as it is.

        Returns:
            Its n best translations, or its n samples.

        Raises:
            HeadwayError: If a stage of an extension fails; the message names it.
        """
        return (yield from self._pass_stages(line, self.stages))

    def _pass_stages(
        self, line: str, stages: Sequence[tuple[str, Stage]]
    ) -> Job[list[Translation]]:
        """Translate a line within some stages of extensions."""
        if not stages:
            return (yield from self._translate(line))
        (name, stage), *inner = stages
        flow, changed = _begin_stage(name, stage, line)
        found = yield from self._pass_stages(changed, inner)
        return _end_stage(name, stage, flow, found)

    def _translate(self, line: str) -> Job[list[Translation]]:
        """Translate a line as the core does."""
        pieces = self.cut(line)
        if not pieces:
            quality = None if self.rater is None else 1.0
            return [Translation(line, 0.0, 0.0, [], [] if self.align else None, quality)]
        found = yield from together(
            # Only the first piece of a line starts with the prefix.
            self.find(piece, [] if number else self._encode_prefix(piece))
            for number, piece in enumerate(pieces)
        )
        joined = self.join(pieces, found)
        if self.glossary is None:
            return joined
        joined = self._put_repeated_last(joined)
        if self.rater is None:
            return joined
        return (yield from self._rate_without_terms(line, pieces, joined))

    def _put_repeated_last(self, found: list[Translation]) -> list[Translation]:
        """Return the n best translations, those with a text of a better one last: terms may have made them equal."""
        first: dict[str, int] = {}
        for rank, each in enumerate(found):
            first.setdefault(each.text, rank)
        ranks = sorted(range(len(found)), key=lambda rank: first[found[rank].text] != rank)
        return [found[rank] for rank in ranks][: self.search.n_best]

    def _rate_without_terms(
        self, line: str, pieces: Sequence[Piece], found: list[Translation]
    ) -> Job[list[Translation]]:
        """Give the best translation with terms the quality of that without: the model has not chosen them. No quality is higher."""
        plain = replace(self, glossary=None, align=False)
        if plain.cut(line) == pieces:
            return found
        [without, *_] = yield from plain._translate(line)
        highest = without.quality or 0.0
        best, *others = [replace(each, quality=min(highest, each.quality or 0.0)) for each in found]
        return [best if best.defects else replace(best, quality=highest), *others]

    def cut(self, line: str) -> list[Piece]:
        """Cut a line into pieces that the model can take, with their source token ids.

        The texts of the pieces joined, with what stays before and after them, are the line without white space
        around it; a blank line, and one that only has what is kept, has no pieces. A name of a target language
        (``>>deu<<``) at the line's beginning is in no text, but in `Piece.language_name` of every piece.
        """
        return [*self._split(line.strip())]

    def _split(self, line: str) -> Iterator[Piece]:
        is_read_as_it_is = self.glossary is None and is_plain(line)
        yield from self.split_plain(line) if is_read_as_it_is else self.masking.split(self, line)

    def split_plain(self, line: str, encode: Encode | None = None) -> Iterator[Piece]:
        """Yield the pieces of a line without white space around it, in which nothing is masked.

        Args:
            line: The line.
            encode: Returns the token ids of a text; None: those of the text as it is.
        """
        whole = [line] if line else []
        for sentence in split_sentences(line, self.languages[0]) if self.is_split else whole:
            yield from split_line(sentence, self.languages[0], encode or self.encode, self.longest)

    @property
    def is_split(self) -> bool:
        """Whether each sentence is translated alone; "auto" means no where no training has decided."""
        return self.search.split_sentences is True

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text."""
        return self.forward.tokenizer.encode_source([text])[0]

    def find(self, piece: Piece, prefix: Sequence[int] = ()) -> Job[Found]:
        """Search for the translations of a piece; rate and link them if the settings say so.

        Args:
            piece: From `cut`.
            prefix: The token ids that its translations start with.
        """
        ratings: Sequence[PieceRating] | None = None
        found = yield from find_translations(
            self.forward, self.backward, piece, self.search, prefix
        )
        if self.rater is not None:
            found, ratings = yield from self.rater.rate(piece, found, self.search, prefix)
        if self.align or piece.masked_source:
            found = yield from self.masking.link(
                self.forward, piece, found, self.search, all_of_them=self.align
            )
        return Found(found, ratings)

    def join(self, pieces: Sequence[Piece], each_found: Sequence[Found]) -> list[Translation]:
        """Join the translations of a line's pieces to translations of the line, best with best."""
        tokenizer = self.forward.tokenizer
        found = [each.hypotheses for each in each_found]
        each_rating = [each.ratings for each in each_found if each.ratings is not None]
        both = list(zip(pieces, found, strict=True))
        links = None
        if self.align:
            align = partial(self.masking.align, tokenizer)
            links = [[align(piece, each) for each in n_best] for piece, n_best in both]
        if self.align or not all(piece.is_plain for piece in pieces):
            write = partial(self.masking.write, tokenizer, self.languages[1])
            texts = [[write(piece, each) for each in n_best] for piece, n_best in both]
        else:
            texts = [[tokenizer.decode(each.tokens) for each in n_best] for n_best in found]
        return join_pieces(
            tokenizer, self.languages, pieces, found, texts, links, each_rating or None
        )

    def _encode_prefix(self, piece: Piece) -> list[int]:
        """Return the tokens of the prefix without what stays before a piece, if it begins with that."""
        own = self.prefix
        if piece.before:
            own = own.removeprefix(piece.before.rstrip())
        own = " ".join(own.split())  # a model never writes a space at an end
        return self.forward.tokenizer.encode_target([own])[0][:-1] if own else []
