"""The alignment strip: both texts as lines of words, tied by attention."""

import numpy as np

from headway.inference.alignment import usual_layer
from headway.pictures.kinds import NAMES
from headway.pictures.labels import shown
from headway.pictures.maps import AttentionMaps
from headway.pictures.scene import MARGIN, Line, Scene, Shape, Text, head_colour, text_width


def alignment_strip(maps: AttentionMaps, *, layer: int | None = None, strongest: int = 3) -> Scene:
    """Draw the words of both texts along two lines, each target word tied to its strongest sources.

    Weights are the mean of the heads of one layer of encoder-decoder attention, subwords merged; as
    many as ``strongest`` source words of a target word are tied to it, if they get a tenth or more.
    """
    found = maps.pick("cross").words()
    layer = usual_layer(len(found.weights)) if layer is None else layer
    mean = found.weights[layer].mean(0)
    sides = [[shown(label) for label in labels] for labels in (found.keys, found.queries)]
    places: list[list[float]] = []
    ends = []
    for labels in sides:
        x, middles = MARGIN, []
        for label in labels:
            wide = text_width(label, 15)
            middles.append(x + wide / 2)
            x += wide + 14
        places.append(middles)
        ends.append(x - 14)
    # The shorter line is spread to the longer one's width, so that lines stay steep.
    for side, end in enumerate(ends):
        room = max(ends) - end
        places[side] = [
            x + room * (i + 0.5) / len(places[side]) for i, x in enumerate(places[side])
        ]
    title = f"alignment: {NAMES['cross']}, layer {layer + 1} of {len(found.weights)}, mean of heads"
    width = max(max(ends) + MARGIN, 2 * MARGIN + 1.1 * text_width(title, 13))
    shapes: list[Shape] = [Text(MARGIN, 18, title, 13, bold=True, name="title")]
    up, low = 66.0, 166.0
    for i, row in enumerate(mean):
        for j in np.argsort(-row, kind="stable")[:strongest].tolist():
            if row[j] >= 0.1:
                shapes.append(
                    Line(places[0][j], up, places[1][i], low, head_colour(0), float(row[j]), 3.0,
                         name="weight", data={"query": i, "key": j})
                )  # fmt: skip
    for side, (labels, y) in enumerate(zip(sides, (up - 12, low + 12), strict=True)):
        for i, (label, x) in enumerate(zip(labels, places[side], strict=True)):
            name = "query" if side else "key"
            shapes.append(Text(x, y, label, 15, "middle", name=name, data={"token": i}))
    description = (
        f"{maps.source} | {maps.target}. Above the source, below the target; a line's opacity is"
        " the share of its attention that a target word gives to a source word."
    )
    return Scene(width, low + 36, title, description, shapes)
