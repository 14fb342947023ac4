"""The public interface: the list of names, the page that explains them, and what importing costs."""

import importlib
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import headway
from headway import SearchConfig, Translator, train
from headway.errors import HeadwayError
from headway.lazy import list_names
from support.toy_models import sentences, write_pairs

PAGE = Path(__file__).parents[2] / "docs" / "library.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_library_page_explains_every_public_name():
    explained = re.findall(r"^### `(\w+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(headway.__all__)


@pytest.mark.parametrize("name", headway.__all__)
def test_a_public_name_exists_and_is_documented(name):
    assert getattr(headway, name).__doc__
    assert name in dir(headway)


def test_type_checkers_see_the_same_names_as_programs():
    assert sorted(list_names("headway")) == sorted(headway.__all__)
    for name, module in list_names("headway").items():
        assert getattr(headway, name) is getattr(importlib.import_module(module), name)


def test_importing_headway_is_quick_and_imports_nothing_heavy():
    times = []
    for _ in range(5):
        start = os.times()
        program = "import sys, headway; assert not {'torch', 'numpy'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", program], check=True)
        end = os.times()
        times.append(sum(end[2:4]) - sum(start[2:4]))
    assert statistics.median(times) < 0.1


@pytest.mark.parametrize("block", [b for b in BLOCKS if "runs/" not in b and "nowhere" not in b])
def test_the_documented_examples_without_a_model_run(block):
    before = torch.get_rng_state()
    exec(compile(block, str(PAGE), "exec"), {})
    torch.set_rng_state(before)


def test_the_documented_examples_of_a_translator_run(model_directory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("title,body\nthe cat,the dog runs\n", encoding="utf-8")
    blocks = [block for block in BLOCKS if 'Translator.load("runs/' in block]
    assert len(blocks) == 3
    for block in blocks:
        code = re.sub(r"runs/(demo|mine)", str(model_directory), block)
        exec(compile(code, str(PAGE), "exec"), {})


def test_train_starts_and_resumes_a_run(tmp_path, capfd):
    settings = {
        "text.vocab-size": "300", "model.d-model": "16", "model.d-ff": "16", "model.num-heads": "2",
        "training.max-steps": "3", "training.validate-every": "3", "training.checkpoint-every": "3",
        "training.batch-tokens": "200", "training.warmup-steps": "2", "training.threads": "1",
    }  # fmt: skip
    run = tmp_path / "run"
    texts = {
        "train": write_pairs(tmp_path, "train", sentences(150, 1, longest=5)),
        "valid": write_pairs(tmp_path, "valid", sentences(7, 2, longest=5)),
    }  # fmt: skip
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    first = train(run, **texts, preset="tiny", settings=settings)
    assert isinstance(first, Translator)
    assert first.languages == ("en", "de")
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert capfd.readouterr() == ("", "")
    again = train(run, settings={"training.max-steps": "5"})
    assert len((run / "metrics.jsonl").read_text().splitlines()) > 3
    assert isinstance(again.translate("the cat", SearchConfig(max_extra=3)), str)
    with pytest.raises(HeadwayError, match="no run there yet"):
        train(tmp_path / "other")
