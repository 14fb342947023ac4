"""The colors, dashes and sizes of all pictures; the page gets them as JSON."""

INK = "#222222"
PALE = "#767676"
PAPER = "#ffffff"
# Matplotlib's first eight colors.
COLORS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
)  # fmt: skip
POSITIVE, NEGATIVE = COLORS[0], COLORS[3]  # components of vectors
# Dashes distinguish heads for readers who see no color: lengths in pixels, drawn and left out in turn.
DASHES: tuple[tuple[float, ...], ...] = (
    (), (7, 2), (3, 2), (9, 2, 2, 2), (1.5, 1.5), (6, 2, 1.5, 2, 1.5, 2), (12, 3), (4, 1, 1, 1),
)  # fmt: skip
# Smaller weights are not drawn. Weights in JSON are bytes. The limit lies between two bytes, so that the
# page and a file draw the same links.
FAINTEST = 1.5 / 255
BOX_OPACITY = 0.6  # of a head's box behind a token, if the weight is 1
LETTER_SIZE = 13.0  # pixels


def head_color(head: int) -> str:
    """Return the color of a head, counted from 0."""
    return COLORS[head % len(COLORS)]


def head_dash(head: int) -> tuple[float, ...]:
    """Return the dashes of a head, counted from 0; two heads of the same color have different dashes."""
    return DASHES[(head + head // len(COLORS)) % len(DASHES)]


def style_json() -> dict[str, object]:
    """Return the values that the page's script needs, as JSON."""
    count = len(COLORS) * len(DASHES)
    return {
        "heads": [{"color": head_color(head), "dash": head_dash(head)} for head in range(count)],
        "ink": INK,
        "paper": PAPER,
        "faintest": FAINTEST,
        "boxOpacity": BOX_OPACITY,
    }
