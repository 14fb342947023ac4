"""What a GPU computes is compared with the processor; here the GPU's engine runs on the processor."""

import pytest
import torch

from headway.ext.bench.device_check import compare_with_processor, gradient_distance
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.model import Transformer
from headway.translation import Translator
from support.toy_models import sentences, small_config


def translator_of(tokenizer, seed=3):
    torch.manual_seed(seed)
    translator = Translator(Transformer(small_config(tokenizer).model), tokenizer, device="cpu")
    translator.token_search._engines["fp32"] = FixedEngine(translator.model)
    return translator


@pytest.mark.slow
def test_another_model_in_the_engine_is_detected(tokenizer):
    sources = tokenizer.encode_source(sentences(3, seed=1))
    translator = translator_of(tokenizer)
    findings = list(compare_with_processor(translator, sources))
    assert [finding for finding in findings if not finding.passed] == []
    assert len(findings) == 4
    with torch.no_grad():
        other = translator_of(tokenizer).model
        other.decoder.layers[1].feed_forward.outer.weight.mul_(1.3)
    translator.token_search._engines["fp32"] = FixedEngine(other)
    passed = [finding.passed for finding in compare_with_processor(translator, sources)]
    assert passed == [False, False, True, True]  # both searches


@pytest.mark.slow
def test_other_gradients_are_detected(tokenizer):
    sources, targets = (
        encode(sentences(5, seed=1))
        for encode in (tokenizer.encode_source, tokenizer.encode_target)
    )
    ours, theirs = translator_of(tokenizer), translator_of(tokenizer)
    assert gradient_distance(ours, theirs, sources, targets) < 1e-6
    with torch.no_grad():
        ours.model.decoder.layers[0].feed_forward.inner.weight.mul_(1.05)
    assert gradient_distance(ours, theirs, sources, targets) > 1e-3
