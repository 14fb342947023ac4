"""The systems that the paper names: each against its own paper's equations, alone and in a batch."""

import itertools
from dataclasses import replace

import pytest
import torch

from headway.config import ModelConfig
from headway.ext.paper.experiments import rivals
from headway.ext.paper.experiments.rivals import RIVALS
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.rivals.bytenet import ByteNet
from headway.ext.paper.rivals.convolutional import ConvolutionalTranslator
from headway.ext.paper.rivals.neural_gpu import COLUMNS, NeuralGPU
from headway.ext.paper.rivals.recurrent import RecurrentTranslator
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.study import Study

VOCABULARY = 29
WIDTH = 20
CONFIG = ModelConfig(
    source_vocab_size=VOCABULARY, target_vocab_size=VOCABULARY, d_model=WIDTH, num_encoder_layers=2,
    num_decoder_layers=3, num_heads=1, dropout=0.1,
)  # fmt: skip
SOURCE = torch.tensor([[3, 7, 11, 5, 1], [9, 4, 1, 28, 28], [2, 8, 6, 1, 28]])
SEGMENTS = (SOURCE != VOCABULARY - 1).long()
TARGET = torch.tensor([[6, 2, 9, 12, 4, 8, 1], [5, 5, 13, 2, 7, 3, 1], [4, 10, 2, 7, 7, 9, 1]])


def make(rival):
    torch.manual_seed(5)
    model = rival(CONFIG)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape)
        for embedding in (model.source_embedding, model.target_embedding):
            embedding.weight[-1] = 0
    return model.double().eval()


@pytest.fixture(params=[*RIVALS.values(), NeuralGPU], ids=lambda rival: rival.__name__)
def model(request):
    return make(request.param)


def test_a_sentence_alone_equals_the_same_sentence_in_a_batch(model):
    together = model(SOURCE, TARGET, SEGMENTS)
    for row, length in enumerate(SEGMENTS.sum(1).tolist()):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone)


def test_no_prediction_reads_its_own_or_a_later_token(model):
    before = model(SOURCE, TARGET, SEGMENTS)
    for place in range(TARGET.size(1)):
        changed = TARGET.clone()
        changed[:, place] = 20
        after = model(SOURCE, changed, SEGMENTS)
        torch.testing.assert_close(after[:, : place + 1], before[:, : place + 1])
        if place + 1 < TARGET.size(1):
            assert not torch.allclose(after[:, place + 1], before[:, place + 1])


def test_every_source_token_counts(model):
    before = model(SOURCE[:1], TARGET[:1])
    for place in range(SOURCE.size(1)):
        changed = SOURCE[:1].clone()
        changed[:, place] = 20
        assert not torch.allclose(model(changed, TARGET[:1]), before)


def test_step_by_step_equals_all_at_once(model):
    whole = model(SOURCE, TARGET, SEGMENTS).repeat_interleave(2, 0)
    state = model.start(SOURCE, SEGMENTS).repeat(2)
    order = torch.tensor([1, 0, 3, 2, 5, 4])  # the two hypotheses of each sentence change places
    tokens = torch.full((6,), VOCABULARY - 1)
    for place in range(TARGET.size(1)):
        torch.testing.assert_close(model.step(tokens, state), whole[:, place])
        state.reorder(order)
        tokens = TARGET[:, place].repeat_interleave(2)
    state.reorder(torch.tensor([4]))
    assert all(len(tensor) == 1 for tensor in state.values())


def gated_unit(unit, inputs, state):
    """Appendix A.1.1 of Bahdanau et al., component by component."""
    width = len(state)
    gates, candidate = unit.gates.weight, unit.candidate.weight
    z = [torch.sigmoid(inputs[width + i] + gates[i] @ state) for i in range(width)]
    r = [torch.sigmoid(inputs[2 * width + i] + gates[width + i] @ state) for i in range(width)]
    reset = torch.stack([r[i] * state[i] for i in range(width)])
    new = [torch.tanh(inputs[i] + candidate[i] @ reset) for i in range(width)]
    return torch.stack([(1 - z[i]) * state[i] + z[i] * new[i] for i in range(width)])


