"""The benchmark counts FLOP as torch does, and its figures are consistent."""

import json
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.cli.main import dispatch
from headway.config import PRESETS, ModelConfig, TrainingConfig
from headway.errors import HeadwayError
from headway.ext.bench import bench as engine
from headway.ext.bench import bench_training, matrix_rate
from headway.ext.bench.flop import forward_flop, search_flop, training_flop
from headway.ext.bench.matrix_rate import published_rate
from headway.ext.bench.synthetic import prepare_synthetic
from headway.model import Transformer
from headway.training import Feed, Machine
from support.cases import each_case

B, S, T, K, V = 3, 13, 5, 2, 101


def shape(**settings):
    sizes = {"num_encoder_layers": 1, "num_decoder_layers": 2, "d_model": 38, "d_ff": 29}
    sizes |= {"source_vocab_size": V, "target_vocab_size": V, "num_heads": 2, "dropout": 0.0}
    return ModelConfig(**(sizes | settings))


def counted(work):
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


@each_case
def test_flop_equal_those_that_torch_counts(settings):
    config = shape(**settings)
    torch.manual_seed(1)
    model = Transformer(config).double()  # which only the plain implementations compute
    source, target = torch.randint(V, (B, S)), torch.randint(V, (B, T))
    forward = counted(lambda: model(source, target))
    if "feed_forward" not in settings:  # torch counts a convolution's gradients by another rule
        both = counted(lambda: model(source, target).sum().backward())
        assert both == training_flop(config, [S] * B, [T] * B)
    assert forward == forward_flop(config, [S] * B, [T] * B)
    assert training_flop(config, [S] * B, [T] * B) == 3 * forward

    def translate():
        state = model.eval().start(model.encode(source))
        for _ in range(T):
            model.step(torch.full((B * K,), V - 1), state)

    with torch.no_grad():
        assert counted(translate) == search_flop(config, [S] * B, [T] * B, K)


def test_the_flop_of_sentences_add_up():
    config = shape()
    for count in (forward_flop, training_flop, lambda *a: search_flop(*a, beam=3)):
        together = count(config, [5, 11], [7, 3])
        assert together == count(config, [5], [7]) + count(config, [11], [3])
    # A window counts only its own positions; attention to the memory has none.
    config = shape(window=3, num_decoder_layers=0)
    assert forward_flop(config, [202], [202]) == 2 * forward_flop(config, [101], [101])
    with pytest.raises(HeadwayError, match="not counted"):
        forward_flop(shape(encoder_mixer="lstm"), [5], [7])


def bench(monkeypatch, *words):
    """Measure a small model for a short time."""
    monkeypatch.setattr(bench_training, "REPEAT_SECONDS", 0.01)
    monkeypatch.setattr(bench_training, "MAX_STEPS", 3)
    monkeypatch.setattr(matrix_rate, "MIN_SECONDS", 0.02)
    monkeypatch.setattr(matrix_rate, "REPEATS", 1)
    small = [
        "--preset=tiny", "--device=cpu", "--threads=1", "--repeats=2", "--text.vocab-size=307",
        "--model.d-model=24", "--model.d-ff=37", "--model.num-heads=2", "--model.num-encoder-layers=1",
        "--model.num-decoder-layers=1", "--training.batch-tokens=311", "--training.micro-batch-tokens=211",
    ]  # fmt: skip
    assert dispatch(["bench", *words, *small]) == 0


def test_figures_of_training_are_consistent(monkeypatch, tmp_path, capsys):
    file = tmp_path / "bench.json"
    bench(monkeypatch, "train", "--precision", "fp32", "--json", str(file))
    assert "target tokens/s" in capsys.readouterr().out
    found = json.loads(file.read_text())
    [row] = found["rows"]
    assert (found["device"], found["precision"], found["threads"]) == ("cpu", "fp32", 1)
    rates = row["tokens_per_second"]
    assert row["tokens"] == pytest.approx(rates["high"] * row["seconds"]["low"])
    for spread in (row["seconds"], rates):
        assert 0 < spread["low"] <= spread["median"] <= spread["high"]
    for side in ("source", "target"):
        assert 0 <= row[f"{side}_padding"] < 0.5
    assert 0 < row["share_of_matrix_rate"] < 1
    assert found["peak_memory"] > 1e7


