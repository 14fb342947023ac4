"""What a model makes of its input: hidden tokens, padding on either side, and input that does not fit."""

import pytest
import torch

from headway import ModelConfig, Transformer
from headway.errors import HeadwayError
from headway.model import Segments, watch

SHAPE = ModelConfig(
    num_encoder_layers=2, num_decoder_layers=2, d_model=16, d_ff=32, num_heads=2,
    source_vocab_size=20, target_vocab_size=20, dropout=0.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    return Transformer(SHAPE).double().eval()


def tokens(*shape):
    return torch.randint(2, 19, shape)


@pytest.mark.parametrize("left", [0, 1, 4])
@pytest.mark.parametrize("right", [0, 3])
@pytest.mark.parametrize("as_bool", [False, True])
def test_padding_on_either_side_changes_nothing(model, left, right, as_bool):
    source, target = tokens(3, 6), tokens(3, 5)
    padded = torch.cat((tokens(3, left), source, tokens(3, right)), 1)
    segments = torch.tensor([0] * left + [1] * 6 + [0] * right).expand(3, -1)
    segments = segments.bool() if as_bool else segments
    found = model(padded, target, segments)
    assert torch.allclose(found, model(source, target), atol=1e-12)


def test_a_hidden_token_hides_nothing_else_and_moves_nothing(model):
    source, target = tokens(2, 6), tokens(2, 5)
    segments = torch.tensor([[1, 1, 0, 1, 1, 1]]).expand(2, -1)
    other = source.clone()
    other[:, 2] = 2 + (source[:, 2] - 1) % 17
    assert torch.allclose(model(source, target, segments), model(other, target, segments))
    # The positions of the others are those that they have without a hole.
    x = torch.zeros(2, 6, 16, dtype=torch.float64)
    placed = model.source_positions(x, Segments.of(segments, x))
    assert torch.equal(placed[:, 3:], model.source_positions(x)[:, 3:])


def test_an_empty_target_has_no_logits(model):
    assert model(tokens(2, 4), tokens(2, 0)).shape == (2, 0, 20)


@pytest.mark.parametrize(
    ("source", "target", "segments", "message"),
    [
        (tokens(2, 4).float(), tokens(2, 3), None, r"source: must be whole numbers \[B, T\], not"),
        (tokens(4), tokens(2, 3), None, r"source: must be whole numbers \[B, T\], not int64 \[4\]"),
        (tokens(2, 4), tokens(3), None, "target: must be whole numbers"),
        (tokens(2, 4), tokens(3, 3), None, "target: has 3 rows, and the source 2"),
        (tokens(2, 4), tokens(2, 3), torch.ones(2, 5), r"segments: have the shape \[2, 5\]"),
        (tokens(2, 4), tokens(2, 3), torch.ones(2, 1, 4), "segments: have the shape"),
        (tokens(2, 4), tokens(2, 3), torch.ones(2, 4), "segments: must be whole numbers"),
        (tokens(2, 4), tokens(2, 3), -torch.ones(2, 4).long(), "segments: must be 0 for padding"),
        (tokens(2, 4), tokens(2, 3), 2 * torch.ones(2, 4).long(), "segments: a source with sev"),
        (tokens(2, 4) + 20, tokens(2, 3), None, r"tokens from 2\d to 3\d: must be from 0 to 19"),
        (tokens(2, 4), tokens(2, 3) - 40, None, "must be from 0 to 19"),
    ],
)
def test_input_that_does_not_fit_is_refused_in_one_line(model, source, target, segments, message):
    with pytest.raises(HeadwayError, match=f"^{message}|{message}$") as error:
        model(source, target, segments)
    assert "\n" not in str(error.value)


def test_a_step_by_step_decoding_takes_no_rows_of_several_sentences(model):
    memory = model.encode(tokens(1, 4), torch.tensor([[1, 1, 2, 2]]))
    with pytest.raises(HeadwayError, match="several sentences"):
        model.start(memory, torch.tensor([[1, 1, 2, 2]]))


def test_a_vocabulary_without_size_is_refused():
    with pytest.raises(HeadwayError, match=r"^source_vocab_size = 0: give"):
        Transformer(ModelConfig())


def test_only_parts_that_exist_can_be_watched(model):
    with (
        pytest.raises(HeadwayError, match=r"did you mean .decoder\.layers\.1\.cross."),
        watch(model, ["decoder.layers.1.cros"]),
    ):
        pass
