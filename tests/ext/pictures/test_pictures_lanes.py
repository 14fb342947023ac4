"""The lanes of an attention step show its numbers, and an animation shows each word with its links."""

from dataclasses import replace

import numpy as np
import pytest

from headway.errors import HeadwayError
from headway.ext.pictures.explain import explain
from headway.ext.pictures.lanes import lanes

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
    """In each lane the parts are the values multiplied by their weights, and their sum is the output."""
    picture = lanes(found, queries)
    rows = list(range(len(found.queries))) if queries is None else queries
    largest = abs(found.v).max()
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
    assert vectors(picture, "head") == pytest.approx(heads / abs(found.heads).max())
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
    [legend] = [label.text for label in layout.labels if label.role == "legend"]
    assert legend == "blue: positive; red: negative; the stronger, the larger"
    shown = [box.opacity for box in layout.boxes if box.role == "weight"]
    assert shown == pytest.approx(found.weights[found.visible])


def test_a_picture_of_too_many_numbers_is_refused(found):
    long = replace(found, keys=["key"] * 999)
    with pytest.raises(
        HeadwayError, match=r"^\d queries of 999 keys .*: choose one query with --word"
    ):
        lanes(long)
