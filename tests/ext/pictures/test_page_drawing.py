"""The page draws the same links, boxes and cells as the files, for every choice of its reader.

The page's script runs in Node with a few stand-ins for the elements of a browser.
"""

import json
import re
from itertools import product

import numpy as np
import pytest

from headway.ext.pictures.html_page import view_script
from headway.ext.pictures.links import choose_links, head_box
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.style import FAINTEST, INK, head_color, head_dash
from headway.ext.pictures.views import VIEWS, draw_view, view_json
from support.attention_json import read_maps
from support.pages import run_in_node

LAYERS, HEADS, TARGETS, SOURCES = 2, 11, 5, 7
# A layer, heads, and what the pointer of the page's reader is at.
CHOICES = [
    (1, [*range(HEADS)], None),
    (0, [3], None),
    (1, [2, 9], {"query": 3}),
    (0, [1, 4, 10], {"key": 6}),
    (1, [*range(HEADS)], {"key": 0}),
]
# An element keeps its name, attributes and children, and becomes JSON by itself.
BROWSER = """
class Element {
  constructor(name) { this.name = name; this.attributes = {}; this.children = []; }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  append(...children) { this.children.push(...children); }
}
globalThis.document = { createElementNS: (_, name) => new Element(name) };
"""
DRAW = """
const drawn = requests.map(([view, layer, heads, spot]) => {
  const map = { ...headway.decode(json.maps.cross), ...json.views.maps.cross };
  return headway.draw(map, { view, layer, heads, spot, pin: null }, "").svg.children;
});
console.log(JSON.stringify(drawn));
"""


@pytest.fixture(scope="module")
def maps():
    """Maps whose weights are whole bytes, as in the page's data."""
    random = np.random.default_rng(5)
    weights = random.dirichlet(np.full(SOURCES, 0.3), (LAYERS, HEADS, TARGETS)).astype(np.float32)
    queries, keys = [f" q{i}" for i in range(TARGETS)], [f" key{j}" for j in range(SOURCES)]
    exact = AttentionMaps("a", "b", {"cross": AttentionMap(queries, keys, weights)})
    return read_maps(exact.to_json())


@pytest.fixture(scope="module")
def drawn(maps):
    """The elements that the page draws, for each view and each choice."""
    requests = [[view, *choice] for view, choice in product(VIEWS, CHOICES)]
    found = run_in_node(
        f"{BROWSER}{view_script()}"
        f"const json = {json.dumps(view_json(maps))}, requests = {json.dumps(requests)};{DRAW}"
    )
    assert isinstance(found, list)
    return iter(found)


@pytest.mark.slow
def test_the_page_draws_what_the_files_draw(maps, drawn):
    found = maps.maps["cross"]
    links_seen = boxes_seen = cells_seen = 0
    for (view, (layer, heads, spot)), elements in zip(product(VIEWS, CHOICES), drawn, strict=True):
        layout = VIEWS[view].place(found, "cross")
        query, key = (spot or {}).get("query"), (spot or {}).get("key")
        links = choose_links(found, layout.links, layer, heads, query) if layout.links else []
        links = [link for link in links if key in (None, link.key)]  # The files choose no key.
        check_links(layout, heads, links, elements)
        side, name = (layout.keys, "key") if key is None else (layout.queries, "query")
        boxes = [head_box(side, getattr(link, name), link, heads) for link in links if spot]
        check_boxes(boxes, elements)
        picture = draw_view(maps, view, layer=layer, heads=heads, query=query)
        if key is None and view != "alignment":
            assert len(picture.lines) == len(links) + len(heads) * bool(layout.links)
            assert [box for box in picture.boxes if box.role == "head-box"] == boxes
        check_cells(layout, picture.cells, elements)
        links_seen += len(links)
        boxes_seen += len(boxes)
        cells_seen += len(picture.cells)
    assert min(links_seen, boxes_seen, cells_seen) > 50


def check_links(layout, heads, links, elements):
    """Compare the lines of the page with links: their ends, looks and order."""
    lines = [part["attributes"] for part in elements if part["name"] == "line"]
    assert [line["stroke-opacity"] for line in lines] == [f"{link.weight:.3f}" for link in links]
    by_place = {
        tuple(line.get(f"data-{name}") for name in ("query", "key", "head")): line for line in lines
    }
    assert len(by_place) == len(lines)
    for link in links:
        head = None if link.head is None else str(link.head)
        line = by_place[str(link.query), str(link.key), head]
        ends = [float(line[name]) for name in ("x1", "y1", "x2", "y2")]
        wanted = np.ravel(layout.link_ends(link.query, link.key, link.head))
        assert ends == pytest.approx(wanted, abs=0.11)  # The page gets tenths of a pixel.
        assert line["stroke"] == head_color(link.head or 0)
        assert layout.links
        assert float(line["stroke-width"]) == layout.links.width
        has_dashes = len(heads) > 1
        dashes = [float(part) for part in line.get("stroke-dasharray", "").split()]
        assert dashes == (list(head_dash(link.head or 0)) if has_dashes else [])


def check_boxes(boxes, elements):
    """Compare the boxes behind tokens; those of equal links may change places."""
    shown = [
        part["attributes"] for part in elements if part["attributes"].get("class") == "head-box"
    ]
    assert len(shown) == len(boxes)
    for found in shown:
        area = [float(found[name]) for name in ("x", "y", "width", "height", "fill-opacity")]
        [same] = [box for box in boxes if np.allclose(area, [*box.area, box.opacity], atol=0.11)]
        assert found["fill-opacity"] == f"{same.opacity:.3f}"
        assert found["fill"] == same.fill


def check_cells(layout, cells, elements):
    """Compare the cells of all maps: the page has a path for each shade."""
    shades = {}
    for path in (part["attributes"] for part in elements if part["name"] == "path"):
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path["d"]):
            at = cell_at(layout, float(x), float(y))
            assert at not in shades
            shades[at] = float(path["fill-opacity"])
            color = cells[at[0]].color
            assert path["fill"] == ("currentColor" if color == INK else color)
    wanted = {
        (place, row, column): round(255 * weight) / 255
        for place, found in enumerate(cells)
        for (row, column), weight in np.ndenumerate(found.values)
        if weight >= FAINTEST
    }
    assert shades == pytest.approx(wanted, abs=6e-4)


def cell_at(layout, x, y):
    """Return the map, row and column of the cell that begins at (x, y)."""
    for number, place in enumerate(layout.maps):
        left, top, width, height = place.area
        column, row = (x - left) / width * SOURCES, (y - top) / height * TARGETS
        if -0.1 < column < SOURCES - 0.1 and -0.1 < row < TARGETS - 0.1:
            return number, round(row), round(column)
    raise AssertionError(f"no map has a cell at {x}, {y}")
