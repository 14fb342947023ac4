"""Train a translation model from a program: what ``headway train`` does, without its messages."""

import warnings
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

from headway.config import read_changes
from headway.text.groups import Text, Validation
from headway.text.readers import FileForm
from headway.training.run import run_to_end
from headway.training.starting.opening import open_run
from headway.training.starting.plan import planned
from headway.training.starting.request import RunRequest
from headway.training.storage.run_directory import RunDirectory
from headway.translation import Translator

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


def train(
    run: str | Path,
    train: Text = (),
    valid: Validation = (),
    *,
    preset: str | None = None,
    settings: Mapping[str, str] = NO_SETTINGS,
    languages: tuple[str, str] | None = None,
    encoding: str | None = None,
    columns: tuple[str, str] | None = None,
    init: str | Path | None = None,
    minutes: float | None = None,
    other_languages: bool = False,
) -> Translator:
    """Train a translation model on parallel text, and return it.

    The run directory is the same as that of ``headway train``, which can resume it. Nothing is printed,
    and the threads, seeds and signals of the process stay as they are. If the training is interrupted,
    the same call resumes it from its last checkpoint. A dry run precedes a new run: if that fails, settings may change.

    Args:
        run: Run directory; the run in it is resumed if there is one.
        train: Training text: two files, or one that holds both languages. For a model of several pairs
            of languages, the text of each: ``{"en-de": ["a.en", "a.de"], "de-en": ["a.de", "a.en"]}``.
        valid: Validation text, likewise; or the number of pairs to hold out of the training text, of
            each pair of languages.
        preset: quick, thorough, tiny, small, medium, base or big; None: base, or the settings of the resumed run
            or of the model that it starts from.
        settings: Settings that differ from the preset, such as ``{"training.max-steps": "500"}``.
        languages: Codes of source and target; None: from the names of the files.
        encoding: The encoding of lines that are not UTF-8, such as "cp1252".
        columns: The columns of source and target in a table, as names in its first row or numbers
            from 1; None: recognized.
        init: The directory of a model whose weights and vocabulary the run starts from.
        minutes: How long a new run trains; its number of steps is measured before the first one.
        other_languages: Whether the text may be of other languages than the model of ``init``.

    Returns:
        The best model of the run.

    Raises:
        HeadwayError: If text or settings cannot be used; the message names them.

    Warns:
        UserWarning: If a file of the resumed run is damaged, or cannot be checked, and the run goes on.

    Examples:
        >>> translator = train("runs/mine", ["a.en", "a.de"], ["v.en", "v.de"], preset="tiny")
        >>> translator.translate("Good morning.")
    """
    directory = RunDirectory(run)
    is_resumed = directory.started
    request = RunRequest(
        train=train,
        valid=valid,
        languages=languages,
        form=FileForm(encoding, columns),
        init=init,
        minutes=minutes,
        other_languages=other_languages,
        preset=preset,
        changes=read_changes(overrides=settings),
    )
    with planned(directory, request) as plan:
        opened, notices = open_run(plan)
        for notice in notices if is_resumed else ():
            warnings.warn(notice, stacklevel=2)
        if opened is not None:
            with closing(run_to_end(opened)) as events:
                for _ in events:
                    pass
    return Translator.load(run)
