"""The paper's Figure 1, drawn from a configuration: what this very model is made of.

Figure 2 is in `inside.py`.
"""

from dataclasses import replace
from itertools import pairwise

from headway.config import ModelConfig
from headway.pictures.inside import inside_attention
from headway.pictures.scene import PALE, Line, Rect, Scene, Shape, Text
from headway.pictures.tower import COLOURS, GAP, LOW, WIDE, Tower

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish"}


def diagram(config: ModelConfig) -> Scene:
    """Draw Figures 1 and 2 for a model: layers, heads, sizes, norms and mixers as they are."""
    encoder = Tower(0.0, -1)
    decoder = Tower(300.0, 1)
    shapes: list[Shape] = []
    _foot(encoder, config, "Inputs", config.source_vocab_size, "Input embedding")
    top, _ = _stack(encoder, config, decoder=False)
    _foot(decoder, config, "Outputs (shifted right)", config.target_vocab_size, "Output embedding")
    _, bottom = _stack(decoder, config, decoder=True)
    # The memory: from the encoder's top over to the decoder's keys and values.
    between = (encoder.x + decoder.x) / 2 + 6
    path = [(encoder.x, top), (encoder.x, top - 16), (between, top - 16)]
    ends = decoder.x - WIDE * 0.36, decoder.x - WIDE * 0.15
    path += [(between, bottom + 13), (ends[1], bottom + 13)]
    shapes += [Line(*a, *b, name="memory") for a, b in pairwise(path)]
    for end in ends:
        shapes.append(Line(end, bottom + 13, end, bottom, arrow=True, name="memory"))
    _head(decoder, config)
    shapes = encoder.shapes + decoder.shapes + shapes
    left = -WIDE / 2 - 76
    high = max(-encoder.y, -decoder.y)
    shapes = [moved(shape, -left, high + 56) for shape in shapes]
    right = decoder.x + WIDE / 2 + 76 - left
    inner, wide, tall = inside_attention(config)
    shapes += [moved(shape, right + 24, 56) for shape in inner]
    width, height = right + 24 + wide + 16, max(high + 56, tall + 56) + 66
    title = f"Transformer, d_model = {config.d_model}"
    shapes.insert(0, Text(16, 22, title, 16, bold=True, name="title"))
    for row, note in enumerate(_notes(config)):
        shapes.append(Text(16, height - 36 + row * 17, note, 11, colour=PALE, name="note"))
    description = (
        f"An encoder of {config.num_encoder_layers} layers and a decoder of"
        f" {config.num_decoder_layers}, {config.num_heads} heads, {config.norm}-norm."
    )
    return Scene(width, height, title, description, shapes)


def _foot(tower: Tower, config: ModelConfig, name: str, vocab_size: int, label: str) -> None:
    """Draw the embedding and the positions."""
    tower.shapes.append(Text(tower.x, tower.y, name, 13, "middle", name="end"))
    tower.y -= 12
    tower.up(18, arrow=True)
    width = config.d_embedding or config.d_model
    scale = f", times sqrt({config.d_model})" if config.scale_embeddings else ""
    through = f", mapped to {config.d_model}" if width != config.d_model else ""
    tower.box(label, f"{vocab_size:,} x {width}{scale}{through}", "embedding")
    tower.up(14, arrow=True)
    radius = 9.0
    if config.positions != "none":
        tower.y -= 2 * radius
        middle, side = tower.y + radius, tower.side
        tower.shapes.append(
            Rect(tower.x - radius, tower.y, 2 * radius, 2 * radius, "#ffffff", outline="#555555",
                 radius=radius - 0.01, name="sum")
        )  # fmt: skip
        tower.shapes.append(Text(tower.x, middle, "+", 15, "middle", name="sum"))
        start = tower.x + side * 62
        tower.shapes.append(
            Line(start, middle, tower.x + side * radius, middle, arrow=True, name="positions")
        )
        words = ("sinusoidal", "positions") if config.positions == "sinusoidal" else (
            "learned", "positions",
        )  # fmt: skip
        for row, word in enumerate(words):
            anchor = "end" if side < 0 else "start"
            tower.shapes.append(
                Text(start + side * 6, middle - 7 + 14 * row, word, 11, anchor,  # type: ignore[arg-type]
                     name="positions")
            )  # fmt: skip
    tower.up(GAP)


