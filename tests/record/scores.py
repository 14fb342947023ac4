"""Scores: what ``score`` and ``compare`` print of translations, and of text with faults."""

import random
import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import run_each, write_messages
from texts import pairs, read_cases, write_lines


def record(out):
    """Write what each command prints."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        commands = [*read_cases("scores.txt"), *write_files(folder)]
        answers = run_each([shlex.split(line) for line in commands], folder)
    rounded = [
        answer._replace(out=re.sub(rb"\d+\.\d{7,}", _round, answer.out)) for answer in answers
    ]
    write_messages(out / "answers.jsonl", zip(commands, rounded, strict=True))


def _round(number):
    """Return a number without the last digits, which depend on the processor."""
    return f"{float(number[0]):.6f}".encode()


def write_files(folder):
    """Write two translations of a text, and each fault in a file of its own; return commands that find the faults."""
    chosen = random.Random(5)
    sources, references = zip(*pairs(40), strict=True)
    words = [word for line in references for word in line.split()]
    write_lines(folder / "test.en", [*sources])
    for name in ("test.de.gz", "reference"):
        write_lines(folder / name, [*references])
    for name, share in (("out.de", 0.2), ("other.de", 0.3)):
        lines = [" ".join(chosen.choice(words) if chosen.random() < share else word for word in line.split()) for line in references]  # fmt: skip
        write_lines(folder / name, lines)
    faults = {str(number): [*references[:-1], line] for number, line in enumerate(read_cases("faults.txt"))}  # fmt: skip
    faults["none"], faults["short"] = [*references], [*references[:-1]]
    faults["spaced"] = [line.replace(".", " .") for line in references]
    faults["small"] = [line.lower() for line in references]
    faults["copied"] = [*sources[:7], *references[7:]]
    for name, lines in faults.items():
        write_lines(folder / f"{name}.de", lines)
    files = [f"{one} {other}" for name in faults for one, other in ((f"{name}.de", "none.de"), ("out.de", f"{name}.de"))]  # fmt: skip
    return [f"score {each} --source test.en --only chrf --resamples 40" for each in files]
