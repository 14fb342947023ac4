"""How a line becomes what a model reads, and how what the model writes becomes text; here the model reads the line as it is.

`Masking` is what an extension extends, to hide text that must stay in a translation, or to prescribe terms that must come
in it; see `headway.extension`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from headway.config import SearchConfig
from headway.text.tokenizer import Tokenizer
from headway.text.words import simplify_breaks
from headway.translation.engines.protocols import GivenTarget
from headway.translation.requests import Job, Read
from headway.translation.search.beam_search import Hypothesis, WordPairs
from headway.translation.splitting import Piece

if TYPE_CHECKING:
    from headway.translation.pipeline import Pipeline
    from headway.translation.token_search import TokenSearch


class Terms(Protocol):
    """A glossary: terms, and how each must be translated."""

    def find(self, text: str) -> Sequence[Any]:
        """Return where the terms of a text stand."""

    def watch(self, name: str, windows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
        """Yield texts as they come, and name on standard error at their end the terms that none of them has."""

    def __len__(self) -> int: ...


class Masking:
    """Lines as they are; a subclass masks parts of them, and restores these in the translations.

    A piece with masked parts has `Piece.masked_source`: what the model reads instead. It knows the links between its words and those of
    a translation that need no attention, and writes the translation with what was masked.
    """

    follows_terms = False  # whether translations have the terms of a glossary

    def split(self, pipeline: "Pipeline", line: str) -> Iterator[Piece]:
        """Yield the pieces of a line that may have more than words and common marks.

        Args:
            pipeline: What is known about the line and the model.
            line: Raw text without white space around it; it may be empty, and has no pieces then.
        """
        return pipeline.split_plain(
            line, lambda text: pipeline.encode(simplify_breaks(text).strip())
        )

    def link(
        self,
        forward: "TokenSearch",
        piece: Piece,
        found: list[Hypothesis],
        search: SearchConfig,
        *,
        all_of_them: bool = False,
    ) -> Job[list[Hypothesis]]:
        """Link the words of a piece to those of its translations that have no links yet.

        Args:
            forward: The model that has searched.
            piece: The text.
            found: Its hypotheses.
            search: Gives the precision and the size of a batch.
            all_of_them: Whether hypotheses get links that nothing but an alignment needs.
        """
        masked, tokenizer = piece.masked_source, forward.tokenizer
        wanted = [
            rank
            for rank, each in enumerate(found)
            if each.links is None
            and (masked.needs_links(tokenizer, each.tokens, all_of_them) if masked else all_of_them)
        ]
        if not wanted:
            return found
        # The links are made where the model reads, so that a server's event loop has no part in it.
        links = yield [self._read_links(forward, piece, found[rank], search) for rank in wanted]
        linked = [*found]
        for rank, pairs in zip(wanted, links, strict=True):
            linked[rank] = found[rank]._replace(links=pairs)
        return linked

    def _read_links(
        self, forward: "TokenSearch", piece: Piece, hypothesis: Hypothesis, search: SearchConfig
    ) -> Read:
        """Return the request for the links between the words of what the model has read and those of a translation."""
        from headway.translation.alignment import link_words

        request = self.read_attention(forward, piece, hypothesis, search)
        masked, tokens = piece.masked_source, hypothesis.tokens

        def measure(given: GivenTarget) -> WordPairs:
            certain = masked.link_certain(forward.tokenizer, tokens) if masked else ()
            return link_words(request.measure(given), certain)

        return request._replace(measure=measure)

    def read_attention(
        self, forward: "TokenSearch", piece: Piece, hypothesis: Hypothesis, search: SearchConfig
    ) -> Read:
        """Return the request for what `weigh_words` makes of a translation and of what the model has read.

        Args:
            forward: The model that has searched.
            piece: The text.
            hypothesis: Its translation.
            search: Gives the precision and the size of a batch.
        """
        from headway.translation.alignment import alignment_layers, weigh_words

        text, source = self.read_by_model(piece)
        target = hypothesis.tokens

        def measure(given: GivenTarget) -> list[list[float]]:
            return weigh_words(forward.tokenizer, text, target, given.weights)

        return Read(forward, search, source, target, measure, alignment_layers, is_scored=False)

    def read_by_model(self, piece: Piece) -> tuple[str, list[int]]:
        """Return the text that the model has read, with the name of a target language if it begins so, and its token ids."""
        read = piece.masked_source or piece
        return piece.language_name + read.text.strip(), read.ids

    def write(
        self, tokenizer: Tokenizer, language: str, piece: Piece, hypothesis: Hypothesis
    ) -> str:
        """Return the text of a translation.

        Args:
            tokenizer: Of the model that has searched.
            language: Code of the translation's language.
            piece: The text.
            hypothesis: Its translation; with links if it needs some.
        """
        if piece.masked_source is None:
            return tokenizer.decode(hypothesis.tokens)
        return str(piece.masked_source.write(tokenizer, hypothesis.tokens, hypothesis.links or []))

    def align(self, tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis) -> WordPairs:
        """Return the links between the words of a piece and those of a translation, which has links from `link`.

        If the piece starts with the name of a target language, that name is not a word.
        """
        links = hypothesis.links or []
        if piece.masked_source is None:
            return links
        return [*piece.masked_source.align(tokenizer, hypothesis.tokens, links)]
