"""The benchmark runner: Headway's own sides work, and so do the recipes of toolkits."""

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.skipif(shutil.which("taskset") is None, reason="sides are pinned by taskset")
def test_our_sides_answer(tmp_path, model_directory):
    from turns import Side, take_turns

    batch = {"source": [[5, 7, 11, 1], [13, 1]], "target": [[3, 1], [2, 17, 19, 1]]}
    (tmp_path / "batches.json").write_text(json.dumps({"batches": [batch] * 3}))
    sentences = {"sources": [[5, 7, 1], [11, 1], [13, 17, 19, 1]], "references": [[5, 1]] * 3}
    (tmp_path / "sentences.json").write_text(json.dumps(sentences))
    train = {
        "shape": {"d_model": 22, "d_ff": 17, "heads": 2, "layers": 1}, "vocab_size": 31,
        "dropout": 0.1, "smoothing": 0.1, "warm": 1, "steps": 2,
        "batches": str(tmp_path / "batches.json"), "precision": "fp32",
    }  # fmt: skip
    translate = {"model": str(model_directory), "sentences": str(tmp_path / "sentences.json")}
    translate |= {"forced": False, "extra": 7, "precision": "fp32"}
    cell = {"batch": 2, "beam": 3, "count": 3, "penalty": 1.0}
    cores = (min(os.sched_getaffinity(0)),)
    for script, task in (("train_headway.py", train), ("translate_headway.py", translate)):
        side = Side("one", Path(sys.executable), script, task, cores)
        answers = list(take_turns([side], [cell], 2))
        assert len(answers) == 2
        assert all(a["cpu"] > 0 and a["memory"] > 1e7 for a in answers)
        if task is translate:
            assert answers[0]["found"] == answers[1]["found"]
            assert answers[0]["tokens"] == sum(len(ids) + 1 for ids in answers[0]["found"])
        else:
            assert all(0 < a["loss"] < 10 for a in answers)


def test_every_recipe_can_be_filled_in(tmp_path):
    from toolkits import fill, shorten_warmup

    for file in (BENCHMARKS / "recipes").glob("*.toml"):
        recipe = tomllib.loads(file.read_text("utf-8"))
        values = dict.fromkeys(("text", "run", "minutes", "seed", "here"), "x")
        values |= shorten_warmup(30, recipe.get("peak"))
        texts = [recipe["train"], recipe["translate"], *recipe.get("prepare", [])]
        for text in [*texts, *recipe.get("files", {}).values()]:
            assert not re.search(r"<(?!unk|pad|s>|/s>)\w+>", fill(text, values)), file
        re.compile(recipe["rate"])
    # The published highest rate of a schedule by the inverse square root stays.
    short = shorten_warmup(30, {"rate": 2.0, "warmup": 8000})
    assert short["rate"] / short["warmup"] ** 0.5 == pytest.approx(2.0 / 8000**0.5)
