"""The diagram says what the configuration says, and nothing in it lies on anything else."""

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.cli.main import dispatch
from headway.config import ModelConfig
from headway.pictures.diagram import diagram
from headway.pictures.scene import Line, Rect, Scene, Text, text_width

PAPER = ModelConfig(source_vocab_size=37000, target_vocab_size=37000)
CONFIGS = {
    "paper": PAPER,
    "pre": replace(PAPER, norm="pre", num_encoder_layers=12, num_decoder_layers=1),
    "rivals": replace(PAPER, encoder_mixer="lstm", decoder_mixer="separable", gated=True),
    "window": replace(PAPER, window=11, d_k=16, d_v=40, num_heads=7, compatibility="additive"),
    "untied": replace(PAPER, tying="none", d_embedding=128, positions="none", num_heads=1),
    "raw": replace(PAPER, scale_attention=False, positions="learned", activation="swish"),
}


def texts(scene: Scene) -> list[str]:
    return [shape.text for shape in scene.shapes if isinstance(shape, Text)]


def test_it_names_what_the_model_has() -> None:
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
def test_parts_do_not_overlap_and_letters_fit(config: ModelConfig) -> None:
    scene = diagram(config)
    parts = [shape for shape in scene.shapes if isinstance(shape, Rect) and shape.name == "part"]
    assert len(parts) > 20
    for a, b in combinations(parts, 2):
        apart = (
            a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y
            or b.y + b.height <= a.y
        )  # fmt: skip
        assert apart, (a, b)
    for shape in scene.shapes:
        if isinstance(shape, Text):
            wide = text_width(shape.text, shape.size)
            left = shape.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * wide
            assert left >= 0, shape
            assert left + wide <= scene.width, shape
            assert 0 <= shape.y <= scene.height
            if shape.name == "label":
                box = [p for p in parts if p.x <= shape.x <= p.x + p.width
                       and p.y <= shape.y <= p.y + p.height]  # fmt: skip
                assert len(box) == 1
                assert wide <= box[0].width
        elif isinstance(shape, Line):
            assert min(shape.x1, shape.x2, shape.y1, shape.y2) >= 0
            assert max(shape.x1, shape.x2) <= scene.width
            assert max(shape.y1, shape.y2) <= scene.height


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_the_memory_goes_from_the_encoders_top_to_the_decoders_keys(config: ModelConfig) -> None:
    scene = diagram(config)
    lines = [line for line in scene.items("memory") if not line.arrow]
    for a, b in pairwise(lines):
        assert (a.x2, a.y2) == (b.x1, b.y1)
    arrows = [line for line in scene.items("memory") if line.arrow]
    assert len(arrows) == 2
    attention = next(
        box
        for box in scene.items("part")
        if all(box.x < a.x2 < box.x + box.width and a.y2 == box.y + box.height for a in arrows)
    )
    label = [t for t in scene.items("label") if attention.y < t.y < attention.y + attention.height]
    assert "Multi-head attention" in [t.text for t in label if t.x > attention.x]


def test_info_draws_it(
    model_directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model.svg"
    dispatch(["info", str(model_directory), "--diagram", str(out)])
    assert "d_model" in capsys.readouterr().out
    found = [e.text for e in ElementTree.fromstring(out.read_text(encoding="utf-8")).iter()]
    assert found.count("2 ×") == 2
    assert "3 heads, d_k = d_v = 8" in found