def test_the_recurrent_translator_follows_its_equations():
    model = make(RecurrentTranslator)
    assert isinstance(model, RecurrentTranslator)
    source, target = SOURCE[0].tolist(), TARGET[0].tolist()
    x = [model.source_embedding.weight[token] for token in source]
    ahead, back = [torch.zeros(WIDTH).double()], [torch.zeros(WIDTH).double()]
    for token in x:
        ahead.append(gated_unit(model.forward_unit, model.forward_inputs(token), ahead[-1]))
    for token in reversed(x):
        back.append(gated_unit(model.backward_unit, model.backward_inputs(token), back[-1]))
    h = [torch.cat(pair) for pair in zip(ahead[1:], reversed(back[1:]), strict=True)]
    s = torch.tanh(model.first_state(back[-1]))
    y = torch.zeros(WIDTH).double()
    found = model(SOURCE[:1], TARGET[:1])[0]
    for place, token in enumerate(target):
        e = [
            model.align_energy @ torch.tanh(model.align_state(s) + model.align_memory(h_j))
            for h_j in h
        ]
        total = sum(torch.exp(e_j) for e_j in e)
        c = sum(torch.exp(e_j) / total * h_j for e_j, h_j in zip(e, h, strict=True))
        wide = model.out_state(s) + model.out_target(y) + model.out_context(c)
        t = torch.stack([torch.maximum(wide[2 * j], wide[2 * j + 1]) for j in range(WIDTH)])
        torch.testing.assert_close(found[place], model.output(t))
        s = gated_unit(model.unit, model.target_inputs(y) + model.context_inputs(c), s)
        y = model.target_embedding.weight[token]


def convolve(taps, weight, bias):
    """Return W [x_1, ..., x_k] + b, tap by tap."""
    width = len(taps[0])
    return bias + sum(weight[:, i * width : (i + 1) * width] @ tap for i, tap in enumerate(taps))


def test_convs2s_follows_its_equations():
    model = make(ConvolutionalTranslator)
    assert isinstance(model, ConvolutionalTranslator)
    source, target = SOURCE[0].tolist(), [VOCABULARY - 1, *TARGET[0].tolist()[:-1]]
    zero, half = torch.zeros(WIDTH).double(), 0.5**0.5

    def run(block, h, before, after):
        linear = block.convolution.output
        g, v = (getattr(linear.parametrizations.weight, f"original{n}") for n in (0, 1))
        weight = g * v / v.norm(dim=1, keepdim=True)  # Salimans & Kingma, 2016
        padded = [zero] * before + h + [zero] * after
        found = []
        for i, residual in enumerate(h):
            a, b = convolve(padded[i : i + 3], weight, linear.bias).chunk(2)
            found.append((a * torch.sigmoid(b) + residual) * half)
        return found

    words, places = model.source_embedding.weight, model.source_positions.weight
    e = [words[token] + places[i] for i, token in enumerate(source)]
    h = [model.into_encoder(x) for x in e]
    for block in model.encoder:
        h = run(block, h, 1, 1)
    z = [model.out_of_encoder(x) for x in h]
    words, places = model.target_embedding.weight, model.target_positions.weight
    g = [words[token] + places[i] for i, token in enumerate(target)]
    h = [model.into_decoder(x) for x in g]
    for block, query in zip(model.decoder, model.queries, strict=True):
        h = run(block, h, 2, 0)
        for i, x in enumerate(h):
            d = query(x) + g[i]
            weights = torch.stack([d @ z_j for z_j in z]).exp()
            a = weights / weights.sum()
            c = sum(a_j * (z_j + e_j) for a_j, z_j, e_j in zip(a, z, e, strict=True))
            h[i] = x + c * len(source) * (1 / len(source)) ** 0.5
    found = model(SOURCE[:1], TARGET[:1])[0]
    for i, x in enumerate(h):
        torch.testing.assert_close(found[i], model.output(model.out_of_decoder(x)))


