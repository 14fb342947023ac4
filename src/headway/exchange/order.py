"""The entries of a foreign vocabulary in Headway's order."""

from dataclasses import dataclass

ADDED = -1  # the row of an entry that the original does not have


@dataclass(frozen=True)
class Order:
    """A vocabulary in Headway's order: ``<unk>``, ``</s>``, the other entries, ``<pad>``.

    Attributes:
        names: The entries.
        rows: The original row of each entry; that of ``<pad>`` may be `ADDED`.
    """

    names: list[str]
    rows: list[int]
