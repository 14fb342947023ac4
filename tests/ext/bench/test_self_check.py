"""The self-check of a model finds what is broken."""

import pytest

from headway.config import SearchConfig
from headway.ext.bench import self_check
from headway.ext.native import decoding
from headway.ext.native.native_engine import NativeEngine
from headway.translation import Translator


@pytest.mark.slow
def test_the_self_check_detects_a_broken_mask(translator, monkeypatch):
    assert all(finding.passed for finding in self_check(translator))
    monkeypatch.setattr(translator.model.decoder.layers[1].mixer, "causal", False)
    failed = [finding.name for finding in self_check(translator) if not finding.passed]
    assert "no prediction depends on a later target token" in failed
    assert "step-by-step decoding equals a full forward pass" in failed


@pytest.mark.slow
def test_the_self_check_detects_attention_to_padding(translator, monkeypatch):
    encode = translator.model.encode
    monkeypatch.setattr(translator.model, "encode", lambda source, segments=None: encode(source))
    failed = [finding.name for finding in self_check(translator) if not finding.passed]
    assert "padding changes no prediction" in failed


@pytest.mark.slow
@pytest.mark.skipif(decoding.library() is None, reason="no native code")
@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_the_self_check_detects_a_broken_engine(translator, tokenizer, precision):
    own = Translator(translator.model, tokenizer, SearchConfig(precision=precision))
    assert all(finding.passed for finding in self_check(own))
    engine = own.token_search.engine(precision)
    assert isinstance(engine, NativeEngine)
    engine.weights.attention_scale = 0
    failed = [finding.name for finding in self_check(own) if not finding.passed]
    known = "fp32" if precision == "auto" else precision
    assert failed == [f"the engine computes the logits of the model, {known}"]
