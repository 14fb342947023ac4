"""The paper's Figures 1 and 2, drawn from the configuration of a model."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.pictures.layout import Anchor, Box, Label, Line, Point, caption
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.text_width import text_width

HIGH, LOW = 38.0, 22.0  # the heights of boxes with two lines and with one line of text
WIDTH = 240.0  # of a box of Figure 1
GAP = 10.0
BRANCH = 26.0  # from an incoming line to a box
OUTLINE = "#555555"
COLORS = {
    "embedding": "#fbdde2",
    "attention": "#fde3be",
    "norm": "#f3f5c4",
    "feed": "#c6e9f7",
    "linear": "#dde0f1",
    "softmax": "#cfe9cd",
    "stack": "#f4f4f4",
}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "swish": "Swish"}
SHARED = {
    "three-way": "Both embeddings and the linear map share one matrix.",
    "target": "The output embedding and the linear map share one matrix.",
    "none": "Embeddings and the linear map have matrices of their own.",
}
Inputs = Literal["one", "three", "query"]


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
    picture = Picture(
        f"Transformer, d_model = {config.d_model}",
        f"An encoder of {config.num_encoder_layers} layers and a decoder of"
        f" {config.num_decoder_layers}, {config.num_heads} heads, {config.norm}-norm.",
    )
    encoder, decoder = Column(picture, 0.0, -1), Column(picture, 344.0, 1)
    _add_embedding(encoder, config, "Inputs", config.source_vocab_size, "Input embedding")
    _add_stack(encoder, config, is_decoder=False)
    memory = encoder.y
    outputs = "Outputs (shifted right)"
    _add_embedding(decoder, config, outputs, config.target_vocab_size, "Output embedding")
    cross = _add_stack(decoder, config, is_decoder=True)
    width = config.d_embedding or config.d_model
    decoder.box("Linear", "linear", f"{width} to {config.target_vocab_size:,}", arrow=18)
    decoder.box("Softmax", "softmax", arrow=14)
    decoder.end("Output probabilities", decoder.x, "middle")
    _connect_memory(encoder, decoder, memory, cross)
    side = decoder.x + WIDTH / 2 + 100
    top = _add_one_head(picture, config, side, _add_many_heads(picture, config, side) - 44)
    left, top = encoder.x - WIDTH / 2 - 76, min(memory - 16, decoder.y, top)
    dropout = (
        f"Dropout {config.dropout:g} on the output of each sub-layer and on the sums at the bottom."
    )
    picture.labels.extend([caption(SHARED[config.tying], left, 30), caption(dropout, left, 47)])
    ends = [
        label.x + text_width(label.text, label.size)
        for label in picture.labels
        if label.anchor == "start"
    ]
    picture.area = left, top, max(side + 350, *ends) - left, 56 - top
    return picture


@dataclass
class Column:
    """A column of boxes, built from the bottom up.

    Attributes:
        picture: Gets the parts.
        x: The middle of the column.
        side: -1 if residual lines pass on the left, 1 on the right.
        y: The upper end of the column so far, which falls.
        width: The width of a box.
    """

    picture: Picture
    x: float
    side: int = 1
    y: float = 0.0
    width: float = WIDTH

    def path(self, *points: Point, is_arrow: bool = True) -> None:
        """Add lines from point to point; the last one is an arrow."""
        for place, ends in enumerate(pairwise(points), 2):
            self.picture.lines.append(Line(*ends, is_arrow and place == len(points)))

    def extend(self, by: float, *, is_arrow: bool = False) -> None:
        """Extend the line on top of the column."""
        self.path((self.x, self.y), (self.x, self.y - by), is_arrow=is_arrow)
        self.y -= by

    def text(
        self, text: str, x: float, y: float, size: float = 13.0, anchor: Anchor = "middle"
    ) -> None:
        """Add a name beside or between the boxes."""
        self.picture.labels.append(Label(text, x, y, size, anchor, role="name"))

    def end(self, title: str, x: float, anchor: Anchor = "start") -> float:
        """End the column by an arrow to a title above it; return the upper end."""
        self.extend(18, is_arrow=True)
        label = Label(title, x, self.y - 12, 14, anchor, is_bold=True, role="title")
        self.picture.labels.append(label)
        self.y -= 22
        return self.y

    def box(
        self, label: str, color: str, detail: str = "", sheets: int = 1, arrow: float = 0.0
    ) -> float:
        """Put a box on top; return the y of its middle.

        Args:
            label: Its letters shrink until they fit.
            color: A name of `COLORS`.
            detail: A second line, smaller; its letters shrink, too. Without it the box is low.
            sheets: How many heads the box stands for; at most two others are drawn behind it.
            arrow: The length of an arrow into it.
        """
        if arrow:
            self.extend(arrow, is_arrow=True)
        width, height = self.width, HIGH if detail else LOW
        self.y -= height
        for back in reversed(range(min(sheets, 3))):
            area = self.x - width / 2 + 5 * back, self.y - 5 * back, width, height
            role = "sheet" if back else "part"
            self.picture.boxes.append(Box(area, COLORS[color], 1.0, OUTLINE, 5, role))
        rows = [(label, 13.0, 0.36), (detail, 10.5, 0.69)] if detail else [(label, 13.0, 0.5)]
        for text, size, place in rows:
            size *= min(1.0, (width - 6) / text_width(text, size))
            at = self.x, self.y + height * place
            self.picture.labels.append(Label(text, *at, size, "middle", is_pale=text == detail))
        return self.y + height / 2

    def sublayer(
        self, label: str, detail: str, color: str, *, is_pre_norm: bool, inputs: Inputs = "one"
    ) -> float:
        """Add a sub-layer with its residual connection and layer norm.

        Args:
            label: The label of its box.
            detail: The second line in its box.
            color: A name of `COLORS`.
            is_pre_norm: Whether the layer norm stands before the sub-layer.
            inputs: The arrows into the box: "one", "three" for queries, keys and values, or
                "query" alone, on the outer side, where the memory gives keys and values.

        Returns:
            The y of the bottom of its box.
        """
        self.extend(GAP)
        branch = self.y
        if is_pre_norm:
            self.box("Layer norm", "norm", arrow=GAP)
        aside = self.side * WIDTH / 4
        arrows = {"one": (0.0,), "three": (-aside, 0.0, aside), "query": (aside,)}[inputs]
        self.extend(BRANCH / 2)
        self.y -= BRANCH / 2
        for x in arrows:
            turn = self.y + BRANCH / 2
            self.path((self.x, turn), (self.x + x, turn), (self.x + x, self.y))
        bottom = self.y
        self.box(label, color, detail)
        self.extend(GAP)
        middle = self.box("Add" if is_pre_norm else "Add & layer norm", "norm")
        edge, out = self.x + 2 * aside, self.x + 2 * aside + self.side * 14
        self.path((self.x, branch), (out, branch), (out, middle), (edge, middle))
        return bottom


def _add_embedding(
    column: Column, config: ModelConfig, name: str, vocab_size: int, label: str
) -> None:
    """Draw the embedding and the positions."""
    column.text(name, column.x, column.y)
    column.y -= 12
    width = config.d_embedding or config.d_model
    scale = f", times sqrt({config.d_model})" if config.scale_embeddings else ""
    mapped = f", mapped to {config.d_model}" if width != config.d_model else ""
    column.box(label, "embedding", f"{vocab_size:,} x {width}{scale}{mapped}", arrow=18)
    column.extend(14, is_arrow=config.positions != "none")
    if config.positions != "none":
        radius, side = 9.0, column.side
        column.y -= 2 * radius
        middle, start = column.y + radius, column.x + side * 62
        area = column.x - radius, column.y, 2 * radius, 2 * radius
        column.picture.boxes.append(Box(area, "#ffffff", 1.0, OUTLINE, radius, "sum"))
        column.text("+", column.x, middle, 15)
        column.path((start, middle), (column.x + side * radius, middle))
        for word, y in ((config.positions, middle - 7), ("positions", middle + 7)):
            column.text(word, start + side * 6, y, 11, "end" if side < 0 else "start")
    column.extend(GAP)


def _add_stack(column: Column, config: ModelConfig, *, is_decoder: bool) -> float:
    """Draw the layers; return the y of the bottom of the cross-attention."""
    is_pre_norm = config.norm == "pre"
    start, first = column.y, len(column.picture.boxes)
    mixer = config.decoder_mixer if is_decoder else config.encoder_mixer
    label, detail = describe_mixer(config, mixer, is_causal=is_decoder)
    inputs: Inputs = "three" if mixer == "attention" else "one"
    column.sublayer(label, detail, "attention", is_pre_norm=is_pre_norm, inputs=inputs)
    bottom = 0.0
    if is_decoder:
        bottom = column.sublayer(
            "Multi-head attention", describe_heads(config), "attention",
            is_pre_norm=is_pre_norm, inputs="query",
        )  # fmt: skip
    kind = "two convolutions of 1" if config.feed_forward == "convolution" else ""
    detail = f"{config.d_model} to {config.d_ff} to {config.d_model}"
    detail += f", {kind or ACTIVATIONS[config.activation]}"
    column.sublayer("Feed forward", detail, "feed", is_pre_norm=is_pre_norm)
    top = column.y - GAP
    area = column.x - WIDTH / 2 - 24, top, WIDTH + 48, start - top
    frame = Box(area, COLORS["stack"], outline="#999999", radius=8, role="stack")
    column.picture.boxes.insert(first, frame)
    count = config.num_decoder_layers if is_decoder else config.num_encoder_layers
    x = column.x + column.side * (WIDTH / 2 + 32)
    anchor: Anchor = "end" if column.side < 0 else "start"
    layers = Label(f"{count} ×", x, (top + start) / 2, 16, anchor, is_bold=True, role="count")
    column.picture.labels.append(layers)
    column.extend(GAP)
    if is_pre_norm:
        column.box("Layer norm", "norm", arrow=GAP)
    return bottom


def _connect_memory(encoder: Column, decoder: Column, top: float, bottom: float) -> None:
    """Draw the memory from the top of the encoder to the keys and values of the decoder."""
    between, turn = (encoder.x + decoder.x) / 2 + 6, bottom + 13
    ends = decoder.x - WIDTH * 0.36, decoder.x - WIDTH * 0.15
    path = [(encoder.x, top), (encoder.x, top - 16), (between, top - 16), (between, turn)]
    encoder.path(*path, (ends[1], turn), is_arrow=False)
    for x in ends:
        encoder.path((x, turn), (x, bottom))


def _add_many_heads(picture: Picture, config: ModelConfig, left: float) -> float:
    """Draw multi-head attention (section 3.2.2) from y = 0 up; return its upper end."""
    d_k, d_v = config.head_widths
    heads, width = config.num_heads, config.d_model
    bias = ", with biases" if config.attention_bias else ""
    picture.labels.append(caption(f"linear maps of {heads} heads{bias}", left, 0))
    column = Column(picture, left + 145, y=-20, width=280)
    for letter, size, aside in (("V", d_v, -98), ("K", d_k, 0), ("Q", d_k, 98)):
        part = Column(picture, column.x + aside, y=column.y, width=84)
        part.text(letter, part.x, part.y, 14)
        part.y -= 8
        part.box(f"{width} to {size}", "linear", sheets=heads, arrow=22)
        part.extend(36, is_arrow=True)
    column.y = part.y
    middle = column.box(_name_core(config), "attention", sheets=heads)
    column.text(f"h = {heads}", column.x + 155, middle, 11, "start")
    column.width = 160
    column.box(f"concatenate {heads} heads", "norm", arrow=36)
    column.box(f"linear W^O: {heads * d_v} to {width}", "linear", arrow=36)
    return column.end("Multi-head attention", left)


def _add_one_head(picture: Picture, config: ModelConfig, left: float, bottom: float) -> float:
    """Draw equation 1 from a height up; return its upper end."""
    d_k, d_v = config.head_widths
    is_additive = config.compatibility == "additive"
    hidden = "the mask hides padding and, in the decoder, later positions"
    hidden += f"; all but {config.window} positions" if config.window else ""
    column = Column(picture, left + 90, y=bottom - 30, width=170)
    out, foot = column.x + column.width / 2 + 34, column.y + 8
    for letter, x in (("q", column.x - 50), ("k", column.x + 50), ("v", out)):
        column.text(letter, x, foot, 14)
        if letter != "v":
            column.path((x, column.y), (x, column.y - 22))
    column.y -= 22
    column.box("energy · tanh(q + k)" if is_additive else "q · k", "feed")
    if config.scale_attention:
        column.box(f"times 1 / sqrt({d_k})", "norm", arrow=20)
    column.box("mask", "embedding", arrow=20)
    column.box("softmax", "softmax", arrow=20)
    middle = column.box("weighted sum of v", "feed", arrow=20)
    column.path((out, foot - 8), (out, middle), (column.x + column.width / 2, middle))
    for row, text in enumerate((f"d_k = {d_k}, d_v = {d_v}", hidden)):
        picture.labels.append(caption(text, left, foot + 22 + 14 * row))
    return column.end(_name_core(config), left)


def _name_core(config: ModelConfig) -> str:
    if config.compatibility == "additive":
        return "Additive attention"
    return "Scaled dot-product attention" if config.scale_attention else "Dot-product attention"


def describe_heads(config: ModelConfig) -> str:
    """Return the number of heads and their sizes."""
    d_k, d_v = config.head_widths
    sizes = f"d_k = d_v = {d_k}" if d_k == d_v else f"d_k = {d_k}, d_v = {d_v}"
    return f"{config.num_heads} heads, {sizes}"


def describe_mixer(config: ModelConfig, mixer: str, *, is_causal: bool) -> tuple[str, str]:
    """Return what mixes the positions of a layer, and its details."""
    if mixer == "attention":
        window = f", window {config.window}" if config.window else ""
        masked = "Masked multi-head" if is_causal else "Multi-head"
        return f"{masked} attention", describe_heads(config) + window
    if mixer in ("lstm", "gru"):
        return mixer.upper(), "forwards" if is_causal else "in both directions"
    adjective = "" if mixer == "convolution" else f"{mixer} "
    reach = f"the last {config.kernel_size}" if is_causal else f"{config.kernel_size} around"
    return (
        f"{adjective}convolution".capitalize(),
        f"sees {reach}{', gated' if config.gated else ''}",
    )
