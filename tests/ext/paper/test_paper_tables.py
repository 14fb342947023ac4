"""Tables 2 and 3, tying and the schedule: counts equal formulas, and verdicts follow invented scores."""

import importlib
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.config import Config, ModelConfig
from headway.ext.paper import charts, report
from headway.ext.paper.experiments import table2, table4, wmt14
from headway.ext.paper.experiments.table3_parameters import common_vocabulary
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.measuring.parameters import (
    count_parameters,
    parameters_by_formula,
    vocabulary_range,
    with_joint_vocabulary,
)
from headway.ext.paper.parsing.parser import PAPER
from headway.ext.paper.reproduction import EXPERIMENTS, reproduce
from headway.ext.paper.results import Findings, Table
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.scales import SMALL
from headway.ext.paper.running.scoring import score_predictions
from headway.ext.paper.running.settings_tables import describe_regime, list_bases
from headway.ext.paper.running.study import Study
from headway.ext.paper.settings import paper_settings
from headway.ext.paper.table3_rows import CONTROLS, TABLE3, configure, find_row, shapes
from headway.model import Transformer, parameter_count
from headway.training.steps.objective import plain_loss

ODD = ModelConfig(
    source_vocab_size=31, target_vocab_size=31, num_encoder_layers=2, num_decoder_layers=3,
    d_model=14, d_ff=19, num_heads=3, d_k=5, d_v=7, max_positions=11,
)  # fmt: skip


