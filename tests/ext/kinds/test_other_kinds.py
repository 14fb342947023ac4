"""Language models, classifiers and convolutions compute what their definitions say."""

import pytest
import torch
from torch.nn import functional as F

from headway.ext.kinds import Classifier, LanguageModel
from headway.ext.kinds.mixers import Convolution
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
