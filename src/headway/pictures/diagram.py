"""The paper's Figure 1, drawn from the configuration of a model; Figure 2 is in `inside.py`."""

from itertools import pairwise

from headway.config import ModelConfig
from headway.pictures.inside import inside_attention
from headway.pictures.layout import Anchor, Box, Label, Layout
from headway.pictures.parts import OUTLINE, Parts
from headway.pictures.picture import Picture
from headway.pictures.tower import COLORS, GAP, LOW, WIDTH, Inputs, Tower

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish"}


def diagram(config: ModelConfig) -> Picture:
    """Draw Figures 1 and 2 for a model: its layers, heads, sizes, norms and mixers."""
    encoder = Tower(0.0, -1)
    decoder = Tower(300.0, 1)
    _add_foot(encoder, config, "Inputs", config.source_vocab_size, "Input embedding")
    memory, _ = _add_stack(encoder, config, is_decoder=False)
    outputs = "Outputs (shifted right)"
    _add_foot(decoder, config, outputs, config.target_vocab_size, "Output embedding")
    _, cross = _add_stack(decoder, config, is_decoder=True)
    _add_output(decoder, config)
    _connect_memory(encoder, decoder, memory, cross)
    left, top = encoder.x - WIDTH / 2 - 76, min(encoder.y, decoder.y)
    parts = Parts()
    parts.add(encoder.parts, -left, -top)
    parts.add(decoder.parts, -left, -top)
    inner, inner_width, inner_height = inside_attention(config)
    right = decoder.x + WIDTH / 2 + 76 - left + 24
    parts.add(inner, right)
    bottom = max(-top, inner_height) + 30
    for row, note in enumerate(_notes(config)):
        parts.note(note, 0, bottom + row * 17, 11)
    return Picture(
        f"Transformer, d_model = {config.d_model}",
        f"An encoder of {config.num_encoder_layers} layers and a decoder of"
        f" {config.num_decoder_layers}, {config.num_heads} heads, {config.norm}-norm.",
        Layout(right + inner_width, bottom + 26, parts.labels, parts.boxes),
        lines=parts.lines,
    )


def _connect_memory(encoder: Tower, decoder: Tower, top: float, bottom: float) -> None:
    """Draw the memory from the top of the encoder to the keys and values of the decoder."""
    between = (encoder.x + decoder.x) / 2 + 6
    ends = decoder.x - WIDTH * 0.36, decoder.x - WIDTH * 0.15
    path = [
        (encoder.x, top),
        (encoder.x, top - 16),
        (between, top - 16),
        (between, bottom + 13),
        (ends[1], bottom + 13),
    ]
    for start, end in pairwise(path):
        encoder.parts.line(*start, *end, role="memory")
    for x in ends:
        encoder.parts.arrow(x, bottom + 13, x, bottom, role="memory")
    encoder.y = min(encoder.y, top - 16)


def _add_foot(tower: Tower, config: ModelConfig, name: str, vocab_size: int, label: str) -> None:
    """Draw the embedding and the positions."""
    tower.parts.text(name, tower.x, tower.y, 13)
    tower.y -= 12
    tower.extend(18, is_arrow=True)
    width = config.d_embedding or config.d_model
    scale = f", times sqrt({config.d_model})" if config.scale_embeddings else ""
    mapped = f", mapped to {config.d_model}" if width != config.d_model else ""
    tower.box(label, f"{vocab_size:,} x {width}{scale}{mapped}", "embedding")
    tower.extend(14, is_arrow=True)
    if config.positions != "none":
        radius = 9.0
        tower.y -= 2 * radius
        middle, side = tower.y + radius, tower.side
        circle = Box(tower.x - radius, tower.y, 2 * radius, 2 * radius, "#ffffff",
                     outline=OUTLINE, radius=radius, role="sum")  # fmt: skip
        tower.parts.boxes.append(circle)
        tower.parts.text("+", tower.x, middle, 15)
        start = tower.x + side * 62
        tower.parts.arrow(start, middle, tower.x + side * radius, middle, role="positions")
        kind = "sinusoidal" if config.positions == "sinusoidal" else "learned"
        for row, word in enumerate((kind, "positions")):
            y = middle - 7 + 14 * row
            tower.parts.text(word, start + side * 6, y, 11, "end" if side < 0 else "start")
    tower.extend(GAP)


