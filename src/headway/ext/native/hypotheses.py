"""Hypotheses of translations in native code: those of ``native/hypotheses.h``."""

import ctypes
from collections.abc import Sequence
from ctypes import c_void_p

import numpy as np
import torch
from torch import Tensor

from headway.ext.native.decoding import PANEL, NativeModel

# What `NativeHypotheses.select` and `select_together` return.
Selected = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]


class NativeHypotheses:
    """Hypotheses of some sentences; `select` and `logits` extend them by a token.

    Args:
        library: From `library`.
        model: Its weights; they must outlive this object.
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
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        positions: Sequence[Tensor | None],
    ) -> None:
        self.library, self.pointer = library, c_void_p()  # `__del__` reads both after any error
        self.model, self.positions = model, positions
        self.vocab_size = int(model.target_vocab)
        self.longest = max(map(len, sources), default=0)  # S
        lengths = np.array([len(source) for source in sources], dtype=np.int64)
        ids = np.array([i for source in sources for i in source], dtype=np.int64)
        tables = [None if table is None else table.data_ptr() for table in positions]
        library.state_new(
            ctypes.byref(model), ids.ctypes.data, lengths.ctypes.data, len(lengths), beams, limit,
            *tables, ctypes.byref(self.pointer),
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
        """Let `select` choose only among these tokens: ascending ids for each sentence, ``<pad>`` last."""
        ids = np.concatenate(choices, dtype=np.int64)
        ends = np.cumsum([len(some) for some in choices], dtype=np.int64)
        self.library.state_restrict(self.pointer, ids.ctypes.data, ends.ctypes.data)

    def select(
        self,
        tokens_N: np.ndarray,
        wanted: int,
        forced_N: np.ndarray | None,
        asked_NE: np.ndarray | None = None,
    ) -> Selected:
        """Read a token of each hypothesis, and return the best next ones.

        Args:
            tokens_N: The tokens read.
            wanted: C, how many candidates of each hypothesis are returned.
            forced_N: The only candidate of each hypothesis, -1 for a free choice; None: all free.
            asked_NE: Tokens whose logits are returned besides, each row ascending; None: none.

        Returns:
            Ids [N, C], best first and equal ones by id; their logits [N, C]; the log-sum-exp of
            all logits [N]; and the logits of ``asked_NE`` or None. ``<pad>``, the last id, is never a
            candidate but fills missing ones. The arrays are valid until the next call.
        """
        rows = len(tokens_N)
        if wanted != self.ids.shape[1]:
            self._allocate(wanted)
        self.tokens[:rows] = tokens_N
        if forced_N is not None:
            self.forced[:rows] = forced_N
        asked_NE = _contiguous(asked_NE)
        answers_NE = None if asked_NE is None else np.empty(asked_NE.shape, np.float32)
        self.library.state_select(
            self.pointer,
            self.tokens_at,
            None if forced_N is None else self.forced_at,
            wanted,
            self.ids_at,
            self.chosen_at,
            self.log_z_at,
            _at(asked_NE),
            0 if asked_NE is None else asked_NE.shape[1],
            _at(answers_NE),
        )
        return self.ids[:rows], self.chosen[:rows], self.log_z[:rows], answers_NE

    def logits(self, tokens_N: np.ndarray) -> Tensor:
        """Read a token of each hypothesis; return the logits of the next, [N, V]."""
        self.tokens[: len(tokens_N)] = tokens_N
        width = -(-self.vocab_size // PANEL) * PANEL
        out = torch.empty(len(tokens_N), width)
        self.library.state_logits(self.pointer, self.tokens_at, out.data_ptr())
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


def select_together(
    hypotheses: Sequence[NativeHypotheses],
    tokens_N: np.ndarray,
    wanted: int,
    forced_N: np.ndarray | None,
    asked_NE: np.ndarray | None = None,
) -> Selected:
    """Let several models read a token of each hypothesis, and return the best next ones by their mean probability.

    Args:
        hypotheses: Those of each model, of the same sentences and as many beams; none is restricted.
        tokens_N: See `NativeHypotheses.select`, as for all that follow.
        wanted: C, the number of candidates.
        forced_N: The only candidate of each hypothesis, or -1.
        asked_NE: Tokens whose probabilities are wanted besides.

    Returns:
        Ids [N, C]; the natural logarithms of their mean probabilities [N, C]; 0 [N], or NaN where a model predicts no
        numbers; and the logarithms of ``asked_NE`` or None.

    Raises:
        RuntimeError: If a model has another number of hypotheses or of tokens.
    """
    states = (c_void_p * len(hypotheses))(*(each.pointer.value for each in hypotheses))
    tokens_N = np.ascontiguousarray(tokens_N, np.int64)
    forced_N, asked_NE = _contiguous(forced_N), _contiguous(asked_NE)
    ids_NC = np.empty((len(tokens_N), wanted), np.int64)
    log_p_NC, log_z_N = np.empty(ids_NC.shape), np.empty(len(tokens_N))
    answers_NE = None if asked_NE is None else np.empty(asked_NE.shape)
    hypotheses[0].library.states_select(
        states, len(hypotheses), _at(tokens_N), len(tokens_N), _at(forced_N), wanted, _at(ids_NC),
        _at(log_p_NC), _at(log_z_N), _at(asked_NE), 0 if asked_NE is None else asked_NE.shape[1], _at(answers_NE),
    )  # fmt: skip
    return ids_NC, log_p_NC, log_z_N, answers_NE


def _contiguous(ids: np.ndarray | None) -> np.ndarray | None:
    return None if ids is None else np.ascontiguousarray(ids, np.int64)


def _at(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data
