"""What must hold for every mixer, attention core and norm placement; every size another prime."""

import copy
import math

import pytest
import torch
from torch.nn import functional as F

from headway.errors import HeadwayError
from headway.model import (
    DotProduct,
    FeedForward,
    Positions,
    Segments,
    Visibility,
    parameter_count,
    plain_attention,
    shift_right,
    sinusoids,
    watch,
)
from headway.model.network import zero_outputs
from headway.model.ops import Mask
from support.cases import read_rows
from support.model_relations import RELATIONS, build, close, tokens

VARIANTS = read_rows(__file__, "VARIANTS")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_relation_holds_for_every_variant_of_the_model(variant, relation):
    RELATIONS[relation](build(**VARIANTS[variant]))


@pytest.mark.parametrize("allowed", [None, "padding", "causal"])
@pytest.mark.parametrize("scaled", [True, False])
def test_attention_equals_the_formula(allowed, scaled, monkeypatch):
    core = DotProduct(scaled=scaled)
    q, k, v = (torch.randn(2, 3, n, w, dtype=torch.float64) for n, w in ((7, 5), (7, 5), (7, 11)))
    segments = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])
    visibility = {
        None: Visibility(),
        "padding": Visibility(None, Segments(segments, is_packed=False)),
        "causal": Visibility(is_causal=True),
    }[allowed]
    naive = core(q, k, v, visibility)
    monkeypatch.setattr(plain_attention, "LONGEST_STORED", 3)
    assert close(core(q, k, v, visibility), naive)


@pytest.mark.parametrize("window", [1, 4, 7])
@pytest.mark.parametrize("causal", [True, False])
def test_a_window_of_r_allows_r_positions(window, causal):
    visibility = Visibility(is_causal=causal, window=window)
    allowed = visibility.mask(range(23), range(23), torch.device("cpu"))
    assert allowed is not None
    assert (allowed[8:15].sum(-1) == window).all()
    assert allowed.diagonal().all()
    if causal:
        assert not allowed.triu(1).any()
    elif window % 2:
        assert (allowed == allowed.T).all()


def test_sinusoids_equal_the_papers_formula():
    table = sinusoids(61, 22)
    for position, i in ((0, 0), (1, 0), (17, 3), (60, 10)):
        angle = position / 10000 ** (2 * i / 22)
        assert math.isclose(table[position, 2 * i], math.sin(angle), abs_tol=1e-6)
        assert math.isclose(table[position, 2 * i + 1], math.cos(angle), abs_tol=1e-6)


def test_sinusoids_are_extended_for_longer_input():
    long, short = build(), build(max_positions=5)
    source, target = tokens(2, 11), tokens(2, 13)
    with torch.inference_mode():
        assert close(short(source, target), long(source, target))
    assert not short.source_positions.table.is_inference()


def test_learned_positions_count_within_a_packed_sentence():
    model = build(positions="learned", max_positions=8)
    segments = torch.tensor([[1] * 7 + [2] * 6])
    assert model(tokens(1, 13), tokens(1, 13), segments, segments).isfinite().all()
    padded = torch.cat((segments, torch.zeros(1, 20, dtype=torch.long)), 1)  # counts no positions
    text = tokens(1, 33)
    found = model(text, text, padded, padded)[:, :13]
    assert close(found, model(text[:, :13], text[:, :13], segments, segments))
    with pytest.raises(HeadwayError, match="8 were learned"):
        model(tokens(1, 9), tokens(1, 3))


@pytest.mark.parametrize("tying", ["three-way", "target", "none"])
def test_tying_shares_matrices(tying):
    matrices = {"three-way": 1, "target": 2, "none": 3}[tying]
    tied, free = build(tying=tying), build(tying="three-way")
    assert parameter_count(tied) - parameter_count(free) == (matrices - 1) * 41 * 22


