"""The numbers of `headway.ext.pictures.explain` as a picture: each query has its lane to its sum, and the heads are joined.

Paper: section 3.2.1, equation 1, section 3.2.2, and Figure 2.
"""

from collections.abc import Sequence
from dataclasses import replace

from headway.errors import HeadwayError
from headway.ext.pictures.explain import Explanation, Numbers
from headway.ext.pictures.layout import (
    CAPTION_SIZE,
    Box,
    Label,
    Line,
    MapPlace,
    PictureLayout,
    caption,
)
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import COLORS, LETTER_SIZE, PALE
from headway.ext.pictures.text_width import cut, widest

COLUMN, GAP = 74.0, 18.0  # the width of a key's column, and the space between parts
NARROW, WIDE, HIGH = (
    68.0,
    150.0,
    12.0,
)  # the width of most vectors, of those of a query, and the height
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
    drawing = LaneDrawing(found)
    for place, query in enumerate(chosen):
        drawing.add_lane(query, TOP + place * LANE)
    bottom = TOP + len(chosen) * LANE
    full = ", ".join(f"{size:.2f} in {name}" for name, size in drawing.full.items())
    legend = f"blue: positive; red: negative; full color: {full}"
    drawing.layout.labels.append(caption(legend, drawing.first, bottom + 4, role="legend"))
    return Picture(
        found.title + "".join(f", from {found.queries[query]}" for query in queries or ()),
        "On top each key and its value. Below, for each query: its product with each key, the scaled product, the softmax"
        " weight, the value multiplied by its weight, and their sum. On the right the outputs of all heads, concatenated"
        " and multiplied by W^O.",
        replace(drawing.layout, width=drawing.mixed + WIDE, height=bottom + 14),
        cells=drawing.cells,
    )


class LaneDrawing:
    """The parts of the picture.

    Args:
        found: The numbers; their keys and values are drawn at once.

    Attributes:
        layout: The parts so far; its size is set at the end.
        cells: The components of each vector, from -1 to 1.
        full: The size that has the full color, for each group of vectors.
        first: Where the column of the first key begins; then follow
        sum: the sums,
        heads: the outputs of the heads, and
        mixed: what W^O makes of them.
    """

    def __init__(self, found: Explanation) -> None:
        self.found, self.layout = found, PictureLayout(0, 0)
        self.cells: list[Numbers] = []
        groups = {Q: [found.q], K: [found.k], VALUES: [found.v, found.heads], MIXED: [found.mixed]}
        self.full = {
            name: max(float(abs(each).max()) for each in parts) or 1.0
            for name, parts in groups.items()
        }
        scaled = f"/ √{found.q.shape[1]}" if found.scale != 1 else "not scaled"
        self.rows = ("q · k", scaled, "softmax", "softmax · v")
        labels = [cut(f"q of {query}") for query in found.queries]
        self.first = max(WIDE, widest(labels)) + widest(self.rows, CAPTION_SIZE) + 2 * GAP
        self.sum = self.first + COLUMN * len(found.keys) + 2 * GAP
        self.heads = self.sum + COLUMN + 2 * GAP
        self.mixed = self.heads + COLUMN * found.heads.shape[1] + 2 * GAP
        joined = f"concatenated: heads 1 to {found.heads.shape[1]}"
        self.layout.labels.extend([
            *(caption(name, self.first - 8, y, "end") for name, y in (("k", 34), ("v", 54))),
            caption("sum", self.sum, 74), caption(joined, self.heads, 74), caption(MIXED, self.mixed, 74),
        ])  # fmt: skip
        for j, key in enumerate(found.keys):
            x = self.first + j * COLUMN
            label = Label(cut(key, NARROW), x + NARROW / 2, 12, LETTER_SIZE, "middle", role="key")
            self.layout.labels.append(label)
            self._add_vector(found.k[j], x, 34, "k", K)
            self._add_vector(found.v[j], x, 54, "v")

    def add_lane(self, query: int, top: float) -> None:
        """Add the lane of a query below ``top``."""
        found, layout = self.found, self.layout
        rows = [top + ROW * (row + 0.5) for row in range(4)]
        layout.labels.append(Label(cut(f"q of {found.queries[query]}"), 0, rows[0], role="q"))
        self._add_vector(found.q[query], 0, rows[1], "q", Q, WIDE)
        layout.labels.extend(
            [
                caption(name, self.first - 8, y, "end")
                for name, y in zip(self.rows, rows, strict=True)
            ]
        )
        for j in range(len(found.keys)):
            self._add_key(query, j, rows)
        y = rows[3]
        ends = self.sum - 2 * GAP, self.sum + COLUMN, self.mixed - 2 * GAP
        for start, end in zip(ends, (self.sum, self.heads, self.mixed), strict=True):
            layout.lines.append(Line(start, y, end - 4, y, is_arrow=True, color=PALE))
        layout.labels.append(Label("+", ends[0] + 10, y - 9, 15, "middle", role="sum"))
        self._add_vector(found.output[query], self.sum, y, "output")
        for head, output in enumerate(found.heads[query]):
            x = self.heads + head * COLUMN
            self._add_vector(output, x, y, "head")
            if head == found.head:
                area = x - 2, y - HIGH / 2 - 2, NARROW + 4, HIGH + 4
                layout.boxes.append(Box(*area, outline=COLORS[1], role="this head"))
        self._add_vector(found.mixed[query], self.mixed, y, "mixed", MIXED, WIDE)

    def _add_key(self, query: int, key: int, rows: Sequence[float]) -> None:
        """Add the numbers of a query and a key, and the key's part of the sum."""
        found, x = self.found, self.first + key * COLUMN
        weight, is_hidden = found.weights[query, key], not found.visible[query, key]
        numbers = (
            f"{found.products[query, key]:.2f}", f"{found.compatibilities[query, key]:.2f}",
            "hidden" if is_hidden else f"{weight:.3f}",
        )  # fmt: skip
        self.layout.labels.extend(
            [
                Label(text, x + NARROW / 2, y, 12, "middle", is_pale=is_hidden, role="number")
                for text, y in zip(numbers, rows, strict=False)
            ]
        )
        if not is_hidden:
            area = x, rows[2] - ROW / 2 + 1, NARROW, ROW - 2
            self.layout.boxes.append(Box(*area, COLORS[1], float(weight), role="weight"))
            self._add_vector(weight * found.v[key], x, rows[3], "part")

    def _add_vector(
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
        self.layout.maps.append(MapPlace(area, is_vector=True))
        self.layout.boxes.append(Box(*area, outline=PALE, role=role))
        self.cells.append(vector[None] / self.full[group])
