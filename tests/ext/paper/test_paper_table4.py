"""The parsing experiment: at toy size, and with a given treebank."""

import time
from pathlib import Path

import pytest

from headway.ext.paper.experiments import table4
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.running.work import Work
from headway.ext.paper.settings import paper_settings


@pytest.mark.slow
def test_table_4_runs_at_toy_size_and_reuses_its_results(tmp_path: Path) -> None:
    work = Work(tmp_path, scale="toy")
    result = table4.run(work)
    assert {claim.verdict for claim in result.claims} <= {
        "holds",
        "does not",
        "not decided",
        "shown",
    }
    assert result.claims[0].verdict == "shown"
    began = time.process_time()
    again = table4.run(work)
    assert again.tables == result.tables
    assert time.process_time() - began < 2  # nothing is trained again


def test_a_given_treebank_replaces_the_generated_one(tmp_path: Path) -> None:
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, seed in (("train", 4), ("valid", 5), ("test", 6)):
        text = "".join(f"{t}\n" for t in make_treebank(30, seed))
        (folder / f"{name}.tree").write_text(text)
    found = table4.find_treebank(Work(tmp_path, scale="toy"))
    assert not found.is_generated
    assert [len(part) for part in (found.train, found.valid, found.test)] == [30, 30, 30]
    assert found.test == make_treebank(30, 6)


def test_the_two_parsers_of_section_6_3_have_their_own_published_settings() -> None:
    alone = paper_settings("wsj-parsing")
    more = paper_settings("wsj-parsing-semi-supervised")
    for config, vocabulary, dropout, warmup, tying in (
        (alone, 16000, 0.2, 16000, "none"),
        (more, 32000, 0.1, 4000, "target"),
    ):
        assert config.text.vocab_size == vocabulary
        assert (config.model.dropout, config.model.tying) == (dropout, tying)
        assert config.training.warmup_steps == warmup
        assert (config.model.num_encoder_layers, config.model.d_model) == (4, 1024)
        assert (config.search.beam, config.search.alpha, config.search.max_extra) == (21, 0.3, 300)
        assert config.text.max_tokens == 512
        # The published code has 0.1 for the rate of equation 3, and 0.05 for parsers.
        assert config.training.rate_scale == pytest.approx(0.05 / 0.1)
    assert (alone.model.attention_dropout, more.model.attention_dropout) == (0.2, 0.0)
    assert more.training.batch_tokens == 8 * 2048
    assert more.training.micro_batch_tokens == 2048
