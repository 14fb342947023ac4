"""The GPU's engine, on the CPU: fixed shapes give what growing ones give, and no step waits."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.cuda import fixed_engine
from headway.ext.cuda.beam_state import Shape
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.ext.cuda.recorded_call import GraphMemory
from headway.ext.cuda.search import FixedSearch
from headway.model import Transformer
from headway.translation import Translator
from headway.translation.engines.plain_engine import PlainEngine
from support.cases import read_rows
from support.engines import (
    EOS,
    SHAPES,
    VOCAB,
    assert_equal,
    model_of,
    search,
    search_batch,
    sources,
)
from support.pieces import attend, score_targets
from support.step_counts import Counts
from support.toy_models import sentences, small_config


def test_beams_without_a_hypothesis_finish_nothing():
    model = model_of({"target_vocab_size": 5, "tying": "target"}, seed=5)
    found = []
    for engine in (FixedEngine(model), PlainEngine(model)):
        with torch.inference_mode():
            found.append(
                search_batch(
                    engine, sources(3), [4] * 3, beam=60, alpha=0.6, n_best=40, eos=EOS, pad=4
                )
            )
    assert_equal(*found)


def test_one_engine_translates_batches_of_all_shapes_alike(monkeypatch):
    monkeypatch.setattr(fixed_engine, "KEPT_BYTES", 1)
    model, engine = model_of({}), None
    for count in (3, 9, 3):
        texts = sources(count, seed=count, longest=5 * count + 3)
        engine = engine or FixedEngine(model)
        assert_equal(search(engine, model, texts), search(FixedEngine(model), model, texts))
        assert len(engine._searches) <= 2


@pytest.mark.parametrize("steps_unseen", [3, 100])
def test_finished_sentences_leave_and_the_others_are_not_changed(monkeypatch, steps_unseen):
    monkeypatch.setattr(fixed_engine, "STEPS_UNSEEN", steps_unseen)
    model, texts = model_of({}), sources(13)
    engine, limits = FixedEngine(model), [3 + 3 * row for row in range(13)]
    ends = {"beam": 3, "alpha": 0.6, "eos": EOS, "pad": VOCAB - 1}
    ours = search_batch(engine, texts, limits, **ends)
    shapes = {shape.sentences for shape in engine._searches}
    assert len(shapes) == 1 if steps_unseen == 100 else len(shapes) > 2
    with torch.inference_mode():
        assert_equal(ours, search_batch(PlainEngine(model), texts, limits, **ends))


def test_a_search_that_nobody_wants_stops(monkeypatch):
    monkeypatch.setattr(fixed_engine, "STEPS_UNSEEN", 2)
    model, texts = model_of({}), sources(4)
    ends = {"beam": 2, "alpha": 0.6, "eos": EOS, "pad": VOCAB - 1}
    engine = FixedEngine(model)
    some = search_batch(engine, texts, [20] * 4, is_wanted=lambda number: number != 2, **ends)
    every = search_batch(engine, texts, [20] * 4, **ends)
    assert_equal([some[row] for row in (0, 1, 3)], [every[row] for row in (0, 1, 3)])
    none = search_batch(engine, texts, [20] * 4, is_wanted=lambda number: False, **ends)
    assert all(len(hypothesis.tokens) <= 2 for found in none for hypothesis in found)


def test_predictions_that_are_not_finite_are_reported_and_spoil_no_later_batch():
    model, texts = model_of({}), sources(3)
    engine = FixedEngine(model)
    before = search(engine, model, texts)
    weight = engine.model.decoder.layers[1].feed_forward.outer.weight
    good = weight.detach().clone()
    with torch.no_grad():
        weight.fill_(float("nan"))
    with pytest.raises(HeadwayError, match="not finite"):
        search(engine, model, texts)
    with torch.no_grad():
        weight.copy_(good)
    assert search(engine, model, texts) == before


def test_half_precision_gives_logits_near_those_of_fp32():
    model, texts = model_of(SHAPES["wide"]), sources(7)
    exact = search(FixedEngine(model), model, texts, beam=1)
    rough = search(FixedEngine(model_of(SHAPES["wide"]).bfloat16()), model, texts, beam=1)
    for [a], [b] in zip(exact, rough, strict=True):
        assert b.log_probability / len(b.tokens) == pytest.approx(
            a.log_probability / len(a.tokens), abs=0.3
        )


def test_a_gpu_scores_all_positions_at_once(tokenizer, monkeypatch):
    translator = Translator(Transformer(small_config(tokenizer).model), tokenizer)
    search, own = SearchConfig(batch_tokens=60), translator.token_search
    sources = tokenizer.encode_source(sentences(20, seed=1))
    targets = tokenizer.encode_target(sentences(20, seed=2))
    by_steps = score_targets(own, sources, targets, search)
    assert len(set(by_steps)) == 20
    engine = own._engines["auto"] = FixedEngine(translator.model)
    # A search, and a score by steps, would need this.
    monkeypatch.delattr(PlainEngine, "start")
    passes = []
    engine.exact.register_forward_hook(lambda *_: passes.append(1))
    assert score_targets(own, sources, targets, search) == pytest.approx(by_steps, abs=1e-4)
    assert len(passes) == 1  # of all 20: a GPU has room for more tokens than the search asks for
    monkeypatch.setattr("headway.ext.cuda.fixed_engine.GPU_NUMBERS", 0)
    assert score_targets(own, sources, targets, search) == pytest.approx(by_steps, abs=1e-4)
    assert len(passes) > 5
    # Attention needs more memory than logits if texts are long: many heads stand for them.
    vocabulary, longest = tokenizer.target_vocab_size, max(map(len, sources))
    monkeypatch.setattr("headway.ext.cuda.fixed_engine.GPU_NUMBERS", 300 * vocabulary)
    sizes = []
    read = engine.read
    monkeypatch.setattr(
        engine, "read", lambda s, t, **wanted: sizes.append(len(s)) or read(s, t, **wanted)
    )
    attend(own, sources, targets, search)
    few = len(sizes)
    heads = 2 * vocabulary // longest
    config = replace(translator.model.config, num_heads=heads)
    monkeypatch.setattr(translator.model, "config", config)
    attend(own, sources, targets, search)
    assert len(sizes) - few > few


class OneKernelAttention(TorchFunctionMode):
    """Computes torch's attention in one launch, as a GPU does."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is F.scaled_dot_product_attention:
            query, _, values, *_ = args
            return query.new_zeros(*query.shape[:-1], values.size(-1))
        return function(*args, **(kwargs or {}))


