"""The lanes of an attention step show its numbers, and an animation shows each word with its links."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from headway.ext.pictures import sentence_maps
from headway.ext.pictures.alignment import alignment_strip
from headway.ext.pictures.explain import Explanation, explain
from headway.ext.pictures.growth import growth_svg
from headway.ext.pictures.lanes import NEGATIVE, POSITIVE, lanes
from headway.ext.pictures.layout import Box
from headway.translation import Translator

SOURCE, TARGET = "the cat sees a dog", "die Katze sieht"


@pytest.fixture(scope="module")
def found(translator: Translator) -> Explanation:
    return explain(translator, SOURCE, TARGET, kind="decoder", layer=1, head=2, query=2)


def sizes(boxes: list[Box], role: str) -> np.ndarray:
    """Return the signed opacities of the components, in the order of the boxes."""
    sign = {POSITIVE: 1, NEGATIVE: -1}
    return np.array([sign[box.fill] * box.opacity for box in boxes if box.role == role])


def test_the_strips_show_the_vectors(found: Explanation) -> None:
    boxes = lanes(found).layout.boxes
    largest = max(abs(found.q).max(), abs(found.k).max())
    assert sizes(boxes, "q") == pytest.approx(found.q / largest)
    assert sizes(boxes, "k") == pytest.approx(found.k.ravel() / largest)
    seen = found.v[found.visible]
    assert len(seen) < len(found.v)
    assert sizes(boxes, "v") == pytest.approx(seen.ravel() / abs(found.v).max())
    assert sizes(boxes, "output") == pytest.approx(found.output / abs(found.v).max())


def test_each_lane_has_its_key_and_its_numbers(found: Explanation) -> None:
    layout = lanes(found).layout
    rows: dict[float, list[str]] = {}
    for label in layout.labels:
        if label.role in ("key", "number"):
            rows.setdefault(label.y, []).append(label.text)
    assert len(rows) == len(found.keys)
    for (_, product, scaled, weight), j in zip(rows.values(), range(len(rows)), strict=True):
        assert float(product) == pytest.approx(found.products[j], abs=0.006)
        assert float(scaled) == pytest.approx(found.compatibilities[j], abs=0.006)
        assert weight == (f"{found.weights[j]:.3f}" if found.visible[j] else "hidden")
    [legend] = [label.text for label in layout.labels if label.role == "legend"]
    assert legend == "blue: positive; red: negative; the stronger, the larger"
    shown = [box.opacity for box in layout.boxes if box.role == "weight"]
    assert shown == pytest.approx(found.weights[found.visible])


def test_each_word_appears_with_its_links(translator: Translator) -> None:
    pytest.importorskip("matplotlib")
    picture = alignment_strip(sentence_maps(translator, SOURCE, TARGET))
    text = growth_svg(picture)
    root = ElementTree.fromstring(text)
    [links] = [part for part in root.iter() if part.get("id") == "links"]
    assert len(links) == len(picture.links)
    assert picture.layout.queries is not None
    words = len(picture.layout.queries.texts)
    assert re.findall(r"#query-(\d+) {animation: word-(\d+) ", text) == [
        (str(word), str(word)) for word in range(words)
    ]
    rules = re.findall(r"nth-child\((\d+)\) {animation: links-(\d+) ", text)
    assert rules == [(str(n), str(link.query)) for n, link in enumerate(picture.links, 1)]
    starts = [float(s) for s in re.findall(r"keyframes word-\d+ {0% .*? ([\d.]+)%, 100%", text)]
    assert starts == sorted(set(starts))
    assert len(starts) == words