@pytest.mark.parametrize("way", ["copied", "assigned"])
def test_the_embedding_of_pad_stays_zero_in_training_and_after_copying(way):
    model = copy.deepcopy(build().float())
    if way == "assigned":
        state = {name: value.clone() for name, value in model.state_dict().items()}
        model.load_state_dict(state, assign=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(
            model(tokens(2, 5), tokens(2, 7)).flatten(0, 1), tokens(2, 7).flatten()
        ).backward()
        optimizer.step()
    assert not model.source_embedding.weight[-1].any()
    assert model.source_embedding.weight[:-1].any(1).all()


def test_convolutions_of_kernel_size_one_equal_linear_maps():
    linear = FeedForward(11, 23).double()
    convolution = FeedForward(11, 23, convolution=True).double()
    convolution.load_state_dict(linear.state_dict())
    x = torch.randn(2, 5, 11, dtype=torch.float64)
    assert close(linear(x), convolution(x))


@pytest.mark.parametrize("segments", [True, False])
def test_watch_records_attention_weights_and_layer_outputs(segments):
    model = build()
    source, target = tokens(2, 11), tokens(2, 13)
    source_segments = torch.ones_like(source)
    if segments:
        source_segments[1, 5:] = 0
    before = model(source, target, source_segments)
    with watch(model) as seen:
        during = model(source, target, source_segments)
    assert torch.equal(before, during)
    shapes = {name: tuple(weights.shape) for name, weights in seen.attention.items()}
    assert shapes["encoder.layers.1.self"] == (2, 3, 11, 11)
    assert shapes["decoder.layers.2.self"] == (2, 3, 13, 13)
    assert shapes["decoder.layers.0.cross"] == (2, 3, 13, 11)
    assert len(shapes) == 2 + 2 * 3
    for weights in seen.attention.values():
        assert close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
    assert not seen.attention["decoder.layers.0.self"].triu(1).any()
    if segments:
        assert not seen.attention["decoder.layers.0.cross"][1, :, :, 5:].any()
    memory = model.encode(source, source_segments)
    last = model.decode(target, memory, None, source_segments)
    assert torch.equal(seen.outputs["decoder.layers.2"], last)
    names = ["decoder.layers.0.cross", "encoder.layers.1"]
    for only in (names, names[0]):
        with watch(model, only) as some:
            model(source, target, source_segments)
        assert list(some.attention) == names[:1]
        assert torch.equal(some.attention[names[0]], seen.attention[names[0]])
        assert list(some.outputs) == (names[1:] if only == names else [])
    with watch(model) as nothing:
        pass
    model(source, target)
    assert not nothing.attention


def test_shift_right_starts_every_packed_sentence_with_pad():
    target = torch.tensor([[5, 6, 7, 8, 9, 40]])
    segments = torch.tensor([[1, 1, 2, 2, 2, 0]])
    assert shift_right(target, 40).tolist() == [[40, 5, 6, 7, 8, 9]]
    assert shift_right(target, 40, Segments(segments, is_packed=True)).tolist() == [
        [40, 5, 40, 7, 8, 40]
    ]
    assert Segments(segments, is_packed=True).positions().tolist() == [[0, 1, 0, 1, 2, 0]]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dropout_acts_on_both_sums_of_embeddings_and_on_each_sub_layer(norm, monkeypatch):
    """Paper: section 5.4."""
    model = build(norm=norm, dropout=0.3, num_encoder_layers=2, num_decoder_layers=3).train()
    rates = []
    original = Mask.draw

    def draw(rate):
        rates.append(rate)
        return original(rate)

    monkeypatch.setattr(Mask, "draw", draw)
    model(tokens(2, 11), tokens(2, 13))
    assert rates == [0.3] * (2 + 2 * 2 + 3 * 3)


def test_dropouts_act_only_in_training():
    for rate in ("dropout", "attention_dropout", "feed_forward_dropout"):
        model = build(**{rate: 0.5})
        source, target = tokens(2, 11), tokens(2, 13)
        assert torch.equal(model(source, target), model(source, target))
        model.train()
        assert not torch.equal(model(source, target), model(source, target)), rate


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_with_outputs_of_zero_a_model_is_its_embeddings_and_yet_learns(norm):
    deep, flat = build(norm=norm), build(norm=norm, num_encoder_layers=0, num_decoder_layers=0)
    zero_outputs(deep)
    own = dict(deep.named_parameters())
    with torch.no_grad():
        for name, parameter in flat.named_parameters():
            parameter.copy_(own[name])
        for name, parameter in deep.named_parameters():
            if "norm" in name or name.endswith(
                "outer.bias"
            ):  # so that the norms of layers change nothing
                parameter.fill_(float("norm.weight" in name))
        for name, parameter in flat.named_parameters():
            if "norm" in name:
                parameter.fill_(float("weight" in name))
    source, target = tokens(2, 11), tokens(2, 13, seed=8)
    normalize = (lambda x: F.layer_norm(x, x.shape[-1:])) if norm == "post" else (lambda x: x)
    assert close(deep.hidden(source, target), normalize(flat.hidden(source, target)), 1e-3)
    deep.train()(source, target).square().sum().backward()
    outputs = [  # The encoder follows in the second step, when its memory counts.
        p for name, p in deep.decoder.named_parameters()
        if name.endswith(("output.weight", "outer.weight"))
    ]  # fmt: skip
    assert len(outputs) == 3 * 3
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in outputs)


def test_a_table_that_another_thread_extends_never_shrinks(monkeypatch):
    positions, grown = Positions("sinusoidal", 6, 5), []

    def meanwhile(length, d_model):
        if not grown:
            grown.append(None)
            grown.append(positions.table_of(100))
        return sinusoids(length, d_model)

    monkeypatch.setattr("headway.model.embeddings.sinusoids", meanwhile)
    found = positions(torch.zeros(1, 7, 6))[0]
    assert torch.equal(found, sinusoids(7, 6))
    assert positions.table_of(100) is positions.table is grown[1]
