"""The plan of a run: what a request and the run directory make together, read once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from headway.config import Changes, Config, TextConfig
from headway.config.declaration import Role, with_role
from headway.config.loading import check_file_bounds, find_preset
from headway.config.training import LENGTHS
from headway.errors import UsageError, require_packages
from headway.model import make_model_without_memory
from headway.text.groups import list_targets
from headway.text.prepared import PreparedData, read_text_settings
from headway.text.tokenizer import Tokenizer
from headway.training.machine import Machine
from headway.training.starting.request import RunRequest
from headway.training.storage.record import RunRecord
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import Model, load_model


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What a run will be, as far as it does not depend on text that is not prepared yet.

    Attributes:
        directory: Where the run is, or will be.
        request: What the user asks for.
        settings: Those of the run; those that follow from the data of a new one are still open.
        machine: What the run computes with.
        record: What ``run.json`` holds; None: the run is new.
        initial: The model that a new run starts from; its network is without weights (`start` reads them).
        tokenizer: The vocabulary that the text of a new run is prepared with; None: one is learned.
        is_prepared: Whether the text of a new run lies prepared in its directory.
    """

    directory: RunDirectory
    request: RunRequest
    settings: Config
    machine: Machine
    record: RunRecord | None = None
    initial: Model | None = None
    tokenizer: Tokenizer | None = None
    is_prepared: bool = False


@contextmanager
def planned(
    directory: RunDirectory, request: RunRequest, *, locks: bool = True
) -> Iterator[RunPlan]:
    """Lock a run directory, plan the run that a request asks for, and unlock the directory at the end.

    Args:
        directory: Where the run is, or will be.
        request: Its corpora may still be names.
        locks: Whether to lock it; a caller that does not, does so later.

    Raises:
        HeadwayError: See `make_plan`; and if another process trains here.
    """
    directory.check_record_exists()
    request.check(directory.path, is_new=not directory.started)
    # A new run is planned before anything is written. A run that exists is planned under the lock, so that no other
    # process changes it meanwhile.
    plan = None if directory.started else make_plan(directory, request)
    try:
        if locks:
            directory.lock()
        if plan is None or directory.started:
            plan = make_plan(directory, request)
        yield plan
    finally:
        directory.unlock()


def make_plan(directory: RunDirectory, request: RunRequest) -> RunPlan:
    """Plan the run that a request asks for, before text is read and anything is written.

    Args:
        directory: Locked, if it holds a run; see `planned`.
        request: Checked (`RunRequest.check`).

    Raises:
        UsageError: If a setting of the request is wrong or may not change, or options do not fit together.
        HeadwayError: If the request does not fit the directory, or a file or package is missing or damaged.
    """
    plan_it = _plan_resumed if directory.started else _plan_new
    plan = plan_it(directory, request)
    if plan.settings.training.tensorboard:
        require_packages("tensorboard")
    check_file_bounds(plan.settings, "this run (headway translate accepts more)", UsageError)
    return plan


def _plan_new(directory: RunDirectory, request: RunRequest) -> RunPlan:
    initial = _without_weights(load_model(request.init)) if request.init else None
    tokenizer = initial.tokenizer if initial else None
    text = read_text_settings(request.data) if request.data else None
    if initial and not request.preset:
        from headway.training.starting.fine_tuning import inherit

        settings = inherit(initial.config, _changes(request, text), text)
    else:
        base = find_preset(request.preset or "base", initial.config if initial else None)
        base = replace(base, text=text or base.text)
        settings = _changes(request, text).apply(base)
    if not request.data:
        settings.check_positions()
    if request.vocabulary:
        from headway.training.starting.given_vocabulary import use_vocabulary

        settings, tokenizer = use_vocabulary(
            settings, request.changes.options, request.vocabulary, list_targets(request.train)
        )
    if initial:
        from headway.training.starting.fine_tuning import check_shape

        check_shape(settings, initial, is_prepared=bool(request.data))
        request = replace(request, init=initial.path)
    return RunPlan(
        directory=directory,
        request=request,
        settings=settings,
        machine=Machine.resolve(settings.training),
        initial=initial,
        tokenizer=tokenizer,
    )


def _plan_resumed(directory: RunDirectory, request: RunRequest) -> RunPlan:
    record = directory.record()
    stored = record.settings
    if request.kind not in (None, stored.model.kind):
        kind, verb = stored.model.kind_name, stored.model.verb
        raise UsageError(f"{directory.path}: holds a {kind}: use {verb}")
    if request.minutes not in (None, record.minutes):
        started = "without it" if record.minutes is None else f"with {record.minutes:g}"
        raise UsageError(
            f"--minutes {request.minutes:g}: {directory.path} was started {started}, and has"
            f" {stored.training.max_steps:,} steps: omit it, or give --training.max-steps"
        )
    is_of_files = record.files["train"] and not request.data
    text = None if is_of_files else stored.text
    base = stored
    if request.preset:
        base = find_preset(request.preset, stored if request.init else None)
        base = replace(base, text=text or base.text)
    settings = _changes(request, text).apply(base)
    settings = _with_what_was_measured(settings, stored, request, record)
    return RunPlan(
        directory=directory,
        request=request,
        settings=settings,
        machine=record.machine.with_changes(stored.training.device, settings.training),
        record=record,
    )


def _changes(request: RunRequest, text: TextConfig | None) -> Changes:
    """Return the changes of a request; no file changes the settings of text that is prepared already."""
    return request.changes.without_files("text") if text else request.changes


def _without_weights(model: Model) -> Model:
    """Return a model without the values of its weights, so that a plan stays small when it is sent to other processes."""
    return replace(model, network=make_model_without_memory(model.config.model))


def _with_what_was_measured(
    settings: Config, stored: Config, request: RunRequest, record: RunRecord
) -> Config:
    """Return settings of a resume with what no preset and no file decides: what followed from data, text and time."""
    search, text, training = settings.search, settings.text, settings.training
    if search.split_sentences == "auto":
        search = replace(search, split_sentences=stored.search.split_sentences)
    if request.vocabulary:
        learned = with_role(text, Role.VOCABULARY)
        text = replace(text, **{name: getattr(stored.text, name) for name in learned})
    if record.minutes is not None:
        training = replace(training, **{name: getattr(stored.training, name) for name in LENGTHS})
        options = request.changes.of_command_line
        training = options.apply(replace(settings, training=training)).training
    return replace(settings, search=search, text=text, training=training)


def with_vocabulary(config: Config, data: PreparedData) -> Config:
    """Return the settings with the data's kind of model and its tokenizer's vocabulary sizes.

    Raises:
        HeadwayError: If the settings do not allow them.
    """
    tokenizer = data.tokenizer
    model = replace(
        config.model,
        kind=data.kind,
        source_vocab_size=tokenizer.source_vocab_size,
        target_vocab_size=tokenizer.target_vocab_size,
    )
    return replace(config, model=model)
