"""The systems that the paper names: each against its own paper's equations, alone and in a batch."""

import itertools
from dataclasses import replace

import pytest
import torch

from headway.config import Config, ModelConfig, TextConfig
from headway.ext.paper.experiments import rivals
from headway.ext.paper.experiments.rivals import RIVALS
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.rivals import convolutional
from headway.ext.paper.rivals.bytenet import ByteNet
from headway.ext.paper.rivals.convolutional import ConvolutionalTranslator
from headway.ext.paper.rivals.neural_gpu import COLUMNS, NeuralGPU
from headway.ext.paper.rivals.recurrent import RecurrentTranslator
from headway.ext.paper.rivals.rival_training import PLAIN, score_rival, translate
from headway.ext.paper.running import scoring
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.study import Study
from headway.model import Transformer
from headway.text.prepared import PreparedData
from headway.translation.token_search import TokenSearch

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


DEVIATIONS = {
    RecurrentTranslator: {
        "source_embedding.weight": 0.01, "target_inputs.weight": 0.01, "out_context.weight": 0.01,
        "output.weight": 0.01, "align_state.weight": 0.001, "align_memory.weight": 0.001,
    },
    # Section 3.5: the variance of a map is that of an input that is kept with the probability 0.6, or always.
    ConvolutionalTranslator: {
        "source_embedding.weight": 0.1, "target_positions.weight": 0.1,
        "into_encoder.weight": (0.6 / 64) ** 0.5, "out_of_decoder.weight": (1 / 64) ** 0.5,
        "encoder.0.convolution.output.weight": (4 * 0.6 / (3 * 64)) ** 0.5,
        "queries.1.weight": (1 / 64) ** 0.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("system", DEVIATIONS)
def test_weights_begin_as_the_papers_say(system):
    torch.manual_seed(1)
    sizes = {"d_model": 64, "source_vocab_size": 200, "target_vocab_size": 200, "dropout": 0.4}
    model = system(replace(CONFIG, **sizes))
    for name, expected in DEVIATIONS[system].items():
        part, _, weight = name.rpartition(".")
        found = getattr(model.get_submodule(part), weight).detach().std()
        assert float(found) == pytest.approx(expected, rel=0.05), name


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


def test_the_encoder_learns_from_the_mean_over_the_decoders_layers(monkeypatch):
    gradients = []
    for _ in range(2):
        model = make(ConvolutionalTranslator)
        model(SOURCE, TARGET, SEGMENTS).logsumexp(-1).sum().backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()})
        monkeypatch.setattr(convolutional, "scale_gradient", lambda x, factor: x)
    scaled, plain = gradients
    for name in scaled:
        if name.startswith(("encoder", "into_encoder", "out_of_encoder")):
            torch.testing.assert_close(scaled[name], plain[name] / CONFIG.num_decoder_layers)
        elif not name.startswith("source"):  # word embeddings have a gradient that is not scaled
            torch.testing.assert_close(scaled[name], plain[name])


def test_convs2s_drops_embeddings_inputs_of_convolutions_and_the_decoders_output():
    """Section 4.2 of its paper; the residual of a block has no dropout."""
    rate = 0.4
    model = make(lambda config: ConvolutionalTranslator(replace(config, dropout=rate))).train()
    inputs = {}
    outputs = {}

    def note(name):
        def hook(_module, arguments, output):
            inputs[name], outputs[name] = arguments[0], output

        return hook

    for name, module in model.named_modules():
        if "parametrizations" not in name:  # these are no layers
            module.register_forward_hook(note(name))
    torch.manual_seed(6)
    model(SOURCE, TARGET)
    blocks = [f"encoder.{i}" for i in range(2)] + [f"decoder.{i}" for i in range(3)]
    sites = [(inputs[block], inputs[f"{block}.convolution"]) for block in blocks]
    for side, layers in (("source", "encoder"), ("target", "decoder")):
        embedded = outputs[f"{side}_embedding"] + outputs[f"{side}_positions"]
        sites.append((embedded, inputs[f"into_{layers}"]))
    sites.append((outputs["out_of_decoder"], inputs["output"]))
    for before, after in sites:
        kept = after != 0
        assert (~kept).double().mean().item() == pytest.approx(rate, abs=0.1)
        torch.testing.assert_close(after, before / (1 - rate) * kept)
    for block in blocks:
        expected = (outputs[f"{block}.convolution"] + inputs[block]) * 0.5**0.5
        torch.testing.assert_close(outputs[block], expected)


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


