"""The diagram shows the configuration, and its parts do not overlap."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from headway.cli.main import dispatch
from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.pictures.diagram import diagram
from headway.ext.pictures.explain import explain
from headway.ext.pictures.lanes import lanes
from headway.ext.pictures.text_width import text_width

PAPER = ModelConfig(source_vocab_size=37000, target_vocab_size=37000)
CONFIGS = {
    "paper": PAPER,
    "pre": replace(PAPER, norm="pre", num_encoder_layers=12, num_decoder_layers=1),
    "rivals": replace(PAPER, encoder_mixer="lstm", decoder_mixer="separable", gated=True),
    "window": replace(PAPER, window=11, d_k=16, d_v=40, num_heads=7, compatibility="additive"),
    "untied": replace(PAPER, tying="none", d_embedding=128, positions="none", num_heads=1),
    "raw": replace(PAPER, scale_attention=False, positions="learned", activation="swish"),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_parts_do_not_overlap_and_letters_fit(config):
    picture = diagram(config)
    layout = picture.layout
    parts = [box for box in layout.boxes if box.role == "part"]
    assert len(parts) > 20
    for a, b in combinations(parts, 2):
        apart = (
            a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y
            or b.y + b.height <= a.y
        )  # fmt: skip
        assert apart, (a, b)
    for label in layout.labels:
        wide = text_width(label.text, label.size)
        left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * wide
        assert layout.x <= left, label
        assert left + wide <= layout.x + layout.width + 1e-6, label
        assert layout.y <= label.y <= layout.y + layout.height
        if label.role == "label":
            box = [p for p in parts if p.x <= label.x <= p.x + p.width
                   and p.y <= label.y <= p.y + p.height]  # fmt: skip
            assert len(box) == 1
            assert wide <= box[0].width
            assert label.size >= 8.5  # pixels: smaller letters cannot be read
    for line in picture.layout.lines:
        assert layout.x <= min(line.x1, line.x2)
        assert max(line.x1, line.x2) <= layout.x + layout.width
        assert layout.y <= min(line.y1, line.y2)
        assert max(line.y1, line.y2) <= layout.y + layout.height


def test_info_writes_the_diagram(model_directory, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "model.svg"
    dispatch(["info", str(model_directory), "--diagram", str(out)])
    assert "d_model" in capsys.readouterr().out
    found = [e.text for e in ElementTree.fromstring(out.read_text(encoding="utf-8")).iter()]
    assert found.count("2 ×") == 2
    for words, count in (
        ("3 heads, d_k = d_v = 8", 3),
        ("24 to 37 to 24, ReLU", 2),
        ("24 to 8", 3),
        ("times 1 / sqrt(8)", 1),
    ):
        assert found.count(words) == count


SOURCE, TARGET = "the cat sees a dog", "die Katze sieht"


@pytest.fixture(scope="module")
def found(translator):
    return explain(translator, SOURCE, TARGET, kind="decoder", layer=1, head=2)


def vectors(picture, role):
    """Return the components in the frames of a role, from top to bottom and from left to right."""
    frames = {(box.x, box.y, box.width, box.height): box.role for box in picture.layout.boxes}
    there = [
        (place.area[1], place.area[0], cells[0])
        for place, cells in zip(picture.layout.maps, picture.cells, strict=True)
        if frames[place.area] == role
    ]
    return np.array([cells for _, _, cells in sorted(there, key=lambda each: each[:2])])


@pytest.mark.parametrize("queries", [None, [2]])
def test_the_strips_show_the_vectors(found, queries):
    """In each lane the parts are the values multiplied by their weights, and their sum is the output.

    What is added, and its sum among the heads, has the same colors for the same numbers.
    """
    picture = lanes(found, queries)
    rows = list(range(len(found.queries))) if queries is None else queries
    largest = max(abs(found.v).max(), abs(found.heads).max())
    assert vectors(picture, "q") == pytest.approx(found.q[rows] / abs(found.q).max())
    assert vectors(picture, "k") == pytest.approx(found.k / abs(found.k).max())
    assert vectors(picture, "v") == pytest.approx(found.v / largest)
    parts = [
        found.weights[i, j] * found.v[j] / largest
        for i in rows
        for j in range(len(found.v))
        if found.visible[i, j]
    ]
    assert len(parts) < len(rows) * len(found.v)
    assert vectors(picture, "part") == pytest.approx(np.array(parts))
    assert vectors(picture, "output") == pytest.approx(found.output[rows] / largest)
    heads = found.heads[rows].reshape(-1, found.v.shape[1])
    assert vectors(picture, "head") == pytest.approx(heads / largest)
    sums = vectors(picture, "head")[found.head :: found.heads.shape[1]]
    assert vectors(picture, "output") == pytest.approx(sums, abs=1e-5)
    assert vectors(picture, "mixed") == pytest.approx(found.mixed[rows] / abs(found.mixed).max())


def test_each_lane_has_its_query_and_its_numbers(found):
    layout = lanes(found).layout
    assert [label.text for label in layout.labels if label.role == "q"] == [
        f"q of {query}" for query in found.queries
    ]
    assert [label.text for label in layout.labels if label.role == "key"] == found.keys
    rows = {}
    for label in layout.labels:
        if label.role == "number":
            rows.setdefault(label.y, []).append(label.text)
    texts = [rows[y] for y in sorted(rows)]
    products, scaled, weights = texts[::3], texts[1::3], texts[2::3]
    assert np.array(products, float) == pytest.approx(found.products, abs=0.006)
    assert np.array(scaled, float) == pytest.approx(found.compatibilities, abs=0.006)
    for row, expected, visible in zip(weights, found.weights, found.visible, strict=True):
        assert row == [
            f"{w:.3f}" if v else "hidden" for w, v in zip(expected, visible, strict=True)
        ]
    shown = [box.opacity for box in layout.boxes if box.role == "weight"]
    assert shown == pytest.approx(found.weights[found.visible])


def test_a_picture_of_too_many_numbers_is_refused(found):
    long = replace(found, keys=["key"] * 999)
    with pytest.raises(
        HeadwayError, match=r"^\d queries of 999 keys .*: choose one query with --word"
    ):
        lanes(long)
