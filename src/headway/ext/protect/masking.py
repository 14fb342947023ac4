"""The stage: what of a line must stay, and which terms must come, is hidden from the model, and restored in the translation.

`ProtectedTextMasking.split` masks a line, and `ProtectedTextMasking.write` restores it; the search is between them. What is masked
and why is in `headway.ext.protect.marked_text`, where it goes in a translation in `headway.ext.protect.restoring`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from headway.text import Tokenizer
from headway.translation import Hypothesis, Masking, Piece, WordPairs

if TYPE_CHECKING:
    from headway.ext.protect.glossary import Glossary
    from headway.ext.protect.masked_source import MaskedSource
    from headway.ext.protect.placeholder_words import PlaceholderWord
    from headway.text import Languages
    from headway.translation import Pipeline

# Before an item of a list: a dash, "2)", "(a)", "[3]"; and what may also be a date or a rank, as in "1. Mai".
_SPACES = "[ \u00a0\u202f]+"
_LABEL = re.compile(
    rf"(?:[-*+\u2013\u2014]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivx]{{2,5}}|[IVX]{{2,5}})\)|\[\d{{1,3}}\]){_SPACES}(?=\S)"
)
_NUMBER_WITH_DOT = re.compile(rf"(?:\d{{1,3}}(?:\.\d{{1,3}})*|[IVX]{{2,5}})\.{_SPACES}(?=\S)")


class ProtectedTextMasking(Masking):
    """Lines in which placeholders, code, tags, numbers with units and terms are hidden, and capitals are small letters.

    What such lines need is imported when one comes.
    """

    follows_terms = True

    def __init__(self) -> None:
        self._words: dict[tuple[str, Languages], list[PlaceholderWord]] = {}

    def split(self, pipeline: "Pipeline", line: str) -> Iterator[Piece]:
        """Yield the pieces of a line; see `Masking.split`."""
        from headway.ext.protect.protected_text import (
            divide_at_breaks,
            find_protected_text,
            has_words,
        )
        from headway.text import is_translatable

        keep = pipeline.search.keep
        is_kept = not is_translatable(line) or (not has_words(line) and find_protected_text(line))
        if not line or (keep and is_kept):
            return
        text = line.removeprefix(pipeline.forward.tokenizer.named_language(line)).lstrip()
        language_name = line[: len(line) - len(text)]
        gap, *parts = divide_at_breaks(text) if keep else [""]
        if not parts:
            gap, parts = "", [text, ""]
        for part, after in zip(parts[::2], parts[1::2], strict=True):
            label = _find_label(pipeline, part) if keep else ""
            pieces = self._split_text(pipeline, part.removeprefix(label), language_name)
            last = next(pieces)._replace(before=gap + label)
            for piece in pieces:
                yield last
                last = piece
            yield last._replace(after=after)
            gap = ""

    def _split_text(self, pipeline: "Pipeline", text: str, language_name: str) -> Iterator[Piece]:
        """Yield the pieces of a text without breaks; the model reads the name of a language before each."""
        from headway.ext.protect.capitals import is_in_capitals
        from headway.ext.protect.marked_text import MarkedText
        from headway.text import simplify_breaks
        from headway.translation import split_line, split_sentences

        tokenizer, language = pipeline.forward.tokenizer, pipeline.languages[0]
        keep, glossary = pipeline.search.keep, cast("Glossary | None", pipeline.glossary)
        words = partial(self.placeholder_words, pipeline)
        marked = MarkedText(
            text, tokenizer, keep=keep, glossary=glossary, placeholder_words=words,
            language_name=language_name,
        )  # fmt: skip
        # The text as it is written decides: its only words may be terms.
        if is_capital := keep and is_in_capitals(text):
            marked.to_small_letters(language)

        def encode(part: str) -> list[int]:
            written = simplify_breaks(marked.restore(part))
            return tokenizer.encode_source([language_name + written])[0]

        sentences = split_sentences(marked.text, language) if pipeline.is_split else [marked.text]
        for sentence in sentences:
            for part in split_line(sentence, language, encode, pipeline.longest):
                yield part._replace(
                    text=marked.restore(part.text),
                    masked_sources=marked.mask(part.text),
                    is_capital=is_capital,
                    language_name=language_name,
                )

    def placeholder_words(self, pipeline: "Pipeline") -> "list[PlaceholderWord]":
        """Return what the models read in the place of placeholders and the like.

        They are those of one translator, and of its copies for other languages, which share its weights.
        """
        from headway.ext.protect.placeholder_words import (
            find_copied,
            load_placeholder_words,
            spell_learned,
        )
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

    def find_known(self, tokenizer: Tokenizer, piece: Piece) -> list[Hypothesis]:
        """Return the translations of a piece whose only words are a term; see `Masking.find_known`."""
        some = (masked.list_term_texts(tokenizer) for masked in piece.masked_sources[:1])
        ids = tokenizer.encode_target([text for texts in some for text in texts])
        return [Hypothesis(each, 0.0, 0.0) for each in ids]

    def read_by_model(self, piece: Piece, hypothesis: Hypothesis) -> tuple[str, list[int]]:
        """Return the text that the model has read, and its token ids; see `Masking.read_by_model`."""
        if (masked := _masked_source_of(piece, hypothesis)) is None:
            return super().read_by_model(piece, hypothesis)
        return piece.language_name + masked.text.strip(), masked.ids

    def needs_links(
        self, tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis, all_of_them: bool
    ) -> bool:
        """Return whether a translation gets links: tags need them, and terms that the search has not written."""
        if (masked := _masked_source_of(piece, hypothesis)) is None:
            return all_of_them
        from headway.ext.protect.restoring import needs_links

        return masked.has_words and (
            all_of_them or needs_links(tokenizer, masked, hypothesis.tokens)
        )

    def link_words(
        self,
        tokenizer: Tokenizer,
        piece: Piece,
        hypothesis: Hypothesis,
        weights: Sequence[Sequence[float]],
    ) -> WordPairs:
        """Return the links by attention; those of terms and placeholder words are certain."""
        if (masked := _masked_source_of(piece, hypothesis)) is None:
            return super().link_words(tokenizer, piece, hypothesis, weights)
        from headway.ext.protect.restoring import link_rendered
        from headway.translation import link_words

        return link_words(weights, link_rendered(tokenizer, masked, hypothesis.tokens))

    def write(
        self, tokenizer: Tokenizer, language: str, piece: Piece, hypothesis: Hypothesis
    ) -> str:
        """Return the text of a translation, with what the piece keeps."""
        masked = _masked_source_of(piece, hypothesis)
        if masked is None:
            text = tokenizer.decode(hypothesis.tokens)
        elif not masked.has_words:
            text = masked.source
        else:
            from headway.ext.protect.restoring import restore

            text = restore(tokenizer, masked, hypothesis.tokens, hypothesis.links or []).text
        if piece.is_capital:
            from headway.ext.protect.capitals import to_capitals

            text = to_capitals(text, language)
        if piece.before:
            text = piece.before + text.lstrip()
        if piece.after:  # its white space joins the next piece
            text = text.rstrip() + piece.after.rstrip()
        return text

    def align(self, tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis) -> WordPairs:
        """Return the links between the words of a piece and those of a translation; see `Masking.align`."""
        links = hypothesis.links or []
        masked = _masked_source_of(piece, hypothesis)
        if masked is None or not masked.has_words:
            return links
        from headway.ext.protect.restoring import link_parts, restore

        restored = restore(tokenizer, masked, hypothesis.tokens, links)
        sources, targets = masked.words, restored.words
        read = [(sources[source], targets[target]) for source, target in links]
        kept = link_parts(masked.source, restored.text, restored.kept)
        return sorted(dict.fromkeys([*read, *kept]), key=lambda pair: pair[1])


def _masked_source_of(piece: Piece, hypothesis: Hypothesis) -> "MaskedSource | None":
    """Return what the model has read instead of a piece, if anything."""
    return piece.masked_sources[hypothesis.masked_source] if piece.masked_sources else None


def find_list_label(text: str, language: str, is_split: bool) -> str:
    """Return the label of an item of a list at the beginning of a text, with the spaces behind it, or "".

    Args:
        text: Raw text, which does not begin with white space.
        language: Code of its language.
        is_split: Whether each sentence is translated alone. If so, a number with a full stop is a label where it would
            be a sentence; else it may be a date or a rank, as in "1. Mai".
    """
    from headway.ext.protect.protected_text import has_words
    from headway.translation import split_sentences

    label = _LABEL.match(text)
    if label is None and is_split:
        label = _NUMBER_WITH_DOT.match(text)
        if label and split_sentences(text, language)[0] != label[0]:
            label = None
    return label[0] if label and has_words(text[label.end() :]) else ""


def _find_label(pipeline: "Pipeline", text: str) -> str:
    """Return the label of a list at the beginning of a text, or "" if there is none, or a term begins in it."""
    label = find_list_label(text, pipeline.languages[0], pipeline.is_split)
    terms = pipeline.glossary.find(text) if label and pipeline.glossary else []
    return "" if any(term.start < len(label) for term in terms) else label
