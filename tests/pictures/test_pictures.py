"""Pictures show the weights: read back from the SVG, drawn alike by every writer."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.pictures.alignment import alignment_strip
from headway.pictures.heat import grid, heat_map
from headway.pictures.lines import head_view
from headway.pictures.maps import AttentionMap, AttentionMaps
from headway.pictures.scene import COLOURS, FAINTEST, SUFFIXES, Line, Scene, Text, text_width

SVG = "{http://www.w3.org/2000/svg}"
LAYERS, HEADS, TARGETS, SOURCES = 3, 11, 5, 7


def labels(count: int, last: str = "</s>") -> list[str]:
    return [f" w{i}" for i in range(count - 1)] + [last]


@pytest.fixture(scope="module")
def maps() -> AttentionMaps:
    random = np.random.default_rng(5)

    def draw(rows: int, columns: int) -> np.ndarray:
        return random.dirichlet(np.full(columns, 0.4), (LAYERS, HEADS, rows)).astype(np.float32)

    return AttentionMaps(
        "a source <&>",
        "a target",
        {
            "encoder": AttentionMap(labels(SOURCES), labels(SOURCES), draw(SOURCES, SOURCES)),
            "cross": AttentionMap(labels(TARGETS), labels(SOURCES), draw(TARGETS, SOURCES)),
        },
    )


def read(scene: Scene) -> ElementTree.Element:
    return ElementTree.fromstring(scene.svg())


def weight_lines(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [line for line in root.iter(f"{SVG}line") if line.get("class") == "weight"]


@pytest.mark.parametrize("orientation", ["columns", "paper"])
@pytest.mark.parametrize("heads", [None, [2, 9]])
def test_every_line_is_a_weight(
    maps: AttentionMaps, orientation: str, heads: list[int] | None
) -> None:
    scene = head_view(maps, "cross", layer=1, heads=heads, orientation=orientation)  # type: ignore[arg-type]
    lines = weight_lines(read(scene))
    weights = maps.maps["cross"].weights[1]
    chosen = range(HEADS) if heads is None else heads
    seen = {}
    for line in lines:
        head, query, key = (int(str(line.get(f"data-{n}"))) for n in ("head", "query", "key"))
        assert line.get("data-layer") == "1"
        assert line.get("stroke") == COLOURS[head % 8]
        seen[head, query, key] = float(str(line.get("stroke-opacity")))
    expected = {
        (h, i, j): float(weights[h, i, j])
        for h in chosen
        for i in range(TARGETS)
        for j in range(SOURCES)
        if weights[h, i, j] >= FAINTEST
    }
    assert len(lines) == len(seen)
    assert seen == pytest.approx(expected, abs=6e-5)
    # Heads of the same colour differ in their dashes.
    cues = {(line.get("stroke"), line.get("stroke-dasharray")) for line in lines}
    assert len(cues) == len(list(chosen))


def test_lines_end_at_their_tokens(maps: AttentionMaps) -> None:
    """In columns a line's heights are its tokens', in the paper's orientation its abscissas."""
    for orientation, along, side in (("columns", "y", "x"), ("paper", "x", "y")):
        scene = head_view(maps, "cross", orientation=orientation)  # type: ignore[arg-type]
        token = {
            (shape.name, shape.data["token"]): shape
            for shape in scene.shapes
            if isinstance(shape, Text) and "token" in shape.data
        }
        assert len(token) == TARGETS + SOURCES
        for line in scene.items("weight"):
            query, key = token["query", line.data["query"]], token["key", line.data["key"]]
            assert abs(getattr(line, f"{along}1") - getattr(query, along)) < 11
            assert abs(getattr(line, f"{along}2") - getattr(key, along)) < 11
            assert getattr(query, side) < getattr(line, f"{side}1")
            assert getattr(line, f"{side}2") < getattr(key, side)
            assert query.turn == key.turn == (0 if orientation == "columns" else -90)


def test_one_words_view_has_its_lines_only(maps: AttentionMaps) -> None:
    scene = head_view(maps, "encoder", layer=0, query=3)
    weights = maps.maps["encoder"].weights[0, :, 3]
    lines = scene.items("weight")
    assert {line.data["query"] for line in lines} == {3}
    assert len(lines) == (weights >= FAINTEST).sum()
    shares = {(box.data["head"], box.data["key"]): box.opacity for box in scene.items("share")}
    assert shares == pytest.approx(
        {(h, j): float(weights[h, j]) for h in range(HEADS) for j in range(SOURCES)}
    )
    assert [t.bold for t in scene.items("query")] == [i == 3 for i in range(SOURCES)]


def test_the_grid_has_every_map(maps: AttentionMaps) -> None:
    root = read(grid(maps, "cross"))
    weights = maps.maps["cross"].weights
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "map"]
    assert len(groups) == LAYERS * HEADS
    for group in groups:
        here = weights[int(str(group.get("data-layer"))), int(str(group.get("data-head")))]
        opacities = [float(str(cell.get("fill-opacity"))) for cell in group]
        assert opacities == pytest.approx(here[here >= FAINTEST].tolist(), abs=6e-4)
        places = [re.findall(r"\d+", str(cell.get("d")))[:2] for cell in group]
        assert places == [[str(j), str(i)] for i, j in np.argwhere(here >= FAINTEST)]
    assert len({group.get("transform") for group in groups}) == len(groups)


