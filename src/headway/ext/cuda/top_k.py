"""The largest numbers of long rows, for a GPU.

`torch.topk` reads a row of a GPU's memory many times. Here it is read once, for the largest number of each group
of neighbors: the C largest numbers are in the C groups whose largest numbers are the largest.

Shapes: V numbers of a row, G groups, W numbers of a group, C numbers to find.
"""

import torch
from torch import Tensor

GROUP = 128  # W


def find_largest(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest numbers of each row, descending, and their places, [..., C] each.

    Args:
        x: [..., V]. A NaN counts as the largest number.
        count: C. Of equal numbers, any may be found.
    """
    groups = x.size(-1) // GROUP
    if groups <= count:
        return tuple(x.topk(count))  # type: ignore[return-value]
    end = groups * GROUP
    largest_G = x[..., :end].unflatten(-1, (groups, GROUP)).amax(-1)
    best_C1 = largest_G.topk(count).indices[..., None]
    places_CW = best_C1 * GROUP + torch.arange(GROUP, device=x.device)
    rest = torch.arange(end, x.size(-1), device=x.device).expand(*x.shape[:-1], -1)
    places = torch.cat((places_CW.flatten(-2), rest), -1)
    found, chosen = x.gather(-1, places).topk(count)
    return found, places.gather(-1, chosen)
