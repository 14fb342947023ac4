"""Compare toolkits: the same pairs and shape, the same minutes of one core, each by its own recipe.

    .venv/bin/python benchmarks/toolkits.py --text DIR --minutes 30 90

A recipe, ``recipes/NAME.toml``, has the packages of a toolkit and the commands that a user of it would give. All but
Headway read the same subwords, which Headway has learned and cut. What is measured is not measured again: see
``work/toolkits/results.jsonl``. A training is stopped when it has used its minutes of processor time.
Tokens a second are those of the toolkit's own log, for each second of processor time.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from inputs import LANGUAGES, find_files
from sacrebleu.metrics.bleu import BLEU
from sentencepiece import SentencePieceProcessor

from headway.text.readers import read_pairs

HERE = Path(__file__).parent
WORK = HERE / "work" / "toolkits"
RESULTS = WORK / "results.jsonl"
SPLITS = {"train": "train", "valid": "valid", "test": "test_2016_flickr"}
SPACE = "\u2581"  # how sentencepiece writes a space
TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """What a command has used.

    Attributes:
        code: Its exit code.
        seconds: Processor time of all its processes.
        wall: Seconds on the clock.
        memory: The largest resident size of one process, in bytes.
    """

    code: int
    seconds: float
    wall: float
    memory: int


def main() -> None:
    """Measure what has not been measured yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--text", type=Path, required=True, help="Multi30k: train, valid and test_2016_flickr"
    )
    parser.add_argument("--minutes", type=int, nargs="+", default=[30])
    parser.add_argument(
        "--toolkits", nargs="+", default=sorted(p.stem for p in HERE.glob("recipes/*.toml"))
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    files = write_subwords(options.text)
    for minutes in options.minutes:
        for seed in options.seeds:
            for name in options.toolkits:
                measure(name, minutes, seed, files, options.text)
    print(make_table(read_results()))


def write_subwords(text: Path) -> Path:
    """Learn a vocabulary with Headway, and write each split as text and as subwords; return the directory."""
    place = WORK / "text"
    if (place / "done").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    sides = {name: [place / f"{name}.{code}" for code in LANGUAGES] for name in SPLITS}
    for name, split in SPLITS.items():
        pairs = [(pair.source, pair.target) for pair in read_pairs(find_files(text, split))]
        for file, lines in zip(sides[name], zip(*pairs, strict=True), strict=True):
            write_lines(file, lines)
    data = WORK / "data"
    command = [sys.executable, "-m", "headway", "prepare", data, "--train", *sides["train"]]
    command += ["--valid", *sides["valid"], "--preset", "quick"]
    subprocess.run(list(map(str, command)), check=True)
    cutter = SentencePieceProcessor(model_file=str(data / "tokenizer.model"))
    for name, files in sides.items():
        for file, code in zip(files, LANGUAGES, strict=True):
            cut = cutter.encode(file.read_text("utf-8").splitlines(), out_type=str)
            write_lines(place / f"{name}.bpe.{code}", map(" ".join, cut))
    pieces = map(cutter.id_to_piece, range(cutter.get_piece_size()))
    known = [piece for piece in pieces if not re.fullmatch(r"</?(unk|s|pad)>", piece)]
    write_lines(place / "vocab.txt", known)
    (place / "done").touch()
    return place


def write_lines(file: Path, lines: Iterable[str]) -> None:
    """Write lines of text."""
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def measure(name: str, minutes: int, seed: int, files: Path, text: Path) -> None:
    """Train by a recipe, translate the test text, and append the result, unless it is there."""
    if any(
        (r["toolkit"], r["minutes"], r["seed"]) == (name, minutes, seed) for r in read_results()
    ):
        return
    recipe = tomllib.loads((HERE / "recipes" / f"{name}.toml").read_text("utf-8"))
    python = make_environment(name, recipe.get("packages"))
    run = WORK / f"{name}-{minutes}-{seed}"
    run.mkdir(exist_ok=True)
    values = {"text": files, "run": run, "minutes": minutes, "seed": seed, "here": HERE / "recipes"}
    values |= shorten_warmup(minutes, recipe.get("peak"))
    for file, content in recipe.get("files", {}).items():
        (run / file).write_text(fill(content, values), "utf-8")
    environment = {
        **os.environ,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(HERE.parent / "src" if name == "headway" else HERE / "recipes" / "bent"),
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "CUDA_VISIBLE_DEVICES": "",
    }
    log, trained = run / "log.txt", run / "trained.json"
    if not trained.exists():
        for command in recipe.get("prepare", []):
            run_command(fill(command, values), environment, log)
        print(f"{name}: {minutes} minutes, seed {seed}", flush=True)
        limit = None if recipe.get("stops_itself") else 60.0 * minutes
        training = run_command(fill(recipe["train"], values), environment, log, limit)
        trained.write_text(json.dumps(training._asdict()), "utf-8")
    training = Usage(**json.loads(trained.read_text("utf-8")))
    rates = [
        float(found.replace(",", ""))
        for found in re.findall(recipe["rate"], log.read_text("utf-8", "replace"))
    ]
    translating = run_command(fill(recipe["translate"], values), environment, log)
    output = (run / "output.txt").read_text("utf-8").splitlines()
    if recipe.get("subwords", True):
        output = ["".join(line.split()).replace(SPACE, " ").strip() for line in output]
    references = [pair.target for pair in read_pairs(find_files(text, SPLITS["test"]))]
    cased, lowercased = BLEU(), BLEU(lowercase=True)
    result = {
        "toolkit": name,
        "title": recipe["title"],
        "minutes": minutes,
        "seed": seed,
        "bleu": cased.corpus_score(output, [references]).score,
        "bleu_lc": lowercased.corpus_score(output, [references]).score,
        "signature": str(cased.get_signature()),
        "rate": median(rates) * training.wall / training.seconds if rates else None,
        "train_seconds": training.seconds,
        "train_wall": training.wall,
        "memory": training.memory,
        "translate_seconds": translating.seconds,
    }
    with RESULTS.open("a", encoding="utf-8") as out:
        out.write(json.dumps(result) + "\n")
    print(json.dumps(result), flush=True)


def shorten_warmup(minutes: int, peak: Mapping[str, float] | None) -> dict[str, object]:
    """Return the steps of a warm-up that fits into a training, and the rate that gives the published highest rate.

    Published warm-ups are longer than the whole of so short a training. This one is about a quarter of it.

    Args:
        minutes: Of the training.
        peak: The published rate of the schedule by the inverse square root, and its warm-up, if the rate depends on it.
    """
    warmup = 5 * minutes
    rate = peak["rate"] * (warmup / peak["warmup"]) ** 0.5 if peak else 0.0
    return {"warmup": warmup, "rate": rate}


def make_environment(name: str, packages: Sequence[str] | None) -> Path:
    """Create the virtual environment of a toolkit, unless it exists; return its Python."""
    if packages is None:
        return Path(sys.executable)
    place = Path(os.environ.get("TOOLKITS", WORK / "environments")) / name
    python = place / "bin" / "python"
    if not (place / "ok").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        torch = f"torch=={version('torch').partition('+')[0]} numpy"
        for each in (torch, *packages):
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", *each.split()], check=True
            )
        (place / "ok").touch()
    return python


