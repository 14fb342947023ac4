"""What a user asks of a run, and the settings that follow from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headway import config
from headway.config import Config, Kind, TextConfig
from headway.config.loading import check_file_bounds, read_toml
from headway.config.model import VERBS
from headway.errors import HeadwayError, UsageError
from headway.text.groups import Text, Validation, list_targets, make_groups
from headway.text.prepared import PreparedData, read_text_settings
from headway.text.readers import UTF8, FileForm
from headway.training.starting.resume_check import read_settings
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import read_config


class SettingsError(UsageError):
    """A preset, a settings file or a setting that the user gave is wrong."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a user asks for: the text and settings of a new run, or changes of an existing one.

    Attributes:
        kind: The kind of model. Text of a language model are lines, and that of a classifier labeled texts:
            see `headway.ext.kinds.examples`. None: a translator, or the kind of ``data`` or of
            the run that is resumed.
        train: Training text: two files, or one that holds both sides; see `headway.text.readers`. For a
            model of several pairs of languages, the text of each: ``{"en-de": files}``.
        valid: Validation text, likewise; or the number of pairs to hold out of the training text.
        data: A directory that `headway prepare` wrote, in place of ``train`` and ``valid``.
        languages: Codes of source and target; None: from the names of the files.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        init: The directory of a model whose weights and vocabulary the run starts from, or started from.
        vocabulary: A sentencepiece model for the text, or one for each language; none: learn one.
        other_languages: Whether the text may be of other languages than the model of ``init``.
        preset: A name in `headway.config.PRESETS`; None: "base", or the settings of the run
            or of the model that it starts from.
        config_file: A TOML file that changes the preset.
        overrides: ``{"training.max-steps": "500"}``: settings that change both.
        command: The user's command line, which the run records.
        is_prepared: Whether the text of a new run is prepared already.
    """

    kind: Kind | None = None
    train: Text = ()
    valid: Validation = ()
    data: str | Path | None = None
    languages: tuple[str, str] | None = None
    form: FileForm = UTF8
    init: str | Path | None = None
    vocabulary: Sequence[str | Path] = ()
    other_languages: bool = False
    preset: str | None = None
    config_file: str | Path | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    is_prepared: bool = False


def check_request(directory: RunDirectory, request: RunRequest) -> None:
    """Check that the parts of a request fit together, before anything is compiled or written.

    Raises:
        SettingsError: If a setting of the request is wrong.
        UsageError: If options do not fit together, with the one to add or to leave out.
        HeadwayError: If the request does not fit the directory.
    """
    directory.check_record_exists()
    refuse_kind(request.overrides)
    if directory.started and request.kind:
        model = read_settings(directory.path, directory.record())[0].model
        if model.kind != request.kind:
            raise UsageError(f"{directory.path}: holds a {model.kind_name}: use {model.verb}")
    if not directory.started and not request.data and not (request.train and request.valid):
        if bool(request.train) != bool(request.valid):
            or_number = "" if request.kind else ", or the number of pairs to hold out (--valid 500)"
            raise UsageError(
                f"--train needs --valid too: give the validation text{or_number}"
                if request.train
                else "--valid needs --train too: give the training text"
            )
        ways = "--train and --valid" + ("" if request.kind else ", or with --data")
        raise HeadwayError(f"{directory.path}: no run there yet: start one with {ways}")
    if request.data and (request.train or request.valid):
        raise UsageError("--data names text that is prepared already: omit --train and --valid")
    if isinstance(request.train, Mapping):
        make_groups(request.train, request.valid, languages=request.languages)
    if request.vocabulary and (request.data or request.init):
        option = "--data" if request.data else "--init"
        raise UsageError(f"--vocabulary: {option} has a vocabulary already: omit one of them")
    fixed = [name for name in request.overrides if name.startswith("text.")]
    fixed += ["languages"] if request.languages else []
    fixed += request.form.to_words()
    if request.data and fixed:
        raise UsageError(f"--{fixed[0]}: was fixed when {request.data} was prepared: omit it")
    settings = requested_settings(directory, request)
    if settings is None:
        return
    if not (request.data or directory.started):
        try:
            settings.check_positions()
        except HeadwayError as error:
            raise SettingsError(str(error)) from None
    try:
        check_file_bounds(settings, "this run")
    except HeadwayError as error:
        raise SettingsError(f"{error}; headway translate accepts more") from None


def refuse_kind(overrides: Mapping[str, str]) -> None:
    """Refuse ``--model.kind``, because the command, or the data that it names, decides the kind."""
    if "model.kind" in overrides:
        makers = ", ".join(VERBS.values())
        raise SettingsError(
            f"--model.kind: the command or its data decides the kind ({makers}): omit it"
        )


def requested_settings(directory: RunDirectory, request: RunRequest) -> Config | None:
    """Return the settings of a request; None if they depend on a model that is not downloaded yet."""
    if directory.started:
        stored = read_settings(directory.path, directory.record())[0]
        return changed_settings(request, stored, keeps_text=has_prepared_text(directory, request))
    if not request.init:
        return new_settings(request)
    if Path(request.init).is_dir():
        return new_settings(request, read_config(Path(request.init)).config)
    return None


def has_prepared_text(directory: RunDirectory, request: RunRequest) -> bool:
    """Return whether the text of a run was prepared before it."""
    return bool(request.data) or (directory.started and not directory.record().names_its_text)


def new_settings(
    request: RunRequest,
    initial: Config | None = None,
    data: PreparedData | None = None,
    text: TextConfig | None = None,
) -> Config:
    """Return the settings that a request asks for.

    Args:
        request: The request.
        initial: The settings of the model that the run starts from. The run has its text and model
            sections; without a preset, it has all of them, with the regime of fine-tuning.
        data: The prepared data, by whose size the regime is shortened.
        text: The settings of text that was prepared before; None: those that the data of the request records.
    """
    files = [request.config_file] if request.config_file else []
    if request.data and text is None:
        text = read_text_settings(request.data)
    try:
        if initial is None or request.preset:
            settings = config.load(
                request.preset or "base", files, request.overrides, shape=initial, text=text
            )
            if request.vocabulary:
                from headway.training.starting.given_vocabulary import GivenVocabulary

                given = GivenVocabulary.read(request.vocabulary, list_targets(request.train))
                settings = given.merge_into(settings, request.overrides)
            return settings
        from headway.training.starting.fine_tuning import fine_tuning_regime, fine_tuning_steps

        # The text of this run decides anew whether lines are split.
        initial = replace(initial, search=replace(initial.search, split_sentences="auto"))
        own = initial.training
        steps = own.max_steps
        if data is not None:
            steps = fine_tuning_steps(own, max(data.train.source_tokens, data.train.target_tokens))
        while True:
            inherited = replace(initial, training=fine_tuning_regime(own, steps))
            settings = config.load(inherited, files, request.overrides, text=text)
            if settings.training.max_steps == steps:
                return settings
            steps = settings.training.max_steps  # the request sets it; the warm-up follows
    except HeadwayError as error:
        raise SettingsError(str(error)) from None


def changed_settings(request: RunRequest, stored: Config, *, keeps_text: bool) -> Config:
    """Return a run's settings with the request's changes; a preset replaces every stored setting.

    With ``--init`` it replaces those that it replaced when the run started: not the text and model sections.

    Args:
        request: The request.
        stored: The settings of the run.
        keeps_text: Whether its text was prepared before it: no preset and no file changes the settings of the text.
    """
    text = stored.text if keeps_text else None
    if request.preset:
        return new_settings(request, stored if request.init else None, text=text)
    try:
        if request.config_file:
            values = read_toml(request.config_file)
            fixed = ("text",) if keeps_text else ()
            stored = config.merge_tables(stored, values, str(request.config_file), fixed=fixed)
        return config.merge_overrides(stored, request.overrides)
    except HeadwayError as error:
        raise SettingsError(str(error)) from None
