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
    x, y, width, height = picture.area
    # Left, top, right and bottom of each box.
    parts = [(a, b, a + c, b + d) for a, b, c, d in
             (box.area for box in picture.boxes if box.role == "part")]  # fmt: skip
    assert len(parts) > 20
    for a, b in combinations(parts, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    for label in picture.labels:
        wide = text_width(label.text, label.size)
        left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * wide
        assert x <= left <= left + wide <= x + width + 1e-6, label
        assert y <= label.y <= y + height
        if label.role == "label":
            [box] = [p for p in parts if p[0] <= label.x <= p[2] and p[1] <= label.y <= p[3]]
            assert wide <= box[2] - box[0]
            assert label.size >= 8.5  # pixels: smaller letters cannot be read
    edges = [(a, b, a + c, b + d) for a, b, c, d in (box.area for box in picture.boxes)]
    titles = [label.y for label in picture.labels if label.role == "title"]
    for x_end, y_end in (line.end for line in picture.lines if line.is_arrow):
        touched = [e for e in edges if e[0] <= x_end <= e[2] and e[1] - 1e-6 <= y_end <= e[3] + 1e-6
                   and min(abs(x_end - e[0]), abs(x_end - e[2]), abs(y_end - e[3])) < 1e-6]  # fmt: skip
        assert touched or y_end - 12 in titles, (x_end, y_end)
    ends = np.array([end for line in picture.lines for end in (line.start, line.end)])
    assert (ends >= (x, y)).all()
    assert (ends <= (x + width, y + height)).all()


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
    """Return the components of the vectors of a role, from top to bottom and from left to right."""
    there = [
        (cells.area[1], cells.area[0], cells.values[0])
        for cells in picture.cells
        if cells.role == role
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
    picture = lanes(found)
    assert [label.text for label in picture.labels if label.role == "q"] == [
        f"q of {query}" for query in found.queries
    ]
    assert [label.text for label in picture.labels if label.role == "key"] == found.keys
    rows = {}
    for label in picture.labels:
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
    shown = [box.opacity for box in picture.boxes if box.role == "weight"]
    assert shown == pytest.approx(found.weights[found.visible])


def test_a_picture_of_too_many_numbers_is_refused(found):
    long = replace(found, keys=["key"] * 999)
    with pytest.raises(
        HeadwayError, match=r"^\d queries of 999 keys .*: choose one query with --word"
    ):
        lanes(long)
