"""Native functions equal their plain versions, gradients included."""

from functools import partial

import pytest
import torch
from torch.nn import functional as F

from headway.ext.cuda.cross_entropy import fusible_cross_entropy_
from headway.ext.cuda.fusion import fuse
from headway.ext.native.library import failure_reason
from headway.ext.native.native_operations import FEWEST_ROWS, NativeOperations, fits_attention
from headway.ext.native.training_library import training_library
from headway.model.ops import PLAIN, Linear, Mask
from headway.model.visibility import Segments, Visibility

compiled = pytest.mark.skipif(training_library() is None, reason=failure_reason("training"))
NATIVE = NativeOperations()
BF16 = torch.bfloat16
# Tolerances: in bfloat16 (8 bits) an output and the numbers that it is made of are rounded.
ROUNDED = {torch.float32: 2e-6, BF16: 2e-2}


def gradients(f, *inputs):
    """Return the output and the gradients of a fixed random weighting of it."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    out = f(*leaves)
    torch.manual_seed(11)
    out.backward(torch.randn(out.shape).to(out.dtype))
    return [out.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


def close(found, expected, tolerance):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        scale = b.double().abs().max().clamp(min=0.5)
        assert ((a.double() - b.double()).abs().max() / scale) < tolerance


@compiled
@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize("width", [1, 131])
def test_native_dropout_draws_the_mask_of_the_plain_version(dtype, width):
    x = torch.randn(5, 3, width).to(dtype)
    mask = Mask(123456789, 987654321, round(0.3 * 65536))
    out, grad = gradients(lambda x: NATIVE.apply_mask(x, mask), x)
    factors = mask.factors(15, width).view(5, 3, width)
    assert torch.equal(out, (x.float() * factors).to(dtype))
    torch.manual_seed(11)
    assert torch.equal(grad, (torch.randn(x.shape).to(dtype).float() * factors).to(dtype))


def test_dropout_drops_the_share_p_and_keeps_the_mean():
    factors = torch.cat([Mask.draw(0.1).factors(101, 1009) for _ in range(10)])
    share = (factors == 0).double().mean().item()
    assert abs(share - 0.1) < 4 * (0.1 * 0.9 / factors.numel()) ** 0.5 + 1e-5
    assert abs(factors.double().mean().item() - 1) < 2e-3
    # Neighboring elements, rows and columns are not correlated.
    kept = (factors > 0).double() - 0.9
    for other in (kept.roll(1, 1), kept.roll(1, 0), kept.roll(505, 1), kept.roll(101, 0)):
        assert abs((kept * other).mean().item()) < 5 * 0.09 / kept.numel() ** 0.5


@compiled
@pytest.mark.parametrize(
    ("x_type", "y_type"), [(torch.float32, torch.float32), (torch.float32, BF16), (BF16, BF16)]
)
@pytest.mark.parametrize("p", [0.0, 0.3])
def test_native_add_norm_equals_the_plain_version(x_type, y_type, p):
    torch.manual_seed(1)
    x, y = torch.randn(5, 7, 67).to(x_type), torch.randn(5, 7, 67).to(y_type)
    weight, bias = torch.rand(67) + 0.5, torch.randn(67)
    torch.manual_seed(2)
    found = gradients(lambda *a: NATIVE.add_norm(*a, 1e-5, p), x, y, weight, bias)
    torch.manual_seed(2)
    factors = Mask.draw(p).factors(35, 67).view(5, 7, 67).double()
    expected = gradients(
        lambda x, y, w, b: PLAIN.add_norm(x, y * factors, w, b, 1e-5, 0.0).to(y_type),
        *(t.double() for t in (x, y, weight, bias)),
    )
    assert [t.dtype for t in found] == [y_type, x_type, y_type, torch.float32, torch.float32]
    close(found, expected, ROUNDED[y_type])


@compiled
@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize("size", [1e38, torch.nan])
def test_a_row_too_large_to_normalize_gives_nan(dtype, size):
    """PyTorch returns zeros, which look like valid numbers."""
    x, y, one, zero = torch.randn(3, 67), torch.randn(3, 67), torch.ones(67), torch.zeros(67)
    x[1] = torch.linspace(-size, size, 67)
    found = gradients(
        lambda *a: NATIVE.add_norm(*a, 1e-5, 0.0), x.to(dtype), y.to(dtype), one, zero
    )
    for t in found[:3]:  # the output, and the gradients of x and y
        assert t.isnan().any(1).tolist() == t.isnan().all(1).tolist() == [False, True, False]


@compiled
@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_equals_torchs(dtype, smoothing):
    torch.manual_seed(1)
    logits, labels = (3 * torch.randn(13, 101)).to(dtype), torch.randint(101, (13,))
    labels[[4, 12]] = -1  # padding
    wide = logits.double().requires_grad_()
    loss = F.cross_entropy(
        wide, labels, label_smoothing=smoothing, reduction="sum", ignore_index=-1
    )
    loss.backward()
    for function in (NATIVE.cross_entropy_, PLAIN.cross_entropy_, fusible_cross_entropy_):
        gradient = logits.clone()
        nll, even = function(gradient, labels, smoothing)
        torch.testing.assert_close(
            ((1 - smoothing) * nll + smoothing * even).double(), loss.detach(), rtol=1e-6, atol=1e-6
        )
        close([gradient], [wide.grad], ROUNDED[dtype])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, about itself
def test_the_compiled_cross_entropy_equals_the_plain_one(monkeypatch, caplog):
    """Traced as on a GPU; to compile for a processor would take long and show nothing more."""
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    fuse.cache_clear()
    torch.manual_seed(1)
    logits, labels = (3 * torch.randn(13, 101)).to(BF16), torch.randint(101, (13,))
    labels[[4, 12]] = -1  # padding
    expected, found = logits.clone(), logits.clone()
    sums = PLAIN.cross_entropy_(expected, labels, 0.1)
    fused_sums = fuse(fusible_cross_entropy_, PLAIN.cross_entropy_)(found, labels, 0.1)
    close([found, *fused_sums], [expected, *sums], ROUNDED[BF16])
    assert not [r for r in caplog.records if r.name.startswith("headway")]  # it was compiled


@compiled
@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weight", [0.0, 5.0])
def test_agreement_equals_its_definition_in_torch(dtype, smoothing, weight):
    torch.manual_seed(1)
    logits, labels = (2 * torch.randn(13, 2, 101)).to(dtype), torch.randint(101, (13,))
    labels[[4, 12]] = -1  # padding
    wide = logits.double().requires_grad_()
    log_p, log_q = wide[labels >= 0].log_softmax(2).unbind(1)
    apart = F.kl_div(log_q, log_p, reduction="sum", log_target=True)
    apart = (apart + F.kl_div(log_p, log_q, reduction="sum", log_target=True)) / 2
    cross = F.cross_entropy(
        wide.flatten(0, 1), labels.repeat_interleave(2), label_smoothing=smoothing,
        reduction="sum", ignore_index=-1,
    )  # fmt: skip
    (cross / 2 + weight / 2 * apart).backward()
    for function in (NATIVE.agreement_, PLAIN.agreement_):
        gradient = logits.clone()
        nll, even, found = function(gradient, labels, smoothing, weight)
        both = (1 - smoothing) * nll + smoothing * even
        torch.testing.assert_close(both.double(), cross.detach() / 2, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(found.double(), apart.detach(), rtol=1e-5, atol=1e-5)
        close([gradient], [wide.grad], ROUNDED[dtype])


@pytest.fixture
def threads():
    """Sets the number of threads of native functions, and restores it at the end."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@compiled
