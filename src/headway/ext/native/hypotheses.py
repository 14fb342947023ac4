"""Hypotheses of translations in native code: those of ``native/hypotheses.h``."""

import ctypes
from collections.abc import Sequence
from ctypes import c_void_p

import numpy as np
import torch
from torch import Tensor

from headway.ext.native.decoding import PANEL, NativeModel
from headway.translation import Candidates, Ids, average_logits


class NativeHypotheses:
    """A `Decoding` in native code; `candidates` and `logits` extend its hypotheses by a token.

    Args:
        library: From `headway.ext.native.decoding`.
        model: Its weights.
        owner: What keeps the weights alive.
        sources: Ids of the sentences.
        beams: Hypotheses of each.
        limit: Tokens that may be read.
        positions: Position tables of the source and the target, of enough rows; None: no positions.

    Raises:
        IndexError: Here and in each step, if a token is not in the vocabulary or a step exceeds
            the limit.
        MemoryError: If no memory is left.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        model: NativeModel,
        owner: object,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        positions: Sequence[Tensor | None],
    ) -> None:
        self.library, self.pointer = library, c_void_p()  # `__del__` reads both after any error
        self.kept_alive = model, owner, positions
        self.vocab_size = int(model.target_vocab)
        self.longest = max(map(len, sources), default=0)  # S
        lengths = np.array([len(source) for source in sources], dtype=np.int64)
        ids = np.array([i for source in sources for i in source], dtype=np.int64)
        library.state_new(
            ctypes.byref(model), _at(ids), _at(lengths), len(lengths), beams, limit, *positions,
            ctypes.byref(self.pointer),
        )  # fmt: skip
        # Each step passes its arguments in these buffers. Their addresses stay the same, so they are looked up once.
        rows = len(lengths) * beams
        self.tokens, self.forced = np.empty(rows, np.int64), np.empty(rows, np.int64)
        self.log_z = np.empty(rows)
        self.tokens_at, self.forced_at = self.tokens.ctypes.data, self.forced.ctypes.data
        self.log_z_at = self.log_z.ctypes.data
        self._allocate(0)

    def _allocate(self, wanted: int) -> None:
        self.ids = np.empty((len(self.tokens), wanted), np.int64)
        self.chosen = np.empty((len(self.tokens), wanted), np.float32)
        self.ids_at, self.chosen_at = self.ids.ctypes.data, self.chosen.ctypes.data

    def restrict(self, choices: Sequence[np.ndarray]) -> None:
        """Let `candidates` choose only among these tokens: ascending ids for each sentence, ``<pad>`` last."""
        ids = np.concatenate(choices, dtype=np.int64)
        ends = np.cumsum([len(some) for some in choices], dtype=np.int64)
        self.library.state_restrict(self.pointer, ids.ctypes.data, ends.ctypes.data)

    def candidates(
        self, tokens: Ids, wanted: int, forced: Ids | None, asked: Ids | None = None
    ) -> Candidates:
        """Read tokens [N] and return the best next tokens; see `Decoding`.

        ``<pad>``, the last id, is never a candidate but fills missing ones. The arrays are valid until the next call.
        """
        rows = len(tokens)
        if wanted != self.ids.shape[1]:
            self._allocate(wanted)
        self.tokens[:rows] = tokens
        if forced is not None:
            self.forced[:rows] = forced
        asked = _contiguous(asked)
        answers = None if asked is None else np.empty(asked.shape, np.float32)
        self.library.state_select(
            self.pointer,
            self.tokens_at,
            None if forced is None else self.forced_at,
            wanted,
            self.ids_at,
            self.chosen_at,
            self.log_z_at,
            _at(asked),
            0 if asked is None else asked.shape[1],
            _at(answers),
        )
        return Candidates(self.ids[:rows], self.chosen[:rows], self.log_z[:rows], answers)

    def logits(self, tokens_N: np.ndarray) -> Tensor:
        """Read a token of each hypothesis; return the logits of the next, [N, V]."""
        self.tokens[: len(tokens_N)] = tokens_N
        width = -(-self.vocab_size // PANEL) * PANEL
        out = torch.empty(len(tokens_N), width)
        self.library.state_logits(self.pointer, self.tokens_at, out)
        return out[:, : self.vocab_size]

    def read(
        self, tokens_N: np.ndarray, next_N: np.ndarray | None, layers: range | None
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Read the next token of each hypothesis, if the whole translation is known already.

        Args:
            tokens_N: The tokens read.
            next_N: The tokens after them; None: their probabilities are not wanted. After that, `select` and
                `logits` must not be called on these hypotheses.
            layers: Of the decoder; None: attention is not wanted.

        Returns:
            The natural log-probabilities of ``next_N``, [N], in float64; and how much each hypothesis attends to each
            token of its source, [N, S], in fp32: the mean over the heads of the layers, with zeros after the end of a
            source. None for what is not wanted.
        """
        rows = len(tokens_N)
        self.tokens[:rows] = tokens_N
        log_p_N, weights_NS = None, None
        if next_N is not None:
            self.forced[:rows] = next_N
            log_p_N = np.empty(rows)
        if layers is not None:
            weights_NS = np.zeros((rows, self.longest), np.float32)
        self.library.state_read(
            self.pointer,
            self.tokens_at,
            None if next_N is None else self.forced_at,
            _at(log_p_N),
            *((0, 0) if layers is None else (layers.start, layers.stop)),
            _at(weights_NS),
            self.longest,
        )
        return log_p_N, weights_NS

    def reorder(self, rows_N: np.ndarray) -> None:
        """Let hypothesis i continue hypothesis ``rows_N[i]``."""
        self.tokens[: len(rows_N)] = rows_N
        self.library.state_reorder(self.pointer, self.tokens_at, len(rows_N))

    def keep(self, sentences: np.ndarray) -> None:
        """Keep only these sentences; `reorder` must follow."""
        self.tokens[: len(sentences)] = sentences
        self.library.state_keep(self.pointer, self.tokens_at, len(sentences))

    def __del__(self) -> None:
        self.library.state_free(self.pointer)


