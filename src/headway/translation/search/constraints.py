"""What a translation must contain.

A `Constraint` is met when one of its alternatives occurs as a whole word. Occurrences do not overlap: a token
counts for one constraint. If two alternatives begin with the same tokens, the longer one counts.
`headway.translation.search.automaton` follows the constraints of a sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.text.tokenizer import Tokenizer
from headway.text.words import is_byte, is_inside_word, is_word_character

CONTINUES, ENDS_INSIDE = 1, 2  # bits of a token in `WordEdges.kinds`


@dataclass(frozen=True)
class Constraint:
    """Something that a translation must contain.

    Attributes:
        alternatives: Token ids; each of them meets the constraint.
        is_exact: Whether the alternatives may not occur more often than constraints ask for them.
        is_term: Whether the translation is complete without it, but for a term of a glossary.
    """

    alternatives: tuple[tuple[int, ...], ...]
    is_exact: bool = False
    is_term: bool = False


Constraints = Sequence[Constraint]  # of one sentence


@dataclass(frozen=True)
class WordEdges:
    """Which target tokens continue a word, and which end inside one.

    Attributes:
        continues: Whether a token goes on with the word before it, [V].
        ends_inside: Whether a word may go on after a token, [V].
    """

    continues: NDArray[np.bool_]
    ends_inside: NDArray[np.bool_]

    @cached_property
    def kinds(self) -> list[int]:
        """The attributes of each token as bits: `CONTINUES` and `ENDS_INSIDE`."""
        kinds: list[int] = (CONTINUES * self.continues + ENDS_INSIDE * self.ends_inside).tolist()
        return kinds

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> "WordEdges":
        """Read the words of a tokenizer's target vocabulary."""
        subwords = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
        # An entry such as <0xC3> is a byte of a character that has no subword, perhaps of a letter.
        continues, ends_inside = (
            np.array([is_byte(s) or is_word_character(s[end]) for s in subwords])
            for end in (slice(None, 1), slice(-1, None))
        )
        for control in (tokenizer.eos, tokenizer.unk, tokenizer.target_pad):
            continues[control] = ends_inside[control] = False
        return cls(continues, ends_inside)


def spell_words(tokenizer: Tokenizer, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the token ids of words, as they are written after a space and after a bracket."""
    bracket, *ids = tokenizer.encode_target(["(", *words])
    inner = tokenizer.encode_target([f"({word}" for word in words])
    found = {tuple(each[:-1]): None for each in ids}
    cut = len(bracket) - 1
    found |= {tuple(each[cut:-1]): None for each in inner if each[:cut] == bracket[:-1]}
    return tuple(each for each in found if each)


def count_tokens(constraints: Constraints) -> int:
    """Return the most tokens that constraints add to a translation."""
    return sum(len(max(constraint.alternatives, key=len)) for constraint in constraints)


def list_tokens(constraints: Constraints) -> set[int]:
    """Return the tokens of all alternatives."""
    return {t for c in constraints for alternative in c.alternatives for t in alternative}


def find_alternatives(
    tokenizer: Tokenizer, wanted: Sequence[tuple[tuple[int, ...], ...]], tokens: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """Return where a translation has what it must contain: ranges of its characters that do not overlap.

    Long alternatives are found first, because "a man" may contain another one, "man".

    Args:
        tokenizer: Of the model.
        wanted: Alternatives of which it has one.
        tokens: The translation.

    Returns:
        The first range of each of ``wanted``, by its number; those that are not there, or in longer words, have none.
    """
    text = tokenizer.decode(tokens)
    found: dict[int, tuple[int, int]] = {}
    used: set[int] = set()
    each_of = [(number, a) for number, alternatives in enumerate(wanted) for a in alternatives]
    for number, alternative in sorted(each_of, key=lambda each: (-len(each[1]), each[0])):
        for start, token in enumerate(tokens):
            end = start + len(alternative)
            if token != alternative[0] or tuple(tokens[start:end]) != alternative:
                continue
            if number in found or not used.isdisjoint(range(start, end)):
                continue
            first, last = (len(tokenizer.decode(tokens[:place])) for place in (start, end))
            if not is_inside_word(text, first) and not is_inside_word(text, last):
                found[number] = last - len(text[first:last].lstrip()), last
                used.update(range(start, end))
    return found
