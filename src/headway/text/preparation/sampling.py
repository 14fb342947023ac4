"""How many pairs of each group the subwords are learned from."""

from collections.abc import Sequence

TEMPERATURE = 5.0  # as multilingual models usually sample


def divide_sample(counts: Sequence[int], size: int) -> list[int]:
    """Return the number of pairs of each group in a sample, so that small groups get subwords, too.

    With temperature T, a group of n pairs has a share in proportion to n^(1/T), but no pair twice: what a small
    group cannot fill goes to the larger ones.

    Args:
        counts: The pairs of each group.
        size: The pairs of the sample; each group has at least one.
    """
    weights = [count ** (1 / TEMPERATURE) for count in counts]
    sizes = [0] * len(counts)
    left = size
    # In ascending order, because a smaller group is filled by a smaller sample.
    order = sorted(range(len(counts)), key=lambda group: counts[group])
    for place, group in enumerate(order):
        weight = sum(weights[other] for other in order[place:])
        share = max(1, round(left * weights[group] / weight))
        sizes[group] = min(counts[group], share)
        left -= sizes[group]
    return sizes
