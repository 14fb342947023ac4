"""The encoder alone and the decoder alone: trained, stopped, resumed and used as a translator is."""

import json
import math
import random
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.config import Config, ModelConfig, SearchConfig, TextConfig, TrainingConfig
from headway.errors import HeadwayError
from headway.ext.kinds import (
    LabeledText,
    LabelTokenizer,
    SentenceEncoder,
    TextClassifier,
    TextGenerator,
    prepare_examples,
    read_examples,
)
from headway.ext.kinds.examples import prepare_lines
from headway.model import DotProduct, make_model, watch
from headway.text.batches import fixed_shape, read_batch
from headway.text.prepared import PreparedData
from headway.text.tokenizer import Tokenizer, load_tokenizer
from headway.training import with_vocabulary
from headway.training.steps.objective import Objective, plain_loss
from headway.training.storage.checkpoint import read_tensors
from headway.training.storage.run_directory import RunDirectory
from headway.translation import load_model, padded_batches
from support.cases import each_case

SHAPE = {
    "num_encoder_layers": 2, "num_decoder_layers": 2, "d_model": 22, "d_ff": 37, "num_heads": 2,
}  # fmt: skip
NOUNS = ("dog", "cat", "house", "tree", "river")


def sentence(chooser, color):
    return f"the {chooser.choice(NOUNS)} is {color} , not the {chooser.choice(NOUNS)}"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Lines of text, and the same lines labeled by the color in them."""
    folder = tmp_path_factory.mktemp("texts")
    chooser = random.Random(3)
    for name, count in (("train", 230), ("valid", 19)):
        colors = [chooser.choice(("green", "blue", "red")) for _ in range(count)]
        lines = [sentence(chooser, color) for color in colors]
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
        pairs = list(zip(colors, lines, strict=True))
        (folder / f"{name}.tsv").write_text("".join(f"{c}\t{line}\n" for c, line in pairs))
        objects = [json.dumps({"label": c, "text": line}) for c, line in pairs]
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in objects))
    return folder


@pytest.fixture(scope="module")
def data(files, tmp_path_factory):
    """Prepared data of each kind."""
    out = tmp_path_factory.mktemp("prepared")
    text = TextConfig(vocab_size=320)
    lines, tsv = (
        [files / f"{part}.{end}" for part in ("train", "valid")] for end in ("txt", "tsv")
    )
    return {
        "language-model": prepare_lines(lines[:1], lines[1:], out / "lines", text),
        "classifier": prepare_examples(tsv[:1], tsv[1:], out / "examples", text),
    }


@pytest.mark.parametrize("prepare", [prepare_lines, prepare_examples])
def test_subwords_are_learned_from_texts_that_are_spread_over_all(tmp_path, prepare):
    """The two halves of the text have different words; an example of a classifier has a label and two texts."""
    halves = [["green river"] * 50, ["blue house"] * 50]
    lines = [f"{text}\n" for half in halves for text in half]
    if prepare is prepare_examples:
        lines = [f"{'ab'[n % 2]}\t{line[:-1]}\t{line}" for n, line in enumerate(lines)]
    (tmp_path / "train").write_text("".join(lines))
    files = [tmp_path / "train"]

    def vocabulary(sample_lines):
        text = TextConfig(vocab_size=275, sample_lines=sample_lines)
        tokenizer = prepare(files, files, tmp_path / str(sample_lines), text).tokenizer
        return tokenizer.models[0], len(tokenizer.encode_source(["river house"])[0])

    whole, half = vocabulary(0), vocabulary(50)
    assert vocabulary(100) == whole
    assert half[1] == whole[1]


def config(data, **training):
    values = {
        "max_steps": 8, "batch_tokens": 300, "micro_batch_tokens": 150, "warmup_steps": 5,
        "validate_every": 4, "checkpoint_every": 4, "average": 2, "threads": 1, "precision": "fp32",
        "device": "cpu",
    } | training  # fmt: skip
    settings = Config(model=ModelConfig(**SHAPE), training=TrainingConfig(**values))
    return with_vocabulary(settings, data)


def model_of(data, seed=4):
    torch.manual_seed(seed)
    return make_model(config(data).model).eval()


def batch_of(data, rows, packed=False):
    tokenizer = data.tokenizer
    pads = tokenizer.source_pad, tokenizer.target_pad
    shape = fixed_shape(1000, 300, 10) if packed == "one shape" else None
    return read_batch(data.train, np.array(rows), *pads, packed=bool(packed), shape=shape)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["language-model", "classifier"])
def test_the_objective_equals_cross_entropy_of_the_logits_in_any_batching(data, kind):
    prepared, rows = data[kind], [5, 1, 17, 40, 3]
    model = model_of(prepared)
    smoothed = nll = 0
    for row in rows:
        source, target = (torch.tensor(x.astype(np.int64))[None] for x in prepared.train.pair(row))
        logits = model(target)[0] if kind == "language-model" else model(source)
        loss = plain_loss(logits, target[0], 0.1)
        smoothed, nll = smoothed + loss.smoothed, nll + loss.nll
    smoothed.backward()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    for packed in (False, True, "one shape"):
        model.zero_grad()
        found = Objective(model, smoothing=0.1)(batch_of(prepared, rows, packed))
        found.smoothed.backward()
        torch.testing.assert_close(found.smoothed, smoothed)
        torch.testing.assert_close(found.nll, nll)
        for name, gradient in gradients.items():
            ours = model.get_parameter(name).grad
            torch.testing.assert_close(ours, gradient, atol=1e-5, rtol=1e-4)


@pytest.fixture(scope="module")
def runs(files, tmp_path_factory):
    """A trained run of each kind, by the command."""
    folder = tmp_path_factory.mktemp("runs")
    words = [
        "--quiet", "--text.vocab-size", "320",
        "--training.batch-tokens", "900", "--training.micro-batch-tokens", "900",
        "--training.warmup-steps", "40", "--training.average", "2", "--training.threads", "1",
        "--training.rate-scale", "1", "--model.dropout", "0",
    ]  # fmt: skip
    for name, value in SHAPE.items():
        words += [f"--model.{name}".replace("_", "-"), str(value)]
    for verb, end, steps in (("lm", "txt", 120), ("classify", "tsv", 60)):
        texts = [f"--{p}={files / f'{p}.{end}'}" for p in ("train", "valid")]
        often = [f"--training.{name}-every={steps // 3}" for name in ("validate", "checkpoint")]
        last = f"--training.max-steps={steps}"
        assert dispatch([verb, str(folder / verb), *texts, *words, *often, last]) == 0
    return folder


@pytest.mark.slow
def test_a_classifier_learns_and_returns_probabilities(runs, files, capsys, monkeypatch):
    labeller = TextClassifier.load(runs / "classify")
    texts = ["the cat is blue , not the tree", "the dog is red , not the river"]
    found = labeller.predict([(text,) for text in texts], attention=True)
    assert [f.label for f in found] == ["blue", "red"]
    for rows, text, segments in padded_batches(
        [labeller.tokenizer.encode_parts([t]) for t in texts], 4000, 0, labeller.device
    ):
        with watch(labeller.model) as seen:
            labeller.model(text, segments)
        assert list(seen.attention) == [f"encoder.layers.{n}.self" for n in range(2)]
        mean_BSS = seen.attention["encoder.layers.1.self"].mean(1) * segments[..., None]
        for row, shares in zip(rows, mean_BSS.sum(1) / segments.sum(1, keepdim=True), strict=True):
            assert found[row].attention == pytest.approx(shares[: len(found[row].tokens)].tolist())
    for prediction in found:
        assert math.isclose(sum(prediction.probabilities.values()), 1, abs_tol=1e-5)
        assert prediction.probabilities[prediction.label] == max(prediction.probabilities.values())
        assert math.isclose(sum(prediction.attention), 1, abs_tol=1e-5)
        assert len(prediction.attention) == len(prediction.tokens)
    computed = []
    weigh = DotProduct.weights
    monkeypatch.setattr(
        DotProduct, "weights", lambda *args: computed.append(args[1]) or weigh(*args)
    )
    encoder = SentenceEncoder(labeller.model, labeller.tokenizer)
    encoder.encode(texts, every_layer=True)
    [alone] = labeller.predict([(texts[1],)])
    assert not computed
    labeller.predict([(texts[1],)], attention=True)
    assert len(computed) == 1
    for label, p in found[1].probabilities.items():
        assert math.isclose(alone.probabilities[label], p, abs_tol=1e-5)
    assert (
        dispatch(["classify", str(runs / "classify"), "--score", str(files / "valid.jsonl")]) == 0
    )
    assert capsys.readouterr().out == "accuracy 100.00 %: 19 of 19\n"


@pytest.mark.slow
def test_a_language_model_learns_and_generates_likely_text(runs, files, capsys):
    generator = TextGenerator.load(runs / "lm")
    likely, unlikely = generator.score(["the cat is blue , not the tree", "tree the not , blue is"])
    assert likely.nll / likely.tokens < unlikely.nll / unlikely.tokens
    search = SearchConfig(n_best=3, beam=3, alpha=0.0, max_extra=12)
    for settings in (search, SearchConfig(sample=True, n_best=3, max_extra=30)):
        for prompt in ("", "the cat is"):
            for text, log_probability in generator.generate([prompt], settings)[0]:
                assert text.startswith(prompt)
                # Generation step by step gives the score of the whole text if its subwords are the usual ones.
                [told] = generator.score([text])
                assert log_probability <= 0
                assert math.isclose(-told.nll, log_probability, abs_tol=1e-3) or settings.sample
    (spaced,), (plain,) = generator.generate(["the cat ", "the cat"], replace(search, n_best=1))
    assert spaced[0] == "the cat " + plain[0].removeprefix("the cat ")
    assert not plain[0].startswith("the cat  ")
    prompts = ["the cat is", "", "the tree is green , not the", "the", "the dog", "the cat is"]
    for settings in (search, replace(search, sample=True, n_best=2, max_extra=9)):
        alone = [generator.generate([prompt], settings)[0] for prompt in prompts]
        for batch_tokens in (1, 100, 4000):
            together = generator.generate(prompts, settings, batch_tokens)
            for ours, theirs in zip(together, alone, strict=True):
                assert [text for text, _ in ours] == [text for text, _ in theirs]
                assert [p for _, p in ours] == pytest.approx([p for _, p in theirs], abs=1e-4)
    assert dispatch(["lm", str(runs / "lm"), "--score", str(files / "valid.txt"), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["perplexity"] < 3
    lines = generator.score((files / "valid.txt").read_text().splitlines())
    assert math.isclose(value["perplexity"], math.exp(value["nll"] / value["tokens"]))
    assert value["tokens"] == sum(line.tokens for line in lines)
    assert math.isclose(value["nll"], sum(line.nll for line in lines), rel_tol=1e-6)
    (files / "blank.txt").write_text("\n \n")
    with pytest.raises(HeadwayError, match=r"blank\.txt: holds no texts$"):
        dispatch(["lm", str(runs / "lm"), "--score", str(files / "blank.txt")])
    card = (runs / "lm" / "best" / "README.md").read_text()
    assert card.count("erplexity 1.") == 1, card
    word = ["--generate", "2", "--prompt", "the", "--search.seed", "5"]
    assert dispatch(["lm", str(runs / "lm"), *word]) == 0
    first = capsys.readouterr().out
    assert dispatch(["lm", str(runs / "lm"), *word]) == 0
    assert capsys.readouterr().out == first
    assert first.count("\n") == 2


@pytest.mark.slow
def test_only_the_verb_of_its_kind_uses_a_finished_run(runs, tmp_path, monkeypatch, capsys):
    (tmp_path / "in").write_text("the tree is green , not the dog\n\nthe cat\tis red\n")
    for extra in ([], ["--json", "--attention"]):
        with (tmp_path / "in").open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert dispatch(["classify", str(runs / "classify"), *extra]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 3
    assert json.loads(lines[0])["label"] == "green"
    assert [p == "</s>" for p in json.loads(lines[2])["pieces"]].count(True) == 2
    (tmp_path / "in").write_text("the tree is green\tthe cat is red\tthe dog is blue\n")
    for verb in ("classify", "encode"):
        with (tmp_path / "in").open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            with pytest.raises(HeadwayError, match="3 columns"):
                dispatch([verb, str(runs / "classify")])
    with pytest.raises(HeadwayError, match="not a translation model: use headway classify"):
        load_model(runs / "classify")
    with pytest.raises(HeadwayError, match="not a classifier"):
        TextClassifier.load(runs / "lm")
    with pytest.raises(HeadwayError, match="not a language model"):
        TextGenerator.load(runs / "classify")
    with pytest.raises(HeadwayError, match="no encoder"):
        SentenceEncoder.load(runs / "lm")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "loaded"), [("lm", TextGenerator.load), ("classify", TextClassifier.load)]
)
def test_info_and_average_work_for_every_kind_of_model(runs, tmp_path, capsys, verb, loaded):
    run = runs / verb
    assert dispatch(["info", str(run), "--json"]) in (None, 0)
    facts = json.loads(capsys.readouterr().out)
    model = loaded(run).model
    assert facts["kind"] == model.config.kind
    assert facts["parameters"] == sum(p.numel() for p in model.parameters())
    assert facts["layers"] == 2
    assert facts.get("labels") == (["blue", "green", "red"] if verb == "classify" else None)
    departures = facts["departures from the paper's model"]
    assert departures["d_model"] == model.config.d_model
    lacking = "num_decoder_layers" if verb == "classify" else "num_encoder_layers"
    assert not {"kind", lacking} & set(departures)
    assert dispatch(["info", str(run)]) in (None, 0)
    assert ("blue, green, red" in capsys.readouterr().out) == (verb == "classify")
    with pytest.raises(HeadwayError, match="draws translation models only"):
        dispatch(["info", str(run), "--diagram", str(tmp_path / "model.svg")])
    assert dispatch(["average", str(run), str(tmp_path / "out"), "--last", "2"]) in (None, 0)
    weights = [
        read_tensors(RunDirectory(run).weights(step)) for step in RunDirectory(run).steps()[-2:]
    ]
    for name, value in loaded(tmp_path / "out").model.state_dict().items():
        torch.testing.assert_close(value, (weights[0][name] + weights[1][name]) / 2)
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"headway {verb} ." in card
    assert "not validated.\n\n" in card


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_sentence_vectors_are_the_encoders_outputs(runs, tmp_path, monkeypatch, capsys, pooling):
    encoder = SentenceEncoder.load(runs / "classify")
    texts = ["the tree is green , not the dog", "the cat is red", "dog"]
    found = encoder.encode(texts, every_layer=True, pooling=pooling)
    assert found.shape == (3, SHAPE["num_encoder_layers"], SHAPE["d_model"])
    assert np.array_equal(found[:, -1:], encoder.encode(texts, pooling=pooling))
    for text, vectors in zip(texts, found, strict=True):
        np.testing.assert_allclose(
            encoder.encode([text], every_layer=True, pooling=pooling)[0], vectors, atol=1e-5
        )
        # By hand: one sentence, no padding, layer by layer.
        model = encoder.model
        [ids] = encoder.tokenizer.encode_source([text])
        x = model.positions(model.embedding(torch.tensor([ids])))
        for layer, vector in zip(model.encoder.layers, vectors, strict=True):
            x = layer(x)
            mine = x[0].mean(0) if pooling == "mean" else x[0, 0]
            np.testing.assert_allclose(vector, mine.detach().numpy(), atol=1e-5)
    (tmp_path / "in").write_text("".join(f"{text}\n" for text in texts))
    for extra in ([], ["--layers", "all", "--out", str(tmp_path / "out.npy")]):
        with (tmp_path / "in").open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            words = ["encode", str(runs / "classify"), "--pooling", pooling, "--threads", "1"]
            dispatch([*words, *extra])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    np.testing.assert_allclose(np.array(lines), found[:, -1], atol=1e-5)
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), found, atol=1e-5)


def test_a_text_in_the_place_of_several_is_refused(runs):
    labeller, generator = TextClassifier.load(runs / "classify"), TextGenerator.load(runs / "lm")
    encoder = SentenceEncoder.load(runs / "classify")
    for take in (
        labeller.predict,
        encoder.encode,
        lambda text: generator.generate(text, SearchConfig()),
    ):
        with pytest.raises(HeadwayError, match="give a list of texts"):
            take("a text")
    with pytest.raises(HeadwayError, match="give a list of texts"):
        labeller.predict(["a text"])  # each text is a list of one part or two


def test_tsv_and_jsonl_give_the_same_examples(files, tmp_path):
    assert list(read_examples([files / "valid.tsv"])) == list(
        read_examples([files / "valid.jsonl"])
    )
    (tmp_path / "a.tsv").write_text("yes\tone\ttwo\n")
    (tmp_path / "a.jsonl").write_text('{"label": "yes", "text": "one", "second": "two"}\n')
    for name in ("a.tsv", "a.jsonl"):
        assert list(read_examples([tmp_path / name])) == [LabeledText("yes", ("one", "two"))]


@each_case
def test_a_malformed_example_is_reported_with_its_line(tmp_path, name, line):
    (tmp_path / name).write_text(f"{line}\n")
    with pytest.raises(HeadwayError, match=rf"{name}:1: must be"):
        list(read_examples([tmp_path / name]))


def test_labels_and_texts_with_line_breaks_become_one_line(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": "bad\\nnews", "text": "a\\r\\nb", "second": ""}\n')
    (tmp_path / "b.tsv").write_text("good\r\tc\n", newline="")
    paths = [tmp_path / "a.jsonl", tmp_path / "b.tsv"]
    assert list(read_examples(paths)) == [
        LabeledText("bad news", ("a b",)),
        LabeledText("good", ("c",)),
    ]
    data = prepare_examples(paths, paths, tmp_path / "out", TextConfig(vocab_size=263))
    assert PreparedData.open(data.directory).valid_target == ["bad news", "good"]


def test_half_of_a_surrogate_pair_is_reported_with_its_line(tmp_path):
    values = {"label": "a", "text": "b", "second": "c"}
    lines = [json.dumps(values), json.dumps(values | {"second": "half \ud83d"})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(HeadwayError, match=r"a\.jsonl:2: not Unicode: it holds half of a"):
        list(read_examples([tmp_path / "a.jsonl"]))


def test_labels_are_saved_and_unknown_labels_are_rejected(data, tmp_path):
    tokenizer = data["classifier"].tokenizer
    assert isinstance(tokenizer, LabelTokenizer)
    tokenizer.save(tmp_path)
    again = load_tokenizer(tmp_path, "classifier")
    assert isinstance(again, LabelTokenizer)
    assert not isinstance(Tokenizer.load(tmp_path), LabelTokenizer)
    assert again.labels == LabelTokenizer.load(tmp_path).labels == ["blue", "green", "red"]
    assert again.fingerprint == tokenizer.fingerprint
    assert [again.decode(ids) for ids in again.encode_target(["red", "blue"])] == ["red", "blue"]
    with pytest.raises(KeyError, match="pink"):
        again.encode_target(["pink"])
    train, valid = tmp_path / "train.tsv", tmp_path / "valid.tsv"
    train.write_text("red\ta rose\nblue\ta sea\n")
    valid.write_text("red\ta rose\n\npink\ta rose\n")
    said = r"valid\.tsv:3: label 'pink' is none of the training text: blue, red$"
    with pytest.raises(HeadwayError, match=said):
        prepare_examples([train], [valid], tmp_path / "out", TextConfig(vocab_size=270))
    (tmp_path / "labels.json").write_text("[1]")
    with pytest.raises(HeadwayError, match="not a list of labels"):
        load_tokenizer(tmp_path, "classifier")
    (tmp_path / "labels.json").unlink()
    with pytest.raises(HeadwayError, match=r"labels\.json: No such file"):
        LabelTokenizer.load(tmp_path)
    assert (
        load_tokenizer(tmp_path, "translator").fingerprint == Tokenizer.load(tmp_path).fingerprint
    )
    one = [tmp_path / "one.tsv"]
    one[0].write_text("red\ta text\n")
    with pytest.raises(HeadwayError, match="two labels or more"):
        prepare_examples(one, one, tmp_path / "out", TextConfig(vocab_size=290))
