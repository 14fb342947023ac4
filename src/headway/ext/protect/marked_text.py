"""Mask a text: what the model reads in the place of placeholders, codes, tags and terms of a glossary.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a placeholder word
(`headway.ext.protect.placeholder_words`), a constraint makes the translation contain its translation exactly as often as the source, and
`headway.ext.protect.restoring` puts the protected text in its place. Tags stand for no word, so the model does not read them.

Where a text is cut does not depend on what is masked: a private-use character stands for each part until then.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import cycle, groupby

from headway.ext.protect.capitals import find_initials, lower, to_small_letters
from headway.ext.protect.glossary import Glossary
from headway.ext.protect.masked_source import MaskedSource, SourcePart
from headway.ext.protect.placeholder_words import (
    NOTHING,
    PlaceholderWord,
    choose_words,
    find_free,
    find_neighbors,
)
from headway.ext.protect.protected_text import ELEMENT, SYMBOLS, find_protected_text
from headway.text import (
    Tokenizer,
    is_byte,
    is_word_character,
    simplify_breaks,
)
from headway.translation import Constraint, spell_words

# Characters without a meaning in Unicode; those of a document's own marks are others.
_FREE = range(0xF0000, 0x110000)
_MARK = re.compile(f"([{chr(_FREE[0])}-{chr(_FREE[-1])}])")
_HIDDEN = chr(_FREE[0])  # no part of a word
_JOINTS = "'\u2019-"  # of words
_CLOSING = re.compile(r"[.,;:!?]")
_BEFORE_WORDS = "([{\"'“”„‟«»‹›‘’‚-/"  # a symbol behind them belongs to the word
COPIES = 3  # masked sources with words that are copied
MOST_TERMS = 32  # of a piece; the time of a step grows with them


class MarkedText:
    """A text with a private-use character in the place of each protected part and of each term.

    Args:
        text: Raw text.
        tokenizer: Of the model.
        keep: Whether placeholders, addresses, code, tags and numbers with units are kept.
        glossary: None: there is none.
        placeholder_words: Returns those of the model; called if there is text to replace.
        language_name: The name of a target language that the model reads first, such as ``>>deu<<``.

    Attributes:
        text: The marked text, which can be split like any text.
        marks: The part for each private-use character.
    """

    def __init__(
        self,
        text: str,
        tokenizer: Tokenizer,
        *,
        keep: bool,
        glossary: Glossary | None,
        placeholder_words: Callable[[], Sequence[PlaceholderWord]] = tuple,
        language_name: str = "",
    ) -> None:
        self.tokenizer, self.language_name = tokenizer, language_name
        self.placeholder_words = placeholder_words
        self.marks: dict[str, SourcePart] = {}
        spans = sorted(self._find_parts(text, keep, glossary))
        used = set(text) if spans else set()
        free = (character for character in map(chr, _FREE) if character not in used)
        marked, at = "", 0
        # If there are more than characters for them, the last ones are read as text.
        for (start, end, part), character in zip(spans, free, strict=False):
            self.marks[character] = part
            marked += text[at:start] + character
            at = end
        self.text = marked + text[at:]

    def _find_parts(
        self, text: str, keep: bool, glossary: Glossary | None
    ) -> Iterator[tuple[int, int, SourcePart]]:
        """Yield the protected parts and the terms; these may contain codes and numbers with units, and nothing else that is kept."""
        found = find_protected_text(text) if keep else []
        terms = glossary.find(text, found) if glossary else []
        in_terms = {at for term in terms for at in range(term.start, term.end)}
        for start, end, renderings, term in terms:
            part = self._make_part("term", text[start:end], renderings, not term.is_kept)
            yield start, end, part
        for start, end, kind in found:
            if start not in in_terms:
                source = text[start:end]
                written = unescape(source) if kind == "reference" else source
                yield start, end, self._make_part(kind, source, (written,), kind == "literal")

    def _make_part(
        self, kind: str, source: str, renderings: tuple[str, ...], is_spelled: bool
    ) -> SourcePart:
        """Return a part; what is spelled is written by the model, unless its vocabulary has no subwords for it."""
        spelled, alternatives = _spell(self.tokenizer, renderings) if is_spelled else ((), ())
        if kind in ("term", "literal") and not spelled:
            return SourcePart(source, "name", renderings[:1], is_term=kind == "term")
        return SourcePart(source, kind, spelled or renderings, alternatives, is_term=kind == "term")

    def to_small_letters(self, language: str) -> None:
        """Write the text, which is in capitals, as sentences, also its terms.

        Args:
            language: Code of the text's language.
        """
        words = "".join(
            character
            for character, part in self.marks.items()
            if part.kind != "tag" and (part.kind != "reference" or part.renderings[0].isalpha())
        )
        initials = find_initials(self.text, words)
        self.text = to_small_letters(self.text, language, words)
        for character, part in self.marks.items():
            if part.kind == "term":
                write = to_small_letters if character in initials else lower
                self.marks[character] = part._replace(source=write(part.source, language))

    def restore(self, marked: str) -> str:
        """Return the source of a part of the marked text."""
        return "".join(part.source for part in self.parts(marked))

    def parts(self, marked: str) -> list[SourcePart]:
        """Return the parts of a part of the marked text; those without a mark are read as they are."""
        split = groupby(filter(None, _MARK.split(marked)), lambda each: each in self.marks and each)
        return [
            self.marks[mark] if mark else SourcePart(text := "".join(group), read=text)
            for mark, group in split
        ]

    def mask(self, marked: str) -> tuple[MaskedSource, ...]:
        """Return the masked sources of a part of the marked text; none: the model reads the text itself."""
        parts = self.parts(marked)
        kinds = {part.kind for part in parts} - {"text"}
        if kinds.isdisjoint(("name", "literal")):
            return (self.write(parts, ()),) if kinds else ()
        return tuple(self._list_masked_sources(parts))

    def _list_masked_sources(self, parts: Sequence[SourcePart]) -> Iterator[MaskedSource]:
        """Yield the masked sources of parts with text to replace; numbers with units are read once, and replaced once.

        Which phrase fits depends on the sentence ("{count} files", "{name} writes"), and nothing may fit best: a sentence may
        be whole without the protected text ("the user {name} has left"). The words beside it decide. Nothing is known of
        words that are copied: there are several masked sources with them, and one without, of which the likeliest translation is taken.
        """
        written = {token for p in parts for tokens in p.alternatives for token in tokens}
        free = find_free(self.placeholder_words(), _hide_protected(parts), written)
        names = {
            n: _may_be_nothing(parts, n) for n, part in enumerate(parts) if part.kind == "name"
        }
        literals = {n: False for n, part in enumerate(parts) if part.kind == "literal"}
        if any(each.known is not None for each in free):
            nothing = [each for each in self.placeholder_words() if not each.text]
            for is_read in (True, False) if literals else (True,):
                replaced = names if is_read else dict(sorted((names | literals).items()))
                neighbors = [_find_neighbors(parts, number) for number in replaced]
                words = choose_words(free, nothing, neighbors, [*replaced.values()])
                yield self.write(parts, words, reads_literals=is_read)
            return
        for first in range(max(1, min(COPIES if names else 2, len(free)))):
            yield self.write(parts, [*free[first:], *free[:first]], reads_literals=first == 0)
        if names and all(names.values()):
            yield self.write(parts, [NOTHING])

    def write(
        self,
        parts: Sequence[SourcePart],
        placeholder_words: Sequence[PlaceholderWord],
        *,
        reads_literals: bool = True,
    ) -> MaskedSource:
        """Return what the model reads for parts of the marked text.

        Args:
            parts: From `parts`.
            placeholder_words: The words to take, in this order; after the last comes the first again.
            reads_literals: Whether the model reads numbers with units, and not placeholder words for them.
        """
        chosen, terms = cycle(placeholder_words), 0
        text, written = "", list[SourcePart]()
        for number, part in enumerate(parts):
            read, following = part.source, _hide_protected(parts[number + 1 : number + 2])[:1]
            if part.kind == "literal" and not reads_literals:
                part = part._replace(kind="name")
            if part.kind == "name":
                # A model that copies nothing reads the text itself.
                itself = PlaceholderWord(
                    part.source, spell_words(self.tokenizer, part.renderings)[:1]
                )
                word = next(chosen, itself)
                read = word.read_after(text)
                part = part._replace(alternatives=word.alternatives)
            elif part.kind == "term" and (terms := terms + 1) > MOST_TERMS:
                part = SourcePart(part.source)
            elif part.kind == "reference":
                [read] = part.renderings
            elif part.kind == "tag":
                read = " " * _is_between_words(text, part.source, following)
            text += read
            written.append(part._replace(read=read))
        placed, text, at = list[SourcePart](), "", 0
        for part in _close_up(written):
            placed.append(part._replace(start=len(text), at=at))
            text, at = text + part.read, at + len(part.source)
        constraints = tuple(
            Constraint(part.alternatives, part.kind == "name", part.kind == "term")
            for part in placed
            if part.alternatives
        )
        plain = self.language_name + simplify_breaks(text.strip())
        [ids] = self.tokenizer.encode_source([plain])
        return MaskedSource(text, ids, constraints, tuple(placed))


@lru_cache(1024)  # a term may occur a thousand times in a text, and in many
def _spell(
    tokenizer: Tokenizer, renderings: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the texts that are spelled without unknown characters and bytes, and their token ids."""
    each = zip(renderings, tokenizer.encode_target(renderings), strict=True)
    spelled = tuple(
        text
        for text, ids in each
        if tokenizer.unk not in ids and not any(map(is_byte, tokenizer.target_subwords(ids)))
    )
    return spelled, spell_words(tokenizer, spelled) if spelled else ()


