"""Resume the run that a directory holds."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from headway.config import Config
from headway.config.setting import spell
from headway.errors import HeadwayError
from headway.extension import identify_arithmetic, load_modules
from headway.text.groups import list_files
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.starting.given_vocabulary import GivenVocabulary
from headway.training.starting.opened_run import (
    OpenedRun,
    check_ranks_agree,
    list_precision_notices,
)
from headway.training.starting.restoring import restore_models
from headway.training.starting.resume_check import (
    MAY_CHANGE,
    check_data,
    list_changes,
    list_differences,
    list_other_files,
    list_other_form,
    list_other_initial,
    list_other_languages,
    list_other_validation,
    read_settings,
)
from headway.training.starting.run_builder import resume, with_vocabulary, write_settings
from headway.training.starting.run_request import RunRequest, changed_settings, has_prepared_text
from headway.training.steps.schedule import warn_if_rate_rises
from headway.training.storage.record import RunRecord
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import CONFIG, WEIGHTS


def resume_run(directory: RunDirectory, request: RunRequest) -> OpenedRun:
    """Resume the run that a directory holds; a finished one is repaired, and may take other settings of its search.

    Args:
        directory: Locked (`RunDirectory.lock`).
        request: Checked by `check_request`; its corpora are files, not names.

    Raises:
        HeadwayError: If the run has other settings or other data, or a file is missing or damaged.
    """
    record = directory.record()
    stored, notices = read_settings(directory.path, record)
    place = request.data or record.data.directory or directory.data
    way_out = "restore the data that the run was started with, or start another RUN"
    data = PreparedData.open(place, way_out)
    settings = _change_settings(directory, request, record, data, stored)
    check_data(directory.path, data, record)
    lengths = [(c.training.max_steps, c.training.patience) for c in (stored, settings)]
    if record.finished and lengths[0] == lengths[1]:
        notices += _keep_finished(directory, data, record, stored, settings)
        return OpenedRun(None, notices)
    run, damage = resume(directory, data, settings)
    check_ranks_agree(run)
    others = _list_other_roundings(record, stored, settings) + list_precision_notices(run)
    if rise := warn_if_rate_rises(run.step, stored.training, settings.training):
        others.append(rise)
    return OpenedRun(run, notices + damage + others)


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
    other_initial = list_other_initial(record, request.init)
    if differences := [*dict.fromkeys([*changes, *other_text]), *other_initial]:
        again = f" (with --data {data.directory} its data need not be prepared again)"
        raise HeadwayError(
            f"{directory.path}: a run keeps its settings and data, but {'; '.join(differences)}:"
            f" only {', '.join(MAY_CHANGE)} may change; for all else start another RUN{'' if other_text else again}"
        )
    return settings


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
    notices = _repair_finished(directory, data, settings, record)
    notices += [
        f"{directory.path / CONFIG}: {change}, from now on"
        for change in list_differences(settings, stored)
    ]
    for step in load_modules("end_steps"):
        file = directory.path / step.FILE
        if step.FROM_SETTINGS and step.wants(settings) and not file.exists():
            for _ in step.learn(directory, data, str(record.machine.torch_device)):
                pass
            notices.append(f"{file}: learned")
    return notices


def _list_other_text(data: PreparedData, record: RunRecord, request: RunRequest) -> list[str]:
    """Return a phrase for each difference between the text that a command names and the text of its run."""
    differences = list_other_languages(data, request.train, request.languages)
    differences += list_other_form(data.form, request.form)
    if differences:  # which may be why other files are given, or in another order
        return differences
    groups = len(request.train) if isinstance(request.train, Mapping) else 1
    return [
        *list_other_files(record.files.get("train", {}), list_files(request.train)),
        *list_other_validation(record, request.valid, groups),
    ]


def _list_other_vocabulary(data: PreparedData, request: RunRequest) -> list[str]:
    """Return a phrase if ``--vocabulary`` has other subwords than the prepared data of the run."""
    if not request.vocabulary:
        return []
    given = GivenVocabulary.read(request.vocabulary, data.tokenizer.target_languages).tokenizer
    same = given.fingerprint == data.tokenizer.fingerprint
    return [] if same else ["--vocabulary has other subwords"]


def _repair_finished(
    directory: RunDirectory, data: PreparedData, settings: Config, record: RunRecord
) -> list[str]:
    """Restore the models and vocabulary of a finished run, and write its settings; return what the user should know."""
    lost, notices = restore_models(directory, record)
    for name in lost:
        reason = (
            f"{directory.path / name}: missing, or changed since the run wrote it: restore the file, or"
            " train more steps"
        )
        if name == WEIGHTS:
            raise HeadwayError(reason)
        notices.append(reason)
    if parallel.rank() == 0:
        settings = with_vocabulary(settings, data)
        if record.settings != settings.to_dict():
            record.settings = settings.to_dict()
            directory.write_record(record)
        write_settings(directory, data, settings)
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
