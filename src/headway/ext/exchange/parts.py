"""The linear maps and norms of a Headway model, and their names in CTranslate2 and in Marian, which have the same ones."""

from collections.abc import Iterator
from typing import NamedTuple

from headway.config import ModelConfig


class Part(NamedTuple):
    """Linear maps of one input, or a norm, by their names.

    Attributes:
        ours: Names of the modules of Headway.
        ctranslate2: Name in CTranslate2, which joins the rows of these maps into one.
        marian: Names in Marian, in the order of ``ours``; empty if Marian has no such part.
        is_norm: Whether it is a norm.
    """

    ours: tuple[str, ...]
    ctranslate2: str
    marian: tuple[str, ...] = ()
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
            names = f"{side}.layers.{number}", f"{side}/layer_{number}"
            yield from _list_layer(*names, f"model.{side}.layers.{number}")
        if config.norm == "pre":
            yield Part((f"{side}.final_norm",), f"{side}/layer_norm", is_norm=True)


def _list_layer(ours: str, ctranslate2: str, marian: str) -> Iterator[Part]:
    blocks: list[tuple[str, str, str, tuple[tuple[str, ...], ...]]]
    blocks = [
        ("mixer.attention", "self_attention", "self_attn", (("query", "key", "value"), ("output",)))
    ]
    if ours.startswith("decoder"):
        maps = ("query",), ("key", "value"), ("output",)
        blocks.append(("cross", "attention", "encoder_attn", maps))
    projections = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
    for place, (own, block, other, joined) in enumerate(blocks):
        for number, names in enumerate(joined):
            yield Part(
                tuple(f"{ours}.{own}.{name}" for name in names),
                f"{ctranslate2}/{block}/linear_{number}",
                tuple(f"{marian}.{other}.{projections[name]}" for name in names),
            )
        norm = f"{ours}.residuals.{place}.norm"
        yield Part(
            (norm,), f"{ctranslate2}/{block}/layer_norm", (f"{marian}.{other}_layer_norm",), True
        )
    yield Part((f"{ours}.feed_forward.inner",), f"{ctranslate2}/ffn/linear_0", (f"{marian}.fc1",))
    yield Part((f"{ours}.feed_forward.outer",), f"{ctranslate2}/ffn/linear_1", (f"{marian}.fc2",))
    norm = f"{ours}.residuals.{len(blocks)}.norm"
    yield Part((norm,), f"{ctranslate2}/ffn/layer_norm", (f"{marian}.final_layer_norm",), True)
