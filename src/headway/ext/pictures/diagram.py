"""The paper's Figure 1, drawn from the configuration of a model; Figure 2 is in `attention_figure.py`."""

from itertools import pairwise

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.pictures.attention_figure import attention_figure
from headway.ext.pictures.box_column import COLORS, GAP, LOW, WIDTH, BoxColumn, Inputs
from headway.ext.pictures.diagram_parts import OUTLINE, Parts
from headway.ext.pictures.layout import Anchor, Box, Label, PictureLayout
from headway.ext.pictures.picture import Picture

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish"}


def save_diagram(out: str, name: str, config: ModelConfig) -> None:
    """Draw a model to a file, for ``headway info --diagram``.

    Args:
        out: The file to write: .svg, .png or .pdf.
        name: The name of the model, for messages.
        config: The shape of the model.

    Raises:
        HeadwayError: If the model is no translation model.
    """
    if config.kind != "translator":
        kind = config.kind.replace("-", " ")
        raise HeadwayError(f"{name}: a {kind}: --diagram draws translation models only")
    diagram(config).save(out)


def diagram(config: ModelConfig) -> Picture:
    """Draw Figures 1 and 2 for a model: its layers, heads, sizes, norms and mixers."""
    encoder = BoxColumn(0.0, -1)
    decoder = BoxColumn(300.0, 1)
    _add_embedding(encoder, config, "Inputs", config.source_vocab_size, "Input embedding")
    memory, _ = _add_stack(encoder, config, is_decoder=False)
    outputs = "Outputs (shifted right)"
    _add_embedding(decoder, config, outputs, config.target_vocab_size, "Output embedding")
    _, cross = _add_stack(decoder, config, is_decoder=True)
    _add_output(decoder, config)
    _connect_memory(encoder, decoder, memory, cross)
    left, top = encoder.x - WIDTH / 2 - 76, min(encoder.y, decoder.y)
    parts = Parts()
    parts.add(encoder.parts, -left, -top)
    parts.add(decoder.parts, -left, -top)
    inner, inner_width, inner_height = attention_figure(config)
    right = decoder.x + WIDTH / 2 + 76 - left + 24
    parts.add(inner, right)
    bottom = max(-top, inner_height) + 30
    for row, note in enumerate(_notes(config)):
        parts.note(note, 0, bottom + row * 17, 11)
    return Picture(
        f"Transformer, d_model = {config.d_model}",
        f"An encoder of {config.num_encoder_layers} layers and a decoder of"
        f" {config.num_decoder_layers}, {config.num_heads} heads, {config.norm}-norm.",
        PictureLayout(right + inner_width, bottom + 26, parts.labels, parts.boxes),
        lines=parts.lines,
    )


def _connect_memory(encoder: BoxColumn, decoder: BoxColumn, top: float, bottom: float) -> None:
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


def _add_embedding(
    column: BoxColumn, config: ModelConfig, name: str, vocab_size: int, label: str
) -> None:
    """Draw the embedding and the positions."""
    column.parts.text(name, column.x, column.y, 13)
    column.y -= 12
    column.extend(18, is_arrow=True)
    width = config.d_embedding or config.d_model
    scale = f", times sqrt({config.d_model})" if config.scale_embeddings else ""
    mapped = f", mapped to {config.d_model}" if width != config.d_model else ""
    column.box(label, f"{vocab_size:,} x {width}{scale}{mapped}", "embedding")
    column.extend(14, is_arrow=True)
    if config.positions != "none":
        radius = 9.0
        column.y -= 2 * radius
        middle, side = column.y + radius, column.side
        circle = Box(column.x - radius, column.y, 2 * radius, 2 * radius, "#ffffff",
                     outline=OUTLINE, radius=radius, role="sum")  # fmt: skip
        column.parts.boxes.append(circle)
        column.parts.text("+", column.x, middle, 15)
        start = column.x + side * 62
        column.parts.arrow(start, middle, column.x + side * radius, middle, role="positions")
        kind = "sinusoidal" if config.positions == "sinusoidal" else "learned"
        for row, word in enumerate((kind, "positions")):
            y = middle - 7 + 14 * row
            column.parts.text(word, start + side * 6, y, 11, "end" if side < 0 else "start")
    column.extend(GAP)


def _add_stack(column: BoxColumn, config: ModelConfig, *, is_decoder: bool) -> tuple[float, float]:
    """Draw the layers; return the y of the top and the y of the bottom of the cross-attention."""
    is_pre_norm = config.norm == "pre"
    start, first = column.y, len(column.parts.boxes)
    mixer = config.decoder_mixer if is_decoder else config.encoder_mixer
    label, detail = describe_mixer(config, mixer, is_causal=is_decoder)
    inputs: Inputs = "three" if mixer == "attention" else "one"
    column.sublayer(label, detail, "attention", is_pre_norm=is_pre_norm, inputs=inputs)
    bottom = 0.0
    if is_decoder:
        label, detail = "Multi-head attention", describe_heads(config)
        bottom = column.sublayer(
            label, detail, "attention", is_pre_norm=is_pre_norm, inputs="query"
        )
    kind = "two convolutions of 1" if config.feed_forward == "convolution" else ""
    detail = f"{config.d_model} to {config.d_ff} to {config.d_model}"
    detail += f", {kind or ACTIVATIONS[config.activation]}"
    column.sublayer("Feed forward", detail, "feed", is_pre_norm=is_pre_norm)
    top = column.y - GAP
    frame = Box(column.x - WIDTH / 2 - 24, top, WIDTH + 48, start - top, COLORS["stack"],
                outline="#999999", radius=8, role="stack")  # fmt: skip
    column.parts.boxes.insert(first, frame)
    count = config.num_decoder_layers if is_decoder else config.num_encoder_layers
    x = column.x + column.side * (WIDTH / 2 + 32)
    anchor: Anchor = "end" if column.side < 0 else "start"
    column.parts.labels.append(
        Label(f"{count} ×", x, (top + start) / 2, 16, anchor, is_bold=True, role="count")
    )
    column.extend(GAP)
    if is_pre_norm:
        column.extend(GAP, is_arrow=True)
        column.box("Layer norm", "", "norm", LOW)
    return column.y, bottom


def _add_output(column: BoxColumn, config: ModelConfig) -> None:
    """Draw the linear map and the softmax."""
    column.extend(18, is_arrow=True)
    width = config.d_embedding or config.d_model
    column.box("Linear", f"{width} to {config.target_vocab_size:,}", "linear")
    column.extend(14, is_arrow=True)
    column.box("Softmax", "", "softmax", LOW)
    column.extend(18, is_arrow=True)
    column.y -= 12
    column.parts.text("Output probabilities", column.x, column.y, 13)
    column.y -= 10


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
