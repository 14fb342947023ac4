"""The numbers of `headway.ext.pictures.explain` as a picture: a lane for each key, from k to its share of v.

Paper: section 3.2.1, equation 1, and Figure 2 (left).
"""

from headway.ext.pictures.explain import Explanation, Numbers
from headway.ext.pictures.labels import short_labels
from headway.ext.pictures.layout import Box, Label, Line, PictureLayout, caption
from headway.ext.pictures.picture import Picture
from headway.ext.pictures.style import COLORS, PALE
from headway.ext.pictures.text_width import widest

LANE = 26.0  # from key to key
STRIP = (160.0, 14.0)  # the width and height of a vector
NUMBER = 76.0  # the width of a column of numbers
GAP = 18.0  # between columns
POSITIVE, NEGATIVE = COLORS[0], COLORS[3]


def lanes(found: Explanation) -> Picture:
    """Draw the query on top, a lane for each key, and the output below.

    A vector is a strip of boxes, one for each component: blue is positive, red is negative, and the opacity is
    the size, compared with the largest component of all queries, keys or values shown. The box behind a softmax
    weight has the weight as its opacity. A hidden key has neither weight nor value.
    """
    keys = short_labels(found.keys)
    k_left = max(widest(keys), widest([f"q of {found.query}"])) + GAP
    product = k_left + STRIP[0] + GAP
    scaled, weight = product + NUMBER, product + 2 * NUMBER
    v_left = weight + NUMBER + GAP
    top, first = 10.0, 68.0
    bottom = first + LANE * len(keys) + 26
    by = f"q·k / √{len(found.q)}" if found.scale != 1 else "not scaled"
    labels = [Label(f"q of {found.query}", k_left - GAP / 2, top, anchor="end", role="q")]
    captions = {
        "k": k_left + STRIP[0] / 2, "q·k": product + NUMBER / 2, by: scaled + NUMBER / 2,
        "softmax": weight + NUMBER / 2, "v": v_left + STRIP[0] / 2,
    }  # fmt: skip
    labels += [caption(text, x, first - 22, "middle") for text, x in captions.items()]
    size = {"k": max(abs(found.q).max(), abs(found.k).max()), "v": abs(found.v).max()}
    boxes = _strip(found.q, k_left, top, size["k"], "q")
    for j, key in enumerate(keys):
        y, is_hidden = first + LANE * j, not found.visible[j]
        labels.append(Label(key, k_left - GAP / 2, y, anchor="end", is_pale=is_hidden, role="key"))
        boxes += _strip(found.k[j], k_left, y, size["k"], "k")
        weights = "hidden" if is_hidden else f"{found.weights[j]:.3f}"
        numbers = (f"{found.products[j]:.2f}", f"{found.compatibilities[j]:.2f}", weights)
        labels += [
            Label(text, x + NUMBER / 2, y, 12, "middle", is_pale=is_hidden, role="number")
            for text, x in zip(numbers, (product, scaled, weight), strict=True)
        ]
        if not is_hidden:
            opacity = float(found.weights[j])
            boxes.append(
                Box(weight + 8, y - 10, NUMBER - 16, 20, COLORS[1], opacity, role="weight")
            )
            boxes += _strip(found.v[j], v_left, y, size["v"], "v")
    text = "output: sum of softmax · v"
    labels.append(Label(text, v_left - GAP / 2, bottom, anchor="end", role="output"))
    boxes += _strip(found.output, v_left, bottom, size["v"], "output")
    middles = k_left + STRIP[0] / 2, v_left + STRIP[0] / 2
    legend = "blue: positive; red: negative; the stronger, the larger"
    labels.append(caption(legend, k_left, bottom + 24, role="legend"))
    lines = [
        Line(middles[0], top + 9, middles[0], first - 30, is_arrow=True, color=PALE, role="q"),
        Line(
            middles[1], bottom - 28, middles[1], bottom - 9, is_arrow=True, color=PALE, role="sum"
        ),
    ]
    return Picture(
        f"{found.title}, from {found.query}",
        "From left to right: each key, its product with the query, the scaled product, the softmax weight and"
        " the value. Below: the sum of the values, each multiplied by its weight.",
        PictureLayout(v_left + STRIP[0], bottom + 34, labels, boxes),
        lines=lines,
    )


def _strip(vector: Numbers, left: float, middle: float, largest: float, role: str) -> list[Box]:
    """Place a box for each component of a vector, and a frame around them."""
    width, top = STRIP[0] / len(vector), middle - STRIP[1] / 2
    boxes = [
        Box(
            left + i * width, top, width, STRIP[1], POSITIVE if value > 0 else NEGATIVE,
            float(abs(value) / (largest or 1.0)), role=role,
        )
        for i, value in enumerate(vector)
    ]  # fmt: skip
    return [*boxes, Box(left, top, *STRIP, outline=PALE, role="frame")]
