"""The colors, dashes and letter sizes of all pictures; the page gets the same values as JSON."""

INK = "#222222"
PALE = "#767676"
PAPER = "#ffffff"
# Matplotlib's first eight colors.
COLORS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
)  # fmt: skip
# A second cue beside color: lengths in pixels, drawn and left out in turn.
DASHES: tuple[tuple[float, ...], ...] = (
    (), (7, 2), (3, 2), (9, 2, 2, 2), (1.5, 1.5), (6, 2, 1.5, 2, 1.5, 2), (12, 3), (4, 1, 1, 1),
)  # fmt: skip
# Smaller weights are not drawn. Weights in JSON are bytes, and this limit lies between two bytes:
# the page and a file draw the same lines.
FAINTEST = 1.5 / 255
ALIGNMENT_LINKS = 3  # at most so many source words are linked to a target word,
ALIGNMENT_LEAST = 0.1  # each with this weight or more
SHARE_OPACITY = 0.6  # of a head's box behind a token, for a weight of 1
LETTER_SIZE = 13.0  # pixels
LINK_WIDTH = 1.6
ALIGNMENT_LINK_WIDTH = 3.0


def head_color(head: int) -> str:
    """Return the color of a head, counted from 0."""
    return COLORS[head % len(COLORS)]


def head_dash(head: int) -> tuple[float, ...]:
    """Return the dashes of a head, counted from 0; heads of the same color have other dashes."""
    return DASHES[(head + head // len(COLORS)) % len(DASHES)]


def style_json() -> dict[str, object]:
    """Return what the page's script needs, as JSON values."""
    count = len(COLORS) * len(DASHES)
    return {
        "heads": [{"color": head_color(head), "dash": head_dash(head)} for head in range(count)],
        "ink": INK,
        "paper": PAPER,
        "faintest": FAINTEST,
        "alignmentLinks": ALIGNMENT_LINKS,
        "alignmentLeast": ALIGNMENT_LEAST,
        "shareOpacity": SHARE_OPACITY,
        "letterSize": LETTER_SIZE,
        "linkWidth": LINK_WIDTH,
        "alignmentLinkWidth": ALIGNMENT_LINK_WIDTH,
    }