def test_bytenet_follows_its_figures():
    model = make(ByteNet)
    assert isinstance(model, ByteNet)
    zero = torch.zeros(WIDTH).double()

    def run(block, x, before, after):
        first, second, third = block.norms
        linear = block.convolution.output
        y = [second(block.narrow(first(x_i).relu())).relu() for x_i in x]
        padded = [zero[: WIDTH // 2]] * before + y + [zero[: WIDTH // 2]] * after
        step = (before + after) // 2  # the dilation
        return [
            x_i
            + block.widen(
                third(
                    convolve(padded[i : i + before + after + 1 : step], linear.weight, linear.bias)
                ).relu()
            )
            for i, x_i in enumerate(x)
        ]

    source = [model.source_embedding.weight[token] for token in SOURCE[0].tolist()]
    columns = source + [zero] * 1  # 5 * 1.2 = 6
    for block, dilation in zip(model.encoder, (1, 2, 4, 8, 16), strict=True):
        columns = run(block, columns, dilation, dilation)
    tokens = [VOCABULARY - 1, *TARGET[0].tolist()[:-1]]
    x = [model.target_embedding.weight[token] for token in tokens]
    x = [x_i + column for x_i, column in zip(x, [*columns, zero], strict=True)]
    for block, dilation in zip(model.decoder, (1, 2, 4, 8, 16), strict=True):
        x = run(block, x, 2 * dilation, 0)
    found = model(SOURCE[:1], TARGET[:1])[0]
    for i, x_i in enumerate(x):
        torch.testing.assert_close(found[i], model.output(model.last(x_i.relu()).relu()))


def convolve_image(kernel, image, row, column):
    """Return one place of U conv s: the sum over the places around it that the image has."""
    found = 0.0
    for i, j in itertools.product((-1, 0, 1), repeat=2):
        if 0 <= row + i < len(image) and 0 <= column + j < COLUMNS:
            found = found + kernel[:, :, i + 1, j + 1] @ image[row + i][column + j]
    return found


def update_image(unit, s, p):
    """The CGRU of Kaiser & Bengio, section 3, place by place; an encoder has no p."""
    u_kernel, r_kernel = unit.gates.weight.chunk(2)
    u_bias, r_bias = unit.gates.bias.chunk(2)
    places = [[(row, column) for column in range(COLUMNS)] for row in range(len(s))]
    of_u, of_r, of_candidate = (
        [[convolve_image(kernel, p, *place) if p else 0.0 for place in row] for row in places]
        for kernel in (unit.tape.weight.chunk(3) if unit.tape else (None, None, None))
    )
    reset = [
        [
            torch.sigmoid(convolve_image(r_kernel, s, x, y) + of_r[x][y] + r_bias) * s[x][y]
            for x, y in row
        ]
        for row in places
    ]
    kernel, bias = unit.candidate.weight, unit.candidate.bias

    def place(x, y):
        u = torch.sigmoid(convolve_image(u_kernel, s, x, y) + of_u[x][y] + u_bias)
        new = torch.tanh(convolve_image(kernel, reset, x, y) + of_candidate[x][y] + bias)
        return u * s[x][y] + (1 - u) * new

    return [[place(x, y) for x, y in row] for row in places]


def test_the_extended_neural_gpu_follows_its_equations():
    model = make(NeuralGPU)
    assert isinstance(model, NeuralGPU)
    zero, rows = torch.zeros(WIDTH // 2).double(), 12  # 5 * 1.5 + 4
    s = [[zero] * COLUMNS for _ in range(rows)]
    source = SOURCE[0].tolist()
    for row, token in enumerate(source):
        s[row][0] = model.source_embedding.weight[token]
    for _ in source:
        for unit in model.encoder:
            s = update_image(unit, s, [])
    p = [[zero] * COLUMNS for _ in range(rows)]
    found = model(SOURCE[:1], TARGET[:1])[0]
    for row, token in enumerate(TARGET[0].tolist()):
        for unit in model.decoder:
            s = update_image(unit, s, p)
        torch.testing.assert_close(found[row], model.output(s[row][0]))
        p[row][0] = model.target_embedding.weight[token]


def test_the_rivals_train_beside_the_transformer(tmp_path, monkeypatch):
    def is_short(source, target):
        return max(len(source), len(target)) <= 25  # a step of a Neural GPU reads one token

    whole = Bitext.built_in(300, 6)
    test = tuple(pair for pair in whole.test if is_short(*pair))
    corpus = replace(whole.only("short", is_short), valid=test, test=test)

    def settle(work):
        base = work.published_base
        return replace(base, training=replace(base.training, average=1, max_steps=1))

    monkeypatch.setattr(rivals, "settings", settle)
    monkeypatch.setattr("headway.ext.paper.rivals.rival_training.EXTRA_TOKENS", 3)
    work = Study(tmp_path, "toy", seeds=(1,), corpus=corpus)
    result = reproduce("rivals", work)
    assert [row[0] for row in result.tables[0].rows] == ["Transformer", *RIVALS]
    assert [row[0] for row in result.tables[1].rows][:2] == ["Kind of phrase"] * 2
    assert len(result.claims) == len(RIVALS) + 4  # and two other systems, each on two tasks
    assert all("parameters" in table.columns for table in result.tables[:-1])
    assert {claim.verdict for claim in result.claims} == {"not decided"}
    assert dict(result.tables[-1].rows) == rivals.DEPARTURES
    assert "as in their own paper" not in result.differs
    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", pytest.fail)
    work.run_groups(rivals.plan_translators(work))  # finished trainings are read