def test_threads_change_only_the_last_bits_of_gradients_of_shared_weights(threads):
    torch.manual_seed(2)
    x, y = torch.randn(2, 301, 24)
    weight, bias = torch.rand(24) + 0.5, torch.randn(24)
    logits, labels = torch.randn(602, 97) * 3, torch.randint(97, (602,))
    found = []
    sums = []
    for count in (1, 2, 4, 7):
        threads(count)
        found.append(gradients(lambda *a: NATIVE.add_norm(*a, 1e-5, 0.0), x, y, weight, bias))
        for _ in range(5):
            first, second = logits.clone(), logits.clone()
            sums.append([float(s) for s in NATIVE.cross_entropy_(first, labels, 0.1)])
            sums[-1] += [
                float(s) for s in NATIVE.agreement_(second.view(301, 2, 97), labels[:301], 0.1, 5)
            ]
    for other in found[1:]:
        assert all(map(torch.equal, other[:3], found[0][:3]))  # each row belongs to one thread
        close(other[3:], found[0][3:], 2e-6)
    assert all(s == sums[0] for s in sums)


@compiled
def test_cross_entropy_of_extreme_logits_is_finite():
    logits = torch.tensor([[1e30, 0, -1e30], [-1e4, -1e4, -1e4], [88.0, -200, 100]])
    nll, _ = NATIVE.cross_entropy_(logits, torch.tensor([0, 1, 0]), 0.1)
    assert torch.isfinite(logits).all()
    torch.testing.assert_close(nll.item(), 0 + 1.0986123 + 12.000006, rtol=1e-6, atol=0)


