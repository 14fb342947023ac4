"""Rows of several sentences, packed without padding, and which query may attend to which key.

Both travel from the model's input to the native kernel.

Shapes: B batch, T positions or queries, S keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.errors import HeadwayError


@dataclass(frozen=True)
class RowShape:
    """The shape of all packed rows of a run.

    Attributes:
        tokens: Tokens of a row, with padding.
        longest: The most tokens of a sentence.
        sentences: The most sentences of nearly every row; a row with more has a longer list.
    """

    tokens: int
    longest: int
    sentences: int

    @property
    def entries(self) -> int:
        """Entries of the list of sentences: sentences, pieces of padding, and empty entries.

        Empty entries are not free: flash attention starts blocks of threads for them, and its backward
        pass allocates 128 rows for each.
        """
        return self.sentences + -(-self.tokens // self.longest) + 1


@dataclass(frozen=True)
class Packing:
    """Where the sentences of a packed row begin.

    The padding at the end of the row is divided into pieces, because no entry may be longer than
    ``longest``. Empty entries follow.

    Attributes:
        bounds: Entry n has the tokens from ``bounds[n]`` to ``bounds[n + 1]``; int32, [N + 1].
        positions: The position of each token in its sentence, from 0; [1, T].
        longest: No entry has more tokens.
    """

    bounds: Tensor
    positions: Tensor
    longest: int

    def map(self, change: Callable[[Tensor], Tensor]) -> "Packing":
        """Return the same with other tensors."""
        return replace(self, bounds=change(self.bounds), positions=change(self.positions))

    def followed_by(self, other: "Packing") -> "Packing":
        """Return the packing of this row and another one as one row."""
        return Packing(
            bounds=torch.cat((self.bounds, other.bounds[1:] + self.positions.size(1))),
            positions=torch.cat((self.positions, other.positions), 1),
            longest=max(self.longest, other.longest),
        )


def move(tensor: Tensor, device: torch.device | str) -> Tensor:
    """Copy a tensor from the CPU to a device; a GPU copies it while the CPU goes on."""
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def pack_sides(sides: Sequence[NDArray[np.integer]], shape: RowShape) -> list[Packing]:
    """Find the bounds of the sentences of packed rows that belong together.

    Args:
        sides: The lengths of the sentences of each row; entry n of all rows is one pair.
        shape: The shape of the rows.

    Raises:
        ValueError: If a row does not fit into the shape.
    """
    ends = [_find_ends(lengths, shape) for lengths in sides]
    entries = shape.entries
    while entries < max(map(len, ends)):
        entries *= 2  # few shapes all the same
    return [_pack(side, entries, shape) for side in ends]


def _find_ends(lengths: NDArray[np.integer], shape: RowShape) -> NDArray[np.integer]:
    used = int(lengths.sum())
    if used > shape.tokens or lengths.max(initial=0) > shape.longest:
        raise ValueError(f"{used} tokens, or a sentence of {lengths.max()}, do not fit {shape}")
    padding = np.arange(used + shape.longest, shape.tokens + shape.longest, shape.longest)
    return np.concatenate((np.cumsum(lengths), np.minimum(padding, shape.tokens)))


def _pack(ends: NDArray[np.integer], entries: int, shape: RowShape) -> Packing:
    bounds = np.full(entries + 1, shape.tokens, np.int32)
    bounds[0] = 0
    bounds[1 : len(ends) + 1] = ends
    starts = np.repeat(bounds[:-1], np.diff(bounds))
    positions = torch.from_numpy(np.arange(shape.tokens) - starts)[None]
    return Packing(torch.from_numpy(bounds), positions, shape.longest)


def check_tokens(name: str, tokens: Tensor) -> None:
    """Check that a model's input is whole numbers [B, T].

    Raises:
        HeadwayError: If it is not; it begins with ``name``.
    """
    if tokens.dim() != 2 or tokens.dtype.is_floating_point:
        kind, shape = str(tokens.dtype).removeprefix("torch."), list(tokens.shape)
        raise HeadwayError(f"{name}: must be whole numbers [B, T], not {kind} {shape}")


ALL_KEYS = 1 << 40  # more keys than there are


@dataclass(frozen=True)
class Segments:
    """The sentence that each position of a batch belongs to.

    Attributes:
        ids: [B, T]; 0 is padding, n is the n-th sentence of the row, from left to right.
        is_packed: Whether a row may hold several sentences. False promises that all ids are 0 or 1.
        packing: Where the sentences of a packed row begin, if that is known.
    """

    ids: Tensor
    is_packed: bool
    packing: Packing | None = None

    @classmethod
    def of(
        cls, ids: "SegmentsLike", tokens: Tensor, *, may_be_packed: bool = True
    ) -> "Segments | None":
        """Return the segments of a model's input; a plain tensor is searched for packed rows here.

        The search reads numbers back from the device, so that a GPU waits once for each forward, or twice.
        A tensor without numbers (fake or compiled) counts as packed, which is never wrong.

        Args:
            ids: Segments, or their ids; True and False count as 1 and 0.
            tokens: What they belong to, [B, T] or [B, T, D].
            may_be_packed: Whether a row may hold several sentences, or one with another number than 1.

        Raises:
            HeadwayError: If they do not fit, are no whole numbers of 0 or more, or are packed and may not be.
        """
        if ids is None:
            return None
        given = ids.ids if isinstance(ids, Segments) else ids
        shape, wanted = list(given.shape), list(tokens.shape[:2])
        if shape != wanted:
            raise HeadwayError(f"segments: have the shape {shape}, and the input {wanted}")
        found = ids if isinstance(ids, Segments) else cls._read(ids)
        if found.is_packed and not may_be_packed and _has_numbers(found.ids):
            raise HeadwayError(
                "segments: a source with several sentences in a row needs the segments of the target, too"
            )
        return found

    @classmethod
    def _read(cls, ids: Tensor) -> "Segments":
        ids = ids.long() if ids.dtype == torch.bool else ids
        if ids.dtype.is_floating_point:
            raise HeadwayError(
                "segments: must be whole numbers, such as 1 for a token and 0 for padding"
            )
        if not _has_numbers(ids):
            return cls(ids, is_packed=True)
        if not ((ids < 0) | (ids > 1)).any():
            return cls(ids, is_packed=False)
        if (ids < 0).any():
            raise HeadwayError(
                "segments: must be 0 for padding, or the number of a sentence from 1 on"
            )
        return cls(ids, is_packed=True)

    def positions(self) -> Tensor:
        """Count the positions of each sentence from 0, [B, T]; those of padding are 0.

        A hidden token inside a sentence counts, so that the others stay where they are.
        """
        if self.packing is not None:
            return self.packing.positions
        index_BT = torch.arange(self.ids.size(1), device=self.ids.device).expand_as(self.ids)
        is_first_BT = torch.ones_like(self.ids, dtype=torch.bool)
        is_first_BT[:, 1:] = self.ids[:, 1:] > self.ids[:, :-1].cummax(1).values
        start_BT = torch.where(is_first_BT, index_BT, 0).cummax(1).values
        return (index_BT - start_BT).masked_fill(self.ids == 0, 0)

    def select(self, rows: Tensor) -> "Segments":
        """Return the segments of these rows, [B']."""
        return Segments(self.ids.index_select(0, rows), self.is_packed)


def _has_numbers(ids: Tensor) -> bool:
    is_real = type(ids) in (Tensor, nn.Parameter) and ids.device.type != "meta"
    return is_real and not torch.compiler.is_compiling()


# What a model's input may be: ids as a plain tensor, segments, or None if nothing is hidden.
SegmentsLike = Tensor | Segments | None


@dataclass(frozen=True)
class Visibility:
    """Which query may attend to which key, without a number for each pair.

    A query may attend to the keys of its own segment, as far as causality and window allow.

    Attributes:
        queries: Segments of the queries, [B, T]; None: all are 1.
        keys: Segments of the keys, [B, S]; None: no key is hidden by its segment.
        is_causal: Hides keys after the query.
        window: Shows only r positions: centered, or the last r if causal; 0: all positions.
        first: The first query's position among the keys, for causality and window.
    """

    queries: Segments | None = None
    keys: Segments | None = None
    is_causal: bool = False
    window: int = 0
    first: int = 0

    @property
    def is_packed(self) -> bool:
        """Whether rows may hold several sentences, so that padding is not all that is hidden."""
        return self.queries is not None and self.keys is not None and self.keys.is_packed

    @property
    def packings(self) -> tuple[Packing, Packing] | None:
        """Where the sentences of queries and of keys begin, if both are known."""
        queries = None if self.queries is None else self.queries.packing
        keys = None if self.keys is None else self.keys.packing
        return None if queries is None or keys is None else (queries, keys)

    @property
    def positions_before(self) -> int:
        """How many positions before its own a query may attend to, if there is a window."""
        return self.window - 1 if self.is_causal else self.window // 2

    @property
    def positions_after(self) -> int:
        """How many positions after its own a query may attend to, with a window or causality."""
        return 0 if self.is_causal else (self.window - 1) // 2

    @property
    def keys_before(self) -> int:
        """How many keys before key i query i may attend to; query i stands at position first + i."""
        return self.positions_before - self.first if self.window else ALL_KEYS

    @property
    def keys_after(self) -> int:
        """How many keys after key i query i may attend to."""
        return self.positions_after + self.first if self.window or self.is_causal else ALL_KEYS

    def reachable_keys(self, queries: range, num_keys: int) -> range:
        """Return the keys that window and causality show to at least one of the queries."""
        start, stop = 0, num_keys
        if self.window:
            start = max(start, self.first + queries.start - self.positions_before)
        if self.window or self.is_causal:
            stop = min(stop, self.first + queries.stop + self.positions_after)
        return range(start, stop)

    def mask(self, queries: range, keys: range, device: torch.device) -> Tensor | None:
        """Draw the pairs of some queries and some keys; `True` means the query may attend.

        Args:
            queries: Positions of the queries, out of T.
            keys: Positions of the keys, out of S.
            device: The mask's device.

        Returns:
            A mask that broadcasts to [B, H, queries, keys], or None if nothing is hidden.
        """
        allowed: Tensor | None = None
        if self.keys is not None:
            keys_BS = self.keys.ids[:, keys.start : keys.stop]
            if self.queries is None:
                allowed = (keys_BS == 1)[:, None, None, :]
            else:
                queries_BT = self.queries.ids[:, queries.start : queries.stop]
                allowed = (queries_BT[:, :, None] == keys_BS[:, None, :])[:, None]
        if self.is_causal or self.window:
            query_T = torch.arange(queries.start, queries.stop, device=device) + self.first
            key_S = torch.arange(keys.start, keys.stop, device=device)
            distance_TS = key_S - query_T[:, None]  # positive: the key comes later
            near_TS = distance_TS <= self.positions_after
            if self.window:
                near_TS &= distance_TS >= -self.positions_before
            allowed = near_TS if allowed is None else allowed & near_TS
        return allowed