def test_bytenet_unfolds_over_six_fifths_of_the_source_alone_and_in_a_batch():
    model = make(ByteNet)
    lengths = {10: 12, 12: 15, 25: 30, 40: 48}
    torch.manual_seed(2)
    source = torch.randint(2, 20, (len(lengths), 40))
    target = torch.randint(2, 20, (len(lengths), 50))
    inside = torch.arange(40) < torch.tensor([*lengths])[:, None]
    together = model(source, target, inside.long())
    columns = model.start(source, inside.long())["columns"]
    assert columns.any(-1).sum(1).tolist() == [*lengths.values()]
    for row, (length, unfolded) in enumerate(lengths.items()):
        alone = source[row : row + 1, :length]
        assert model.start(alone)["columns"].size(1) == unfolded
        torch.testing.assert_close(model(alone, target[row : row + 1])[0], together[row])


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


@pytest.mark.slow
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


def test_a_target_beyond_the_image_is_the_same_in_a_batch():
    model = make(NeuralGPU)
    target = torch.cat((TARGET[1:2], TARGET[:1]), 1)  # 14 tokens; the image has 9 rows of 12
    alone = model(SOURCE[1:2, :3], target)
    together = model(SOURCE, target.expand(3, -1), SEGMENTS)[1:2]
    torch.testing.assert_close(together, alone)
    torch.testing.assert_close(alone[0, 9:], model.output.bias.expand(5, -1))


@pytest.mark.slow
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


def prepare_pairs(folder, test):
    """Prepare a few pairs of letters; returns them, the files of the test pairs and the settings."""
    pairs = tuple((f"a {c} 56%", f"d {c} 56 %") for c in "fghijklmnopq")
    corpus = Bitext("text", pairs, pairs[:1], test, ("en", "de"))
    text = TextConfig(vocab_size=290, drop_leaks=False)
    prepared, files = corpus.prepare(folder, text)
    return PreparedData.open(prepared), files, text


@pytest.mark.slow
def test_a_text_is_translated_alone_as_beside_a_longer_one(tmp_path):
    texts = ["a f 56%", "g h a", "a q 56% a p 56% a o n m l k"]
    data, *_ = prepare_pairs(tmp_path, tuple((text, "d") for text in texts))
    size = data.tokenizer.source_vocab_size
    shape = replace(CONFIG, source_vocab_size=size, target_vocab_size=size)
    torch.manual_seed(5)
    model = ConvolutionalTranslator(shape).eval()
    alone = [translate(model, data.tokenizer, [text])[0] for text in texts]
    assert len(set(alone)) == len(texts)
    assert translate(model, data.tokenizer, texts) == alone


def test_the_transformer_is_searched_as_its_rivals_are(tmp_path):
    """Its lines are not changed before the search: the rivals' search would translate the same subwords."""
    test = (("ÄB 56% {x}", "c d"), ("https://a.b c", "e"))
    data, files, text = prepare_pairs(tmp_path, test)
    size = data.tokenizer.source_vocab_size
    torch.manual_seed(1)
    shape = ModelConfig(
        source_vocab_size=size, target_vocab_size=size, d_model=16, d_ff=16, num_heads=2,
        num_encoder_layers=1, num_decoder_layers=1,
    )  # fmt: skip
    model, found = Transformer(shape).eval(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "score_text", lambda translations, *rest: found.append(translations))
        score_rival(model, data, Config(text=text, model=shape), files)
    ids = data.tokenizer.encode_source([source for source, _ in test])
    searched = TokenSearch([model], data.tokenizer, None).search(ids, [[]] * len(ids), PLAIN)
    assert found == [[data.tokenizer.decode(each[0].tokens) for each in searched]]
