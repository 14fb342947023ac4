"""An automaton that follows the constraints of a sentence.

Letters, not tokens, are what it reads, so that sentences whose constraints have the same shape share its
states: most terms of a glossary are one or two subwords long.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from headway.translation.search.beam_search import Ids
from headway.translation.search.constraints import (
    CONTINUES,
    ENDS_INSIDE,
    Constraint,
    Constraints,
    WordEdges,
    list_tokens,
)

FORBIDDEN = np.iinfo(np.int64).max  # the label of a token that may not come next
SHARED = 3  # constraints, at most, of an automaton that several sentences share
M = TypeVar("M", bound=Callable[..., Any])
STEPS = 1 << 16  # a label is `STEPS` * constraints not begun + tokens that complete the one begun


class AutomatonState(NamedTuple):
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
        lacks_terms: 1 if all that is missing now are terms, else 0.
        of_alphabet: After each token of the automaton's alphabet.
        needed_of_alphabet: The fewest tokens that meet all constraints after each.
    """

    now: int
    after_new_word: int
    after_longer_word: int
    needed_new: int
    needed_longer: int
    lacks_terms: int
    of_alphabet: NDArray[np.int64]
    needed_of_alphabet: NDArray[np.int64]


def remembered(method: M) -> M:
    """Let an automaton remember what a method returns, because the same is asked for many hypotheses.

    `functools.cache` of a bound method would keep the automaton in memory until garbage is collected.
    """
    name = method.__name__

    @wraps(method)
    def ask(self: "Automaton", *args: Any) -> Any:
        question = name, *args
        try:
            return self.answers[question]
        except KeyError:
            found = self.answers[question] = method(self, *args)
            return found

    return cast(M, ask)


class Automaton:
    """Follows the constraints of a sentence through its hypotheses; it reads letters.

    A letter is the number of a token in the sentence's alphabet. All other tokens differ only in how they
    join words: they are the letters from -4 to -1, `other_letter` of their kind.

    Args:
        constraints: At least one; their alternatives are letters.
        kinds: Bits of each letter of the alphabet: `CONTINUES` and `ENDS_INSIDE`.
    """

    def __init__(self, constraints: tuple[Constraint, ...], kinds: tuple[int, ...]) -> None:
        self.constraints, self.letters = constraints, range(len(kinds))
        self._kinds = (*kinds, 3, 2, 1, 0)
        self._numbers: dict[tuple[int, ...], list[int]] = {}  # of the constraints of an alternative
        for number, constraint in enumerate(constraints):
            for alternative in constraint.alternatives:
                self._numbers.setdefault(alternative, []).append(number)
        # By what begins an alternative: the letters that go on with it, and the constraints with the tokens that complete each.
        self._next_letters: dict[tuple[int, ...], set[int]] = {}
        self._completions: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for a, numbers in self._numbers.items():
            for end in range(len(a)):
                self._next_letters.setdefault(a[:end], set()).add(a[end])
                self._completions.setdefault(a[:end], []).extend((n, len(a) - end) for n in numbers)
        self._prefixes = {*self._next_letters, *self._numbers} - {()}
        self._continues = np.array([kind & CONTINUES for kind in kinds], dtype=bool)
        # An alternative that continues words needs a token before it that ends the word.
        self._shortest = [
            min(len(a) + (kinds[a[0]] & CONTINUES) for a in c.alternatives) for c in constraints
        ]
        self.all_met = (1 << len(constraints)) - 1  # as `AutomatonState.met`
        self._has_exact = any(constraint.is_exact for constraint in constraints)
        self.answers: dict[tuple[Any, ...], Any] = {}  # to the questions that are `remembered`

    def is_done(self, state: AutomatonState) -> bool:
        """Return whether all constraints are met for good, whatever comes next."""
        may_break = state.has_just_met and state.is_inside
        return state.met == self.all_met and not self._has_exact and not may_break

    def _begun(self, state: AutomatonState) -> list[tuple[int, int]]:
        """Return the constraints that ``tail`` has begun, and the tokens that complete each."""
        return [
            (number, left)
            for start in self._starts(state)
            for number, left in self._completions.get(state.tail[start:], ())
            if not state.met >> number & 1
        ]

    @remembered
    def _letters_after(self, tail: tuple[int, ...]) -> set[int]:
        """Return the letters that go on with an alternative that ``tail`` has begun; without a tail, those that begin one."""
        begun = (tail[start:] for start in range(len(tail) or 1))
        return {letter for each in begun for letter in self._next_letters.get(each, ())}

    def _starts(self, state: AutomatonState) -> range:
        """Return where the tokens of ``tail`` start that count for no constraint."""
        return range(state.end if state.last >= 0 else 0, len(state.tail))

    def _label(self, state: AutomatonState) -> tuple[int, int]:
        """Return the label of a state, and the fewest tokens that meet all constraints."""
        return self._label_whole(AutomatonState(state.met, state.tail, state.last, end=state.end))

    @remembered
    def _label_whole(self, state: AutomatonState) -> tuple[int, int]:
        unmet = [n for n in range(len(self.constraints)) if not state.met >> n & 1]
        begun = self._begun(state)
        left = min((left for _, left in begun), default=0)
        saved = max((self._shortest[number] - left for number, left in begun), default=0)
        needed = sum(self._shortest[n] for n in unmet) - max(0, saved)
        return (len(unmet) - 1) * STEPS + left if left else len(unmet) * STEPS, needed

    @remembered
    def labels(self, state: AutomatonState) -> Labels:
        """Return how far a hypothesis in a state is from meeting all constraints after each token."""
        new, needed_new = self._label(AutomatonState(state.met))
        # A word that has met a constraint does so no longer if it goes on.
        is_broken = state.has_just_met and state.is_inside
        met = state.met & ~(1 << state.last) if is_broken else state.met
        longer, needed_longer = self._label(AutomatonState(met))
        if state.tail:  # a token that goes on with nothing begins an alternative as it does after a token of none
            fresh = self.labels(AutomatonState(state.met, is_inside=state.is_inside))
            broken = self.labels(AutomatonState(met, is_inside=state.is_inside))
            of_alphabet = np.where(self._continues, broken.of_alphabet, fresh.of_alphabet)
            needed = np.where(self._continues, broken.needed_of_alphabet, fresh.needed_of_alphabet)
        else:
            of_alphabet = np.where(self._continues, longer, new)
            needed = np.where(self._continues, needed_longer, needed_new)
        for letter in self._letters_after(state.tail):
            after = self.advance(state, letter)
            found = (FORBIDDEN, FORBIDDEN) if after is None else self._label(after)
            of_alphabet[letter], needed[letter] = found
        now, _ = self._label(state)
        missing = [c for n, c in enumerate(self.constraints) if not state.met >> n & 1]
        lacks_terms = int(bool(missing) and all(constraint.is_term for constraint in missing))
        return Labels(now, new, longer, needed_new, needed_longer, lacks_terms, of_alphabet, needed)

    @remembered
    def advance(self, state: AutomatonState, letter: int) -> AutomatonState | None:
        """Return the state after a letter; None: an exact alternative would occur too often."""
        met, tail, last, first, end, is_inside = state
        kind = self._kinds[letter]
        if state.has_just_met and is_inside and kind & CONTINUES:  # the word was not whole
            met, last, first, end = met & ~(1 << last), -1, 0, 0
        if letter < 0 or not (tail or (letter,) in self._prefixes):
            return AutomatonState(met, is_inside=bool(kind & ENDS_INSIDE))
        grown = (*tail, letter)
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
                return AutomatonState(
                    before | 1 << free[0], grown[kept:], free[0], *span, is_inside
                )
            if any(self.constraints[number].is_exact for number in numbers):
                return None
        if kept > first or last < 0:
            return AutomatonState(met, grown[kept:], is_inside=is_inside)
        return AutomatonState(met, grown[kept:], last, first - kept, end - kept, is_inside)

    def _is_start(self, grown: tuple[int, ...], start: int, is_inside: bool) -> bool:
        """Return whether a word starts at a letter, the first of which is known to be one."""
        kinds = self._kinds
        if not kinds[grown[start]] & CONTINUES:
            return True
        if start:
            return not kinds[grown[start - 1]] & ENDS_INSIDE
        return len(grown) > 1 or not is_inside


