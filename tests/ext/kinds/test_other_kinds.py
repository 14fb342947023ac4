"""Language models, classifiers and convolutions compute what their definitions say."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.ext.kinds import Classifier, LanguageModel, Recurrent
from headway.ext.kinds.mixers import Convolution
from headway.model import Transformer
from headway.model.network import zero_outputs
from headway.model.visibility import Segments
from support.model_relations import RELATIONS, SHAPE, build, close, tokens

VARIANTS = {
    **{
        f"{mixer} {norm}": {"encoder_mixer": mixer, "decoder_mixer": mixer, "norm": norm}
        for mixer, norm in (
            ("lstm", "post"),
            ("gru", "pre"),
            ("convolution", "post"),
            ("dilated", "pre"),
            ("separable", "post"),
        )
    },
    "gated convolution": {
        "encoder_mixer": "convolution",
        "decoder_mixer": "dilated",
        "gated": True,
    },
    "gated separable": {"encoder_mixer": "separable", "decoder_mixer": "separable", "gated": True},
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_relation_holds_for_every_mixer(variant, relation):
    RELATIONS[relation](build(**VARIANTS[variant]))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dilation", [1, 3])
def test_convolution_equals_torch(causal, dilation):
    mine = Convolution(7, 3, dilation=dilation, causal=causal).double()
    x = torch.randn(2, 13, 7, dtype=torch.float64)
    weight = mine.output.weight.view(7, 3, 7).transpose(1, 2)
    reach = 2 * dilation
    padded = F.pad(x.transpose(1, 2), (reach, 0) if causal else (dilation, dilation))
    expected = F.conv1d(padded, weight, mine.output.bias, dilation=dilation).transpose(1, 2)
    assert close(mine(x), expected)


def test_a_language_model_step_by_step_equals_full():
    model = LanguageModel(SHAPE).double().eval()
    text = tokens(2, 13)
    full, state = model(text), model.start()
    token = torch.full((2,), 40)
    for t in range(13):
        assert close(model.step(token, state), full[:, t])
        token = text[:, t]


def test_a_classifier_takes_means_in_fp32():
    """A sum of ones in bf16 ends at 256, and loses digits before."""
    model = Classifier(SHAPE, num_classes=3).eval()
    text, segments = tokens(1, 300), torch.ones(1, 300, dtype=torch.long)
    with torch.autocast("cpu", torch.bfloat16):
        for each in (segments, None):
            assert model.hidden(text, tokens(1, 1), each).dtype == torch.float32


def test_a_classifier_ignores_padding():
    model = Classifier(SHAPE, num_classes=3).double().eval()
    text = tokens(2, 13)
    segments = (torch.arange(13) < torch.tensor([[13], [6]])).long()
    assert close(model(text, segments)[1], model(text[1:, :6])[0])


@pytest.mark.parametrize("mixer", ["convolution", "separable"])
def test_outputs_of_convolutions_are_zero_too(mixer):
    model = build(encoder_mixer=mixer)
    zero_outputs(model)
    layers = [part for part in model.modules() if isinstance(part, Convolution)]
    assert layers
    assert not any(layer.output.weight.any() for layer in layers)


def test_custom_layers_work_in_encoders_and_in_other_kinds_of_model():
    config = ModelConfig(
        source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=3,
        d_model=12, d_ff=17, num_heads=3,
    )  # fmt: skip
    asked = []

    def make(index):
        asked.append(index)
        return Recurrent(12, "gru", causal=True)

    encoder_decoder = Transformer(config, make_encoder_mixer=make)
    assert asked == [0, 1]
    assert all(isinstance(layer.mixer, Recurrent) for layer in encoder_decoder.encoder.layers)
    assert encoder_decoder.has_own_mixers
    assert not Transformer(config).has_own_mixers
    LanguageModel(config, make_decoder_mixer=make)
    assert asked == [0, 1, 0, 1, 2]


SEGMENTS = Segments(torch.tensor([[1, 1, 2, 0], [1, 2, 3, 3]]), is_packed=True)


class Rounded(nn.Module):
    """A recurrence whose results are bf16, as those of CUDA under autocast."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, packed):
        return self.cell(packed)[0].to(torch.bfloat16), None


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_recurrence_may_return_another_type_than_it_gets(cell):
    torch.manual_seed(1)
    layer = Recurrent(12, cell)
    x_BTD = torch.randn(2, 4, 12)
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(x_BTD, SEGMENTS)
    layer.cell = Rounded(layer.cell)
    with torch.autocast("cpu", torch.bfloat16):
        y_BTD = layer(x_BTD, SEGMENTS)
    assert y_BTD.dtype == torch.bfloat16
    assert torch.equal(y_BTD, expected.bfloat16())
