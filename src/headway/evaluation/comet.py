"""COMET, a learned metric, computed by the external command ``comet-score``."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.evaluation.metrics import NAMES, check_lines

COMET_MODEL = "Unbabel/wmt22-comet-da"

_LINE_SCORE = re.compile(r"\tSegment (\d+)\tscore: (-?\d+\.\d+)\s*$")
_TEXT_SCORE = re.compile(r"^[^\t]*\tscore: (-?\d+\.\d+)\s*$")


@dataclass(frozen=True)
class CometScore:
    """The result of ``comet-score``.

    Attributes:
        model: The model of the metric; scores of different models are not comparable.
        score: The score of the whole text, roughly 0 to 1.
        line_scores: The score of each line; empty if the command printed none.
    """

    model: str
    score: float
    line_scores: tuple[float, ...]


def find_comet() -> str:
    """Return the path of ``comet-score``. Call this before long work that will be scored.

    Raises:
        HeadwayError: If it is not installed.
    """
    command = shutil.which("comet-score")
    if command is None:
        raise HeadwayError(
            "comet-score is not installed: COMET needs it on the path; install unbabel-comet"
            " in an environment of its own and link its comet-score there"
        )
    return command


def comet_score(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    model: str = COMET_MODEL,
    gpus: int | None = None,
) -> CometScore:
    """Score translations by COMET.

    The command runs on files. Its packages conflict with most current ones, so it is installed in an
    environment of its own. On first use it downloads its model.

    Args:
        sources: Raw source lines.
        hypotheses: Raw translations, as many.
        references: Raw references, as many.
        model: The metric's model, by name or path.
        gpus: Number of GPUs to use; None: one if nvidia-smi is installed.

    Raises:
        HeadwayError: If the command is absent, fails, or prints no score.
    """
    check_lines(hypotheses, references, sources)
    command = find_comet()
    if gpus is None:
        gpus = int(shutil.which("nvidia-smi") is not None)
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for name, lines in zip(NAMES, (hypotheses, references, sources), strict=True):
            path = Path(directory) / name
            # The command also splits lines at carriage returns.
            text = "".join(f"{line.replace(chr(13), ' ')}\n" for line in lines)
            path.write_text(text, encoding="utf-8", newline="\n")
            files.append(str(path))
        hypothesis, reference, source = files
        run = subprocess.run(
            [
                *(command, "-s", source, "-t", hypothesis, "-r", reference),
                *("--model", model, "--gpus", str(gpus)),
            ],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    if run.returncode:
        message = (run.stderr.strip() or "nothing on stderr").splitlines()[-1]
        raise HeadwayError(f"comet-score failed with exit status {run.returncode}: {message}")
    return _read(run.stdout, model, len(references))


def _read(output: str, model: str, lines: int) -> CometScore:
    """Find the scores in the output of the command."""
    of_lines = [float(m[2]) for m in map(_LINE_SCORE.search, output.split("\n")) if m]
    of_text = [float(m[1]) for m in map(_TEXT_SCORE.search, output.split("\n")) if m]
    if not of_text or len(of_lines) not in (0, lines):
        raise HeadwayError("the output of comet-score contains no score: is it version 2?")
    return CometScore(model=model, score=of_text[-1], line_scores=tuple(of_lines))
