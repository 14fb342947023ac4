"""Layouts and files show the weights of the maps: the tests read them back."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from headway.ext.pictures.labels import display_labels
from headway.ext.pictures.links import choose_links, head_box
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.style import FAINTEST, INK, head_color
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


def style(element):
    pairs = (part.split(":", 1) for part in str(element.get("style")).split(";"))
    return {name.strip(): value.strip() for name, value in pairs}


@pytest.mark.slow
@pytest.mark.parametrize(("view", "heads"), [("heads", [2, 9]), ("paper", None)])
def test_every_link_shows_its_weight(maps, view, heads):
    """The links are the weights, and the lines of the file are the links, in the same order."""
    chosen = list(range(HEADS)) if heads is None else heads
    found = maps.maps["cross"]
    layout = VIEWS[view].place(found, "cross")
    links = choose_links(found, layout.links, 1, chosen, None)
    weights = found.weights[1]
    assert {(link.head, link.query, link.key): link.weight for link in links} == {
        (h, i, j): float(weights[h, i, j])
        for h in chosen
        for i in range(TARGETS)
        for j in range(SOURCES)
        if weights[h, i, j] >= FAINTEST
    }
    assert len({link[:3] for link in links}) == len(links)
    picture = draw_view(maps, view, "cross", layer=1, heads=heads)
    [lines] = [g for g in read(picture).iter(f"{SVG}g") if g.get("id") == "lines"]
    lines = lines.findall(f"{SVG}path")
    assert len(lines) == len(links) + len(chosen)  # and those of the legend
    pixel = 0.75  # points
    for line, link in zip(lines, links, strict=False):
        looks = style(line)
        assert looks["stroke"] == head_color(link.head)
        assert float(looks.get("stroke-opacity", 1)) == pytest.approx(link.weight, abs=6e-5)
        ends = np.array(re.findall(r"-?[\d.]+", str(line.get("d"))), float).reshape(2, 2)
        wanted = np.array(layout.link_ends(link.query, link.key, link.head))
        assert ends == pytest.approx((wanted - picture.sheet[:2]) * pixel, abs=0.01)
    # Heads of the same color differ in their dashes.
    cues = {
        (style(line)["stroke"], style(line).get("stroke-dasharray")) for line in lines[: len(links)]
    }
    assert len(cues) == len(chosen)


def at(side, token):
    return side.labels[token].x, side.labels[token].y


def test_links_end_at_their_tokens(maps):
    """Columns have tokens and links at the same heights, the paper's orientation at the same x."""
    found = maps.maps["cross"]
    for view, along in (("heads", 1), ("paper", 0)):
        layout = VIEWS[view].place(found, "cross")
        queries, keys = layout.queries, layout.keys
        assert len(queries.labels) == TARGETS
        assert len(keys.labels) == SOURCES
        assert all(label.is_turned == (view == "paper") for label in queries.labels + keys.labels)
        across = 1 - along
        for query in range(TARGETS):
            for key in range(SOURCES):
                ends = [layout.link_ends(query, key, head) for head in range(HEADS)]
                assert len(set(ends)) == HEADS
                for start, end in ends:
                    assert abs(start[along] - at(queries, query)[along]) < 11
                    assert abs(end[along] - at(keys, key)[along]) < 11
                    assert at(queries, query)[across] < start[across]
                    assert end[across] < at(keys, key)[across]


@pytest.mark.parametrize("view", ["heads", "paper"])
def test_the_view_of_one_query_has_only_its_links(maps, view):
    picture = draw_view(maps, view, "encoder", layer=0, query=3)
    found = maps.maps["encoder"]
    weights, layout = found.weights[0, :, 3], VIEWS[view].place(found, "encoder")
    links = choose_links(found, layout.links, 0, range(HEADS), 3)
    assert {link.query for link in links} == {3}
    assert len(links) == (weights >= FAINTEST).sum()
    assert len(picture.lines) == len(links) + HEADS
    # Behind each key the heads have boxes side by side, which together fill its area.
    assert picture.boxes == [head_box(layout.keys, link.key, link, range(HEADS)) for link in links]
    for link, box in zip(links, picture.boxes, strict=True):
        assert (box.fill, box.opacity) == (head_color(link.head), 0.6 * link.weight)
        x, y, width, height = layout.keys.areas[link.key]
        part = link.head / HEADS
        if view == "paper":
            wanted = x, y + height * part, width, height / HEADS
        else:
            wanted = x + width * part, y, width / HEADS, height
        assert box.area == pytest.approx(wanted)
    tokens = [label for label in picture.labels if label.role == "token"]
    assert [label.is_bold for label in tokens] == [n == 3 for n in range(2 * SOURCES)]
    assert [label.is_pale for label in tokens] == [
        n < SOURCES and n != 3 for n in range(2 * SOURCES)
    ]