def _add_stack(tower: Tower, config: ModelConfig, *, is_decoder: bool) -> tuple[float, float]:
    """Draw the layers; returns the y of the top and of the bottom of the cross-attention."""
    is_pre_norm = config.norm == "pre"
    start, first = tower.y, len(tower.parts.boxes)
    mixer = config.decoder_mixer if is_decoder else config.encoder_mixer
    label, detail = describe_mixer(config, mixer, is_causal=is_decoder)
    inputs: Inputs = "three" if mixer == "attention" else "one"
    tower.sublayer(label, detail, "attention", is_pre_norm=is_pre_norm, inputs=inputs)
    bottom = 0.0
    if is_decoder:
        label, detail = "Multi-head attention", describe_heads(config)
        bottom = tower.sublayer(label, detail, "attention", is_pre_norm=is_pre_norm, inputs="query")
    kind = "two convolutions of 1" if config.feed_forward == "convolution" else ""
    detail = f"{config.d_model} to {config.d_ff} to {config.d_model}"
    detail += f", {kind or ACTIVATIONS[config.activation]}"
    tower.sublayer("Feed forward", detail, "feed", is_pre_norm=is_pre_norm)
    top = tower.y - GAP
    frame = Box(tower.x - WIDTH / 2 - 24, top, WIDTH + 48, start - top, COLORS["stack"],
                outline="#999999", radius=8, role="stack")  # fmt: skip
    tower.parts.boxes.insert(first, frame)
    count = config.num_decoder_layers if is_decoder else config.num_encoder_layers
    x = tower.x + tower.side * (WIDTH / 2 + 32)
    anchor: Anchor = "end" if tower.side < 0 else "start"
    tower.parts.labels.append(
        Label(f"{count} ×", x, (top + start) / 2, 16, anchor, is_bold=True, role="count")
    )
    tower.extend(GAP)
    if is_pre_norm:
        tower.extend(GAP, is_arrow=True)
        tower.box("Layer norm", "", "norm", LOW)
    return tower.y, bottom


def _add_output(tower: Tower, config: ModelConfig) -> None:
    """Draw what turns the decoder's output into probabilities."""
    tower.extend(18, is_arrow=True)
    width = config.d_embedding or config.d_model
    tower.box("Linear", f"{width} to {config.target_vocab_size:,}", "linear")
    tower.extend(14, is_arrow=True)
    tower.box("Softmax", "", "softmax", LOW)
    tower.extend(18, is_arrow=True)
    tower.y -= 12
    tower.parts.text("Output probabilities", tower.x, tower.y, 13)
    tower.y -= 10


def describe_heads(config: ModelConfig) -> str:
    """Return the number of heads and their sizes."""
    d_k, d_v = config.head_widths
    sizes = f"d_k = d_v = {d_k}" if d_k == d_v else f"d_k = {d_k}, d_v = {d_v}"
    return f"{config.num_heads} heads, {sizes}"


def describe_mixer(config: ModelConfig, mixer: str, *, is_causal: bool) -> tuple[str, str]:
    """Return the name and the size of the sub-layer that mixes positions."""
    if mixer == "attention":
        window = f", window {config.window}" if config.window else ""
        masked = "Masked multi-head" if is_causal else "Multi-head"
        return f"{masked} attention", describe_heads(config) + window
    if mixer in ("lstm", "gru"):
        return mixer.upper(), "forwards" if is_causal else "in both directions"
    names = {
        "convolution": "Convolution",
        "dilated": "Dilated convolution",
        "separable": "Separable convolution",
    }
    reach = f"the last {config.kernel_size}" if is_causal else f"{config.kernel_size} around"
    return names[mixer], f"sees {reach}{', gated' if config.gated else ''}"


def _notes(config: ModelConfig) -> list[str]:
    shared = {
        "three-way": "Both embeddings and the linear map share one matrix.",
        "target": "The output embedding and the linear map share one matrix.",
        "none": "Embeddings and the linear map have matrices of their own.",
    }
    return [
        shared[config.tying],
        f"Dropout {config.dropout:g} on the output of each sub-layer and on the sums at the bottom.",
    ]
