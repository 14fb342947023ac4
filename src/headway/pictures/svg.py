"""Scenes as SVG: text stays text, and equal scenes give equal bytes."""

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from headway.pictures.scene import FAINTEST, INK, PAPER, Cells, Line, Rect, Scene, Shape, Text

FONTS = "Helvetica, Arial, 'DejaVu Sans', 'Noto Sans', sans-serif"


def write_svg(scene: Scene) -> str:
    """Return a whole SVG document."""
    width, height = number(scene.width), number(scene.height)
    body = "\n".join(_shape(shape) for shape in scene.shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc"'
        f' font-family="{FONTS}" fill="{INK}">\n'
        f'<title id="title">{words(scene.title)}</title>\n'
        f'<desc id="desc">{words(scene.description)}</desc>\n'
        f'<rect class="paper" width="{width}" height="{height}" fill="{PAPER}"/>\n'
        f"{body}\n</svg>\n"
    )


def number(value: float) -> str:
    """Write a number with at most four decimals, and no more of them than it has."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def words(text: str) -> str:
    """Escape a text; characters that XML cannot hold become U+FFFD."""
    return escape(plain(text))


def plain(text: str) -> str:
    """Replace what XML cannot hold, and escape nothing."""
    return "".join(c if _allowed(ord(c)) else "\ufffd" for c in text)


def _allowed(code: int) -> bool:
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )


def _shape(shape: Shape) -> str:
    match shape:
        case Line():
            return _line(shape)
        case Rect():
            return _rect(shape)
        case Text():
            return _text(shape)
        case Cells():
            return _cells(shape)


def _line(line: Line) -> str:
    values = {
        **_ends(line),
        "stroke": line.colour,
        "stroke-width": line.width,
        "stroke-opacity": line.opacity,
    }
    if line.dash:
        values["stroke-dasharray"] = " ".join(number(part) for part in line.dash)
    drawn = f"<line{_attributes(line.name, line.data, values)}/>"
    if not line.arrow:
        return drawn
    tips = " ".join(f"{number(x)},{number(y)}" for x, y in arrow_head(line))
    return f'{drawn}\n<polygon points="{tips}" fill="{line.colour}"/>'


def _ends(line: Line) -> dict[str, float | str]:
    return {"x1": line.x1, "y1": line.y1, "x2": line.x2, "y2": line.y2}


def arrow_head(line: Line, length: float = 7.0) -> list[tuple[float, float]]:
    """Return the three corners of an arrow's head."""
    dx, dy = line.x2 - line.x1, line.y2 - line.y1
    size = (dx * dx + dy * dy) ** 0.5 or 1.0
    dx, dy = dx / size * length, dy / size * length
    x, y = line.x2 - dx, line.y2 - dy
    return [(line.x2, line.y2), (x - dy * 0.4, y + dx * 0.4), (x + dy * 0.4, y - dx * 0.4)]


def _rect(rect: Rect) -> str:
    values: dict[str, float | str] = {
        "x": rect.x,
        "y": rect.y,
        "width": rect.width,
        "height": rect.height,
        "fill": rect.fill or "none",
    }
    if rect.radius:
        values["rx"] = rect.radius
    if rect.fill and rect.opacity < 1:
        values["fill-opacity"] = rect.opacity
    if rect.outline:
        values["stroke"] = rect.outline
    return f"<rect{_attributes(rect.name, rect.data, values)}/>"


def _text(text: Text) -> str:
    values: dict[str, float | str] = {"x": text.x, "y": text.y, "font-size": text.size}
    # Half the height of small letters; few programs know other base lines.
    values["dy"] = "0.35em"
    if text.anchor != "start":
        values["text-anchor"] = text.anchor
    if text.turn:
        values["transform"] = f"rotate({number(text.turn)} {number(text.x)} {number(text.y)})"
    if text.colour != INK:
        values["fill"] = text.colour
    if text.bold:
        values["font-weight"] = "bold"
    return f"<text{_attributes(text.name, text.data, values)}>{words(text.text)}</text>"


def _cells(cells: Cells) -> str:
    # One unit is a cell: there are many of them, so each is said in few words.
    place = f"translate({number(cells.x)} {number(cells.y)}) scale({number(cells.cell)})"
    values = {"fill": cells.fill, "transform": place, "shape-rendering": "crispEdges"}
    rows = [f"<g{_attributes(cells.name, cells.data, values)}>"]
    for i, row in enumerate(cells.weights.tolist()):
        rows += [
            f'<path d="M{j} {i}h1v1h-1z" fill-opacity="{number(round(weight, 3))}"/>'
            for j, weight in enumerate(row)
            if weight >= FAINTEST
        ]
    return "\n".join([*rows, "</g>"])


def _attributes(name: str, data: Mapping[str, int | str], values: Mapping[str, float | str]) -> str:
    named = {"class": name, **values, **{f"data-{key}": value for key, value in data.items()}}
    return "".join(
        f" {key}={quoteattr(plain(value) if isinstance(value, str) else number(value))}"
        for key, value in named.items()
    )
