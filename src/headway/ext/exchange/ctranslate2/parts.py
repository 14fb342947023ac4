"""The linear maps and norms of a ``model.bin``, beside those of a Headway model, which has the same ones.

CTranslate2 joins the projections of an attention that read the same input into one map.
"""

from collections.abc import Iterator
from typing import NamedTuple

from headway.config import Activation, ModelConfig

# The three tables [V, D], and whether V counts the source's or the target's vocabulary.
TABLES = {
    "encoder/embeddings_0/weight": "source",
    "decoder/embeddings/weight": "target",
    "decoder/projection/weight": "target",
}
MIN_POSITIONS = 1026  # CTranslate2 limits a text to 1,024 tokens by default
ACTIVATIONS: dict[Activation, int] = {
    "relu": 0,
    "swish": 2,
    "gelu": 3,
}  # 1 is an approximation of gelu


class Part(NamedTuple):
    """A linear map or a norm by both its names.

    Attributes:
        theirs: Name of CTranslate2.
        ours: Names of the modules of Headway, whose rows the map joins.
        is_norm: Whether it is a norm.
    """

    theirs: str
    ours: tuple[str, ...]
    is_norm: bool = False

    @property
    def is_attention(self) -> bool:
        """Whether the rows of its maps are those of an attention's heads, or its columns (``output``)."""
        return not self.is_norm and "feed_forward" not in self.ours[0]


def list_parts(config: ModelConfig) -> Iterator[Part]:
    """Yield the parts of both stacks."""
    for side, count in (
        ("encoder", config.num_encoder_layers),
        ("decoder", config.num_decoder_layers),
    ):
        for number in range(count):
            yield from _list_layer(f"{side}/layer_{number}", f"{side}.layers.{number}")
        if config.norm == "pre":
            yield Part(f"{side}/layer_norm", (f"{side}.final_norm",), is_norm=True)


def _list_layer(theirs: str, ours: str) -> Iterator[Part]:
    blocks: list[tuple[str, str, tuple[tuple[str, ...], ...]]]
    blocks = [("self_attention", "mixer.attention", (("query", "key", "value"), ("output",)))]
    if ours.startswith("decoder"):
        blocks.append(("attention", "cross", (("query",), ("key", "value"), ("output",))))
    for place, (block, own, maps) in enumerate(blocks):
        for number, joined in enumerate(maps):
            names = tuple(f"{ours}.{own}.{name}" for name in joined)
            yield Part(f"{theirs}/{block}/linear_{number}", names)
        yield Part(f"{theirs}/{block}/layer_norm", (f"{ours}.residuals.{place}.norm",), True)
    yield Part(f"{theirs}/ffn/linear_0", (f"{ours}.feed_forward.inner",))
    yield Part(f"{theirs}/ffn/linear_1", (f"{ours}.feed_forward.outer",))
    yield Part(f"{theirs}/ffn/layer_norm", (f"{ours}.residuals.{len(blocks)}.norm",), True)