def opacities(picture):
    """Return the opacity in the middle of each cell of each map of a file."""
    from matplotlib.image import imread

    for image, cells in zip(read(picture).iter(f"{SVG}image"), picture.cells, strict=True):
        [data] = [v for k, v in image.attrib.items() if k.endswith("href")]
        pixels = imread(io.BytesIO(base64.b64decode(data.split(",")[1])), format="png")
        if "matrix" in str(image.get("transform")) or "scale(1 -1)" in str(image.get("transform")):
            pixels = pixels[::-1]
        rows, columns = (
            ((np.arange(count) + 0.5) * size / count).astype(int)
            for count, size in zip(cells.values.shape, pixels.shape, strict=False)
        )
        yield np.asarray(pixels[np.ix_(rows, columns)][..., 3])


def test_the_grid_shows_every_head(maps):
    picture = draw_view(maps, "grid", "cross")
    weights = maps.maps["cross"].weights
    places = VIEWS["grid"].place(maps.maps["cross"], "cross").maps
    assert len({place.area for place in places}) == LAYERS * HEADS
    for place, cells, drawn in zip(places, picture.cells, opacities(picture), strict=True):
        expected = weights[place.layer, place.head]
        assert (cells.area, cells.color) == (place.area, head_color(place.head))
        assert np.array_equal(cells.values, expected)
        assert drawn == pytest.approx(np.where(expected >= FAINTEST, expected, 0), abs=0.0041)


def test_a_heat_map_is_the_mean_of_its_heads(maps):
    weights = maps.maps["cross"].weights
    for heads in ([4], [1, 5], None):
        picture = draw_view(maps, "heat", layer=2, heads=heads)
        [cells] = picture.cells
        chosen = list(range(HEADS)) if heads is None else heads
        assert np.allclose(cells.values, weights[2, chosen].mean(0), atol=1e-6)
        assert cells.color == (head_color(4) if heads == [4] else INK)
        [drawn] = opacities(picture)
        values = np.where(cells.values >= FAINTEST, cells.values, 0)
        assert drawn == pytest.approx(values, abs=0.0041)


def test_the_alignment_links_each_target_word_to_its_strongest_sources(maps):
    found = maps.maps["cross"].words()
    mean = found.weights[-1].mean(0)  # Shallow models align best in the last layer.
    layout = VIEWS["alignment"].place(found, "cross")
    wanted = {}
    for i, row in enumerate(mean):
        for j in np.argsort(-row)[:3].tolist():
            if row[j] >= 0.1:
                wanted[layout.link_ends(i, j, None)] = pytest.approx(row[j])
    drawn = draw_view(maps, "alignment").lines
    assert {(line.start, line.end): line.opacity for line in drawn} == wanted
    assert len(drawn) == len(wanted)


def extent(label):
    """Return left, top, right and bottom of a label."""
    width, half = text_width(label.text, label.size), label.size / 2
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
    if label.is_turned:  # upwards
        return [label.x - half, label.y + before - width, label.x + half, label.y + before]
    return [label.x - before, label.y - half, label.x - before + width, label.y + half]


def check_picture(picture):
    """Check that nothing leaves a picture, and that no label covers another or a map."""
    x, y, _, height = picture.area
    taken = [extent(label) for label in picture.labels]
    for left, top, right, bottom in taken:
        assert x - 1 <= left <= right <= x + picture.sheet[2] - 32 + 1
        assert y - 6 <= top <= bottom <= y + height + 2
    taken += [
        [left, top, left + wide, top + high]
        for left, top, wide, high in (cells.area for cells in picture.cells)
    ]
    for number, a in enumerate(taken):
        for b in taken[:number]:
            is_apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert is_apart, (a, b)


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
    for view in VIEWS:
        check_picture(draw_view(maps, view, heads=None if seed % 2 else [heads - 1]))
    pytest.importorskip("matplotlib")
    drawn = read(draw_view(maps, tuple(VIEWS)[seed % len(VIEWS)]))  # it is valid XML
    assert drawn.find(f"{SVG}title") is not None


def test_invisible_marks_keep_the_full_stop_behind_a_word_from_right_to_left():
    shown = display_labels([" السلام", " عليكم.", " you.", "</s>"])
    assert shown == ["\u200fالسلام\u200f", "\u200fعليكم.\u200f", "you.", "</s>"]


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
