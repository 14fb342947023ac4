"""The paper's Figure 2, drawn from a configuration: one head, and all heads of an attention."""

from headway.config import ModelConfig
from headway.ext.pictures.diagram_parts import Parts
from headway.ext.pictures.text_width import text_width

HEIGHT = 24.0  # of a box
STEP = 46.0  # from box to box
PINK, YELLOW, GREEN, VIOLET = "#fbdde2", "#f3f5c4", "#cfe9cd", "#dde0f1"
BLUE, ORANGE = "#c6e9f7", "#fde3be"


def attention_figure(config: ModelConfig) -> tuple[Parts, float, float]:
    """Return the parts of Figure 2, from (0, 0) on, with their width and height."""
    one, height = _one_head(config)
    many, many_height = _many_heads(config)
    one.add(many, 0, height + 40)
    ends = [label.x + text_width(label.text, label.size) for label in one.labels
            if label.anchor == "start"]  # fmt: skip
    return one, max(350.0, *ends), height + 40 + many_height


def _one_head(config: ModelConfig) -> tuple[Parts, float]:
    """Draw equation 1 from the bottom up; returns the height."""
    d_k, d_v = config.head_widths
    is_additive = config.compatibility == "additive"
    hidden = "the mask hides padding and, in the decoder, later positions"
    hidden += f"; all but {config.window} positions" if config.window else ""
    steps = [
        ("energy · tanh(q + k)", YELLOW) if is_additive else ("q · k", BLUE),
        (f"times 1 / sqrt({d_k})", YELLOW) if config.scale_attention else ("", ""),
        ("mask", PINK),
        ("softmax", GREEN),
        ("weighted sum of v", BLUE),
    ]
    steps = [step for step in steps if step[0]]
    name = "Additive attention" if is_additive else "Scaled dot-product attention"
    if not is_additive and not config.scale_attention:
        name = "Dot-product attention"
    parts = _titled(name)
    foot = 34 + len(steps) * STEP + 14
    x, width = 90.0, 170.0
    for row, (label, fill) in enumerate(steps):
        top = foot - 30 - row * STEP - HEIGHT
        parts.box((x - width / 2, top, width, HEIGHT), label, fill)
        parts.arrow(x, top, x, top - (STEP - HEIGHT if row < len(steps) - 1 else 16))
    first, last = foot - 30, foot - 30 - (len(steps) - 1) * STEP - HEIGHT / 2
    for letter, at in (("q", x - 50), ("k", x + 50)):
        parts.arrow(at, foot - 8, at, first)
        parts.text(letter, at, foot, 14)
    out = x + width / 2 + 34
    parts.line(out, foot - 8, out, last)
    parts.arrow(out, last, x + width / 2, last)
    parts.text("v", out, foot, 14)
    parts.note(f"d_k = {d_k}, d_v = {d_v}", out + 12, foot, 10)
    parts.note(hidden, 0, foot + 22, 10)
    return parts, foot + 26


def _many_heads(config: ModelConfig) -> tuple[Parts, float]:
    """Draw multi-head attention (section 3.2.2) from the bottom up; returns the height."""
    d_k, d_v = config.head_widths
    heads, width = config.num_heads, config.d_model
    parts = _titled("Multi-head attention")
    core = "additive attention" if config.compatibility == "additive" else "dot-product attention"
    middle, wide = 150.0, 290.0
    rows = [48.0 + i * 58 for i in range(4)]
    parts.arrow(middle, rows[0], middle, rows[0] - 18)
    parts.box((middle - 80, rows[0], 160, HEIGHT), f"linear W^O: {heads * d_v} to {width}", VIOLET)
    parts.arrow(middle, rows[1], middle, rows[0] + HEIGHT)
    parts.box((middle - 80, rows[1], 160, HEIGHT), f"concatenate {heads} heads", YELLOW)
    parts.arrow(middle, rows[2], middle, rows[1] + HEIGHT)
    _add_sheets(parts, (middle - wide / 2, rows[2], wide - 10, HEIGHT), core, ORANGE, heads)
    foot = rows[3] + HEIGHT + 30
    for letter, size, place in (("V", d_v, -1), ("K", d_k, 0), ("Q", d_k, 1)):
        x = middle + place * 98 - 5
        parts.arrow(x, rows[3], x, rows[2] + HEIGHT)
        _add_sheets(parts, (x - 42, rows[3], 84, HEIGHT), f"{width} to {size}", VIOLET, heads)
        parts.arrow(x, foot - 8, x, rows[3] + HEIGHT)
        parts.text(letter, x, foot, 14)
    bias = ", with biases" if config.attention_bias else ""
    parts.text(f"h = {heads}", middle + wide / 2 + 8, rows[2] + 4, 11, "start")
    parts.note(f"linear maps of {heads} heads{bias}", 0, foot + 20, 10)
    return parts, foot + 30


def _titled(title: str) -> Parts:
    parts = Parts()
    parts.title(title, 0, 8)
    return parts


def _add_sheets(
    parts: Parts, area: tuple[float, float, float, float], label: str, fill: str, heads: int
) -> None:
    """Add a box for the first head and, behind it, boxes for at most two others."""
    x, y, width, height = area
    for back in range(min(heads, 3) - 1, -1, -1):
        place = (x + 5.0 * back, y - 5.0 * back, width, height)
        parts.box(place, "" if back else label, fill)
