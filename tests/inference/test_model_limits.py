"""A model is a file from a stranger: its numbers may not cost more than its size."""

import json
import shutil
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.inference.directory import load_any_model
from support.bounds import bounded


@pytest.mark.parametrize("name", ["beam", "n_best", "max_extra", "max_tokens", "batch_tokens"])
def test_a_file_cannot_ask_for_an_excessive_search(
    name: str, model_directory: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    values = json.loads((copy / "config.json").read_text())
    values["settings"]["search"] |= {"beam": 10**6} if name == "n_best" else {}
    values["settings"]["search"][name] = 10**6
    (copy / "config.json").write_text(json.dumps(values))
    with pytest.raises(HeadwayError, match=rf"search\.{name} = 1000000 must be at most"), bounded():
        load_any_model(copy)


@pytest.mark.parametrize("content", [b"", b"\x0a\x00" * (20 << 20), bytes(60 << 20)])
def test_a_damaged_tokenizer_is_rejected_before_it_is_parsed(
    content: bytes, model_directory: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    (copy / "tokenizer.model").write_bytes(content)
    with (
        pytest.raises(HeadwayError, match=r"tokenizer\.model: not a sentencepiece model"),
        bounded(),
    ):
        load_any_model(copy)
