"""Run on a GPU what may differ there: training, resuming, checks, speed.

    python benchmarks/gpu.py WORK                                # everything, in 13 minutes at most
    python benchmarks/gpu.py WORK --parts padded packed check    # 3 minutes
    python benchmarks/gpu.py WORK --parts bench                  # 10 minutes

Each part is a command of its own, so that one that fails does not lose the others. WORK gets the output of
every command, and ``bench.json``.
"""

import argparse
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

LIMITS = {"padded": 90.0, "packed": 90.0, "check": 120.0, "bench": 600.0}  # seconds of a command
STEPS, STOPPED_AT = 120, 40
NOT_RECORDED = (
    "cannot be recorded as a CUDA graph"  # a warning, after which the same is computed more slowly
)
DIGITS = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
SETTINGS = {
    "text.vocab-size": 300, "training.batch-tokens": 4000, "training.micro-batch-tokens": 2000,
    "training.max-steps": STEPS, "training.warmup-steps": 60, "training.validate-every": 60,
    "training.checkpoint-every": 20, "training.average": 2, "training.validation-sentences": 64,
}  # fmt: skip


def headway(work: Path, name: str, *words: str, stop: Path | None = None) -> bool:
    """Run a command, with its output in a file; return whether it succeeded.

    Args:
        work: Directory of the file.
        name: Of the part and of the file.
        words: Of the command.
        stop: A run that is stopped by SIGTERM after some steps.
    """
    started, log = time.monotonic(), work / f"{name}.log"
    limit = LIMITS[name.split("-")[0]]
    with log.open("a", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "headway", *words], stdout=output, stderr=subprocess.STDOUT
        )
        while stop is not None and process.poll() is None and time.monotonic() - started < limit:
            if count_steps(stop) >= STOPPED_AT:
                process.send_signal(signal.SIGTERM)
                break
            time.sleep(0.02)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
    seconds = time.monotonic() - started
    is_right = code in ((0, 143) if stop else (0,))
    if NOT_RECORDED in log.read_text(encoding="utf-8"):
        print(f"    {NOT_RECORDED}: see {log}")
    result = "ok" if is_right else f"FAILED with {code}, see {log}"
    print(f"{name:<30}{seconds:6.0f} s  {result}", flush=True)
    return is_right


def count_steps(run: Path) -> int:
    """Return how many steps a run has logged."""
    metrics = run / "metrics.jsonl"
    return metrics.read_text(encoding="utf-8").count('"event": "step"') if metrics.exists() else 0


def write_text(directory: Path) -> list[str]:
    """Write numbers and their digits in words as parallel text; return the options of a training."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn, options = random.Random(1), []
    for part, count in (("train", 20_000), ("valid", 200)):
        rows = [[drawn.randrange(1000) for _ in range(drawn.randint(1, 12))] for _ in range(count)]
        texts = {
            "en": [" ".join(map(str, row)) for row in rows],
            "de": [" ".join(DIGITS[int(d)] for number in row for d in str(number)) for row in rows],
        }
        files = [directory / f"{part}.{language}" for language in texts]
        for file, lines in zip(files, texts.values(), strict=True):
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options += [f"--{part}", *map(str, files)]
    return options


def train(work: Path, kind: str, device: str, more: list[str]) -> bool:
    """Train twice without a stop and once with one, and compare the last checkpoints bit by bit.

    Args:
        work: Directory of the runs and of their text.
        kind: Of the batches, "padded" or "packed".
        device: As in ``--device``.
        more: Options of all trainings.
    """
    words = [*write_text(work / "text"), "--preset", "tiny", "--training.device", device]
    words += [word for name, value in SETTINGS.items() for word in (f"--{name}", str(value))]
    words += ["--training.packed", str(kind == "packed").lower(), *more]
    once, again, stopped = (work / f"{kind}-{name}" for name in ("once", "again", "stopped"))
    done = headway(work, once.name, "train", str(once), *words)
    done &= headway(work, again.name, "train", str(again), *words)
    done &= headway(work, stopped.name, "train", str(stopped), *words, stop=stopped)
    print(f"    stopped after step {count_steps(stopped)}")
    done &= headway(work, stopped.name, "train", str(stopped))
    for other in (again, stopped):
        print(f"    {other.name} and {once.name}: {compare(other, once)}")
    return done


def compare(run: Path, other: Path) -> str:
    """Say how far the last checkpoints of two runs differ."""
    found = []
    for directory in (run, other):
        newest = max((directory / "checkpoints").glob("step-*"), default=None)
        if newest is None:
            return f"{directory.name} has no checkpoint"
        found.append(
            {
                f"{file.stem} {n}": t
                for file in newest.glob("*.safetensors")
                for n, t in load_file(file).items()
            }
        )
    ours, theirs = found
    if ours.keys() != theirs.keys():
        return "the checkpoints have other tensors"
    different = [name for name in ours if not torch.equal(ours[name], theirs[name])]
    if not different:
        return "the same weights and optimizer, bit for bit"
    distance = max(float((ours[name] - theirs[name]).abs().max()) for name in different)
    return f"{len(different)} of {len(ours)} tensors differ, by up to {distance:.1e}"


def main() -> int:
    """Run the parts; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", choices=LIMITS, default=list(LIMITS))
    args, more = parser.parse_known_args()  # other options go to every training
    args.work.mkdir(parents=True, exist_ok=True)
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    print(f"torch {torch.__version__}, {name}")
    done = True
    for kind in ("padded", "packed"):
        if kind in args.parts:
            done &= train(args.work, kind, args.device, more)
    if "check" in args.parts:
        runs = (args.work / f"{kind}-once" for kind in ("packed", "padded"))
        model = str(next((run for run in runs if run.exists()), args.work / "packed-once"))
        done &= headway(args.work, "check", "check", model, "--device", args.device)
    if "bench" in args.parts:
        file = str(args.work / "bench.json")
        done &= headway(args.work, "bench", "bench", "--device", args.device, "--json", file)
    for part in ("check", "bench"):
        if part in args.parts:
            print((args.work / f"{part}.log").read_text(encoding="utf-8"))
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