def _stack(tower: Tower, config: ModelConfig, *, decoder: bool) -> tuple[float, float]:
    """Draw the layers; returns the height of the top and of the cross-attention's bottom."""
    pre = config.norm == "pre"
    start, place = tower.y, len(tower.shapes)
    mixer = config.decoder_mixer if decoder else config.encoder_mixer
    label, detail = mixer_words(config, mixer, causal=decoder)
    tower.sublayer(
        label, detail, "attention", pre=pre, inputs="three" if mixer == "attention" else "one"
    )
    bottom = 0.0
    if decoder:
        bottom = tower.sublayer(
            "Multi-head attention", head_words(config), "attention", pre=pre, inputs="query"
        )
    kind = "two convolutions of 1" if config.feed_forward == "convolution" else ""
    detail = f"{config.d_model} to {config.d_ff} to {config.d_model}"
    detail += f", {kind or ACTIVATIONS[config.activation]}"
    tower.sublayer("Feed forward", detail, "feed", pre=pre)
    top = tower.y - GAP
    edge = tower.x + tower.side * (WIDE / 2 + 24)
    tower.shapes.insert(
        place,
        Rect(tower.x - WIDE / 2 - 24, top, WIDE + 48, start - top, COLOURS["stack"],
             outline="#999999", radius=8, name="stack"),
    )  # fmt: skip
    count = config.num_decoder_layers if decoder else config.num_encoder_layers
    tower.shapes.append(
        Text(edge + tower.side * 8, (top + start) / 2, f"{count} ×", 16,
             "end" if tower.side < 0 else "start", bold=True, name="count")
    )  # fmt: skip
    tower.up(GAP)
    if pre:
        tower.up(GAP, arrow=True)
        tower.box("Layer norm", "", "norm", LOW)
    return tower.y, bottom


def _head(tower: Tower, config: ModelConfig) -> None:
    """Draw what turns the decoder's output into probabilities."""
    tower.up(18, arrow=True)
    width = config.d_embedding or config.d_model
    tower.box("Linear", f"{width} to {config.target_vocab_size:,}", "linear")
    tower.up(14, arrow=True)
    tower.box("Softmax", "", "softmax", LOW)
    tower.up(18, arrow=True)
    tower.y -= 12
    tower.shapes.append(Text(tower.x, tower.y, "Output probabilities", 13, "middle", name="end"))
    tower.y -= 10


def head_words(config: ModelConfig) -> str:
    """Say how many heads there are and how wide."""
    d_k, d_v = config.head_widths
    widths = f"d_k = d_v = {d_k}" if d_k == d_v else f"d_k = {d_k}, d_v = {d_v}"
    return f"{config.num_heads} heads, {widths}"


def mixer_words(config: ModelConfig, mixer: str, *, causal: bool) -> tuple[str, str]:
    """Name what mixes the positions of a layer."""
    if mixer == "attention":
        near = f", window {config.window}" if config.window else ""
        masked = "Masked multi-head" if causal else "Multi-head"
        return f"{masked} attention", head_words(config) + near
    if mixer in ("lstm", "gru"):
        return mixer.upper(), "forwards" if causal else "in both directions"
    names = {
        "convolution": "Convolution",
        "dilated": "Dilated convolution",
        "separable": "Separable convolution",
    }
    sides = f"the last {config.kernel_size}" if causal else f"{config.kernel_size} around"
    return names[mixer], f"sees {sides}{', gated' if config.gated else ''}"


def _notes(config: ModelConfig) -> list[str]:
    shared = {
        "three-way": "Both embeddings and the linear map share one matrix.",
        "target": "The output embedding and the linear map share one matrix.",
        "none": "Embeddings and the linear map have matrices of their own.",
    }
    return [
        shared[config.tying],
        f"Dropout {config.dropout:g} on each sub-layer's output and on the sums at the bottom.",
    ]


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """Return a shape elsewhere."""
    if isinstance(shape, Line):
        return replace(
            shape, x1=shape.x1 + dx, y1=shape.y1 + dy, x2=shape.x2 + dx, y2=shape.y2 + dy
        )
    return replace(shape, x=shape.x + dx, y=shape.y + dy)
