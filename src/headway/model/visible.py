"""Which query may attend to which key: said in a few words, drawn only where somebody looks.

Shapes: B batch, T queries, S keys.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Visible(NamedTuple):
    """Says which query may attend to which key, without a number for each pair.

    Attributes:
        queries: Segments [B, T]; 0 is padding, n the n-th sentence of a packed row. None: all ones.
        keys: Segments [B, S] alike; None: nothing is hidden by them.
        causal: Hides keys after the query.
        window: Shows only r positions: centred, or the last r if causal. 0: all.
        first: Where among the keys the first query stands, for ``causal`` and ``window``.
    """

    queries: Tensor | None = None
    keys: Tensor | None = None
    causal: bool = False
    window: int = 0
    first: int = 0

    @property
    def before(self) -> int:
        """How many positions before its own a query sees, if there is a window."""
        return self.window - 1 if self.causal else self.window // 2

    @property
    def after(self) -> int:
        """How many positions after its own a query sees, if there is a window or causality."""
        return 0 if self.causal else (self.window - 1) // 2

    @property
    def packed(self) -> bool:
        """Whether a row may hold several sentences: padding is then not all that is hidden."""
        return self.queries is not None and self.keys is not None and bool((self.keys > 1).any())

    def reach(self, queries: range, length: int) -> range:
        """Return the positions, out of ``length`` keys, that window and causality let some see."""
        start, stop = 0, length
        if self.window:
            start = max(start, self.first + queries.start - self.before)
        if self.window or self.causal:
            stop = min(stop, self.first + queries.stop + self.after)
        return range(start, stop)

    def mask(self, queries: range, keys: range, device: torch.device) -> Tensor | None:
        """Draw the pairs of some queries and some keys; `True` means the query may attend.

        Args:
            queries: Positions of the queries, out of T.
            keys: Positions of the keys, out of S.
            device: Where to draw.

        Returns:
            A mask that broadcasts to [B, H, queries, keys], or None if nothing is hidden.
        """
        allowed: Tensor | None = None
        if self.keys is not None:
            keys_BS = self.keys[:, keys.start : keys.stop]
            if self.queries is None:
                allowed = (keys_BS == 1)[:, None, None, :]
            else:
                queries_BT = self.queries[:, queries.start : queries.stop]
                allowed = (queries_BT[:, :, None] == keys_BS[:, None, :])[:, None]
        if self.causal or self.window:
            query_T = torch.arange(queries.start, queries.stop, device=device) + self.first
            key_S = torch.arange(keys.start, keys.stop, device=device)
            distance_TS = key_S - query_T[:, None]  # positive: the key comes later
            near_TS = distance_TS <= self.after
            if self.window:
                near_TS &= distance_TS >= -self.before
            allowed = near_TS if allowed is None else allowed & near_TS
        return allowed
