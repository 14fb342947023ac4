"""Which query may attend to which key: one value, from the model's input to the native kernel.

Shapes: B batch, T positions or queries, S keys.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.model.packing import Packing

ALL_KEYS = 1 << 40  # more keys than there are


@dataclass(frozen=True)
class Segments:
    """The sentence that each position of a batch belongs to.

    Attributes:
        ids: [B, T]; 0 is padding, n is the n-th sentence of the row.
        is_packed: Whether a row may hold several sentences. False promises that all ids are 0 or 1.
        packing: Where the sentences of a packed row begin, if that is known.
    """

    ids: Tensor
    is_packed: bool
    packing: Packing | None = None

    @classmethod
    def of(cls, ids: "SegmentsLike") -> "Segments | None":
        """Return the segments of a model's input; a plain tensor is searched for packed rows here.

        The search reads a number back from the device, so that a GPU waits once for each forward.
        A tensor without numbers (fake or compiled) counts as packed, which is never wrong.
        """
        if ids is None or isinstance(ids, Segments):
            return ids
        has_numbers = type(ids) in (Tensor, nn.Parameter) and ids.device.type != "meta"
        if torch.compiler.is_compiling() or not has_numbers:
            return cls(ids, is_packed=True)
        return cls(ids, is_packed=bool((ids > 1).any()))

    def positions(self) -> Tensor:
        """Count the positions of each sentence from 0, [B, T]; those of padding are 0."""
        if self.packing is not None:
            return self.packing.positions
        index_BT = torch.arange(self.ids.size(1), device=self.ids.device).expand_as(self.ids)
        is_first_BT = torch.ones_like(self.ids, dtype=torch.bool)
        is_first_BT[:, 1:] = self.ids[:, 1:] != self.ids[:, :-1]
        start_BT = torch.where(is_first_BT, index_BT, 0).cummax(1).values
        return (index_BT - start_BT).masked_fill(self.ids == 0, 0)

    def select(self, rows: Tensor) -> "Segments":
        """Return the segments of these rows, [B']."""
        return Segments(self.ids.index_select(0, rows), self.is_packed)


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