_share_automaton = lru_cache(256)(Automaton)


class SentenceAutomaton(NamedTuple):
    """The automaton of a sentence, and the tokens that are its letters.

    Attributes:
        alphabet: The tokens of all alternatives, ascending.
        words: Of the vocabulary.
        automaton: Of the constraints; sentences whose constraints differ only in their tokens share it.
    """

    alphabet: Ids
    words: WordEdges
    automaton: Automaton

    @classmethod
    def of(cls, constraints: Constraints, words: WordEdges) -> "SentenceAutomaton":
        """Build the automaton of a sentence's constraints, of which there is at least one."""
        alphabet = sorted(list_tokens(constraints))
        letters = {token: letter for letter, token in enumerate(alphabet)}
        spelled = tuple(
            Constraint(
                tuple(
                    tuple(letters[token] for token in alternative)
                    for alternative in constraint.alternatives
                ),
                constraint.is_exact,
                constraint.is_term,
            )
            for constraint in constraints
        )
        # An automaton remembers its states. The terms of most sentences have few shapes; many terms have many
        # states, and shapes that hardly return.
        make = _share_automaton if len(constraints) <= SHARED else Automaton
        automaton = make(spelled, tuple(words.kinds[token] for token in alphabet))
        return cls(np.array(alphabet, dtype=np.int64), words, automaton)

    def accepts(self, tokens: Sequence[int]) -> bool:
        """Return whether a translation meets all constraints."""
        letters = {token: letter for letter, token in enumerate(self.alphabet.tolist())}
        state: AutomatonState | None = AutomatonState()
        for token in tokens:
            if state is None:
                return False
            letter = letters.get(token, other_letter(self.words.kinds[token]))
            state = self.automaton.advance(state, letter)
        return state is not None and state.met == self.automaton.all_met


def other_letter(kind: int) -> int:
    """Return the letter of all tokens of a kind that are not in the alphabet."""
    return -1 - kind