def _is_between_words(before: str, tag: str, following: str) -> bool:
    """Return whether a tab or a symbol stands between two words, so that the model reads a space for it."""
    if not before or before[-1].isspace():
        return False
    if tag.isspace():
        return bool(following.strip())
    is_before_word = is_word_character(following) and before[-1] not in _BEFORE_WORDS
    return is_before_word and SYMBOLS.fullmatch(tag) is not None


def _close_up(parts: Sequence[SourcePart]) -> list[SourcePart]:
    """Return parts of which white space is not read that only tags separate from a punctuation mark.

    "a dog {name}." is read as "a dog.", as the model knows it. Elements with two tags keep their places.
    """
    found: list[SourcePart] = []
    is_closed = has_tag = False  # what follows: a mark, and a tag before it
    for part in reversed(parts):
        core = part.read.rstrip()
        if part.is_tag and not part.read:
            is_closed, has_tag = is_closed and not ELEMENT.fullmatch(part.renderings[0]), True
        elif part.kind == "text" and is_closed and has_tag and core != part.read:
            found.append(SourcePart(part.source[len(core) :]))
            part = part._replace(source=core, read=core)
        if core:
            is_closed, has_tag = _CLOSING.match(part.read) is not None, False
        found.append(part)
    return found[::-1]


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
    beside = before.rstrip(_JOINTS)[-1:], after.lstrip(_JOINTS)[:1]
    has_word = any(word[:1].isalnum() for word in _find_neighbors(parts, number))
    return has_word and not any(map(is_word_character, beside))
