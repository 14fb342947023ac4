"""What a translation must contain, as an automaton that reads its tokens.

A `Constraint` is met when one of its alternatives occurs as a whole word. An `Automaton` follows all
constraints of a sentence. Occurrences do not overlap: a token counts for one constraint. If two
alternatives begin with the same tokens, the longer one counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.inference.beam_search import Ids
from headway.text.tokenizer import Tokenizer
from headway.text.words import is_word_character

FORBIDDEN = np.iinfo(np.int64).max  # the label of a token that may not come next
STEPS = 1 << 16  # a label is `STEPS` * constraints not begun + tokens that complete the one begun

CONTINUES, ENDS_INSIDE = 1, 2  # bits of a token in `Words.kinds`


@dataclass(frozen=True)
class Constraint:
    """Something that a translation must contain.

    Attributes:
        alternatives: Token ids; each of them meets the constraint.
        is_exact: Whether the alternatives may not occur more often than constraints ask for them.
    """

    alternatives: tuple[tuple[int, ...], ...]
    is_exact: bool = False


Constraints = Sequence[Constraint]  # of one sentence


@dataclass(frozen=True)
class Words:
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
    def of(cls, tokenizer: Tokenizer) -> "Words":
        """Read the words of a tokenizer's target vocabulary."""
        subwords = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
        # An entry such as <0xC3> is a byte of a character that has no subword, perhaps of a letter.
        is_byte = [subword.startswith("<0x") and len(subword) == 6 for subword in subwords]
        continues, ends_inside = (
            np.array(
                [b or is_word_character(s[end]) for s, b in zip(subwords, is_byte, strict=True)]
            )
            for end in (slice(None, 1), slice(-1, None))
        )
        for control in (tokenizer.eos, tokenizer.unk, tokenizer.target_pad):
            continues[control] = ends_inside[control] = False
        return cls(continues, ends_inside)


class State(NamedTuple):
    """What an automaton knows of a hypothesis.

    Attributes:
        met: The constraints that are met, as bits.
        tail: The last tokens, as far as they begin an alternative.
        last: The number of the constraint that tokens of ``tail`` have met, or -1.
        first: Where these tokens start in ``tail``.
        end: Where they end.
        is_inside: Whether a word may go on after the last token.
    """

    met: int = 0
    tail: tuple[int, ...] = ()
    last: int = -1
    first: int = 0
    end: int = 0
    is_inside: bool = False

    @property
    def has_just_met(self) -> bool:
        """Whether the last token has met a constraint."""
        return self.last >= 0 and self.end == len(self.tail)


class Labels(NamedTuple):
    """How far a hypothesis is from meeting all constraints: a label for each token that may come next.

    A smaller label is nearer, 0 is all met, and `FORBIDDEN` means that the token may not come next.

    Attributes:
        now: The label before the next token.
        after_new_word: After a token of no alternative that does not continue a word.
        after_longer_word: After a token of no alternative that continues a word.
        needed_new: The fewest tokens that meet all constraints after such a token.
        needed_longer: The same for the other kind.
        of_alphabet: After each token of the automaton's alphabet.
        needed_of_alphabet: The fewest tokens that meet all constraints after each.
    """

    now: int
    after_new_word: int
    after_longer_word: int
    needed_new: int
    needed_longer: int
    of_alphabet: NDArray[np.int64]
    needed_of_alphabet: NDArray[np.int64]


