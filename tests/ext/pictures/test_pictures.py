"""Layouts and files show the weights of the maps: the tests read them back."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.style import FAINTEST, head_color
from headway.ext.pictures.text_width import text_width
from headway.ext.pictures.views import VIEWS, draw_view

SVG = "{http://www.w3.org/2000/svg}"
LAYERS, HEADS, TARGETS, SOURCES = 3, 11, 5, 7


def labels(count, last="</s>"):
    return [f" w{i}" for i in range(count - 1)] + [last]


@pytest.fixture(scope="module")
def maps():
    random = np.random.default_rng(5)

    def draw(rows, columns):
        return random.dirichlet(np.full(columns, 0.4), (LAYERS, HEADS, rows)).astype(np.float32)

    return AttentionMaps(
        "a source <&>",
        "a target",
        {
            "encoder": AttentionMap(labels(SOURCES), labels(SOURCES), draw(SOURCES, SOURCES)),
            "cross": AttentionMap(labels(TARGETS), labels(SOURCES), draw(TARGETS, SOURCES)),
        },
    )


def read(picture):
    pytest.importorskip("matplotlib")
    return ElementTree.fromstring(picture.svg())


def group(root, name):
    [found] = [element for element in root.iter(f"{SVG}g") if element.get("id") == name]
    return found


def style(element):
    pairs = (part.split(":", 1) for part in str(element.get("style")).split(";"))
    return {name.strip(): value.strip() for name, value in pairs}


@pytest.mark.slow
@pytest.mark.parametrize(("view", "heads"), [("heads", [2, 9]), ("paper", None)])
def test_every_link_shows_its_weight(maps, view, heads):
    """The links are the weights, and the lines of the file are the links, in the same order."""
    picture = draw_view(maps, view, "cross", layer=1, heads=heads)
    weights = maps.maps["cross"].weights[1]
    chosen = list(range(HEADS)) if heads is None else heads
    assert {(link.head, link.query, link.key): link.weight for link in picture.links} == {
        (h, i, j): float(weights[h, i, j])
        for h in chosen
        for i in range(TARGETS)
        for j in range(SOURCES)
        if weights[h, i, j] >= FAINTEST
    }
    assert len({(li.head, li.query, li.key) for li in picture.links}) == len(picture.links)
    lines = group(read(picture), "links").findall(f"{SVG}path")
    assert len(lines) == len(picture.links)
    pixel = 0.75  # points
    for line, link in zip(lines, picture.links, strict=True):
        assert link.head is not None
        looks = style(line)
        assert looks["stroke"] == head_color(link.head)
        assert float(looks.get("stroke-opacity", 1)) == pytest.approx(link.weight, abs=6e-5)
        ends = np.array(re.findall(r"-?[\d.]+", str(line.get("d"))), float).reshape(2, 2)
        wanted = np.array(picture.layout.link_ends(link.query, link.key, link.head))
        moved = (wanted + np.array([16, picture.header_height])) * pixel
        assert ends == pytest.approx(moved, abs=0.01)
    # Heads of the same color differ in their dashes.
    cues = {(style(line)["stroke"], style(line).get("stroke-dasharray")) for line in lines}
    assert len(cues) == len(chosen)


def test_links_end_at_their_tokens(maps):
    """Columns have tokens and links at the same heights, the paper's orientation at the same x."""
    for view, along in (("heads", 1), ("paper", 0)):
        layout = draw_view(maps, view, "cross").layout
        queries, keys = layout.queries, layout.keys
        assert queries
        assert keys
        assert len(queries.texts) == TARGETS
        assert len(keys.texts) == SOURCES
        assert queries.is_turned == keys.is_turned == (view == "paper")
        across = 1 - along
        for query in range(TARGETS):
            for key in range(SOURCES):
                ends = [layout.link_ends(query, key, head) for head in range(HEADS)]
                assert len(set(ends)) == HEADS
                for start, end in ends:
                    assert abs(start[along] - queries.points[query][along]) < 11
                    assert abs(end[along] - keys.points[key][along]) < 11
                    assert queries.points[query][across] < start[across]
                    assert end[across] < keys.points[key][across]


