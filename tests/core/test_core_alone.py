"""Without any extension the core prepares, trains, translates, evaluates and resumes, with its plain operations."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway import Translator
from headway.errors import UsageError
from headway.ext.demo import generate
from headway.ext.protect.glossary import Glossary, Term
from headway.translation.masking import Masking

MODEL = Path(__file__).parents[1] / "golden" / "0.1" / "model"
LINES = "the cat sees a dog\na dog sees the old cat\n"
SMALL = [
    "--preset=tiny", "--model.num-encoder-layers=1", "--model.num-decoder-layers=1", "--text.vocab-size=400", "--ranks=1",
    "--training.validate-every=2", "--training.batch-tokens=400", "--training.micro-batch-tokens=400",
]  # fmt: skip


def headway(*words: str | Path, given: str = "", expected: int = 0) -> str:
    """Run the command without extensions, and return what it prints: its errors, if it is to fail."""
    done = subprocess.run(
        [sys.executable, "-m", "headway", *map(str, words)],
        input=given, capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "HEADWAY_EXTENSIONS": ""},
    )  # fmt: skip
    assert done.returncode == expected, done.stderr
    return done.stderr if expected else done.stdout


@pytest.mark.slow
def test_the_core_trains_translates_evaluates_and_resumes(tmp_path: Path) -> None:
    pairs = [*generate("en", "de", 420)]
    for side in ("en", "de"):
        texts = [pair.source if side == "en" else pair.target for pair in pairs]
        (tmp_path / f"train.{side}").write_text("\n".join(texts[:400]) + "\n", encoding="utf-8")
        (tmp_path / f"valid.{side}").write_text("\n".join(texts[400:]) + "\n", encoding="utf-8")
    train, valid = ([tmp_path / f"{name}.{c}" for c in ("en", "de")] for name in ("train", "valid"))
    run = tmp_path / "run"
    headway("train", run, "--train", *train, "--valid", *valid, *SMALL, "--training.max-steps=2")
    headway("train", run, "--training.max-steps=4", "--ranks=1")
    whole = tmp_path / "whole"
    headway("train", whole, "--train", *train, "--valid", *valid, *SMALL, "--training.max-steps=4")
    for name in ("model.safetensors", "tokenizer.model"):
        assert (run / name).read_bytes() == (whole / name).read_bytes()
    assert headway("translate", run, given="A cat.\n").count("\n") == 1
    scored = headway("evaluate", run, "--source", valid[0], "--reference", valid[1], "--json")
    assert json.loads(scored)["lines"] == 20


@pytest.mark.slow
def test_plain_lines_have_the_same_translations_with_and_without_extensions() -> None:
    found = headway("translate", MODEL, given=LINES)
    assert found.splitlines() == Translator.load(MODEL, "cpu").translate(LINES.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve", "m"], "headway: serve: belongs to extension 'server'"),
        (["info", "tiny", "--diagram", "x.svg"], "--diagram: belongs to extension 'pictures'"),
        (["evaluate", "m", "--source", "a", "--reference", "b", "--calibrate"], "'quality'"),
        (["translate", MODEL, "--quality"], "--quality belongs to extension 'quality'"),
        (["translate", MODEL, "--glossary", "terms.tsv"], "--glossary belongs to extension 'protect'"),
    ],
)  # fmt: skip
def test_what_belongs_to_an_extension_is_one_line_that_names_it(
    words: list[str | Path], said: str
) -> None:
    errors = headway(*words, given="a\n", expected=2)
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_a_glossary_is_refused_where_nothing_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    translator = Translator.load(MODEL, "cpu").with_glossary(Glossary([Term("cat", ("Kater",))]))
    monkeypatch.setattr(translator, "_masking", Masking())
    with pytest.raises(UsageError, match="a glossary needs an extension"):
        translator.translate("the cat")