class Automaton:
    """Follows the constraints of a sentence through its hypotheses.

    Args:
        constraints: At least one.
        words: Of the vocabulary.

    Attributes:
        alphabet: The tokens of all alternatives, ascending.
    """

    def __init__(self, constraints: Sequence[Constraint], words: Words) -> None:
        self.constraints, self.words = constraints, words
        self._tokens = list_tokens(constraints)
        self.alphabet: Ids = np.array(sorted(list_tokens(constraints)), dtype=np.int64)
        self._numbers: dict[tuple[int, ...], list[int]] = {}  # of the constraints of an alternative
        for number, constraint in enumerate(constraints):
            for alternative in constraint.alternatives:
                self._numbers.setdefault(alternative, []).append(number)
        self._prefixes = {a[: end + 1] for a in self._numbers for end in range(len(a))}
        # An alternative that continues words needs a token before it that ends the word.
        self._shortest = [
            min(len(a) + bool(words.continues[a[0]]) for a in c.alternatives) for c in constraints
        ]
        self._next: dict[tuple[State, int], State | None] = {}
        self._labels: dict[State, Labels] = {}
        self._label_of: dict[State, tuple[int, int]] = {}

    @cached_property
    def all_met(self) -> int:
        """The value of `State.met` when all constraints are met."""
        return (1 << len(self.constraints)) - 1

    def advance(self, state: State, token: int) -> State | None:
        """Return the state after a token; None: an exact alternative would occur too often."""
        # Tokens of no alternative differ only in how they join words.
        kind = token if token in self._tokens else -1 - self.words.kinds[token]
        key = state, kind
        if key not in self._next:
            self._next[key] = self._advance(state, token)
        return self._next[key]

    def labels(self, state: State) -> "Labels":
        """Return how far a hypothesis in a state is from meeting all constraints after each token."""
        if state not in self._labels:
            self._labels[state] = self._label_tokens(state)
        return self._labels[state]

    def _begun(self, state: State) -> list[tuple[int, int]]:
        """Return the constraints that ``tail`` has begun, and the tokens that complete each."""
        if not state.tail:
            return []
        return [
            (number, len(alternative) - len(tail))
            for tail in (state.tail[start:] for start in self._starts(state))
            for alternative, numbers in self._numbers.items()
            if len(alternative) > len(tail) and alternative[: len(tail)] == tail
            for number in numbers
            if not state.met >> number & 1
        ]

    def _starts(self, state: State) -> range:
        """Return where the tokens of ``tail`` start that count for no constraint."""
        return range(state.end if state.last >= 0 else 0, len(state.tail))

    def _label(self, state: State) -> tuple[int, int]:
        """Return the label of a state, and the fewest tokens that meet all constraints."""
        key = State(state.met, state.tail, state.last, end=state.end)
        if key not in self._label_of:
            self._label_of[key] = self._compute_label(key)
        return self._label_of[key]

    def _compute_label(self, state: State) -> tuple[int, int]:
        unmet = [n for n in range(len(self.constraints)) if not state.met >> n & 1]
        begun = self._begun(state)
        left = min((left for _, left in begun), default=0)
        saved = max((self._shortest[number] - left for number, left in begun), default=0)
        needed = sum(self._shortest[n] for n in unmet) - max(0, saved)
        return (len(unmet) - 1) * STEPS + left if left else len(unmet) * STEPS, needed

    def _label_tokens(self, state: State) -> Labels:
        after = [self.advance(state, int(token)) for token in self.alphabet]
        found = [(FORBIDDEN, FORBIDDEN) if each is None else self._label(each) for each in after]
        new, needed_new = self._label(State(state.met))
        # A word that has met a constraint does so no longer if it goes on.
        is_broken = state.has_just_met and state.is_inside
        met = state.met & ~(1 << state.last) if is_broken else state.met
        longer, needed_longer = self._label(State(met))
        of_alphabet, needed = (np.array(each, dtype=np.int64) for each in zip(*found, strict=True))
        now, _ = self._label(state)
        return Labels(now, new, longer, needed_new, needed_longer, of_alphabet, needed)

    def _advance(self, state: State, token: int) -> State | None:
        met, tail, last, first, end, is_inside = state
        kind = self.words.kinds[token]
        if state.has_just_met and is_inside and kind & CONTINUES:  # the word was not whole
            met, last, first, end = met & ~(1 << last), -1, 0, 0
        if token not in self._tokens or not (tail or (token,) in self._prefixes):
            return State(met, is_inside=bool(kind & ENDS_INSIDE))
        grown = (*tail, token)
        starts = [start for start in range(len(grown)) if self._is_start(grown, start, is_inside)]
        # Tokens that have met a constraint are free again only as a part of a longer alternative.
        own = [start for start in starts if last < 0 or start <= first or start >= end]
        kept = next((start for start in own if grown[start:] in self._prefixes), len(grown))
        is_inside = bool(kind & ENDS_INSIDE)
        for start in starts:
            numbers = self._numbers.get(grown[start:], [])
            before = met & ~(1 << last) if last >= 0 and start <= first else met
            free = [n for n in numbers if not before >> n & 1] if start in own else []
            if free:
                span = start - kept, len(grown) - kept
                return State(before | 1 << free[0], grown[kept:], free[0], *span, is_inside)
            if any(self.constraints[number].is_exact for number in numbers):
                return None
        if kept > first or last < 0:
            return State(met, grown[kept:], is_inside=is_inside)
        return State(met, grown[kept:], last, first - kept, end - kept, is_inside)

    def _is_start(self, grown: tuple[int, ...], start: int, is_inside: bool) -> bool:
        """Return whether a word starts at a token, the first of which is known to be one."""
        kinds = self.words.kinds
        if not kinds[grown[start]] & CONTINUES:
            return True
        if start:
            return not kinds[grown[start - 1]] & ENDS_INSIDE
        return len(grown) > 1 or not is_inside


def count_tokens(constraints: Constraints) -> int:
    """Return the most tokens that constraints add to a translation."""
    return sum(len(max(constraint.alternatives, key=len)) for constraint in constraints)


def list_tokens(constraints: Constraints) -> set[int]:
    """Return the tokens of all alternatives."""
    return {t for c in constraints for alternative in c.alternatives for t in alternative}
