"""The numbers that the paper prints: Vaswani et al., "Attention Is All You Need" (2017).

These and those of ``experiments/published.toml`` are the only results in this package that it did not measure itself.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

TABLES = tomllib.loads(
    files("headway.ext.paper").joinpath("experiments", "published.toml").read_text(encoding="utf-8")
)
PAPER = "Vaswani et al., 'Attention Is All You Need', 2017"


@dataclass(frozen=True)
class System:
    """A row of Table 2: BLEU on newstest2014, training cost in floating-point operations."""

    name: str
    en_de: float | None = None
    en_fr: float | None = None
    flops_en_de: float | None = None
    flops_en_fr: float | None = None


TABLE2 = tuple(System(**row) for row in TABLES["table2"])
TRANSFORMERS = {"base": TABLE2[-2], "big": TABLE2[-1]}
TABLE2_NOTE = (
    "The text of section 6.1 has 41.0 for big, English-French; Table 2 has 41.8. The table prints one cost for each"
    " Transformer, between the two languages."
)

# Section 5.2 and the footnote of 6.1: eight P100, seconds for each step, sustained FLOP/s of each GPU.
GPUS = 8
SUSTAINED = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}
SECONDS_A_STEP = {"base": 0.4, "big": 1.0}
STEPS = {"base": 100_000, "big": 300_000}
HOURS = {"base": 12.0, "big": 3.5 * 24}
TOKENS_A_STEP = 25_000  # of each side, about (section 5.1)
VOCABULARY = {"en-de": 37_000, "en-fr": 32_000}  # tokens, about


TABLE4 = tuple(map(tuple, TABLES["table4"]))  # F1
