"""What must hold for every model, whatever its layers; every size is another prime."""

from dataclasses import replace

import torch

from headway.config import ModelConfig
from headway.model import Transformer

SHAPE = ModelConfig(
    source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=3,
    d_model=22, d_ff=37, num_heads=3, d_k=5, d_v=7, dropout=0.0, max_positions=53,
)  # fmt: skip


def build(**changes):
    torch.manual_seed(5)
    model = Transformer(replace(SHAPE, **changes))
    with torch.no_grad():  # norms differ from 1 and biases from 0, so that exchanging them fails
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            assert "norm" not in name or parameter.dim() == 1
    return model.double().eval()


def tokens(rows, length, seed=7):
    return torch.randint(2, 40, (rows, length), generator=torch.Generator().manual_seed(seed))


def close(a, b, tolerance=1e-10):
    return a.shape == b.shape and bool((a - b).abs().max() <= tolerance)


def step_by_step_equals_full(model):
    source, target = tokens(2, 11), tokens(2, 13, seed=8)
    segments = torch.ones_like(source)
    segments[1, 6:] = 0
    full = model(source, target, segments)
    state = model.start(model.encode(source, segments), segments)
    token = torch.full((2,), model.config.target_vocab_size - 1)
    for t in range(target.size(1)):
        assert close(model.step(token, state), full[:, t]), f"position {t}"
        token = target[:, t]


def beams_share_a_memory_and_can_be_reordered(model):
    source = tokens(2, 11)
    beams = tokens(6, 5, seed=9)  # three hypotheses for each of two sentences
    full = model(source.repeat_interleave(3, 0), beams)
    state = model.start(model.encode(source))
    model.step(torch.full((6,), model.config.target_vocab_size - 1), state)
    rows = torch.tensor([2, 0, 1, 5, 5, 3])
    model.step(beams[:, 0], state)
    state.reorder(rows)
    logits = model.step(beams[rows, 1], state)
    assert close(logits, full[rows, 2])
    state.keep(torch.tensor([1]))
    state.reorder(torch.tensor([3, 4, 5]))
    assert close(model.step(beams[rows, 2][3:], state), full[rows, 3][3:])


def logits_have_no_gradient_from_later_tokens(model):
    x = torch.randn(2, 13, 22, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(2, 11, 22, dtype=torch.float64)
    for t in (0, 5, 11):
        (gradient,) = torch.autograd.grad(model.decoder(x, None, memory)[:, t].sum(), x)
        assert not gradient[:, t + 1 :].any()
        assert gradient[:, t].any()


def a_sentence_alone_equals_itself_in_a_padded_batch(model):
    source, target = tokens(3, 11), tokens(3, 13, seed=8)
    segments = (torch.arange(11) < torch.tensor([[11], [4], [7]])).long()
    source = source.masked_fill(segments == 0, model.config.source_vocab_size - 1)
    batch = model(source, target, segments)
    for row, length in enumerate((11, 4, 7)):
        alone = model(source[row : row + 1, :length], target[row : row + 1])
        assert close(alone[0], batch[row])


def packed_rows_equal_unpacked_rows(model):
    lengths = [(4, 5), (7, 3), (3, 6)]
    pairs = [(tokens(1, s, seed=s), tokens(1, t, seed=t + 20)) for s, t in lengths]
    source = torch.cat([s for s, _ in pairs] + [torch.full((1, 2), 40)], 1)
    target = torch.cat([t for _, t in pairs] + [torch.full((1, 1), 40)], 1)
    source_segments = torch.tensor([[1] * 4 + [2] * 7 + [3] * 3 + [0] * 2])
    target_segments = torch.tensor([[1] * 5 + [2] * 3 + [3] * 6 + [0]])
    packed = model(source, target, source_segments, target_segments)
    assert packed.isfinite().all()
    at = 0
    for s, t in pairs:
        assert close(model(s, t)[0], packed[0, at : at + t.size(1)])
        at += t.size(1)


RELATIONS = {
    function.__name__: function
    for function in (
        step_by_step_equals_full,
        beams_share_a_memory_and_can_be_reordered,
        logits_have_no_gradient_from_later_tokens,
        a_sentence_alone_equals_itself_in_a_padded_batch,
        packed_rows_equal_unpacked_rows,
    )
}
