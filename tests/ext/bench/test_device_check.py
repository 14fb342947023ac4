"""What a GPU computes is compared with the processor; here the GPU's engine runs on the processor."""

import pytest
import torch

from headway.ext.bench.device_check import compare_with_processor, gradient_distance
from headway.ext.cuda.engine import FixedEngine
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator
from support.toy_models import sentences, small_config


def translator_of(tokenizer: Tokenizer, seed: int = 3) -> Translator:
    torch.manual_seed(seed)
    translator = Translator(Transformer(small_config(tokenizer).model), tokenizer, device="cpu")
    translator.token_search._engines["fp32"] = FixedEngine(translator.model)
    return translator


@pytest.mark.slow
def test_the_engine_of_a_gpu_agrees_with_the_processor(tokenizer: Tokenizer) -> None:
    sources = tokenizer.encode_source(sentences(9, seed=1))
    findings = list(compare_with_processor(translator_of(tokenizer), sources))
    assert [finding for finding in findings if not finding.passed] == []
    assert len(findings) == 4


@pytest.mark.slow
def test_another_model_in_the_engine_is_detected(tokenizer: Tokenizer) -> None:
    sources = tokenizer.encode_source(sentences(9, seed=1))
    translator = translator_of(tokenizer)
    with torch.no_grad():
        other = translator_of(tokenizer).model
        other.decoder.layers[1].feed_forward.outer.weight.mul_(1.3)
    translator.token_search._engines["fp32"] = FixedEngine(other)
    passed = [finding.passed for finding in compare_with_processor(translator, sources)]
    assert passed == [False, False, True, True]  # both searches


@pytest.mark.slow
def test_other_gradients_are_detected(tokenizer: Tokenizer) -> None:
    sources, targets = (
        encode(sentences(5, seed=1))
        for encode in (tokenizer.encode_source, tokenizer.encode_target)
    )
    ours, theirs = translator_of(tokenizer), translator_of(tokenizer)
    assert gradient_distance(ours, theirs, sources, targets) < 1e-6
    with torch.no_grad():
        ours.model.decoder.layers[0].feed_forward.inner.weight.mul_(1.05)
    assert gradient_distance(ours, theirs, sources, targets) > 1e-3


@pytest.mark.slow
def test_a_check_on_the_processor_compares_nothing(tokenizer: Tokenizer) -> None:
    from headway.ext.bench import self_check

    names = [finding.name for finding in self_check(translator_of(tokenizer))]
    assert not any("processor" in name for name in names)
