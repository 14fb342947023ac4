"""The numbers of `headway.ext.pictures.explain` as a picture: each query has its lane to its sum, and the heads are joined.

Paper: section 3.2.1, equation 1, section 3.2.2, and Figure 2.
"""

from collections.abc import Sequence

from headway.errors import HeadwayError
from headway.ext.pictures.explain import Explanation, Numbers
from headway.ext.pictures.layout import CAPTION_SIZE, Anchor, Box, Cells, Label, Line, caption
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import COLORS, LETTER_SIZE, PALE, POSITIVE
from headway.ext.pictures.text_width import cut, widest

COLUMN, GAP = 74.0, 18.0  # the width of a key's column, and the space between parts
NARROW, WIDE, HIGH = 68.0, 150.0, 12.0  # the width of most vectors, of those of a query; the height
ROW = 19.0  # the height of a row of a lane
TOP, LANE = 92.0, 4 * ROW + 16  # the heights of the keys and of a lane
# Groups of vectors with the same full color; the sums are outputs of a head, too.
Q, K, VALUES, MIXED = "q", "k", "v and heads", "times W^O"
MOST_CELLS = 2000  # of queries and keys: more would be no picture


def lanes(found: Explanation, queries: Sequence[int] | None = None) -> Picture:
    """Draw the keys and values on top, and below them a lane for each query, from its products to its sum.

    A vector is a strip with a cell for each component: blue is positive, red is negative, and the opacity is the size.
    Vectors that are compared or added have the same full color; the legend has its size. The box behind a softmax weight has the weight as its opacity. A
    hidden key has no weight. On the right the outputs of all heads are concatenated and multiplied by W^O.

    Args:
        found: The numbers.
        queries: The queries that get a lane; None: all.

    Raises:
        HeadwayError: If the picture would have too many numbers.
    """
    chosen = range(len(found.q)) if queries is None else queries
    if len(chosen) * len(found.keys) > MOST_CELLS:
        raise HeadwayError(
            f"{len(chosen)} queries of {len(found.keys)} keys have too many numbers for a picture:"
            " choose one query with --word"
        )
    title = found.title + "".join(f", from {found.queries[query]}" for query in queries or ())
    drawing = LaneDrawing(found, title)
    for place, query in enumerate(chosen):
        drawing.add_lane(query, TOP + place * LANE)
    bottom = TOP + len(chosen) * LANE
    full = ", ".join(f"{size:.2f} in {name}" for name, size in drawing.full.items())
    drawing.note(f"blue: positive; red: negative; full color: {full}", drawing.first, bottom + 4)
    drawing.picture.area = 0.0, 0.0, drawing.mixed + WIDE, bottom + 14
    return drawing.picture