def meta_model():
    """A model of six layers without numbers, so that reading one raises an error."""
    layers = {"num_encoder_layers": 6, "num_decoder_layers": 6}
    return model_of({**SHAPES["wide"], **layers}).to("meta")


# The operations that make a program wait for a GPU; most of them fail on the meta device.
WAITING = read_rows(__file__, "WAITING")


def test_a_step_never_waits_and_launches_no_more_than_300_kernels():
    model = meta_model()
    model.target_positions.table = torch.empty(64, 64, device="meta")
    shape = Shape(sentences=5, beams=4, source=20, target=48, n_best=1, has_choices=False)
    run = FixedSearch(model, shape, EOS, GraphMemory(torch.device("meta"), "decoding"))
    steps = [Counts() for _ in range(3)]
    for counts in steps:
        with torch.no_grad(), OneKernelAttention(), counts:
            run.advance(32)
        assert not counts.launches.keys() & {*WAITING}
        assert counts.shapes == steps[0].shapes
    # No operation gives a tensor as large as the cached keys of 32 positions: none copies them.
    in_place = ("index_copy_",)
    largest = max(np.prod(size) for name, size in steps[0].shapes if name not in in_place)
    assert largest < 32 * 5 * 4 * 64
    assert steps[0].launches.total() <= 300


def test_memory_is_freed_with_the_engine_and_not_by_the_garbage_collector():
    model = model_of({})
    engine = FixedEngine(model)
    search(engine, model, sources(3))
    kept = [weakref.ref(each.state.last_BK) for each in engine._searches.values()]
    assert kept
    assert all(tensor() is not None for tensor in kept)
    gc.disable()
    try:
        del engine
        assert all(tensor() is None for tensor in kept)
    finally:
        gc.enable()
