"""Mask a text: what the model reads in the place of placeholders, codes, tags and terms of a glossary.

A model has seldom seen ``{name}`` or an address, and translates the words around it badly. So it reads a placeholder word
(`headway.ext.protect.placeholder_words`), a constraint makes the translation contain its translation exactly as often as the source, and
`headway.ext.protect.restoring` puts the protected text in its place. Tags stand for no word, so the model does not read them.

Where a text is cut does not depend on what is masked: a private-use character stands for each part until then.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import groupby

from headway.ext.protect.capitals import find_initials, lower, to_small_letters
from headway.ext.protect.glossary import Glossary
from headway.ext.protect.masked_source import MaskedSource, SourcePart
from headway.ext.protect.number_forms import write_number
from headway.ext.protect.placeholder_words import (
    Place,
    PlaceholderWords,
    find_neighbors,
)
from headway.ext.protect.protected_text import (
    ELEMENT,
    HIDDEN,
    SYMBOLS,
    find_meaning,
    find_measures,
    find_protected_text,
)
from headway.text import (
    Languages,
    Tokenizer,
    is_byte,
    is_word_character,
    simplify_breaks,
)
from headway.translation import Constraint, spell_words

# Characters without a meaning in Unicode; those of a document's own marks are others.
_FREE = range(0xF0000, 0x110000)
_MARK = re.compile(f"([{chr(_FREE[0])}-{chr(_FREE[-1])}])")
_JOINTS = "'\u2019-"  # of words
_NEAR = 8  # characters beside a name
_CLOSING = re.compile(r"[.,;:!?]")
_BEFORE_WORDS = "([{\"'“”„‟«»‹›‘’‚-/"  # a symbol behind them belongs to the word
MOST_TERMS = 32  # of a piece; the time of a step grows with them


class MarkedText:
    """A text with a private-use character in the place of each protected part and of each term.

    Args:
        text: Raw text.
        tokenizer: Of the model.
        keep: Whether placeholders, addresses, code, tags and numbers with units are kept.
        glossary: None: there is none.
        words: The placeholder words of the model.
        languages: Codes of source and target.
        language_name: The name of a target language that the model reads first, such as ``>>deu<<``.

    Attributes:
        text: The marked text, which can be split like any text.
        marks: The part for each private-use character.
    """

    def __init__(
        self,
        text: str,
        tokenizer: Tokenizer,
        keep: bool,
        glossary: Glossary | None,
        words: PlaceholderWords,
        languages: Languages,
        language_name: str = "",
    ) -> None:
        self.tokenizer, self.words, self.language_name = tokenizer, words, language_name
        self.languages = languages
        self.marks: dict[str, SourcePart] = {}
        self._encoded: dict[str, list[int]] = {}
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
            # What the model must not write, or has no subwords for, is put in the place of a placeholder word.
            spelled, ids = ((), ()) if term.is_kept else _spell(self.tokenizer, renderings)
            kind, some = ("term", spelled) if spelled else ("name", renderings[:1])
            yield start, end, SourcePart(text[start:end], kind, some, ids, is_term=True)
        for start, end, kind in found:
            if in_terms.isdisjoint(range(start, end)):
                written = self._write_kept(text, start, end, kind)
                yield start, end, SourcePart(text[start:end], kind, (written,))

    def _write_kept(self, text: str, start: int, end: int, kind: str) -> str:
        """Return what the translation has for a protected part of a text: its numbers in the form of the target language."""
        if kind == "reference":
            return unescape(text[start:end])
        written = ""
        for first, last in find_measures(text, start, end):
            written += text[start:first] + write_number(text[first:last], self.languages)
            start = last
        return written + text[start:end]

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

    def mask(self, marked: str) -> MaskedSource | None:
        """Return what the model reads for a part of the marked text; None: it reads the text itself.

        Which phrase fits in the place of a name depends on the sentence ("{count} files", "{name} writes"), and nothing may
        fit best: a sentence may be whole without the protected text ("the user {name} has left"). The words beside it decide.
        """
        parts = self.parts(marked)
        if all(part.kind == "text" for part in parts):
            return None
        fixed = {token for part in parts for tokens in part.alternatives for token in tokens}
        has_names = any(part.kind in ("name", "literal") for part in parts)
        places = [*_list_places(parts)] if has_names else []
        chosen = iter(self.words.choose(_hide_protected(parts), fixed, places) if places else ())
        text, terms, written = "", 0, list[SourcePart]()
        for number, part in enumerate(parts):
            read, following = part.source, _hide_protected(parts[number + 1 : number + 2])[:1]
            if part.kind in ("name", "literal"):
                word = next(chosen)  # None: nothing else is known that the model could read
                read = word.read_after(text) if word else part.source
                alternatives = (
                    word.alternatives if word else spell_words(self.tokenizer, part.renderings)[:1]
                )
                mark = following if _CLOSING.match(following) else ""
                if word and mark and (joined := word.spell_with(mark, self.tokenizer)):
                    part = part._replace(mark=mark)
                    alternatives = (*alternatives, *joined)
                part = part._replace(kind="name", alternatives=alternatives)
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
        return MaskedSource(text, self.encode(text), constraints, tuple(placed))

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text behind the name of the language."""
        plain = self.language_name + simplify_breaks(text).strip()
        if plain not in self._encoded:  # what terms leave as it is, is asked for twice
            [self._encoded[plain]] = self.tokenizer.encode_source([plain])
        return self._encoded[plain]


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
    return "".join(part.source if part.kind == "text" else HIDDEN for part in parts)


def _list_places(parts: Sequence[SourcePart]) -> Iterator[Place]:
    """Yield the place of each name.

    It may stand for nothing if a word stands beside it, because without it two marks, as of quotes, would meet; and if it is no
    part of a word, as in "{name}'s".
    """
    read = [part.source if part.kind in ("text", "term") else " " for part in parts]
    text, at = "".join(read), 0
    for part, own in zip(parts, read, strict=True):
        if part.kind in ("name", "literal"):
            end = at + len(own)
            before, after = text[max(0, at - _NEAR) : at], text[end : end + _NEAR]
            beside = before.rstrip(_JOINTS)[-1:], after.lstrip(_JOINTS)[:1]
            neighbors = find_neighbors(text, at, end)
            has_word = any(word[:1].isalnum() for word in neighbors)
            may_be = part.kind == "name" and not any(map(is_word_character, beside))
            yield Place(neighbors, has_word and may_be, find_meaning(part.source))
        at += len(own)
