"""Write the masked sources of a segment: choose what the model reads in the place of a placeholder or an address.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a
placeholder word: a phrase that it translates in the same way in most sentences, or a word that it copies. A constraint
makes the translation contain the placeholder word exactly as often as the source, and then the protected text takes its place.
Which placeholder word fits depends on the sentence ("{count} files", "{name} writes"), and nothing may fit best: a sentence
may be whole without the protected text ("the user {name} has left"). The words beside it decide between phrases and nothing.
Nothing is known of words that are copied: a segment has several masked sources with them, and one without, and the
translation that the model finds likeliest is taken. Tags stand for no word, so the model does not read them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle

from headway.ext.protect.marked_text import MarkedPart, MarkedText
from headway.ext.protect.masked_source import NOTHING, MaskedSource, PlacedTerm, PlaceholderWord
from headway.ext.protect.masked_source_draft import MaskedSourceDraft
from headway.ext.protect.steady_phrases import SteadyPhrase
from headway.text import (
    WORD,
    Tokenizer,
    find_neighbors,
    is_word_character,
    simplify_breaks,
    starts_sentence,
)
from headway.translation import Constraint, spell_words

COPIES = 3  # masked sources with words that are copied
_JOINTS = "'\u2019-"  # of words
MOST_TERMS = 32  # of a segment; the time of a step grows with them


class SourceMasker:
    """Writes the masked sources of a marked text.

    Args:
        marked: The marked text.
        tokenizer: Of the model.
        placeholder_words: Returns those of the model; called if there is text to replace.
        language_name: The name of a target language that the model reads first, such as ``>>deu<<``.
    """

    def __init__(
        self,
        marked: MarkedText,
        tokenizer: Tokenizer,
        placeholder_words: Callable[[], Sequence[PlaceholderWord]] = tuple,
        language_name: str = "",
    ) -> None:
        self.marked, self.tokenizer = marked, tokenizer
        self.placeholder_words, self.language_name = placeholder_words, language_name
        self._spell = cache(partial(spell_words, tokenizer))  # a term may occur a thousand times

    def mask(self, part: str) -> tuple[MaskedSource, ...]:
        """Return the masked sources of a part of the marked text; none: the model reads the text itself.

        Args:
            part: Of `MarkedText.text`.
        """
        kept = [mark for _, mark in self.marked.parts(part) if mark is not None]
        kinds = {mark.kind for mark in kept}
        if kinds.isdisjoint(("name", "literal")):
            return (self.write(part, ()),) if kinds else ()
        return tuple(self._list_masked_sources(part, kept))

    def _list_masked_sources(self, part: str, kept: Sequence[MarkedPart]) -> Iterator[MaskedSource]:
        """Yield the masked sources of a part that has text to replace."""
        has_names = any(mark.kind == "name" for mark in kept)
        has_literals = any(mark.kind == "literal" for mark in kept)
        free = self._find_free(part, kept)
        if any(each.known is not None for each in free):
            for way in (True, False) if has_literals else (True,):
                yield self.write(part, self._choose(part, free, way), reads_literals=way)
            return
        count = COPIES if has_names else 2  # literals are read once, and replaced once
        for first in range(max(1, min(count, len(free)))):
            yield self.write(part, [*free[first:], *free[:first]], reads_literals=first == 0)
        parts = list(self.marked.parts(part))
        names = [n for n, (_, mark) in enumerate(parts) if mark is not None and mark.kind == "name"]
        if names and all(_may_be_nothing(parts, number) for number in names):
            yield self.write(part, [NOTHING])

    def _find_free(self, part: str, kept: Sequence[MarkedPart]) -> list[PlaceholderWord]:
        """Return the words and phrases that the translation can only contain because of themselves.

        Two phrases may have one translation: a text with "personnes" has no placeholder word "gens", because both are "people".
        """
        present = _spell_phrase(part)
        said = [
            each
            for each in self.placeholder_words()
            if each.text and _spell_phrase(each.text) in present
        ]
        # A placeholder word with a token of a term could only be written as a part of the term.
        terms = [mark for mark in kept if mark.kind in ("term", "literal")]
        taken = {
            token for term in terms for tokens in self._spell(term.renderings) for token in tokens
        }
        return [
            each
            for each in self.placeholder_words()
            if each.text
            and _spell_phrase(each.text) not in present
            and not any(taken.intersection(tokens) for tokens in each.alternatives)
            and not any(map(each.is_within, said))
        ]

    def _choose(
        self, part: str, phrases: Sequence[PlaceholderWord], reads_literals: bool
    ) -> list[PlaceholderWord]:
        """Return for each name of a part the phrase, or nothing, that fits best between its neighbors.

        No phrase is taken twice while there are others, so that names do not change places. A number with its unit
        never stands for nothing.
        """
        kinds = ("name",) if reads_literals else ("name", "literal")
        nothing = [each for each in self.placeholder_words() if not each.text]
        chosen: list[PlaceholderWord] = []
        parts = list(self.marked.parts(part))
        for number, (_, mark) in enumerate(parts):
            if mark is not None and mark.kind in kinds:
                neighbors = _find_neighbors(parts, number)
                apart = [
                    each
                    for each in phrases
                    if not any(each.is_within(other) or other.is_within(each) for other in chosen)
                ]
                fitting: Sequence[PlaceholderWord] = apart or phrases
                if mark.kind == "name" and _may_be_nothing(parts, number):
                    fitting = [*fitting, *nothing]
                chosen.append(max(fitting, key=lambda each: each.fit(neighbors)))
        return chosen

    def write(
        self,
        part: str,
        placeholder_words: Sequence[PlaceholderWord],
        *,
        reads_literals: bool = True,
    ) -> MaskedSource:
        """Return what the model reads for a part of the marked text.

        Args:
            part: Of `MarkedText.text`.
            placeholder_words: The placeholder words to take, in this order; after the last comes the first again.
            reads_literals: Whether the model reads numbers with units, and not placeholder words for them.
        """
        chosen = cycle(placeholder_words)
        draft = MaskedSourceDraft()
        at = 0
        for text, mark in self.marked.parts(part):
            at += len(text)
            if mark is None:
                draft.write(text, text)
            elif mark.kind == "reference":
                draft.references[mark.renderings[0]] = mark.source
                draft.write(mark.renderings[0], mark.source)
            elif mark.kind == "tag":
                draft.hang(mark.renderings[0], mark.source, part[at : at + 1], is_name=False)
            elif mark.kind == "term" or (mark.kind == "literal" and reads_literals):
                spelled = self._spell(mark.renderings)
                span = len(draft.text), len(draft.text) + len(mark.source)
                if mark.kind == "literal":
                    draft.constraints.append(Constraint(spelled))
                    draft.literals.append(span)
                elif len(draft.terms) < MOST_TERMS:
                    draft.constraints.append(Constraint(spelled, is_term=True))
                    draft.terms.append(PlacedTerm(*span, mark.renderings))
                draft.write(mark.source, mark.source)
            else:
                # A model that copies nothing reads the text itself.
                itself = PlaceholderWord(mark.source, self._spell(mark.renderings)[:1])
                written, alternatives, known = next(chosen, itself)
                if not written:
                    draft.hang(mark.renderings[0], mark.source, part[at : at + 1], is_name=True)
                    continue
                if isinstance(known, SteadyPhrase) and starts_sentence(draft.text):
                    written = known.initial
                draft.write_name(written, mark.renderings[0], alternatives, mark.source)
        plain = simplify_breaks(draft.text.strip())
        return draft.finish(self.tokenizer.encode_source([self.language_name + plain])[0])


Parts = Sequence[tuple[str, MarkedPart | None]]  # of a marked text


def _find_neighbors(parts: Parts, number: int) -> tuple[str, str]:
    """Return the words or punctuation marks that the model reads before and after a part; see `find_neighbors`."""
    read = [
        text if mark is None else mark.source if mark.kind in ("term", "literal") else ""
        for text, mark in parts
    ]
    before = "".join(read[:number])
    return find_neighbors(before + "".join(read[number + 1 :]), len(before), len(before))


def _may_be_nothing(parts: Parts, number: int) -> bool:
    """Return whether a name may stand for nothing.

    A word must stand beside it, because without it two marks, as of quotes, would meet; and the name must be no part of
    a word, as in "{name}'s".
    """
    before, after = (
        "".join(text for text, _ in some) for some in (parts[:number], parts[number + 1 :])
    )
    is_in_word = is_word_character(before.rstrip(_JOINTS)[-1:]) or is_word_character(
        after.lstrip(_JOINTS)[:1]
    )
    return not is_in_word and any(word[:1].isalnum() for word in _find_neighbors(parts, number))


def _spell_phrase(text: str) -> str:
    """Return the words of a text without capitals, each between spaces."""
    return " ".join(["", *re.findall(WORD, text.casefold()), ""])
