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
    "--model.d-model=24", "--model.d-ff=32", "--model.num-heads=2", "--training.threads=1",
    "--training.validate-every=9", "--training.batch-tokens=200", "--training.micro-batch-tokens=200",
]  # fmt: skip


# A process without extensions, which imports torch once for all commands: each is a line of its input.
PROGRAM = """
import contextlib, io, json, sys
from headway.cli.main import main

for line in sys.stdin:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            main(json.loads(line))
            code = 0
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), errors.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def headway():
    """Runs a command without extensions, and returns what it prints: its errors, if it is to fail."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env={**os.environ, "HEADWAY_EXTENSIONS": ""},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout

    def run(*words, expected=0):
        print(json.dumps([*map(str, words)]), file=process.stdin, flush=True)
        code, out, errors = json.loads(process.stdout.readline())
        assert code == expected, errors
        return errors if expected else out

    with process:
        yield run


def test_the_core_trains_translates_evaluates_and_resumes(headway, tmp_path):
    pairs = [*generate("en", "de", 205)]
    for side in ("en", "de"):
        texts = [pair.source if side == "en" else pair.target for pair in pairs]
        (tmp_path / f"train.{side}").write_text("\n".join(texts[:200]) + "\n", encoding="utf-8")
        (tmp_path / f"valid.{side}").write_text("\n".join(texts[200:]) + "\n", encoding="utf-8")
    train, valid = ([tmp_path / f"{name}.{c}" for c in ("en", "de")] for name in ("train", "valid"))
    run = tmp_path / "run"
    headway("train", run, "--train", *train, "--valid", *valid, *SMALL, "--training.max-steps=2")
    headway("train", run, "--training.max-steps=4", "--ranks=1")
    whole = tmp_path / "whole"
    headway("train", whole, "--train", *train, "--valid", *valid, *SMALL, "--training.max-steps=4")
    for name in ("model.safetensors", "tokenizer.model"):
        assert (run / name).read_bytes() == (whole / name).read_bytes()
    scored = headway(
        "evaluate", run, "--threads=1", "--source", valid[0], "--reference", valid[1], "--json"
    )
    assert json.loads(scored)["lines"] == 5


def test_plain_lines_have_the_same_translations_with_and_without_extensions(headway, tmp_path):
    (tmp_path / "in").write_text(LINES)
    headway(
        "translate",
        MODEL,
        "--threads",
        "1",
        "--input",
        tmp_path / "in",
        "--output",
        tmp_path / "out",
    )
    found = (tmp_path / "out").read_text().splitlines()
    assert found == Translator.load(MODEL, "cpu").translate(LINES.splitlines())


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
def test_what_belongs_to_an_extension_is_one_line_that_names_it(words, said, headway):
    errors = headway(*words, expected=2)
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_a_glossary_is_refused_where_nothing_follows_it(monkeypatch):
    translator = Translator.load(MODEL, "cpu").with_glossary(Glossary([Term("cat", ("Kater",))]))
    monkeypatch.setattr(translator, "_masking", Masking())
    with pytest.raises(UsageError, match=r"a glossary (needs an|belongs to) extension"):
        translator.translate("the cat")
