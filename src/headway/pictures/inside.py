"""The paper's Figure 2, drawn from a configuration: how one head attends, and how many do."""

from headway.config import ModelConfig
from headway.pictures.scene import INK, PALE, Line, Rect, Shape, Text, text_width

HIGH = 24.0
STEP = 46.0
OUTLINE = "#555555"
PINK, YELLOW, GREEN, VIOLET = "#fbdde2", "#f3f5c4", "#cfe9cd", "#dde0f1"
BLUE, ORANGE = "#c6e9f7", "#fde3be"


def inside_attention(config: ModelConfig) -> tuple[list[Shape], float, float]:
    """Draw Figure 2; returns its shapes from (0, 0) on, its width and its height."""
    shapes, high = _one_head(config)
    more, higher = _many_heads(config, high + 40)
    return [*shapes, *more], max(350.0, *_rights(shapes)), higher


def _rights(shapes: list[Shape]) -> list[float]:
    return [s.x + text_width(s.text, s.size) for s in shapes if isinstance(s, Text)]


def _one_head(config: ModelConfig) -> tuple[list[Shape], float]:
    """Draw equation 1 from the bottom up, below its title."""
    d_k, d_v = config.head_widths
    additive = config.compatibility == "additive"
    hidden = "the mask hides padding and, in the decoder, what comes later"
    hidden += f"; all but {config.window} positions" if config.window else ""
    steps = [
        ("energy · tanh(q + k)", YELLOW) if additive else ("q · k", BLUE),
        (f"times 1 / sqrt({d_k})", YELLOW) if config.scale_attention else ("", ""),
        ("mask", PINK),
        ("softmax", GREEN),
        ("weighted sum of v", BLUE),
    ]
    steps = [step for step in steps if step[0]]
    name = "Additive attention" if additive else "Scaled dot-product attention"
    if not additive and not config.scale_attention:
        name = "Dot-product attention"
    shapes: list[Shape] = [Text(0, 8, name, 14, bold=True, name="title")]
    foot = 34 + len(steps) * STEP + 14
    x, wide = 90.0, 170.0
    for row, (label, fill) in enumerate(steps):
        top = foot - 30 - row * STEP - HIGH
        shapes += _box(x - wide / 2, top, wide, label, fill)
        if row < len(steps) - 1:
            shapes.append(Line(x, top, x, top - STEP + HIGH, arrow=True))
        else:
            shapes.append(Line(x, top, x, top - 16, arrow=True))
    first, last = foot - 30, foot - 30 - (len(steps) - 1) * STEP - HIGH / 2
    for letter, at in (("q", x - 50), ("k", x + 50)):
        shapes.append(Line(at, foot - 8, at, first, arrow=True))
        shapes.append(Text(at, foot, letter, 14, "middle", name="end"))
    out = x + wide / 2 + 34
    shapes += [
        Line(out, foot - 8, out, last),
        Line(out, last, x + wide / 2, last, arrow=True),
        Text(out, foot, "v", 14, "middle", name="end"),
        Text(out + 12, foot, f"q, k: {d_k}   v: {d_v}", 10, colour=PALE, name="note"),
        Text(0, foot + 22, hidden, 10, colour=PALE, name="note"),
    ]
    return shapes, foot + 26


def _many_heads(config: ModelConfig, top: float) -> tuple[list[Shape], float]:
    """Draw equation 5 from ``top`` on."""
    d_k, d_v = config.head_widths
    heads, width = config.num_heads, config.d_model
    shapes: list[Shape] = [Text(0, top + 8, "Multi-head attention", 14, bold=True, name="title")]
    core = "additive attention" if config.compatibility == "additive" else "dot-product attention"
    middle, wide = 150.0, 290.0
    rows = [top + 48 + i * 58 for i in range(4)]
    bias = ", with biases" if config.attention_bias else ""
    shapes.append(Line(middle, rows[0], middle, rows[0] - 18, arrow=True))
    shapes += _box(middle - 80, rows[0], 160, f"linear W^O: {heads * d_v} to {width}", VIOLET)
    shapes.append(Line(middle, rows[1], middle, rows[0] + HIGH, arrow=True))
    shapes += _box(middle - 80, rows[1], 160, f"concatenate {heads} heads", YELLOW)
    for back in (2, 1, 0):  # as many sheets as can be told apart
        shift = 5.0 * back
        if back < heads:
            if back == 0:
                shapes.append(Line(middle, rows[2], middle, rows[1] + HIGH, arrow=True))
            label = core if back == 0 else ""
            shapes += _box(middle - wide / 2 + shift, rows[2] - shift, wide - 10, label, ORANGE)
    foot = rows[3] + HIGH + 30
    for letter, size, place in (("V", d_v, -1), ("K", d_k, 0), ("Q", d_k, 1)):
        x = middle + place * 98 - 5
        shapes.append(Line(x, rows[3], x, rows[2] + HIGH, arrow=True))
        for back in (2, 1, 0):
            if back < heads:
                shift = 5.0 * back
                label = f"{width} to {size}" if back == 0 else ""
                shapes += _box(x - 42 + shift, rows[3] - shift, 84, label, VIOLET)
        shapes.append(Line(x, foot - 8, x, rows[3] + HIGH, arrow=True))
        shapes.append(Text(x, foot, letter, 14, "middle", name="end"))
    words = f"{heads} heads{bias}"
    shapes.append(Text(middle + wide / 2 + 8, rows[2] + 4, f"h = {heads}", 11, name="note"))
    shapes.append(Text(0, foot + 20, f"linear maps of {words}", 10, colour=PALE, name="note"))
    return shapes, foot + 30


def _box(x: float, y: float, wide: float, label: str, fill: str) -> list[Shape]:
    box = Rect(x, y, wide, HIGH, fill, outline=OUTLINE, radius=4, name="part" if label else "sheet")
    if not label:
        return [box]
    size = 12 * min(1.0, (wide - 6) / text_width(label, 12))
    text = Text(x + wide / 2, y + HIGH / 2, label, size, "middle", colour=INK, name="label")
    return [box, text]