def test_a_heat_map_is_the_mean_of_its_heads(maps: AttentionMaps) -> None:
    weights = maps.maps["cross"].weights
    for heads in ([4], [1, 5], None):
        [cells] = heat_map(maps, "cross", layer=2, heads=heads).items("map")
        chosen = list(range(HEADS)) if heads is None else heads
        assert np.allclose(cells.weights, weights[2, chosen].mean(0), atol=1e-6)


def test_the_alignment_ties_each_target_word_to_its_strongest_sources(
    maps: AttentionMaps,
) -> None:
    scene = alignment_strip(maps, strongest=2)
    mean = maps.maps["cross"].weights[-1].mean(0)  # shallow models align best there
    tied: dict[int, set[int]] = {}
    for line in scene.items("weight"):
        tied.setdefault(line.data["query"], set()).add(line.data["key"])
        assert line.opacity == pytest.approx(mean[line.data["query"], line.data["key"]])
    for i, row in enumerate(mean):
        assert tied[i] == {j for j in np.argsort(-row)[:2].tolist() if row[j] >= 0.1}


@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_nothing_leaves_the_picture(maps: AttentionMaps, kind: str) -> None:
    scenes = [
        head_view(maps, kind),
        head_view(maps, kind, orientation="paper", query=2),
        grid(maps, kind),
        heat_map(maps, kind),
        alignment_strip(maps),
    ]
    for scene in scenes:
        for shape in scene.shapes:
            if isinstance(shape, Line):
                xs, ys = [shape.x1, shape.x2], [shape.y1, shape.y2]
            elif isinstance(shape, Text):
                wide = text_width(shape.text, shape.size)
                before = {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * wide
                if shape.turn:  # upwards
                    xs, ys = [shape.x], [shape.y + before, shape.y + before - wide]
                else:
                    xs, ys = [shape.x - before, shape.x - before + wide], [shape.y]
            else:
                xs, ys = [shape.x], [shape.y]
            assert 0 <= min(xs) <= max(xs) <= scene.width, shape
            assert 0 <= min(ys) <= max(ys) <= scene.height, shape


def test_svg_says_what_it_is_and_holds_any_text(maps: AttentionMaps) -> None:
    hostile = ' <script>alert("1")</script>&\x00\x0b\ufffe'
    odd = AttentionMap([hostile, "]]>"], [" $x^2$", "</s>"], np.full((1, 1, 2, 2), 0.5, np.float32))
    scene = head_view(AttentionMaps(hostile, "]]>", {"cross": odd}), "cross")
    root = read(scene)
    assert root.get("role") == "img"
    named = {element.get("id"): element.text for element in root if element.get("id")}
    assert re.fullmatch("title desc", str(root.get("aria-labelledby")))
    assert named["title"] == scene.title
    assert "script" in str(named["desc"])
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "rect", "text", "line", "g", "path",
    }  # fmt: skip
    assert scene._repr_svg_() == scene.svg()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_pictures_are_equal_bytes(maps: AttentionMaps, tmp_path: Path, suffix: str) -> None:
    if suffix != ".svg":
        pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        heat_map(maps, "cross").save(tmp_path / f"{name}{suffix}")
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
    assert first == second
    assert first.startswith({".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix])
    assert b"2026" not in first[:400]


def test_png_has_the_colours_of_the_lines(maps: AttentionMaps, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    one = AttentionMap([" q"], [" k"], np.ones((1, 8, 1, 1), np.float32))
    scene = head_view(AttentionMaps("q", "k", {"cross": one}), "cross", heads=[3])
    scene.save(tmp_path / "a.png")
    pixels = imread(tmp_path / "a.png")[..., :3]
    assert pixels.shape[:2] == (int(scene.height * 2), int(scene.width * 2))
    [line] = scene.items("weight")
    x, y = int(line.x1 + line.x2), int(line.y1 + line.y2)  # the middle, at two dots a pixel
    assert pixels[y, x] == pytest.approx(
        [int(COLOURS[3][i : i + 2], 16) / 255 for i in (1, 3, 5)], abs=0.1
    )


def test_a_name_of_another_kind_is_one_line(maps: AttentionMaps, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match=re.escape("a.gif: pictures end in .svg, .png, .pdf")):
        grid(maps, "cross").save(tmp_path / "a.gif")
    with pytest.raises(HeadwayError, match="no decoder self-attention; it has: encoder, cross"):
        grid(maps, "decoder")


def test_maps_are_json(maps: AttentionMaps) -> None:
    assert json.loads(json.dumps(maps.to_json()))["maps"]["cross"]["heads"] == HEADS


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_without_matplotlib_the_way_to_it_is_named(
    maps: AttentionMaps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HeadwayError, match=re.escape('pip install "headway[pictures]"')):
        grid(maps, "cross").save(tmp_path / f"a{suffix}")
    grid(maps, "cross").save(tmp_path / "a.svg")