class LaneDrawing:
    """The parts of the picture.

    Args:
        found: The numbers; their keys and values are drawn at once.
        title: The title of the picture.

    Attributes:
        picture: The picture so far; its area is set at the end.
        full: The size that has the full color, for each group of vectors.
        first: Where the column of the first key begins; then follow
        sum: the sums,
        heads: the outputs of the heads, and
        mixed: what W^O makes of them.
    """

    def __init__(self, found: Explanation, title: str) -> None:
        self.found = found
        self.picture = Picture(
            title,
            "On top each key and its value. Below, for each query: its product with each key, the scaled product, the"
            " softmax weight, the value multiplied by its weight, and their sum. On the right the outputs of all heads,"
            " concatenated and multiplied by W^O.",
        )
        groups = {Q: [found.q], K: [found.k], VALUES: [found.v, found.heads], MIXED: [found.mixed]}
        self.full = {
            name: max(float(abs(each).max()) for each in parts) or 1.0
            for name, parts in groups.items()
        }
        scaled = f"/ √{found.q.shape[1]}" if found.scale != 1 else "not scaled"
        self.rows = ("q · k", scaled, "softmax", "softmax · v")
        self.names = [cut(f"q of {query}") for query in found.queries]
        self.first = max(WIDE, widest(self.names)) + widest(self.rows, CAPTION_SIZE) + 2 * GAP
        self.sum = self.first + COLUMN * len(found.keys) + 2 * GAP
        self.heads = self.sum + COLUMN + 2 * GAP
        self.mixed = self.heads + COLUMN * found.heads.shape[1] + 2 * GAP
        self.note("k", self.first - 8, 34, "end")
        self.note("v", self.first - 8, 54, "end")
        self.note("sum", self.sum, 74)
        self.note(f"concatenated: heads 1 to {found.heads.shape[1]}", self.heads, 74)
        self.note(MIXED, self.mixed, 74)
        for j, key in enumerate(found.keys):
            x = self.first + j * COLUMN
            self.label(cut(key, NARROW), x + NARROW / 2, 12, LETTER_SIZE, role="key")
            self.vector(found.k[j], x, 34, "k", K)
            self.vector(found.v[j], x, 54, "v")

    def note(self, text: str, x: float, y: float, anchor: Anchor = "start") -> None:
        """Add a remark."""
        self.picture.labels.append(caption(text, x, y, anchor))

    def label(
        self, text: str, x: float, y: float, size: float, *, role: str, is_pale: bool = False
    ) -> None:
        """Add a label with its middle at x."""
        self.picture.labels.append(Label(text, x, y, size, "middle", is_pale, role=role))

    def vector(
        self,
        vector: Numbers,
        left: float,
        middle: float,
        role: str,
        group: str = VALUES,
        width: float = NARROW,
    ) -> None:
        """Add a cell for each component of a vector, and a frame around them."""
        area = left, middle - HIGH / 2, width, HIGH
        self.picture.cells.append(Cells(area, vector[None] / self.full[group], POSITIVE, role))
        self.picture.boxes.append(Box(area, outline=PALE, role="frame"))

    def add_lane(self, query: int, top: float) -> None:
        """Add the lane of a query below ``top``."""
        found, picture = self.found, self.picture
        rows = [top + ROW * (row + 0.5) for row in range(4)]
        picture.labels.append(Label(self.names[query], 0, rows[0], role="q"))
        self.vector(found.q[query], 0, rows[1], "q", Q, WIDE)
        for name, y in zip(self.rows, rows, strict=True):
            self.note(name, self.first - 8, y, "end")
        for j in range(len(found.keys)):
            x, weight = self.first + j * COLUMN, found.weights[query, j]
            is_hidden = not found.visible[query, j]
            product, scaled = found.products[query, j], found.compatibilities[query, j]
            numbers = f"{product:.2f}", f"{scaled:.2f}", "hidden" if is_hidden else f"{weight:.3f}"
            for text, y in zip(numbers, rows, strict=False):
                self.label(text, x + NARROW / 2, y, 12, role="number", is_pale=is_hidden)
            if not is_hidden:
                area = x, rows[2] - ROW / 2 + 1, NARROW, ROW - 2
                picture.boxes.append(Box(area, COLORS[1], float(weight), role="weight"))
                self.vector(weight * found.v[j], x, rows[3], "part")
        y = rows[3]
        ends = self.sum - 2 * GAP, self.sum + COLUMN, self.mixed - 2 * GAP
        for start, end in zip(ends, (self.sum, self.heads, self.mixed), strict=True):
            picture.lines.append(Line((start, y), (end - 4, y), is_arrow=True, color=PALE))
        self.label("+", ends[0] + 10, y - 9, 15, role="sum")
        self.vector(found.output[query], self.sum, y, "output")
        for head, output in enumerate(found.heads[query]):
            self.vector(output, self.heads + head * COLUMN, y, "head")
        x = self.heads + found.head * COLUMN
        area = x - 2, y - HIGH / 2 - 2, NARROW + 4, HIGH + 4
        picture.boxes.append(Box(area, outline=COLORS[1], role="this head"))
        self.vector(found.mixed[query], self.mixed, y, "mixed", MIXED, WIDE)
