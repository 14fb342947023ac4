"""The numbers that the paper prints: Vaswani et al., "Attention Is All You Need" (2017).

These and Table 3's, in ``table3_rows.py``, are the only results in this package that it did not measure itself.
"""

from dataclasses import dataclass

PAPER = "Vaswani et al., 'Attention Is All You Need', 2017"


@dataclass(frozen=True)
class System:
    """A row of Table 2: BLEU on newstest2014, training cost in floating-point operations."""

    name: str
    en_de: float | None
    en_fr: float | None
    flops_en_de: float | None = None
    flops_en_fr: float | None = None


TABLE2 = (
    System("ByteNet", 23.75, None),
    System("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    System("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    System("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    System("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    System("Deep-Att + PosUnk ensemble", None, 40.4, None, 8.0e20),
    System("GNMT + RL ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    System("ConvS2S ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    System("Transformer base", 27.3, 38.1, 3.3e18),
    System("Transformer big", 28.4, 41.8, 2.3e19),
)
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


# Table 4: labeled bracket F1 on section 23 of the Wall Street Journal.
TABLE4 = (
    ("Vinyals & Kaiser et al. (2014)", "WSJ only, discriminative", 88.3),
    ("Petrov et al. (2006)", "WSJ only, discriminative", 90.4),
    ("Zhu et al. (2013)", "WSJ only, discriminative", 90.4),
    ("Dyer et al. (2016)", "WSJ only, discriminative", 91.7),
    ("Transformer (4 layers)", "WSJ only, discriminative", 91.3),
    ("Zhu et al. (2013)", "semi-supervised", 91.3),
    ("Huang & Harper (2009)", "semi-supervised", 91.3),
    ("McClosky et al. (2006)", "semi-supervised", 92.1),
    ("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    ("Transformer (4 layers)", "semi-supervised", 92.7),
    ("Luong et al. (2015)", "multi-task", 93.0),
    ("Dyer et al. (2016)", "generative", 93.3),
)