def test_the_whole_machine_is_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(engine, "measure_matrix_rate", lambda *_: 1e12)
    file = tmp_path / "bench.json"
    bench(monkeypatch, "--cells", "1x2", "--json", str(file))
    table = capsys.readouterr().out
    found = json.loads(file.read_text())
    assert (found["work"], found["device"], found["published_rate"]) == ("all", "cpu", None)
    [row] = found["training"]["tiny"]["rows"]
    assert 0 < row["share_of_matrix_rate"] < 1
    [row] = found["decoding"]["tiny"]["rows"]
    assert (row["batch"], row["beam"]) == (1, 2)
    if found["problems"]:
        assert all("CTranslate2" in line for line in found["problems"])
        assert found["problems"][0] in table
    else:
        [row] = found["ctranslate2"]
        assert row["ratio"] == row["headway"]["median"] / row["ctranslate2"]["median"]
        assert f"{row['ratio']:.2f}" in table
    for word in ("tiny 1x2 fp32", "published rate", "peak memory"):
        assert word in table


def test_a_part_that_cannot_be_measured_is_listed(monkeypatch, capsys):
    def measure():
        machine = Machine(device="cpu", precision="fp32", threads=1)
        configs = {"tiny": PRESETS["tiny"]}
        found = engine.bench_machine(configs, machine, "captions", [(1, 1)], repeats=1)
        assert (found["training"], found["decoding"], found["ctranslate2"]) == ({}, {}, [])
        assert len(found["problems"]) == 3
        return found["problems"]

    def fail(message):
        def full(*args, **settings):
            raise RuntimeError(message)

        for part in ("measure_training", "measure_translation", "compare_with_ctranslate2"):
            monkeypatch.setattr(engine, part, full)

    monkeypatch.setattr(engine, "measure_matrix_rate", lambda *args: 1e9)
    fail("CUDA out of memory. Tried to allocate 3 GiB")
    assert measure()[0] == "training tiny: not measured, out of memory"
    assert not capsys.readouterr().err
    fail("Library libcublas.so.12 is not found\nor cannot be loaded")
    assert measure()[0] == "training tiny: not measured, Library libcublas.so.12 is not found"
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setattr(engine, "MAX_SECONDS", -1)
    assert measure()[2] == "decoding tiny beside CTranslate2: not measured, the time is over"


def test_a_gpu_also_trains_with_one_packed_micro_batch_a_step():
    base = PRESETS["base"]
    assert engine.list_variants("base", base, torch.device("cpu")) == {"base": base}
    found = engine.list_variants("base", base, torch.device("cuda"))
    assert found["base"] == base
    packed = found["base packed"].training
    assert (packed.packed, packed.micro_batch_tokens, packed.batch_tokens) == (True, 25000, 25000)


def test_a_gpu_gets_random_sentences_as_it_gets_those_of_a_corpus(tmp_path):
    """The feed asks more of a tokenizer for a GPU: its labels are checked before they are copied."""
    training = TrainingConfig(batch_tokens=200, micro_batch_tokens=200, packed=True)
    data = prepare_synthetic(tmp_path, "captions", 1000, V, 64, seed=1)
    [batch] = Feed(data, training, torch.device("meta")).next().batches
    assert batch.target.is_meta
    data = replace(data, tokenizer=data.tokenizer._replace(target_vocab_size=5))
    with pytest.raises(IndexError, match=r"^label \d+ of 5 tokens$"):
        Feed(data, training, torch.device("meta")).next()


def test_the_published_rate_is_that_of_the_first_name_that_fits():
    assert published_rate("NVIDIA H100 80GB HBM3", "bf16") == 989e12
    assert published_rate("NVIDIA H100 PCIe", "fp16") == 756e12
    assert published_rate("NVIDIA H100 PCIe", "fp32") is None
    assert published_rate("AMD EPYC", "bf16") is None
