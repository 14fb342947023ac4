"""The records of a recipe: a small file for each finished stage, from which a resume replays the recipe."""

import json
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.ext.best.stage import ModelScores, Stage, StageResult
from headway.files import remove_leftovers, replace_text
from headway.locks import DirectoryLock
from headway.training import RunDirectory

Recipe = Generator[Stage, StageResult, None]  # yields stages, and receives their results


class StageRecords:
    """The results of finished stages.

    Args:
        out: The directory of the recipe. Its path may differ from call to call, so the records do not
            contain it.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = out / "stages"

    def find(self, stage: Stage) -> StageResult | None:
        """Return the result of a stage; None: it is not finished.

        Raises:
            HeadwayError: If the file is damaged, or a stage of this name did something else.
        """
        values = self._read(stage)
        if not values.get("is_finished"):
            return None
        if values.get("commands") != stage.describe(self._out):
            raise HeadwayError(
                f"{self._path(stage)}: stage {stage.name} was finished by other commands than this"
                " version of Headway would give: go on with that version, or give another OUT"
            )
        scores = values["scores"]
        return StageResult(
            seconds=values["seconds"], scores=ModelScores(**scores) if scores else None
        )

    def is_finished(self, stage: Stage) -> bool:
        """Return whether a stage of this name is finished; see `find`."""
        return bool(self._read(stage).get("is_finished"))

    @contextmanager
    def timed(self, stage: Stage) -> Iterator[None]:
        """Add the time that is spent in this context to the seconds of a stage, which earlier calls may have begun."""
        started = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - started
            self._write(stage, seconds, is_finished=False, scores=None)

    def finish(self, stage: Stage) -> None:
        """Record that a stage is finished, and its scores."""
        scores = read_scores(stage)
        self._write(stage, 0.0, is_finished=True, scores=asdict(scores) if scores else None)

    def _write(
        self, stage: Stage, seconds: float, *, is_finished: bool, scores: dict[str, float] | None
    ) -> None:
        values = {
            "is_finished": is_finished,
            "seconds": round(self._read(stage).get("seconds", 0.0) + seconds, 3),
            "scores": scores,
            "commands": stage.describe(self._out),
        }
        self._folder.mkdir(exist_ok=True)
        replace_text(self._path(stage), json.dumps(values, indent=2, ensure_ascii=False) + "\n")

    def _read(self, stage: Stage) -> dict[str, Any]:
        path = self._path(stage)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(values, dict) or not isinstance(values.get("seconds"), float | int):
                raise ValueError("not the record of a stage")
            if values.get("scores"):
                ModelScores(**values["scores"])
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError) as error:
            raise HeadwayError(
                f"{path}: damaged ({error}): delete it, and the stage is done again"
            ) from None
        return values

    def _path(self, stage: Stage) -> Path:
        return self._folder / f"{stage.name}.json"


def unfinished_stages(
    recipe: Recipe, records: StageRecords, finished: list[tuple[Stage, StageResult]]
) -> Iterator[Stage]:
    """Yield the stages of a recipe that are not finished yet, in order.

    Args:
        recipe: A new generator; it is replayed with the results on record.
        records: The caller does a stage and finishes it here before it asks for the next one.
        finished: Receives every finished stage with its result.
    """
    try:
        stage = next(recipe)
        while True:
            if records.find(stage) is None:
                yield stage
            result = records.find(stage)
            assert result is not None, f"{stage.name} was not finished"
            finished.append((stage, result))
            stage = recipe.send(result)
    except StopIteration:
        return


def read_scores(stage: Stage) -> ModelScores | None:
    """Return the scores that the commands of a stage have written; None: it has no model."""
    if stage.scores is None:
        return None
    sheet = json.loads(stage.scores.read_text(encoding="utf-8"))["scores"]
    installed = RunDirectory(stage.run).record().installed if stage.run else None
    return ModelScores(
        bleu=sheet["bleu"]["score"],
        chrf=sheet["chrf"]["score"],
        perplexity=installed.perplexity if installed else None,
    )


@contextmanager
def open_directory(out: Path) -> Iterator[None]:
    """Make a directory, and be the one process that works there inside the block.

    Raises:
        HeadwayError: If another process works there, or nothing can be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(
            f"{out}: cannot be written ({error.strerror}): give another OUT"
        ) from None
    with DirectoryLock(out):
        for folder in (out, *(out / name for name in ("text", "scores", "stages", "student"))):
            remove_leftovers(folder)
        yield
