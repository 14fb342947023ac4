"""The diagram shows the configuration, and its parts do not overlap."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from headway.cli.main import dispatch
from headway.config import ModelConfig
from headway.ext.pictures.diagram import diagram
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


def texts(picture):
    return [picture.title, *(label.text for label in picture.layout.labels)]


def test_the_diagram_names_layers_heads_and_sizes():
    words = {name: texts(diagram(config)) for name, config in CONFIGS.items()}
    assert words["paper"].count("6 ×") == 2
    assert words["paper"].count("8 heads, d_k = d_v = 64") == 3
    assert words["paper"].count("512 to 2048 to 512, ReLU") == 2
    assert words["paper"].count("Add & layer norm") == 5
    assert words["paper"].count("Layer norm") == 0
    assert "Scaled dot-product attention" in words["paper"]
    assert "times 1 / sqrt(64)" in words["paper"]
    assert {"12 ×", "1 ×"} <= set(words["pre"])
    # One norm before each of five sub-layers, and one after each stack.
    assert words["pre"].count("Layer norm") == 7
    assert words["pre"].count("Add") == 5
    assert {"LSTM", "Separable convolution", "sees the last 3, gated"} <= set(words["rivals"])
    assert words["rivals"].count("8 heads, d_k = d_v = 64") == 1
    assert "7 heads, d_k = 16, d_v = 40, window 11" in words["window"]
    assert "Additive attention" in words["window"]
    assert {"512 to 16", "512 to 40", "linear W^O: 280 to 512"} <= set(words["window"])
    assert "37,000 x 128, times sqrt(512), mapped to 512" in words["untied"]
    assert "positions" not in words["untied"]
    assert "Dot-product attention" in words["raw"]
    assert not any("sqrt(64)" in text for text in words["raw"])
    assert "learned" in words["raw"]


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
    assert "3 heads, d_k = d_v = 8" in found