def fill(text: str, values: Mapping[str, object]) -> str:
    """Replace ``<name>`` by the value of each name."""
    for name, value in values.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def run_command(
    command: str, environment: Mapping[str, str], log: Path, limit: float | None = None
) -> Usage:
    """Run a command of a shell, with its output in a file, until it ends or has used its seconds of processor time.

    Raises:
        SystemExit: If it fails by itself.
    """
    started = time.monotonic()
    with log.open("ab") as out:
        process = subprocess.Popen(
            ["bash", "-c", command],
            env=environment,
            stdout=out,
            stderr=out,
            cwd=log.parent,
            start_new_session=True,
        )
        seconds, memory, is_stopped = 0.0, 0, False
        while process.poll() is None:
            time.sleep(2)
            used, largest = measure_session(process.pid)
            seconds, memory = max(seconds, used), max(memory, largest)
            if limit is not None and seconds >= limit:
                os.killpg(process.pid, signal.SIGKILL)
                is_stopped = True
                process.wait()
    if process.returncode and not is_stopped:
        raise SystemExit(f"{command}\nfailed with {process.returncode}: see {log}")
    return Usage(process.returncode, seconds, time.monotonic() - started, memory)


def measure_session(session: int) -> tuple[float, int]:
    """Return the processor time of the processes of a session, those that ended included, and the largest one's peak."""
    seconds, memory = 0.0, 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) != session:
                continue
            status = (stat.parent / "status").read_text()
        except OSError:  # it has ended
            continue
        seconds += sum(map(int, fields[11:15])) / TICKS
        if found := re.search(r"VmHWM:\s*(\d+) kB", status):
            memory = max(memory, 1024 * int(found[1]))
    return seconds, memory


def read_results() -> list[dict[str, Any]]:
    """Return all results."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    return [json.loads(line) for line in lines]


def make_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the results as a table of Markdown, the best toolkit of each number of minutes first."""
    head = "| minutes of a core | toolkit | runs | BLEU | without capitals | tokens/s | memory, GB | test text, s |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *_list_rows(results)])


def _list_rows(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    groups: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for each in results:
        groups.setdefault((each["minutes"], each["title"]), []).append(each)
    for (minutes, title), runs in sorted(
        groups.items(), key=lambda g: (g[0][0], -mean(r["bleu"] for r in g[1]))
    ):
        spread = f" ± {stdev(r['bleu'] for r in runs):.2f}" if len(runs) > 1 else ""
        bleu, lowercased = (mean(r[key] for r in runs) for key in ("bleu", "bleu_lc"))
        rates = [r["rate"] for r in runs if r["rate"]]
        rate = f"{mean(rates):,.0f}" if rates else ""
        memory, seconds = (mean(r[key] for r in runs) for key in ("memory", "translate_seconds"))
        yield (
            f"| {minutes} | {title} | {len(runs)} | {bleu:.2f}{spread} | {lowercased:.2f} | {rate} | {memory / 1e9:.1f}"
            f" | {seconds:.0f} |"
        )


if __name__ == "__main__":
    main()
