"""The published rates of graphics cards."""

# Dense matrix products of 16-bit numbers with 32-bit sums, in FLOP per second, from the data sheets of
# the makers. The first name that a card's name starts with counts.
PEAKS = {
    "NVIDIA H100 PCIe": 756e12,
    "NVIDIA H100 NVL": 835e12,
    "NVIDIA H100": 989e12,
    "NVIDIA H200": 989e12,
    "NVIDIA A100": 312e12,
    "NVIDIA L40S": 362e12,
    "NVIDIA L4": 121e12,
    "Tesla V100": 125e12,
}


def published_rate(card: str, precision: str) -> float | None:
    """Return the FLOP per second that a card's maker names; None: it is not known here.

    Args:
        card: The product name, as torch reports it.
        precision: Of the products; only 16-bit precisions have a rate here.
    """
    if precision not in ("bf16", "fp16"):
        return None
    return next((rate for name, rate in PEAKS.items() if card.startswith(name)), None)