class NativeEnsemble:
    """A `Decoding` of several models in native code, which computes the mean of their probabilities.

    Args:
        members: The hypotheses of each model, of the same sentences and as many beams; none is restricted.
    """

    def __init__(self, members: Sequence[NativeHypotheses]) -> None:
        self.members = members

    def candidates(
        self, tokens: Ids, wanted: int, forced: Ids | None, asked: Ids | None = None
    ) -> Candidates:
        """Read tokens [N] and return the best next tokens; see `Decoding`.

        The logits are the natural logarithms of mean probabilities, and ``log_z`` is 0, or NaN where a model predicts
        no numbers.

        Raises:
            RuntimeError: If a model has another number of hypotheses or of tokens.
        """
        states = (c_void_p * len(self.members))(*(each.pointer.value for each in self.members))
        tokens = np.ascontiguousarray(tokens, np.int64)
        forced, asked = _contiguous(forced), _contiguous(asked)
        ids = np.empty((len(tokens), wanted), np.int64)
        log_p, log_z = np.empty(ids.shape), np.empty(len(tokens))
        answers = None if asked is None else np.empty(asked.shape)
        self.members[0].library.states_select(
            states, len(self.members), _at(tokens), len(tokens), _at(forced), wanted, _at(ids),
            _at(log_p), _at(log_z), _at(asked), 0 if asked is None else asked.shape[1], _at(answers),
        )  # fmt: skip
        return Candidates(ids, log_p, log_z, answers)

    def logits(self, tokens: Ids) -> Tensor:
        """Read tokens [N] and return the logits of the next tokens, [N, V]."""
        return average_logits([member.logits(tokens) for member in self.members])

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""
        for member in self.members:
            member.reorder(rows)

    def keep(self, sentences: Ids) -> None:
        """Drop the hypotheses of all other sentences."""
        for member in self.members:
            member.keep(sentences)


def _contiguous(ids: np.ndarray | None) -> np.ndarray | None:
    return None if ids is None else np.ascontiguousarray(ids, np.int64)


def _at(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data