@pytest.mark.slow
@pytest.mark.parametrize("view", ["heads", "paper"])
def test_the_view_of_one_query_has_only_its_links(maps, view):
    picture = draw_view(maps, view, "encoder", layer=0, query=3)
    weights = maps.maps["encoder"].weights[0, :, 3]
    assert {link.query for link in picture.links} == {3}
    assert len(picture.links) == (weights >= FAINTEST).sum()
    # Behind each key the heads have boxes side by side, which together fill its area.
    keys = picture.layout.keys
    assert keys
    assert len(picture.boxes) == len(picture.links)
    for link, box in zip(picture.links, picture.boxes, strict=True):
        assert link.head is not None
        assert (box.fill, box.opacity) == (head_color(link.head), 0.6 * link.weight)
        x, y, width, height = keys.areas[link.key]
        part = link.head / HEADS
        if view == "paper":
            wanted = x, y + height * part, width, height / HEADS
        else:
            wanted = x + width * part, y, width / HEADS, height
        assert (box.x, box.y, box.width, box.height) == pytest.approx(wanted)
    root = read(picture)
    bold = [
        number
        for number in range(SOURCES)
        if "700" in str(group(root, f"query-{number}")[-1].get("style"))
        or "bold" in str(group(root, f"query-{number}")[-1].get("style"))
    ]
    assert bold == [3]


def cells_of(root, name, shape):
    """Return the opacity in the middle of each cell of a map."""
    from matplotlib.image import imread

    [image] = [e for e in root.iter(f"{SVG}image") if e.get("id") == name]
    [data] = [v for k, v in image.attrib.items() if k.endswith("href")]
    pixels = imread(io.BytesIO(base64.b64decode(data.split(",")[1])), format="png")
    if "matrix" in str(image.get("transform")) or "scale(1 -1)" in str(image.get("transform")):
        pixels = pixels[::-1]
    rows, columns = (
        ((np.arange(count) + 0.5) * size / count).astype(int)
        for count, size in zip(shape, pixels.shape, strict=False)
    )
    return np.asarray(pixels[np.ix_(rows, columns)][..., 3])


def test_the_grid_shows_every_head(maps):
    picture = draw_view(maps, "grid", "cross")
    weights = maps.maps["cross"].weights
    root = read(picture)
    assert len({place.area for place in picture.layout.maps}) == LAYERS * HEADS
    for place, cells in zip(picture.layout.maps, picture.cells, strict=True):
        assert place.layer is not None
        assert place.head is not None
        expected = weights[place.layer, place.head]
        assert np.array_equal(cells, expected)
        drawn = cells_of(root, f"map-{place.layer}-{place.head}", (TARGETS, SOURCES))
        assert drawn == pytest.approx(np.where(expected >= FAINTEST, expected, 0), abs=0.0041)


def test_a_heat_map_is_the_mean_of_its_heads(maps):
    weights = maps.maps["cross"].weights
    for heads in ([4], [1, 5], None):
        picture = draw_view(maps, "heat", layer=2, heads=heads)
        [cells] = picture.cells
        chosen = list(range(HEADS)) if heads is None else heads
        assert np.allclose(cells, weights[2, chosen].mean(0), atol=1e-6)
        drawn = cells_of(read(picture), "map", (TARGETS, SOURCES))
        assert drawn == pytest.approx(np.where(cells >= FAINTEST, cells, 0), abs=0.0041)


def test_the_alignment_links_each_target_word_to_its_strongest_sources(maps):
    picture = draw_view(maps, "alignment")
    mean = maps.maps["cross"].weights[-1].mean(0)  # Shallow models align best in the last layer.
    linked = {}
    for link in picture.links:
        linked.setdefault(link.query, set()).add(link.key)
        assert link.weight == pytest.approx(mean[link.query, link.key])
    for i, row in enumerate(mean):
        assert linked[i] == {j for j in np.argsort(-row)[:3].tolist() if row[j] >= 0.1}
    assert len(group(read(picture), "links").findall(f"{SVG}path")) == len(picture.links)


def extent(text, x, y, size, anchor, *, is_turned):
    """Return left, top, right and bottom of a label."""
    width = text_width(text, size)
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
    if is_turned:  # upwards
        return [x - size / 2, y + before - width, x + size / 2, y + before]
    return [x - before, y - size / 2, x - before + width, y + size / 2]


def side_extents(side):
    return [
        extent(text, *point, side.size, side.anchor, is_turned=side.is_turned)
        for text, point in zip(side.texts, side.points, strict=True)
    ]


def check_apart(taken):
    """Check that no label covers another."""
    for number, a in enumerate(taken):
        for b in taken[:number]:
            is_apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert is_apart, (a, b)