def plain_attention(q, k, v, allowed, scale):
    scores = (q @ k.transpose(-2, -1)) * scale
    fill = torch.finfo(scores.dtype).min
    return scores.masked_fill(~allowed, fill).softmax(-1) @ v


@compiled
@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize(("T", "S"), [(1, 1), (5, 17), (131, 131)])
@pytest.mark.parametrize(
    "kind", ["all", "padded", "packed", "causal", "causal, packed", "window", "causal, window"]
)
def test_native_attention_equals_the_plain_version(dtype, T, S, kind):
    if T != S and kind.startswith(("causal", "window")):
        pytest.skip("these need as many queries as keys")
    torch.manual_seed(T)
    B, H, K, V = 2, 3, 11, 19
    # Heads lie side by side, as the projections give them.
    q, k, v = (
        torch.randn(B, n, H, width).to(dtype).transpose(1, 2)
        for n, width in ((T, K), (S, K), (S, V))
    )
    keys = (torch.arange(S) < torch.tensor([[S], [max(1, S - 3)]])).long()
    packed = torch.stack((torch.arange(S) // 7 + 1, torch.arange(S) // 5))
    place = torch.arange(S) - torch.arange(T)[:, None]
    everything = torch.ones(B, 1, T, S, dtype=torch.bool)
    segments = Segments(packed[:, :T], is_packed=True), Segments(packed, is_packed=True)
    same = (packed[:, :T, None] == packed[:, None])[:, None]
    seen, allowed = {
        "all": (Visibility(), everything),
        "padded": (
            Visibility(None, Segments(keys, is_packed=False)),
            (keys == 1)[:, None, None].expand_as(everything),
        ),
        "packed": (Visibility(*segments), same),
        "causal, packed": (Visibility(*segments, is_causal=True), same & (place <= 0)),
        "causal": (
            Visibility(None, Segments(keys, is_packed=False), is_causal=True),
            (place <= 0) & (keys == 1)[:, None, None],
        ),
        "window": (Visibility(window=4), (place <= 1) & (place >= -2)),
        "causal, window": (Visibility(is_causal=True, window=40), (place <= 0) & (place > -40)),
    }[kind]
    assert fits_attention(q, k, v)
    found = gradients(lambda *a: NATIVE.attention(*a, seen, 0.3), q, k, v)
    expected = gradients(
        lambda *a: plain_attention(*a, allowed, 0.3), *(t.double() for t in (q, k, v))
    )
    close(found, expected, ROUNDED[dtype] * (3 if dtype is BF16 else 1))
    if kind.startswith("causal"):  # exactly nothing comes from the future
        leaf = v.detach().clone().requires_grad_()
        NATIVE.attention(q, k, leaf, seen, 0.3)[:, :, 0].float().sum().backward()
        assert leaf.grad is not None
        assert not leaf.grad[:, :, 1:].any()


@compiled
def test_the_distance_counts_in_rows_whose_sentences_stand_apart():
    torch.manual_seed(6)
    T, S = 40, 57
    q, k, v = (torch.randn(1, 2, n, 8) for n in (T, S, S))
    keys = torch.tensor([[2] * 17 + [1] * 40])
    queries = torch.ones(1, T, dtype=torch.long)
    segments = Segments(queries, is_packed=True), Segments(keys, is_packed=True)
    seen = Visibility(*segments, is_causal=True, first=20)
    place = torch.arange(S) - torch.arange(T)[:, None]
    allowed = ((keys[:, None] == queries[..., None]) & (place <= 20))[:, None]
    found = gradients(lambda *a: NATIVE.attention(*a, seen, 0.3), q, k, v)
    expected = gradients(
        lambda *a: plain_attention(*a, allowed, 0.3), *(t.double() for t in (q, k, v))
    )
    close(found, expected, 2e-6)


@compiled
@pytest.mark.parametrize("kind", ["far behind", "just behind", "hidden", "far ahead"])
def test_a_query_that_sees_no_key_gets_the_mean_of_all_values(kind):
    torch.manual_seed(4)
    T, S = 20, 23
    hidden = Segments((torch.arange(S) > 5).long()[None], is_packed=False)
    if kind == "far behind":  # query 6 is the last that sees a key
        S, seen, blind = 5, Visibility(window=3, is_causal=True), slice(7, None)
    elif kind == "just behind":  # the last query, and no other
        S, seen, blind = 17, Visibility(window=3, is_causal=True), slice(19, None)
    elif kind == "hidden":
        seen, blind = Visibility(None, hidden, is_causal=True), slice(0, 6)
    else:  # the keys of the query's sentence stand behind another one
        ids = torch.ones(1, T, dtype=torch.long)
        keys = torch.tensor([[2] * 17 + [1] * 6])
        segments = Segments(ids, is_packed=True), Segments(keys, is_packed=True)
        seen, blind = Visibility(*segments, window=3), slice(0, 16)
    q, k, v = (torch.randn(1, 2, n, 8) for n in (T, S, S))
    for leaf in (q, k, v):
        leaf.requires_grad_()
    sentence = v[:, :, 17:] if kind == "far ahead" else v
    out = NATIVE.attention(q, k, v, seen, 0.3)
    mean = sentence.mean(2, keepdim=True).expand_as(out[:, :, blind])
    close([out[:, :, blind]], [mean], 2e-6)
    found = torch.autograd.grad(out[:, :, blind].sum(), (q, k, v))
    expected = torch.autograd.grad(mean.sum(), (v,))
    close(found, [torch.zeros_like(q), torch.zeros_like(k), *expected], 2e-6)


@pytest.mark.parametrize("low", [False, True])
def test_linear_maps_equal_torchs(low):
    torch.manual_seed(1)
    x, weight, bias = torch.randn(5, 7, 13), torch.randn(11, 13), torch.randn(11)

    def ours(*a):
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            return NATIVE.linear(*a)

    found = gradients(ours, x, weight, bias)
    expected = gradients(F.linear, *(t.double() for t in (x, weight, bias)))
    assert found[0].dtype == (BF16 if low else torch.float32)
    assert all(t.dtype == torch.float32 for t in found[1:])
    close(found, expected, 2e-2 if low else 1e-5)
    without = gradients(ours, x, weight)
    close(without, gradients(F.linear, x.double(), weight.double()), 2e-2 if low else 1e-5)
    with torch.no_grad():  # few rows are multiplied otherwise than many
        for rows in (FEWEST_ROWS - 1, FEWEST_ROWS):
            x = torch.randn(rows, 13)
            close([ours(x, weight)], [F.linear(x, weight)], 2e-2 if low else 1e-5)


@compiled
def test_inputs_that_native_code_cannot_take_use_the_plain_version():
    torch.manual_seed(1)
    x, y, gain = torch.randn(3, 8), torch.randn(3, 8), torch.rand(16)[::2] + 1
    for a, w in (
        (x, torch.ones(8)),
        (x[:1], torch.ones(8)),
        (x, gain),
        (x, torch.ones(8).bfloat16()),
    ):
        expected = F.layer_norm((a + y).to(w.dtype), (8,), w, torch.zeros_like(w))
        found = NATIVE.add_norm(a.to(w.dtype), y.to(w.dtype), w, torch.zeros_like(w), 1e-5, 0.0)
        torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-2)
    q, k = torch.randn(3, 2, 5, 4), torch.randn(1, 2, 7, 4)
    assert not fits_attention(q, k, k)
    assert not fits_attention(q, torch.randn(3, 2, 7, 3), torch.randn(3, 2, 7, 4))
    once, thrice = (
        Visibility(None, Segments(torch.ones(rows, 5), is_packed=False)) for rows in (1, 3)
    )
    assert torch.equal(NATIVE.attention(q, q, q, once, 0.5), NATIVE.attention(q, q, q, thrice, 0.5))


@compiled
def test_native_attention_stores_the_weights_that_dropout_needs():
    q = torch.randn(2, 3, 5, 8)
    found, expected = (
        (torch.manual_seed(3), each.attention(q, q, q, Visibility(), 0.5, 0.4))[1]
        for each in (NATIVE, PLAIN)
    )
    assert torch.equal(found, expected)
    assert not torch.allclose(found, NATIVE.attention(q, q, q, Visibility(), 0.5), atol=0.1)


def test_labels_outside_the_vocabulary_are_rejected():
    for labels in (torch.tensor([0, 7]), torch.tensor([0])):
        with pytest.raises((IndexError, ValueError)):
            NATIVE.cross_entropy_(torch.randn(2, 7), labels, 0.1)
    narrow = NATIVE.cross_entropy_(torch.ones(2, 7), torch.tensor([3, 5], dtype=torch.int32), 0.1)
    strided = NATIVE.cross_entropy_(torch.ones(2, 7), torch.tensor([3, 9, 5, 9])[::2], 0.1)
    assert [t.item() for t in narrow] == [t.item() for t in strided]


def test_a_frozen_map_among_joint_ones_leaves_the_others_their_gradients():
    maps = [Linear(5, n) for n in (3, 4, 2)]
    maps[0].weight.requires_grad_(False)
    maps[1].bias.requires_grad_(False)
    sum(out.sum() for out in NATIVE.joined_linear(torch.randn(7, 5), maps)).backward()
    assert [m.weight.grad is None for m in maps] == [True, False, False]
    assert [m.bias.grad is None for m in maps] == [False, True, False]


HUGE = 1 << 60  # floats: more memory than any machine has


@compiled
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        # Without rows, threads only allocate their buffers: inside the parallel region.
        ("dropout", (None, None, 0, HUGE, 1, 2, 3, 1)),
        ("add_norm", (*[None] * 7, 0, HUGE, 1e-5, 1, 2, 3, 0, 0)),
        ("add_norm_backward", (*[None] * 8, 0, HUGE >> 20, 1, 2, 3, 0, 0)),
        ("entropy", (None, None, 0, HUGE, 0.1, None, 0)),
        ("entropy", (None, None, HUGE, 0, 0.1, None, 0)),
        ("agreement", (None, None, 0, HUGE, 0.1, 1.0, None, 1)),
    ],
)
def test_a_training_function_without_memory_raises_a_memory_error(name, arguments):
    library = training_library()
    assert library is not None
    with pytest.raises(MemoryError, match=f"{name}: no memory is left"):
        getattr(library, name)(*arguments)