@pytest.mark.parametrize("tying", ["three-way", "target", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_the_formula_gives_the_parameters_of_the_built_model(tying, positions):
    config = replace(ODD, tying=tying, positions=positions)
    total = parameter_count(Transformer(config))
    assert parameters_by_formula(config) == count_parameters(config) == total


def test_rows_at_another_size_keep_the_papers_ratios():
    rows = {row.label: configure(SMALL, row) for row in TABLE3}
    assert {label: c.model.head_widths for label, c in rows.items() if label[:3] in ("(A)", "(B)")} == {
        "(A) h = 1": (64, 64), "(A) h = 4": (16, 16), "(A) h = 16": (4, 4), "(A) h = 32": (2, 2),
        "(B) d_k = 16": (2, 8), "(B) d_k = 32": (4, 8),
    }  # fmt: skip
    controls = {row.label: configure(SMALL, row).model for row in CONTROLS}
    assert {label: (m.num_heads, m.head_widths) for label, m in controls.items()} == {
        "(A) h = 1, d_k = 64": (1, (8, 8)), "(A) h = 32, d_k = 64": (32, (8, 8)),
    }  # fmt: skip
    big = rows["big"]
    assert (big.model.d_model, big.model.num_heads, big.model.dropout) == (128, 16, 0.3)
    assert big.training.max_steps == 3 * SMALL.training.max_steps
    assert rows["(D) eps_ls = 0.2"].training.label_smoothing == 0.2


def test_the_published_base_has_the_papers_training():
    paper = Config().training
    for scale in ("toy", "minutes", "hours", "paper"):
        work = Study("unused", scale)
        base, published = work.base, work.published_base
        assert replace(published, training=base.training) == base  # the same model and text
        regime = published.training
        for name in ("optimizer", "muon_weight_decay", "zero_outputs", "decay", "cool_steps"):
            assert getattr(regime, name) == getattr(paper, name), name
        assert regime.rate_scale == (1.28 if scale == "hours" else 1.0)
        if scale in ("minutes", "hours"):
            assert regime.average == paper.average
            assert abs(regime.checkpoint_every / regime.max_steps - 0.015) < 0.003
            assert (
                regime.max_steps % regime.checkpoint_every == 0
            )  # averaged ones are equally far apart
    work = Study("unused", "hours")
    published, base = work.published_base.training, work.base.training
    assert not describe_regime([published])
    regime = describe_regime([published, base])
    assert "Muon" in regime
    assert "falls to zero in the last 65 % of the steps." in regime
    # Big has three times as many steps.
    assert describe_regime([configure(work.base, find_row("big")).training]) == regime
    rows = {row[0]: row[1:] for row in list_bases(work).rows}
    assert rows["training.optimizer"] == ("adam", "muon", "adam")
    assert rows["model.d_model"] == ("512", "128", "128")
    assert "training.device" not in rows


def test_the_vocabularies_found_give_the_printed_parameters():
    for row, shape in shapes():
        if row.millions is None:
            continue
        low, high = vocabulary_range(shape, row.millions)
        inside, outside = math.ceil(low), math.ceil(high) + 1
        assert (
            round(parameters_by_formula(with_joint_vocabulary(shape, inside)) / 1e6) == row.millions
        )
        assert (
            round(parameters_by_formula(with_joint_vocabulary(shape, outside)) / 1e6)
            == row.millions + 1
        )
    others = [(row, shape) for row, shape in shapes() if row.name != "big"]
    span = common_vocabulary(others)
    assert span is not None
    assert common_vocabulary([*others, (TABLE3[-1], shapes()[-1][1])]) is None


def test_operations_counted_on_the_meta_device_equal_those_of_a_real_model():
    length, rows = 5, 3
    model = Transformer(ODD)
    source = torch.zeros(rows, length, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        logits = model(source, source)
        plain_loss(logits.flatten(0, 1), source.flatten(), 0.1).smoothed.backward()
    assert table2.count_step(ODD, rows * length, length) == counter.get_total_flops()
    # Six operations for each token and parameter leave attention out, which hardly counts in short sentences.
    shape = replace(ODD, d_model=128, d_ff=512, d_k=16, d_v=16)
    assert table2.count_step(shape, 60, 2) == pytest.approx(
        6 * 60 * parameters_by_formula(shape), rel=0.02
    )


def test_the_papers_estimates_of_cost_are_reproduced():
    assert table2.estimate_flops("base") == pytest.approx(3.3e18, rel=0.01)
    assert table2.estimate_flops("big") == pytest.approx(2.3e19, rel=0.01)
    for name in wmt14.SETTINGS:
        config = paper_settings(name)
        assert config.model.dropout == (0.3 if "en-de-big" in name else 0.1)
        assert config.text.vocab_size == (37_000 if "en-de" in name else 32_000)


def test_every_file_of_the_papers_settings_loads_and_is_used():
    names = {path.stem for path in (Path(table2.__file__).parents[1] / "settings").glob("*.toml")}
    assert names == {*wmt14.SETTINGS, *table4.SETTINGS}
    for name in names:
        assert paper_settings(name).training.max_steps in (100_000, 300_000), name
    for name, pieces in zip(table4.SETTINGS, (16_000, 32_000), strict=True):
        config = paper_settings(name)
        assert config.text.vocab_size == pieces
        assert config.search == PAPER
        model = config.model
        assert (model.num_encoder_layers, model.num_decoder_layers, model.d_model) == (4, 4, 1024)
        assert (model.d_ff, model.num_heads) == (2048, 8)  # base's


def test_predictions_of_a_batch_equal_those_of_single_sentences(tokenizer):
    torch.manual_seed(5)
    sizes = {
        "source_vocab_size": tokenizer.source_vocab_size,
        "target_vocab_size": tokenizer.target_vocab_size,
    }
    model = Transformer(replace(ODD, max_positions=99, **sizes)).eval()
    pairs = (
        ("the cat sees", "die Katze sieht"),
        ("a dog", "eine Hund"),
        ("blue tree runs", "blau"),
    )
    nll, right, confidence, count = 0.0, 0, 0.0, 0
    for source, target in pairs:
        (a,), (b,) = tokenizer.encode_source([source]), tokenizer.encode_target([target])
        logits = model(torch.tensor([a]), torch.tensor([b]))[0].detach()
        labels = torch.tensor(b)
        nll += torch.nn.functional.cross_entropy(logits, labels, reduction="sum").item()
        right += int((logits.argmax(-1) == labels).sum())
        confidence += logits.softmax(-1).amax(-1).sum().item()
        count += len(b)
    expected = {
        "perplexity": math.exp(nll / count),
        "accuracy": right / count,
        "confidence": confidence / count,
    }
    assert score_predictions(model, tokenizer, pairs) == pytest.approx(expected, rel=1e-5)


def test_without_matplotlib_a_chart_has_no_picture(monkeypatch):
    monkeypatch.setattr(charts, "find_spec", lambda name: None)
    figures = (
        charts.curves("drawn curves", {"a": [(1.0, 2.0)]}, "x", "y"),
        charts.intervals("drawn intervals", [("a", [1.0, 2.0])], "x", {"a": 1.5}),
    )
    assert [figure.svg for figure in figures] == ["", ""]
    page = report.html([Findings(figures=figures)], "toy", Table("", (), ()), Table("", (), ()))
    assert "<img" not in page
    for figure in figures:
        assert re.search(rf"{figure.caption}.* headway\[pictures\]", page)


def test_described_claims_name_trainings_and_the_papers_numbers(tmp_path):
    work = Study(tmp_path, "toy", corpus=Bitext("x", (), (), (), ("en", "de")))
    base = find_row("base")
    for name, described in EXPERIMENTS.items():
        if not described.claims:
            continue
        module = importlib.import_module(f"headway.ext.paper.experiments.{name}")
        names = {plan.name for plan in module.plan(work)}
        for claim in described.claims:
            assert {claim.name, claim.other} <= names
            row = {row.label: row for row in TABLE3}.get(claim.name)
            if name == "table3" and row:
                less = f"{row.bleu - base.bleu:+.1f} BLEU"
                nats = f"perplexity {row.perplexity:.2f} instead of {base.perplexity:.2f}"
                assert claim.paper in ("not separated", nats if claim.score == "nats" else less)


def test_table_4_runs_at_toy_size_and_reuses_its_results(tmp_path, monkeypatch):
    work = Study(tmp_path, scale="toy", seeds=(1,))
    result = reproduce("table4", work)
    assert result.claims[0].verdict == "shown"
    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", pytest.fail)
    (tmp_path / "table4.json").unlink()
    assert reproduce("table4", work).tables == result.tables


def test_a_given_treebank_replaces_the_generated_one(tmp_path):
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, seed in (("train", 4), ("valid", 5), ("test", 6)):
        text = "".join(f"{t}\n" for t in make_treebank(30, seed))
        (folder / f"{name}.tree").write_text(text)
    found = table4.find_treebank(Study(tmp_path, scale="toy"))
    assert not found.is_generated
    assert [len(part) for part in (found.train, found.valid, found.test)] == [30, 30, 30]
    assert found.test == make_treebank(30, 6)
