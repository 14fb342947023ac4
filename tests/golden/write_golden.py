"""Write the golden directory of this version: ``python tests/golden/write_golden.py tests/golden/0.2``.

A golden directory is written once, with the release whose name it has, and is never changed after the release:
later versions must read its model, and its run as long as they have the format of runs. It holds

- ``run``: a run of 12 steps on two pairs of languages, killed after step 7; its newest checkpoint is of step 4;
- ``metrics.jsonl``: the metrics of the same run when it is not killed;
- ``model``: a model of another run on more text, with its quality;
- ``translations.tsv``: pair, source, and the translations with a beam of 1 and of 4.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import SearchConfig
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.translation import Translator
from support.groups import options, write_languages
from support.runs import command, opened

PAIRS = ("en-de", "en-fr")
KILLED_AFTER = 7
# Without placeholders: what the model reads in their place may become better.
LINES = ["0 7 5 5 9 2 0 0 4", "6", "7 4 2 2 7", "3 1 4", "", "9 9", "hello, 5"]
SETTINGS = {
    "text__vocab_size": 300, "text__max_tokens": 100, "model__d_model": 16, "model__d_ff": 23,
    "model__dropout": 0.1, "training__batch_tokens": 120, "training__max_steps": 12,
    "training__warmup_steps": 6, "training__checkpoint_every": 4, "training__precision": "fp32",
}  # fmt: skip
LONGER = SETTINGS | {
    "model__dropout": 0.0, "training__batch_tokens": 600, "training__micro_batch_tokens": 600,
    "training__max_steps": 700, "training__warmup_steps": 100, "training__validate_every": 350,
    "training__checkpoint_every": 50,
}  # fmt: skip


def main(out):
    """Write the directory."""
    out.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that run.json names no directory of this machine
        sys.argv = ["headway", "train", "run"]
        events = train(Path("run"), write_languages(Path("text"), train=80, valid=5), SETTINGS)
        read_until(events, KILLED_AFTER)
        shutil.copytree("run", out / "run")
        (out / "run" / ".lock").unlink(missing_ok=True)
        read_until(events, None)
        shutil.copyfile("run/metrics.jsonl", out / "metrics.jsonl")
        read_until(train(Path("long"), write_languages(Path("more"), train=2000), LONGER), None)
        translator = Translator.load("long")
        translator.save_pretrained(out / "model")
        rows = [row for pair in PAIRS for row in translate(translator, pair)]
        text = "".join(f"{row}\n" for row in rows)
        (out / "translations.tsv").write_text(text, encoding="utf-8", newline="\n")


def train(run, text, settings):
    """Return the events of a training."""
    return run_to_end(opened(run, command(run, options(text, *PAIRS), **settings)))


def read_until(events, step):
    """Train until a step is done, or to the end."""
    for event in events:
        if isinstance(event, StepReport) and event.step == step:
            return


def translate(translator, pair):
    """Return a row for each line: pair, source, and both translations."""
    source, target = pair.split("-")
    own = translator.to(target, source)
    found = [own.translate(LINES, SearchConfig(beam=beam)) for beam in (1, 4)]
    return ["\t".join((pair, *texts)) for texts in zip(LINES, *found, strict=True)]


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
