"""Resume the run that a directory holds, from its newest checkpoint."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from headway.config import Config
from headway.config.setting import spell
from headway.devices import resolve_device
from headway.errors import HeadwayError
from headway.extension import identify_arithmetic, load_all
from headway.text.groups import list_files, require_pair
from headway.text.languages import list_pairs
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.run import Run
from headway.training.starting.fine_tuning import read_initial_weights
from headway.training.starting.given_vocabulary import GivenVocabulary
from headway.training.starting.new_run import with_vocabulary, write_settings
from headway.training.starting.restoring import restore_models, restore_newest
from headway.training.starting.resume_check import (
    MAY_CHANGE,
    check_data,
    list_changes,
    list_differences,
    read_settings,
)
from headway.training.starting.run_request import RunRequest, changed_settings, has_prepared_text
from headway.training.steps.optimizers import warn_if_rate_rises
from headway.training.storage.record import DataRecord, InitialModel, RunRecord, hash_files
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import CONFIG, WEIGHTS


def resume_run(directory: RunDirectory, request: RunRequest) -> tuple[Run | None, list[str]]:
    """Resume the run that a directory holds; a finished one is repaired, and may take other settings of its search.

    Args:
        directory: Locked (`RunDirectory.lock`).
        request: Checked by `check_request`; its corpora are files, not names.

    Returns:
        The run, or None if it is finished; and what the user should know, a line each.

    Raises:
        HeadwayError: If the run has other settings or other data, or a file is missing or damaged.
    """
    record = directory.record()
    stored, notices = read_settings(directory.path, record)
    place = request.data or record.data.directory or directory.data
    way_out = "restore the data that the run was started with, or start another RUN"
    data = PreparedData.open(place, way_out)
    settings = _change_settings(directory, request, record, data, stored)
    lengths = [(c.training.max_steps, c.training.patience) for c in (stored, settings)]
    if record.finished and lengths[0] == lengths[1]:
        check_data(directory.path, data, record)
        return None, notices + _keep_finished(directory, data, record, stored, settings)
    run, damage = resume(directory, data, settings)
    others = _list_other_roundings(record, stored, settings)
    if rise := warn_if_rate_rises(run.step, stored.training, settings.training):
        others.append(rise)
    return run, notices + damage + others


def resume(directory: RunDirectory, data: PreparedData, config: Config) -> tuple[Run, list[str]]:
    """Resume a run from its newest whole checkpoint, or from step 0 if there is no checkpoint yet.

    Args:
        directory: Locked, with a run in it.
        data: The data that the run was started with.
        config: The run's settings, except for those that may change.

    Returns:
        The run, and what the user should know of damaged files, a line each.

    Raises:
        HeadwayError: If no checkpoint is whole, if data, vocabulary or device are not what they
            were, or the run has already taken more steps than ``training.max_steps``.
    """
    record = directory.record()
    check_data(directory.path, data, record)
    config = with_vocabulary(config, data)
    record.machine = record.machine.with_threads(config.training)
    # The same data may lie in another place now.
    record.data, record.finished = DataRecord.describe(data, directory.path), False
    resolve_device(
        record.machine.device,
        "training.device",
        f"resume the run where it was started, or start another RUN with --data {data.directory}",
    )
    record.settings = config.to_dict()
    run = Run(directory, data, config, record)
    notices = restore_newest(run)
    if run.saved < 0 and record.init:
        run.trainer.load_weights(read_initial_weights(record.init, config.model))
    if run.step > config.training.max_steps:
        raise HeadwayError(
            f"training.max_steps = {config.training.max_steps}: {directory.path} is at step"
            f" {run.step} already"
        )
    way_on = "its model is lost, and the next validation writes another"
    lost, restored = restore_models(directory, record, way_on)
    notices += restored
    if WEIGHTS in lost:
        record.installed = None
    if f"best/{WEIGHTS}" in lost:
        run.state.best = None
    parallel.wait_for_first()
    if parallel.rank() == 0:
        notices += directory.cut_logs(run.state)
        directory.write_record(record)
        write_settings(directory, data, config)
    return run, notices


def _change_settings(
    directory: RunDirectory,
    request: RunRequest,
    record: RunRecord,
    data: PreparedData,
    stored: Config,
) -> Config:
    """Return the settings of a run with the changes that a request makes.

    Raises:
        HeadwayError: If it asks for other text than the run has, or changes what may not change.
    """
    if (request.train or list_files(request.valid)) and not record.names_its_text:
        raise HeadwayError(
            f"{directory.path}: the run does not record its files of text, so that others cannot be told from them:"
            " omit --train and --valid"
        )
    is_prepared = has_prepared_text(directory, request)
    settings = changed_settings(request, stored, keeps_text=is_prepared)
    settings = _with_what_data_decided(settings, stored)
    changes = list_changes(stored, settings)
    other_text = [
        *_list_other_text(data, record, request),
        *(change for change in changes if change.startswith("text.")),
        *_list_other_vocabulary(data, request),
    ]
    other_initial = _list_other_initial(record, request)
    if differences := [*dict.fromkeys([*changes, *other_text]), *other_initial]:
        again = f" (with --data {data.directory} its data need not be prepared again)"
        raise HeadwayError(
            f"{directory.path}: a run keeps its settings and data, but {'; '.join(differences)}:"
            f" only {', '.join(MAY_CHANGE)} may change; for all else start another RUN{'' if other_text else again}"
        )
    return settings


def _list_other_text(data: PreparedData, record: RunRecord, request: RunRequest) -> list[str]:
    """Return a phrase for each difference between the text that a command names and the text of its run."""
    own = [group.languages for group in data.groups]
    given, groups = [request.languages] if request.languages else [], 1
    if isinstance(request.train, Mapping):
        given, groups = sorted(map(require_pair, request.train)), len(request.train)
    differences = []
    if given not in ([], own):
        differences.append(f"its languages are {list_pairs(own)}, not {list_pairs(given)}")
    differences += [
        f"--{name} was {data.form.get(name, 'not given')}, not {words}"
        for name, words in request.form.to_words().items()
        if data.form.get(name) != words
    ]
    if differences:  # which may be why other files are given, or in another order
        return differences
    differences = _list_other_files(record.files.get("train", {}), list_files(request.train))
    validation, held_out = record.files.get("valid", {}), record.data.validation_pairs
    if not isinstance(request.valid, int):
        return differences + _list_other_files(validation, list_files(request.valid))
    if validation:
        text = " ".join(validation)
        differences.append(f"its validation text is {text}, not {request.valid} held-out pairs")
    elif (wanted := request.valid * groups) != held_out:
        differences.append(f"{held_out} validation pairs were held out, not {wanted}")
    return differences


def _list_other_files(recorded: Mapping[str, str], paths: list[str]) -> list[str]:
    """Return a phrase for each of the files if they are not those the data was prepared from.

    Args:
        recorded: File name -> sha256, as the run recorded them.
        paths: The files given now; none: nothing to compare.
    """
    given = hash_files(paths)
    if not given or list(given.values()) == list(recorded.values()):
        return []
    return [f"{name} is another file than before" for name in given]


def _list_other_vocabulary(data: PreparedData, request: RunRequest) -> list[str]:
    """Return a phrase if ``--vocabulary`` has other subwords than the prepared data of the run."""
    if not request.vocabulary:
        return []
    given = GivenVocabulary.read(request.vocabulary, data.tokenizer.target_languages).tokenizer
    same = given.fingerprint == data.tokenizer.fingerprint
    return [] if same else ["--vocabulary has other subwords"]


def _list_other_initial(record: RunRecord, request: RunRequest) -> list[str]:
    """Return a phrase if a run did not start from the model of ``--init``."""
    if not request.init:
        return []
    if record.init is None:
        return [f"it did not start from --init {request.init}"]
    if InitialModel.describe(request.init).sha256 == record.init.sha256:
        return []
    return [
        f"--init {request.init} has other weights than {record.init.path}, from which it started"
    ]


def _keep_finished(
    directory: RunDirectory, data: PreparedData, record: RunRecord, stored: Config, settings: Config
) -> list[str]:
    """Repair a finished run, and store the settings that may change; return what the user should know."""
    if settings.training.average != stored.training.average:
        raise HeadwayError(
            f"training.average = {settings.training.average}: {directory.path} is finished and has averaged"
            f" {stored.training.average}: give more --training.max-steps too, or average the checkpoints"
            f" that it has kept with headway average {directory.path} OUT"
        )
    lost, notices = restore_models(directory, record, "restore the file, or train more steps")
    if WEIGHTS in lost:
        raise HeadwayError(lost[WEIGHTS])
    if parallel.rank() == 0:
        settings = with_vocabulary(settings, data)
        if record.settings != settings.to_dict():
            record.settings = settings.to_dict()
            directory.write_record(record)
        write_settings(directory, data, settings)
    notices += [
        f"{directory.path / CONFIG}: {change}, from now on"
        for change in list_differences(settings, stored)
    ]
    for _, step in load_all("end_steps"):
        file = directory.path / step.FILE
        if step.FROM_SETTINGS and step.wants(settings) and not file.exists():
            for _ in step.learn(directory, data, str(record.machine.torch_device)):
                pass
            notices.append(f"{file}: learned")
    return notices


def _list_other_roundings(record: RunRecord, stored: Config, settings: Config) -> list[str]:
    """Return a notice for each difference that may change the last bits of results."""
    differences = []
    if record.torch != torch.__version__:
        differences.append(
            f"the run was started with torch {record.torch}, and this is {torch.__version__}"
        )
    if record.native != identify_arithmetic("training"):
        differences.append("the run was started with other native code")
    if settings.training.shard != stored.training.shard:
        differences.append(f"training.shard is now {spell(settings.training.shard)}")
    elif settings.training.shard and record.processes != parallel.world_size():
        differences.append(
            f"the run was started with {record.processes} ranks, and its model is sharded"
        )
    return [f"{found}: the last bits of results may differ" for found in differences]


def _with_what_data_decided(settings: Config, stored: Config) -> Config:
    """Return settings with what the data decided: the kind of model, and what is open of vocabulary sizes and search."""
    sizes = {
        name: getattr(settings.model, name) or getattr(stored.model, name)
        for name in ("source_vocab_size", "target_vocab_size")
    }
    search = settings.search
    if search.split_sentences == "auto":
        search = replace(search, split_sentences=stored.search.split_sentences)
    model = replace(settings.model, kind=stored.model.kind, **sizes)
    return replace(settings, model=model, search=search)
