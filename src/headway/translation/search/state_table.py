"""The states of the automata of a batch as rows of arrays, so that a step needs no loop over hypotheses.

Shapes: N hypotheses, S states, Z tokens of the longest alphabet, J = Z + 4 kinds of other tokens.
"""

import numpy as np
from numpy.typing import NDArray

from headway.translation.search.automaton import Automaton, AutomatonState, Labels, other_letter
from headway.translation.search.beam_search import Ids
from headway.translation.search.constraints import WordEdges

UNKNOWN = -1  # a transition that no hypothesis has taken yet
SCALARS = 6  # numbers at the beginning of `Labels`


class StateTable:
    """Numbers for the states of all automata; a state is entered when a hypothesis first reaches it.

    Number 0 stands for no state: of a sentence without constraints, of a hypothesis that has met all
    constraints for good, or of one that the search has given up.

    Args:
        words: Of the vocabulary.
        width: Z.

    Attributes:
        scalars_SX: The first six of `Labels`.
        labels_SZ: Their ``of_alphabet``; 0 beyond the automaton's own.
        needed_SZ: Their ``needed_of_alphabet``, likewise.
    """

    def __init__(self, words: WordEdges, width: int) -> None:
        self.kinds: Ids = np.array(words.kinds, dtype=np.int64)
        self._states: list[tuple[Automaton, AutomatonState] | None] = [None]
        self._numbers: dict[tuple[int, AutomatonState], int] = {}
        self.scalars_SX = np.zeros((1, SCALARS), dtype=np.int64)
        self.labels_SZ, self.needed_SZ = (np.zeros((1, width), dtype=np.int64) for _ in range(2))
        self._next_SJ = np.zeros((1, width + 4), dtype=np.int64)

    def enter(self, automaton: Automaton, state: AutomatonState | None) -> int:
        """Return the number of a state."""
        if state is None or automaton.is_done(state):
            return 0
        key = id(automaton), state
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append((automaton, state))
            if number == len(self.labels_SZ):
                self._grow()
            self._write(number, automaton.labels(state))
        return number

    def advance(self, states_N: Ids, tokens_N: Ids, alphabet_NZ: Ids) -> Ids:
        """Return the numbers of the states after a token each.

        Args:
            states_N: Numbers before.
            tokens_N: The tokens.
            alphabet_NZ: The alphabet of each hypothesis' sentence.
        """
        is_letter_NZ = alphabet_NZ == tokens_N[:, None]
        width = alphabet_NZ.shape[1]
        columns_N = np.where(
            is_letter_NZ.any(1), is_letter_NZ.argmax(1), width + self.kinds[tokens_N]
        )
        found_N = self._next_SJ[states_N, columns_N]
        for row in np.flatnonzero(found_N == UNKNOWN).tolist():
            before = states_N[row]
            state = self._states[before]
            assert state is not None, "no state stays none"
            column = int(columns_N[row])
            letter = column if column < width else other_letter(column - width)
            after = self.enter(state[0], state[0].advance(state[1], letter))
            found_N[row] = self._next_SJ[before, column] = after
        return found_N

    def _grow(self) -> None:
        def double(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.concatenate((rows, np.zeros_like(rows)))

        self.scalars_SX, self._next_SJ = double(self.scalars_SX), double(self._next_SJ)
        self.labels_SZ, self.needed_SZ = double(self.labels_SZ), double(self.needed_SZ)

    def _write(self, number: int, labels: Labels) -> None:
        letters = slice(len(labels.of_alphabet))
        self.scalars_SX[number] = labels[:SCALARS]
        self.labels_SZ[number, letters] = labels.of_alphabet
        self.needed_SZ[number, letters] = labels.needed_of_alphabet
        self._next_SJ[number] = UNKNOWN
