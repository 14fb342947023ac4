"""What docs/training.md says of copies and summaries, at a small size: its commands train models of both tasks."""

import csv
import random
import shlex
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.text.prepared import PreparedData
from support.cases import read_rows
from support.documentation import read_blocks, read_code_spans
from support.extensions import needs
from support.runs import words

PAGE = Path("docs/training.md")
# A model and a training of seconds of one core.
SMALL = {
    "model.num-encoder-layers": 1, "model.num-decoder-layers": 1, "model.d-model": 64, "model.d-ff": 128,
    "model.dropout": 0, "training.agreement": 0, "training.batch-tokens": 600,
    "training.micro-batch-tokens": 600, "training.warmup-steps": 30, "training.threads": 1,
}  # fmt: skip
SENTENCE = read_rows(__file__, "SENTENCE")


def page_command(run):
    """Return the words of the page's command that trains this run, from the verb on."""
    [block] = [b.text for b in read_blocks(PAGE) if f"headway train {run} " in b.text]
    return shlex.split(block.partition("headway ")[2].replace("\\\n", " "))


def train_and_translate(run, sources, options=(), **changes):
    """Train by the page's command with a small model, and return what it makes of unseen lines, with these options."""
    settings = SMALL | {name.replace("__", ".").replace("_", "-"): v for name, v in changes.items()}
    command = [*page_command(run), "--preset", "quick", "--ranks", "1", "--quiet"]
    assert dispatch([*command, *words(settings)]) == 0
    Path("unseen.txt").write_text("\n".join(sources) + "\n", encoding="utf-8")
    files = ["--input", "unseen.txt", "--output", "out.txt", "--threads", "1"]
    assert dispatch(["translate", run, *files, *options]) == 0
    return Path("out.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(autouse=True)
def _work_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@needs("native")  # for the time that it takes
def test_the_copy_task_is_learned():
    numbers = list(map(str, random.Random(1).sample(range(10_000, 100_000), 2_600)))
    seen, unseen = numbers[:2_500], numbers[2_500:]
    Path("numbers.txt").write_text("\n".join(seen) + "\n", encoding="utf-8")
    found = train_and_translate(
        "runs/copy", unseen, training__max_steps=90, training__cool_steps=60,
        training__validate_every=90, training__validation_sentences=10,
    )  # fmt: skip
    copied = sum(one == other for one, other in zip(found, unseen, strict=True))
    assert copied >= 90


def test_a_table_of_articles_is_read_whole_and_each_gets_one_line():
    """Every 25th article is too long for the usual limits."""
    draw = random.Random(2)
    [option] = [span for span in read_code_spans(PAGE) if span.startswith("--search.max-tokens ")]

    def sentence():
        return " ".join(map(draw.choice, SENTENCE)) + "."

    def count(number):
        return draw.randint(2, 3) if number % 25 else draw.randint(25, 30)

    articles = [[sentence() for _ in range(count(number))] for number in range(1010)]
    rows = [(" ".join(article), article[0]) for article in articles]
    with Path("articles.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("article", "summary"), *rows[:1000]])
    found = train_and_translate(
        "runs/summaries", [article for article, _ in rows[998:]], option.split(), text__vocab_size=400,
        training__max_steps=1, training__validation_sentences=1, search__max_extra=1, search__beam=1,
    )  # fmt: skip
    assert len(found) == 12
    data = PreparedData.open(Path("runs/summaries/data"))
    assert len(data.train) == 500  # all but the validation text
