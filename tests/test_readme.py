"""What the README shows, runs, and its scores are those of the results."""

import os
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.main import main
from headway.cli.verbs import list_verbs
from support.documentation import OTHER_OPTIONS, read_table
from support.processes import spawn, wait
from support.toy_models import sentences, translate_words

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs(code, model_directory):
    exec(compile(code.replace("runs/demo", str(model_directory)), "README.md", "exec"), {})


def test_no_page_has_an_unfilled_placeholder():
    pages = [*ROOT.glob("*.md")]
    for room in ("benchmarks", "deploy", "docs", "src", "tests"):
        pages += (ROOT / room).rglob("*.md")
    assert ROOT / "docs" / "library.md" in pages
    texts = {
        str(page): re.sub(OTHER_OPTIONS, "", page.read_text(encoding="utf-8")) for page in pages
    }
    assert [page for page, text in texts.items() if "<!--" in text] == []


def test_the_source_files_that_the_docs_name_exist():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    files = tracked or [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.*")]
    for page in (ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        named = re.findall(r"`([\w/]+\.(?:py|cpp|h|js))`", page.read_text(encoding="utf-8"))
        missing = {
            name
            for name in named
            if "NAME" not in name and not any(f"/{file}".endswith(f"/{name}") for file in files)
        }
        assert not missing, f"{page.name}: {missing}"


def run_line(line, folder):
    """Run a command with its redirections, as a shell does; return its exit code and what it prints."""
    files, words = {"<": os.devnull, ">": "out"}, shlex.split(line)
    for mark in files.keys() & {*words}:
        at = words.index(mark)
        files[mark] = words[at + 1]
        del words[at : at + 2]

    def work():
        os.chdir(folder)
        os.dup2(os.open(files["<"], os.O_RDONLY), 0)
        os.dup2(os.open(files[">"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        sys.stdin = os.fdopen(0, encoding="utf-8")
        assert words[0] == "headway"
        main(words[1:])

    log = folder / "log"
    log.write_text("")
    code = wait(spawn(work, log), 120)
    return code, (folder / files[">"]).read_text(), log.read_text()


def test_your_own_translator(tmp_path):
    """The first commands a reader copies, in a shell, on a text of their own; only smaller."""
    for seed, (name, count) in enumerate({"train": 300, "valid": 20, "test": 20}.items()):
        source = sentences(count, seed)
        (tmp_path / f"{name}.en").write_text("\n".join(source) + "\n")
        (tmp_path / f"{name}.de").write_text("\n".join(map(translate_words, source)) + "\n")
    (tmp_path / "text.en").write_text("a dog\n\nthe house\n")
    block = next(b for b in re.findall(r"```\n(.*?)```", README, re.DOTALL) if "runs/mine" in b)
    train, *others = block.strip().splitlines()
    small = (
        "--text.vocab-size 331 --model.d-model 16 --model.d-ff 24 --model.num-encoder-layers 1"
        " --model.num-decoder-layers 1 --training.batch-tokens 500 --training.micro-batch-tokens 500"
        " --training.max-steps 4 --ranks 1"
    )
    for command in (f"{train} {small}", *others):
        code, out, errors = run_line(command, tmp_path)
        assert code == 0, f"{command}: {errors}"
        if command.startswith("headway train"):
            assert out == ""
            assert "target tokens/s" in errors
            assert "BLEU" in errors
    lines = (tmp_path / "text.de").read_text().split("\n")
    assert len(lines) == 4
    assert lines[1] == ""
    assert "BLEU" in out


def test_every_verb_and_picture_is_there():
    assert all(f"`{verb}`" in README for verb in list_verbs())
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / picture).is_file(), picture


def test_the_scores_of_presets_are_means_of_the_runs_in_the_results():
    page = Path("docs/evidence/results.md")
    runs = {}
    means = {}
    for heading in (
        "Multi30k, English to German", "A quarter of a million pairs", "Half a million pairs and more",
    ):  # fmt: skip
        for name, _, _, score, *_ in read_table(page, "run", "seed", "threads", heading=heading):
            runs.setdefault(name.split("`")[1], []).append(float(score))
        for row in read_table(page, "training", "runs", heading=heading):
            if "`" in row[0]:
                means[row[0].split("`")[1]] = row
    for preset, scores in runs.items():
        count, mean, deviation = means[preset][1:4]
        assert int(count) == len(scores)
        assert float(mean) == pytest.approx(statistics.mean(scores), abs=0.0051)
        if len(scores) > 1:
            assert float(deviation) == pytest.approx(statistics.stdev(scores), abs=0.0051)
    shown = {
        row[0].strip("`"): row[3:]
        for row in read_table(Path("README.md"), "preset")
        if row[2] != "never trained to the end"
    }
    assert len(shown) == 5
    for preset, (minutes, score) in shown.items():
        scores = runs[preset]
        mean, spread = score.split(" ", 1)
        assert float(mean) == pytest.approx(statistics.mean(scores), abs=0.051)
        digits = len(spread.partition(".")[2])
        assert spread == (f"± {statistics.stdev(scores):.{digits}f}" if scores[1:] else "(one run)")
        assert means[preset][7].split()[-1] == minutes
