"""The numbers that the paper prints: Vaswani et al., "Attention Is All You Need" (2017).

These are the only results in this package that it did not measure itself.
"""

from dataclasses import dataclass, field

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
TABLE2_NOTE = "The text of section 6.1 has 41.0 for big, English-French; Table 2 has 41.8."

# Section 5.2 and the footnote of 6.1: eight P100, seconds for each step, sustained FLOP/s of each GPU.
GPUS = 8
SUSTAINED = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}
SECONDS_A_STEP = {"base": 0.4, "big": 1.0}
STEPS = {"base": 100_000, "big": 300_000}
HOURS = {"base": 12.0, "big": 3.5 * 24}
TOKENS_A_STEP = 25_000  # of each side, about (section 5.1)
VOCABULARY = {"en-de": 37_000, "en-fr": 32_000}  # tokens, about


@dataclass(frozen=True)
class Row:
    """A row of Table 3: what it changes, and its scores on newstest2013.

    Attributes:
        group: A to E; "" for base and big.
        name: The change in few words.
        model: Changed settings of the model.
        training: Changed settings of training.
        perplexity: For each word-piece.
        bleu: With beam 4 and alpha 0.6, without averaging.
        millions: Parameters / 10^6; None: the cell is empty, so the base's.
    """

    group: str
    name: str
    model: dict[str, str | int | float] = field(default_factory=dict)
    training: dict[str, str | int | float] = field(default_factory=dict)
    perplexity: float = 0.0
    bleu: float = 0.0
    millions: float | None = None

    @property
    def label(self) -> str:
        """The row's name, with the letter of its group."""
        return f"({self.group}) {self.name}" if self.group else self.name


TABLE3 = (
    Row("", "base", {}, {}, 4.92, 25.8, 65),
    Row("A", "h = 1", {"num_heads": 1, "d_k": 512, "d_v": 512}, {}, 5.29, 24.9),
    Row("A", "h = 4", {"num_heads": 4, "d_k": 128, "d_v": 128}, {}, 5.00, 25.5),
    Row("A", "h = 16", {"num_heads": 16, "d_k": 32, "d_v": 32}, {}, 4.91, 25.8),
    Row("A", "h = 32", {"num_heads": 32, "d_k": 16, "d_v": 16}, {}, 5.01, 25.4),
    Row("B", "d_k = 16", {"d_k": 16}, {}, 5.16, 25.1, 58),
    Row("B", "d_k = 32", {"d_k": 32}, {}, 5.01, 25.4, 60),
    Row("C", "N = 2", {"num_encoder_layers": 2, "num_decoder_layers": 2}, {}, 6.11, 23.7, 36),
    Row("C", "N = 4", {"num_encoder_layers": 4, "num_decoder_layers": 4}, {}, 5.19, 25.3, 50),
    Row("C", "N = 8", {"num_encoder_layers": 8, "num_decoder_layers": 8}, {}, 4.88, 25.5, 80),
    Row("C", "d_model = 256", {"d_model": 256, "d_k": 32, "d_v": 32}, {}, 5.75, 24.5, 28),
    Row("C", "d_model = 1024", {"d_model": 1024, "d_k": 128, "d_v": 128}, {}, 4.66, 26.0, 168),
    Row("C", "d_ff = 1024", {"d_ff": 1024}, {}, 5.12, 25.4, 53),
    Row("C", "d_ff = 4096", {"d_ff": 4096}, {}, 4.75, 26.2, 90),
    Row("D", "P_drop = 0.0", {"dropout": 0.0}, {}, 5.77, 24.6),
    Row("D", "P_drop = 0.2", {"dropout": 0.2}, {}, 4.95, 25.5),
    Row("D", "eps_ls = 0.0", {}, {"label_smoothing": 0.0}, 4.67, 25.3),
    Row("D", "eps_ls = 0.2", {}, {"label_smoothing": 0.2}, 5.47, 25.7),
    Row("E", "learned positions", {"positions": "learned"}, {}, 4.92, 25.7),
    Row(
        "", "big", {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
        {"max_steps": 300_000}, 4.33, 26.4, 213,
    ),
)  # fmt: skip

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
