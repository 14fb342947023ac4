"""From a user's request to a run: start a new run, or resume the one in a directory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from headway import config
from headway.config import Config
from headway.errors import HeadwayError, UsageError
from headway.files import remove
from headway.inference import shortlist
from headway.inference.directory import load_model, read_config
from headway.kernels.build import build_id
from headway.text.prepare import languages_from_names, prepare
from headway.text.prepared import PreparedData
from headway.text.readers import UTF8, FileForm, describe_layout
from headway.training import ranks
from headway.training.fine_tuning import (
    check_languages,
    check_shape,
    check_vocabulary,
    describe_regime,
    fine_tuning_regime,
    fine_tuning_steps,
)
from headway.training.learned_shortlist import wants_shortlist, write_shortlist
from headway.training.machine import cores_per_rank
from headway.training.model_writer import list_damaged_models
from headway.training.record import hash_files
from headway.training.resume_check import (
    MAY_CHANGE,
    list_changes,
    list_other_files,
    list_other_validation,
    read_settings,
)
from headway.training.run import Run
from headway.training.run_builder import resume, start
from headway.training.run_directory import RunDirectory


class SettingsError(UsageError):
    """A preset, a settings file or a setting that the user gave is wrong."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a user asks for: the text and settings of a new run, or changes of an existing one.

    Attributes:
        train: Training text: two files, or one that holds both sides; see `headway.text.readers`.
        valid: Validation text, likewise; or the number of pairs to hold out of the training text.
        data: A directory that `headway prepare` wrote, in place of ``train`` and ``valid``.
        languages: Codes of source and target; None: from the names of the files.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        init: The directory of a model whose weights and vocabulary the run starts from.
        other_languages: Whether the text may be of other languages than the model of ``init``.
        preset: A name in `headway.config.PRESETS`; None: "base", or the settings of the run
            or of the model that it starts from.
        config_file: A TOML file that changes the preset.
        overrides: ``{"training.max-steps": "500"}``: settings that change both.
        command: The user's command line, which the run records.
    """

    train: Sequence[str] = ()
    valid: Sequence[str] | int = ()
    data: str | Path | None = None
    languages: tuple[str, str] | None = None
    form: FileForm = UTF8
    init: str | Path | None = None
    other_languages: bool = False
    preset: str | None = None
    config_file: str | Path | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


@dataclass(frozen=True)
class OpenedRun:
    """The answer to a request.

    Attributes:
        run: The run; None if it is finished and the request asks for no more steps.
        notices: What the user should know, a line each.
    """

    run: Run | None
    notices: list[str]


def check_request(directory: RunDirectory, request: RunRequest) -> None:
    """Check that the parts of a request fit together, before anything is compiled or written.

    Raises:
        SettingsError: If a setting of the request is wrong.
        UsageError: If options do not fit together, with the one to add or to leave out.
        HeadwayError: If the request does not fit the directory.
    """
    if not directory.started and not request.data and not (request.train and request.valid):
        if bool(request.train) != bool(request.valid):
            given, other = ("train", "valid") if request.train else ("valid", "train")
            raise UsageError(f"--{given} needs --{other} too: give text for both")
        raise HeadwayError(
            f"{directory.path}: no run there yet: start one with --train and --valid, or with --data"
        )
    if request.data and (request.train or request.valid):
        raise UsageError("--data names text that is prepared already: omit --train and --valid")
    if directory.started and request.init:
        raise HeadwayError(
            f"--init {request.init}: {directory.path} has started already: give another RUN"
        )
    text_settings = [name for name in request.overrides if name.startswith("text.")]
    if request.data and text_settings:
        raise UsageError(
            f"--{text_settings[0]}: was fixed when {request.data} was prepared: omit it"
        )
    if directory.started:
        _changed_settings(request, read_settings(directory.path, directory.record()))
    elif not request.init:
        _new_settings(request)
    elif Path(request.init).is_dir():  # not the name of a model that is not downloaded yet
        _new_settings(request, read_config(Path(request.init))[0])


def open_run(directory: RunDirectory, request: RunRequest) -> OpenedRun:
    """Start the run that a request asks for, or resume the one that the directory holds.

    Args:
        directory: Locked (`RunDirectory.lock`).
        request: Checked by `check_request`; its corpora are files, not names.

    Raises:
        SettingsError: If a setting of the request is wrong.
        HeadwayError: If text, data or model cannot be used, or the run has other settings.
    """
    if directory.started:
        return _resume(directory, request)
    notices = []
    model = load_model(request.init) if request.init else None
    settings = _new_settings(request, model.config if model else None)
    if model:
        check_shape(settings, model)
    if model and not request.data and not request.other_languages:
        check_languages(request.languages or languages_from_names(request.train), model)
    if not request.data and ranks.rank() == 0:
        remove(directory.data)  # files of an interrupted start
        prepare(
            request.train,
            request.valid,
            directory.data,
            settings.text,
            request.languages,
            tokenizer=model.tokenizer if model else None,
            form=request.form,
        )
        if layout := describe_layout(request.train, request.languages, request.form):
            notices.append(layout)
        report = directory.data / "report.txt"
        notices.append(f"{report}: how many training pairs were kept and dropped, and why")
    ranks.wait()
    data = PreparedData.open(request.data or directory.data)
    if model:
        check_vocabulary(data, model)
        if not request.other_languages:
            check_languages(data.languages, model)
        settings = _new_settings(request, model.config, data)
        if not request.preset:
            notices.append(describe_regime(settings.training, model))
    run = start(
        directory,
        data,
        settings,
        command=request.command,
        train=hash_files(request.train),
        valid={} if isinstance(request.valid, int) else hash_files(request.valid),
        init=request.init,
    )
    return OpenedRun(run, notices + _precision_notices(run))


def _resume(directory: RunDirectory, request: RunRequest) -> OpenedRun:
    record = directory.record()
    stored = read_settings(directory.path, record)
    settings = _with_stored_vocabulary(_changed_settings(request, stored), stored)
    differences = list_changes(stored, settings)
    differences += list_other_files(record.files.get("train", {}), request.train)
    differences += list_other_validation(record, request.valid)
    place = request.data or record.data.directory or directory.data
    if differences:
        raise HeadwayError(
            f"{directory.path}: a run keeps its settings and data, but {'; '.join(differences)}:"
            f" only {', '.join(MAY_CHANGE)} may change; for all else start another RUN (with"
            f" --data {place} its data need not be prepared again)"
        )
    data = PreparedData.open(place)
    lengths = [(c.training.max_steps, c.training.patience) for c in (stored, settings)]
    if record.finished and lengths[0] == lengths[1]:
        notices = [
            f"{directory.path / name}: missing, or changed since the run wrote it: restore the file, or"
            " train more steps"
            for name in list_damaged_models(directory, record)
        ]
        file = directory.path / shortlist.FILE
        if wants_shortlist(settings) and not file.exists():
            for _ in write_shortlist(directory, data):
                pass
            notices.append(f"{file}: learned")
        return OpenedRun(None, notices)
    threads = None
    if settings.training.threads != stored.training.threads:
        threads = settings.training.threads or cores_per_rank()
    run, notices = resume(directory, data, settings, threads)
    if record.settings is None:
        notices.append(
            f"{directory.path / 'run.json'}: was written without digests, so config.json, the validation"
            " text and the models cannot be checked"
        )
    if threads not in (None, record.machine.threads):
        notices.append(
            f"{threads} threads instead of {record.machine.threads}: the last bits of results may differ"
        )
    if record.torch != torch.__version__:
        notices.append(
            f"the run was started with torch {record.torch}, and this is {torch.__version__}: the last bits of"
            " results may differ"
        )
    if record.native != build_id("training"):
        notices.append(
            "the run was started with other native code: the last bits of results may differ"
        )
    return OpenedRun(run, notices + _precision_notices(run))


def _precision_notices(run: Run) -> list[str]:
    if not run.machine.emulates_bf16:
        return []
    return [
        "this processor has no bf16 instructions, so bf16 takes several times longer than fp32:"
        f" train elsewhere, or start another RUN with --data {run.data.directory}"
        " --training.precision fp32"
    ]


def _new_settings(
    request: RunRequest, initial: Config | None = None, data: PreparedData | None = None
) -> Config:
    """Return the settings that a request asks for.

    Args:
        request: The request.
        initial: The settings of the model that the run starts from. The run has its text and model
            sections; without a preset, it has all of them, with the regime of fine-tuning.
        data: The prepared data, by whose size the regime is shortened.
    """
    files = [request.config_file] if request.config_file else []
    try:
        if initial is None or request.preset:
            return config.load(request.preset or "base", files, request.overrides, shape=initial)
        own = initial.training
        steps = own.max_steps
        if data is not None:
            steps = fine_tuning_steps(own, max(data.train.source_tokens, data.train.target_tokens))
        while True:
            inherited = replace(initial, training=fine_tuning_regime(own, steps))
            settings = config.load(inherited, files, request.overrides)
            if settings.training.max_steps == steps:
                return settings
            steps = settings.training.max_steps  # the request sets it; the warm-up follows
    except HeadwayError as error:
        raise SettingsError(str(error)) from None


def _changed_settings(request: RunRequest, stored: Config) -> Config:
    """Return a run's settings with the request's changes; a preset replaces every stored setting."""
    if request.preset:
        return _new_settings(request)
    try:
        if request.config_file:
            values = config.read_toml(request.config_file)
            stored = config.merge_tables(stored, values, where=str(request.config_file))
        return config.merge_overrides(stored, request.overrides)
    except HeadwayError as error:
        raise SettingsError(str(error)) from None


def _with_stored_vocabulary(settings: Config, stored: Config) -> Config:
    """Return settings with what the data decided: the kind of model, and open vocabulary sizes."""
    sizes = {
        name: getattr(settings.model, name) or getattr(stored.model, name)
        for name in ("source_vocab_size", "target_vocab_size")
    }
    return replace(settings, model=replace(settings.model, kind=stored.model.kind, **sizes))
