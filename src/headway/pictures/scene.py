"""A picture as a list of plain shapes: geometry is decided here once, and written in three ways.

Units are pixels of 1/96 inch, x to the right and y down; colours are ``#rrggbb``.
"""

import math
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError

INK = "#222222"
PALE = "#767676"
PAPER = "#ffffff"
# The first eight of the palette that the paper's figures were drawn in.
COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
)  # fmt: skip
# A cue besides colour: what each head's lines are broken into, drawn and left out in turns.
DASHES: tuple[tuple[float, ...], ...] = (
    (), (7, 2), (3, 2), (9, 2, 2, 2), (1.5, 1.5), (6, 2, 1.5, 2, 1.5, 2), (12, 3), (4, 1, 1, 1),
)  # fmt: skip
# What is fainter than this nobody sees; it is left out.
FAINTEST = 0.005
SIZE = 13.0  # of letters
MARGIN = 16.0
SUFFIXES = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Line:
    """A straight line, or an arrow to its second end; its data say what it stands for."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str = INK
    opacity: float = 1.0
    width: float = 1.0
    dash: tuple[float, ...] = ()
    arrow: bool = False
    name: str = "line"
    data: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rect:
    """A box, filled or outlined or both; an empty colour draws nothing."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    opacity: float = 1.0
    outline: str = ""
    radius: float = 0.0
    name: str = "box"
    data: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Text:
    """A line of text; (x, y) is its start, middle or end, at half the height of small letters.

    ``turn`` is in degrees, clockwise.
    """

    x: float
    y: float
    text: str
    size: float = SIZE
    anchor: Literal["start", "middle", "end"] = "start"
    turn: float = 0.0
    colour: str = INK
    bold: bool = False
    name: str = "text"
    data: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cells:
    """A heat map: ``weights[i, j]`` is the opacity of the cell in row i and column j."""

    x: float
    y: float
    cell: float
    weights: NDArray[np.float32]
    fill: str = INK
    name: str = "cells"
    data: dict[str, int | str] = field(default_factory=dict)


Shape = Line | Rect | Text | Cells


@dataclass(frozen=True)
class Scene:
    """A picture; in a notebook it shows itself.

    Attributes:
        width: In pixels.
        height: In pixels.
        title: One line for whoever cannot see it.
        description: What is drawn, in words.
        shapes: In the order of drawing.
    """

    width: float
    height: float
    title: str
    description: str
    shapes: list[Shape]

    def svg(self) -> str:
        """Return the picture as SVG; equal pictures give equal bytes."""
        from headway.pictures.svg import write_svg

        return write_svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write ``.svg``, ``.png`` or ``.pdf``.

        Raises:
            HeadwayError: If the name ends otherwise, or matplotlib is missing for PNG and PDF.
        """
        path = check_name(path)
        if path.suffix == ".svg":
            path.write_text(self.svg(), encoding="utf-8", newline="\n")
            return
        from headway.pictures.drawing import draw

        draw(self, path)

    def items(self, name: str) -> list[Any]:
        """Return the shapes of a name."""
        return [shape for shape in self.shapes if shape.name == name]


def check_name(path: str | Path) -> Path:
    """Return the path of a picture that can be written.

    Raises:
        HeadwayError: If its end names no format.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise HeadwayError(f"{path}: pictures end in {', '.join(SUFFIXES)}")
    return path


def text_width(text: str, size: float = SIZE) -> float:
    """Estimate how wide a text is, rather too wide than too narrow."""
    return size * sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfrI.,;:'!|()[] -":
        return 0.42
    if character in "mwMW@%—…":
        return 0.98
    return 0.72 if character.isupper() else 0.63


def turned(width: float, degrees: float, size: float = SIZE) -> float:
    """Return how high a text of this width stands when turned."""
    angle = math.radians(abs(degrees))
    return width * math.sin(angle) + size * math.cos(angle)


def head_colour(head: int) -> str:
    """Return the colour of a head, counted from 0."""
    return COLOURS[head % len(COLOURS)]


def head_dash(head: int) -> tuple[float, ...]:
    """Return the dashes of a head; heads of one colour have different ones."""
    return DASHES[(head + head // len(COLOURS)) % len(DASHES)]
