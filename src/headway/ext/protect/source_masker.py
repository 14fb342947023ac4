"""Write the masked sources of a piece: choose what the model reads in the place of a placeholder or an address.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a
placeholder word: a phrase that it translates in the same way in most sentences, or a word that it copies. A constraint
makes the translation contain the placeholder word exactly as often as the source, and then the protected text takes its place.
Which placeholder word fits depends on the sentence ("{count} files", "{name} writes"), and nothing may fit best: a sentence
may be whole without the protected text ("the user {name} has left"). The words beside it decide between phrases and nothing.
Nothing is known of words that are copied: a piece has several masked sources with them, and one without, and the
translation that the model finds likeliest is taken. Tags stand for no word, so the model does not read them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import cycle

from headway.ext.protect.marked_text import MarkedText, SourcePart
from headway.ext.protect.masked_source import NOTHING, MaskedSource, PlaceholderWord
from headway.ext.protect.masked_source_draft import MaskedSourceDraft
from headway.ext.protect.neighbors import find_neighbors, starts_sentence
from headway.ext.protect.steady_phrases import SteadyPhrase
from headway.text import WORD, Tokenizer, is_word_character, simplify_breaks
from headway.translation import spell_words

COPIES = 3  # masked sources with words that are copied
_JOINTS = "'\u2019-"  # of words
_HIDDEN = "\U000f0000"
MOST_TERMS = 32  # of a piece; the time of a step grows with them


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
        parts = self.marked.parts(part)
        kinds = {each.kind for each in parts} - {"text"}
        if kinds.isdisjoint(("name", "literal")):
            return (self.write(parts, ()),) if kinds else ()
        return tuple(self._list_masked_sources(parts))

    def _list_masked_sources(self, parts: Sequence[SourcePart]) -> Iterator[MaskedSource]:
        """Yield the masked sources of a part that has text to replace."""
        names = [number for number, part in enumerate(parts) if part.kind == "name"]
        has_literals = any(part.kind == "literal" for part in parts)
        free = self._find_free(parts)
        if any(each.known is not None for each in free):
            for way in (True, False) if has_literals else (True,):
                yield self.write(parts, self._choose(parts, free, way), reads_literals=way)
            return
        count = COPIES if names else 2  # literals are read once, and replaced once
        for first in range(max(1, min(count, len(free)))):
            yield self.write(parts, [*free[first:], *free[:first]], reads_literals=first == 0)
        if names and all(_may_be_nothing(parts, number) for number in names):
            yield self.write(parts, [NOTHING])

    def _find_free(self, parts: Sequence[SourcePart]) -> list[PlaceholderWord]:
        """Return the words and phrases that the translation can only contain because of themselves.

        Two phrases may have one translation: a text with "personnes" has no placeholder word "gens", because both are "people".
        """
        present = _spell_phrase(_hide_protected(parts))
        words = [each for each in self.placeholder_words() if each.text]
        said = [each for each in words if _spell_phrase(each.text) in present]
        # A placeholder word with a token of a term could only be written as a part of the term.
        taken = {
            token
            for part in parts
            if part.kind in ("term", "literal")
            for tokens in self._spell(part.renderings)
            for token in tokens
        }
        return [
            each
            for each in words
            if _spell_phrase(each.text) not in present
            and not any(taken.intersection(tokens) for tokens in each.alternatives)
            and not any(map(each.is_within, said))
        ]

    def _choose(
        self, parts: Sequence[SourcePart], phrases: Sequence[PlaceholderWord], reads_literals: bool
    ) -> list[PlaceholderWord]:
        """Return for each name the phrase, or nothing, that fits best between its neighbors.

        No phrase is taken twice while there are others, so that names do not change places. A number with its unit
        never stands for nothing.
        """
        kinds = ("name",) if reads_literals else ("name", "literal")
        nothing = [each for each in self.placeholder_words() if not each.text]
        chosen: list[PlaceholderWord] = []
        for number, part in enumerate(parts):
            if part.kind in kinds:
                neighbors = _find_neighbors(parts, number)
                apart = [
                    each
                    for each in phrases
                    if not any(each.is_within(other) or other.is_within(each) for other in chosen)
                ]
                fitting: Sequence[PlaceholderWord] = apart or phrases
                if part.kind == "name" and _may_be_nothing(parts, number):
                    fitting = [*fitting, *nothing]
                chosen.append(max(fitting, key=lambda each: each.fit(neighbors)))
        return chosen

    def write(
        self,
        parts: Sequence[SourcePart],
        placeholder_words: Sequence[PlaceholderWord],
        *,
        reads_literals: bool = True,
    ) -> MaskedSource:
        """Return what the model reads for parts of the marked text.

        Args:
            parts: From `MarkedText.parts`.
            placeholder_words: The words to take, in this order; after the last comes the first again.
            reads_literals: Whether the model reads numbers with units, and not placeholder words for them.
        """
        chosen = cycle(placeholder_words)
        draft = MaskedSourceDraft()
        terms = [number for number, part in enumerate(parts) if part.kind == "term"]
        for number, part in enumerate(parts):
            following = _hide_protected(parts[number + 1 : number + 2])[:1]
            if part.kind == "text" or number in terms[MOST_TERMS:]:
                draft.write(part._replace(kind="text", read=part.source))
            elif part.kind == "reference":
                draft.write(part._replace(read=part.renderings[0]))
            elif part.kind == "tag":
                draft.hang(part, following)
            elif part.kind == "term" or (part.kind == "literal" and reads_literals):
                alternatives = self._spell(part.renderings)
                draft.write(part._replace(read=part.source, alternatives=alternatives))
            else:
                # A model that copies nothing reads the text itself.
                itself = PlaceholderWord(part.source, self._spell(part.renderings)[:1])
                word = next(chosen, itself)
                name = part._replace(kind="name", alternatives=word.alternatives)
                if not word.text:
                    draft.hang(name, following)
                elif isinstance(word.known, SteadyPhrase) and starts_sentence(draft.text):
                    draft.write(name._replace(read=word.known.initial))
                else:
                    draft.write(name._replace(read=word.text))
        plain = simplify_breaks(draft.text.strip())
        return draft.finish(self.tokenizer.encode_source([self.language_name + plain])[0])


def _hide_protected(parts: Sequence[SourcePart]) -> str:
    """Return the text of some parts, with a character that is no part of a word in the place of all but ordinary ones."""
    return "".join(part.source if part.kind == "text" else _HIDDEN for part in parts)


def _find_neighbors(parts: Sequence[SourcePart], number: int) -> tuple[str, str]:
    """Return the words or punctuation marks that the model reads before and after a part; see `find_neighbors`."""
    read = [part.source if part.kind in ("text", "term", "literal") else "" for part in parts]
    before = "".join(read[:number])
    return find_neighbors(before + "".join(read[number + 1 :]), len(before), len(before))


def _may_be_nothing(parts: Sequence[SourcePart], number: int) -> bool:
    """Return whether a name may stand for nothing.

    A word must stand beside it, because without it two marks, as of quotes, would meet; and the name must be no part of
    a word, as in "{name}'s".
    """
    before, after = _hide_protected(parts[:number]), _hide_protected(parts[number + 1 :])
    is_in_word = is_word_character(before.rstrip(_JOINTS)[-1:]) or is_word_character(
        after.lstrip(_JOINTS)[:1]
    )
    return not is_in_word and any(word[:1].isalnum() for word in _find_neighbors(parts, number))


def _spell_phrase(text: str) -> str:
    """Return the words of a text without capitals, each between spaces."""
    return " ".join(["", *re.findall(WORD, text.casefold()), ""])
