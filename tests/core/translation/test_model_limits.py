"""A model is a file from a stranger: its numbers may not cost more than its size."""

import json
import shutil

import pytest

from headway.cli.main import dispatch
from headway.config.loading import from_dict
from headway.errors import HeadwayError, UsageError
from headway.translation.directory import load_any_model
from support.bounds import bounded
from support.runs import command, write_corpus


@pytest.mark.parametrize("name", ["beam", "n_best", "max_tokens"])
def test_a_file_cannot_ask_for_an_excessive_search(name, model_directory, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    values = json.loads((copy / "config.json").read_text())
    values["settings"]["search"] |= {"beam": 10**6} if name == "n_best" else {}
    values["settings"]["search"][name] = 10**6
    (copy / "config.json").write_text(json.dumps(values))
    with pytest.raises(HeadwayError, match=rf"search\.{name} = 1000000 must be at most"), bounded():
        load_any_model(copy)


def test_a_training_refuses_what_its_model_could_not_be_loaded_with(tmp_path):
    words = [*command(tmp_path / "run", write_corpus(tmp_path, 20, 3)), "--search.beam", "65"]
    with pytest.raises(UsageError, match=r"search.beam = 65 must be at most 64 in a model's file"):
        dispatch(words)
    assert not (tmp_path / "run").exists()


def test_a_person_may_ask_for_a_larger_search(model_directory, tmp_path):
    (tmp_path / "text").write_text("the cat\n", encoding="utf-8")
    files = ["--input", str(tmp_path / "text"), "--output", str(tmp_path / "out")]
    words = ["translate", str(model_directory), *files, "--search.beam", "65"]
    assert dispatch([*words, "--search.max-extra", "2"]) == 0


def test_every_number_of_the_settings_is_finite():
    for value in (10**400, float("inf"), float("nan"), True, "1", None, [1]):
        with pytest.raises(HeadwayError, match="must be a finite number"):
            from_dict({"training": {"rate_scale": value}}, "config.json")


def test_a_file_of_unknown_settings_is_refused_at_once():
    names = {f"d_mode{i}": 1 for i in range(60_000)}
    with pytest.raises(HeadwayError) as refused, bounded():
        from_dict({"model": names}, "config.json")
    assert len(str(refused.value).splitlines()) == 20