def check_layout(layout):
    """Check that nothing leaves a layout, and that no label covers another or the links."""
    taken = [extent(t.text, t.x, t.y, t.size, t.anchor, is_turned=False) for t in layout.labels]
    for side in (layout.queries, layout.keys):
        if side:
            taken += side_extents(side)
    for left, top, right, bottom in taken:
        assert -1 <= left <= right <= layout.width + 1
        assert -2 <= top <= bottom <= layout.height + 2
    check_apart(taken)
    for place in layout.maps:
        x, y, width, height = place.area
        assert 0 <= x <= x + width <= layout.width
        assert 0 <= y <= y + height <= layout.height
        for a in taken:
            assert a[2] <= x or x + width <= a[0] or a[3] <= y or y + height <= a[1]


WORDS = (
    "a", "Donaudampfschifffahrtsgesellschaft", "WWWWWWWWWWWWWWWWWW", "日本語の長い文", "🐶👩‍👩‍👧", "العزيز.", "שלום!",
    "<b>&amp;", "$x^2$", "\\alpha", "\x00\x0b", " ", "·", "iiiiiiii", "İ̇̇", "\u202eabc",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_no_view_of_any_sentence_has_labels_that_overlap_or_leave_it(seed):
    """The sentences have 1 to 40 words of every script, and the models 1 to 16 heads."""
    random = np.random.default_rng(seed)
    layers, heads, rows, columns = (int(random.integers(1, most)) for most in (7, 17, 41, 41))
    queries, keys = (
        [f" {word}" for word in random.choice(WORDS, count)] + ["</s>"] for count in (rows, columns)
    )
    weights = random.dirichlet(np.full(columns + 1, 0.3), (layers, heads, rows + 1))
    found = AttentionMap(queries, keys, weights.astype(np.float32))
    maps = AttentionMaps(" ".join(keys), " ".join(queries), {"cross": found})
    for name, view in VIEWS.items():
        check_layout(view.place(found, "cross"))
        picture = draw_view(maps, name, heads=None if seed % 2 else [heads - 1])
        header, _ = picture.header()
        taken = [extent(t.text, t.x, t.y, t.size, t.anchor, is_turned=False) for t in header]
        check_apart(taken)
        for left, top, right, bottom in taken:
            assert 0 <= left <= right <= picture.width
            assert -picture.header_height <= top <= bottom <= 0
    pytest.importorskip("matplotlib")
    drawn = read(draw_view(maps, tuple(VIEWS)[seed % len(VIEWS)]))  # it is valid XML
    assert drawn.find(f"{SVG}title") is not None


def test_a_line_from_right_to_left_begins_on_the_right():
    words = [" السلام", " عليكم.", "</s>"]
    odd = AttentionMap([" peace", " you.", "</s>"], words, np.full((1, 1, 3, 3), 1 / 3, np.float32))
    layout = VIEWS["alignment"].place(odd, "cross")
    assert layout.queries
    assert layout.keys
    right, left = ([x for x, _ in side.points] for side in (layout.keys, layout.queries))
    assert right == sorted(right, reverse=True)
    assert left == sorted(left)
    # Invisible marks keep the full stop behind the word, on its left.
    assert layout.keys.texts == ["\u200fالسلام\u200f", "\u200fعليكم.\u200f", "</s>"]
    assert layout.queries.texts == ["peace", "you.", "</s>"]


@pytest.mark.slow
def test_svg_has_a_title_and_holds_any_text(maps):
    hostile = ' <script>alert("1")</script>&\x00\x0b\ufffe'
    odd = AttentionMap(
        [hostile, "]]>"], [" $x^2$", " 漢字🐶"], np.full((1, 1, 2, 2), 0.5, np.float32)
    )
    picture = draw_view(AttentionMaps(hostile, "]]>", {"cross": odd}), "heads")
    root = read(picture)
    assert root.findtext(f"{SVG}title") == picture.title
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"]]>", "$x^2$", "漢字🐶"} <= set(texts)  # Words stay words, in every script.
    assert any(str(text).startswith("<script>alert") for text in texts)
    assert not list(root.iter(f"{SVG}script"))
    assert picture._repr_svg_() == picture.svg()


@pytest.mark.slow
def test_the_same_picture_gives_the_same_bytes(maps, tmp_path):
    pytest.importorskip("matplotlib")
    picture = draw_view(maps, "heads", heads=[1, 4], query=2)
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        for name in ("a", "b"):
            picture.save(tmp_path / f"{name}{suffix}")
        first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
        assert first == second
        assert first.startswith(start)
        assert b"dc:date" not in first
        assert b"CreationDate" not in first
