"""What of a line must stay in its translation, and which terms must come in it, is hidden from the model and restored."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headway.config import SearchConfig
from headway.text import Tokenizer
from headway.translation import Hypothesis, Job, Masking, Piece, Terms, WordPairs

if TYPE_CHECKING:
    from headway.ext.protect.masked_source import MaskedSource, PlaceholderWord
    from headway.text import Languages
    from headway.translation import Pipeline, TokenSearch


class ProtectedTextMasking(Masking):
    """Lines in which placeholders, code, tags, numbers with units and terms are hidden, and capitals are small letters.

    What such lines need is imported when one comes.
    """

    follows_terms = True

    def __init__(self) -> None:
        self._words: dict[tuple[str, Languages], list[PlaceholderWord]] = {}

    def count_work(self, line: str, terms: Terms | None) -> int:
        """Return how much work a line is, in characters; trying a rendering of a term counts as one."""
        from headway.ext.protect.glossary import Glossary

        if not isinstance(terms, Glossary):
            return len(line)
        return len(line) + terms.count_tries(line) * terms.most_renderings

    def split(self, pipeline: "Pipeline", line: str) -> Iterator[Piece]:
        """Yield the pieces of a line; see `Masking.split`."""
        from headway.ext.protect.line_splitting import split_protected

        if line:
            yield from split_protected(pipeline, line, partial(self.placeholder_words, pipeline))

    def placeholder_words(self, pipeline: "Pipeline") -> "list[PlaceholderWord]":
        """Return what the models read in the place of placeholders and the like.

        They are those of one translator, and of its copies for other languages, which share its weights.
        """
        from headway.ext.protect.placeholder_word_file import load_placeholder_words
        from headway.ext.protect.placeholder_words import find_copied, spell_learned
        from headway.text import name_pair

        forward, languages = pipeline.forward, pipeline.languages
        precision = pipeline.search.precision
        key = precision, languages
        if key not in self._words:
            learned = load_placeholder_words(forward.directory).get(name_pair(languages))
            self._words[key] = (
                spell_learned(learned, forward.tokenizer)
                if learned and learned.phrases
                else find_copied(forward.engine(precision), forward.tokenizer)
            )
        return self._words[key]

    def settle(
        self,
        forward: "TokenSearch",
        piece: Piece,
        found: list[Hypothesis],
        prefix: Sequence[int],
        search: SearchConfig,
    ) -> Job[list[Hypothesis]]:
        """Put the terms of a glossary where the translations of their words stand; see `place_terms`."""
        if not found or found[0].without_terms is None:
            return found
        from headway.ext.protect.term_places import place_terms

        return (yield from place_terms(self, forward, piece, found, prefix, search))

    def read_by_model(self, piece: Piece, hypothesis: Hypothesis) -> tuple[str, list[int]]:
        """Return the text that the model has read, and its token ids; see `Masking.read_by_model`."""
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            return super().read_by_model(piece, hypothesis)
        return piece.language_name + masked.text.strip(), masked.ids

    def needs_links(self, piece: Piece, hypothesis: Hypothesis, all_of_them: bool) -> bool:
        """Return whether a translation gets links: tags need them."""
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            return all_of_them
        return _has_words(masked) and (all_of_them or bool(masked.tags))

    def link_words(
        self,
        tokenizer: Tokenizer,
        piece: Piece,
        hypothesis: Hypothesis,
        weights: Sequence[Sequence[float]],
    ) -> WordPairs:
        """Return the links by attention; those of terms and placeholder words are certain."""
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            return super().link_words(tokenizer, piece, hypothesis, weights)
        from headway.ext.protect.rendered_words import link_rendered
        from headway.translation import link_words

        return link_words(weights, link_rendered(tokenizer, masked, hypothesis.tokens, weights))

    def write(
        self, tokenizer: Tokenizer, language: str, piece: Piece, hypothesis: Hypothesis
    ) -> str:
        """Return the text of a translation, with what the piece keeps."""
        text = self._write_small(tokenizer, piece, hypothesis)
        if piece.is_capital:
            from headway.ext.protect.capitals import to_capitals

            text = to_capitals(text, language)
        if piece.before:
            text = piece.before + text.lstrip()
        if piece.after:  # its white space joins the next piece
            text = text.rstrip() + piece.after.rstrip()
        return text

    def _write_small(self, tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis) -> str:
        """Return the text as the model has written it, with what the piece keeps."""
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            return tokenizer.decode(hypothesis.tokens)
        if not _has_words(masked):
            return masked.source
        from headway.ext.protect.protected_places import restore_protected

        links = (hypothesis.links or []) if masked.tags else []
        return restore_protected(tokenizer, masked, hypothesis.tokens, links).text

    def align(self, tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis) -> WordPairs:
        """Return the links between the words of a piece and those of a translation; see `Masking.align`."""
        links = hypothesis.links or []
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            return links
        if not _has_words(masked):
            return []
        from headway.ext.protect.protected_places import restore_protected
        from headway.ext.protect.rendered_words import link_parts

        restored = restore_protected(tokenizer, masked, hypothesis.tokens, links)
        sources, targets = masked.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(masked.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])


def _masked_source_of(piece: Piece, hypothesis: Hypothesis) -> "MaskedSource | None":
    """Return what the model has read instead of a piece, if anything."""
    return piece.masked_sources[hypothesis.masked_source] if piece.masked_sources else None


def _has_words(masked: "MaskedSource") -> bool:
    """Return whether the model has read anything."""
    return any(map(str.isalnum, masked.text))
