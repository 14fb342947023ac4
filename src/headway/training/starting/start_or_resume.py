"""From a user's request to a run: start a new run, or resume the one in a directory."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch

from headway import __version__
from headway.config import Config
from headway.config.setting import spell
from headway.errors import HeadwayError
from headway.files import remove
from headway.inference import shortlist
from headway.inference.directory import CONFIG, WEIGHTS, load_model
from headway.kernels.cores import available_cores
from headway.kernels.library import build_id
from headway.text.groups import list_files, list_targets, make_groups
from headway.text.prepare import prepare
from headway.text.prepared import PreparedData
from headway.text.readers import describe_layout
from headway.training import parallel
from headway.training.learned.learned_shortlist import wants_shortlist, write_shortlist
from headway.training.run import Run
from headway.training.starting.fine_tuning import (
    check_groups,
    check_languages,
    check_shape,
    check_vocabulary,
    describe_regime,
)
from headway.training.starting.given_vocabulary import GivenVocabulary
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
from headway.training.starting.run_builder import resume, start, with_vocabulary, write_settings
from headway.training.starting.run_request import RunRequest, changed_settings, new_settings
from headway.training.starting.sentence_splitting import resolve_splitting
from headway.training.steps.schedule import warn_if_rate_rises
from headway.training.storage.record import RunRecord, hash_files
from headway.training.storage.run_directory import RunDirectory


@dataclass(frozen=True)
class OpenedRun:
    """The answer to a request.

    Attributes:
        run: The run; None if it is finished and the request asks for no more steps.
        notices: What the user should know, a line each.
    """

    run: Run | None
    notices: list[str]


def prepare_text(directory: RunDirectory, request: RunRequest) -> list[str]:
    """Prepare the text of a new run, in its directory; does nothing for a run that has started.

    Args:
        directory: Locked.
        request: Checked by `check_request`; its corpora are files, not names.

    Returns:
        What the user should know, a line each.
    """
    if directory.started or request.data or request.is_prepared:
        return []
    model = load_model(request.init) if request.init else None
    settings = new_settings(request, model.config if model else None)
    tokenizer = model.tokenizer if model else None
    if request.vocabulary:
        tokenizer = GivenVocabulary.read(request.vocabulary, list_targets(request.train)).tokenizer
    if model:
        has_symbols = isinstance(request.train, Mapping)
        check_groups(" ".join(list_files(request.train)), model, has_symbols=has_symbols)
    if model and not request.other_languages:
        for group in make_groups(request.train, request.valid, languages=request.languages):
            check_languages(group.codes, model)
    directory.check_lock()  # otherwise the preparation would make the directory again
    remove(directory.data)  # files of an interrupted start
    prepare(
        request.train,
        request.valid,
        directory.data,
        settings.text,
        request.languages,
        tokenizer=tokenizer,
        form=request.form,
        workers=available_cores(),
    )
    groups = make_groups(request.train, request.valid, languages=request.languages)
    layouts = [describe_layout(group.train, group.languages, request.form) for group in groups]
    report = directory.data / "report.txt"
    advice = json.loads(report.with_suffix(".json").read_bytes())["advice"]
    return [
        *filter(None, [*layouts, advice]),
        f"{report}: how many training pairs were kept and dropped, and why",
    ]


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
    model = load_model(request.init) if request.init else None
    settings = new_settings(request, model.config if model else None)
    if model:
        check_shape(settings, model)
    notices = prepare_text(directory, request) if parallel.rank() == 0 else []
    parallel.wait_for_first()
    data = PreparedData.open(request.data or directory.data)
    if model:
        check_vocabulary(data, model)
        check_groups(str(data.directory), model, has_symbols=data.has_symbols)
        if not request.other_languages:
            for group in data.groups:
                check_languages(group.languages, model)
        settings = new_settings(request, model.config, data)
        if not request.preset:
            notices.append(describe_regime(settings.training, model))
    settings = resolve_splitting(settings, data)
    files = [list_files(request.train), list_files(request.valid)]
    if parallel.rank():  # only the record of rank 0 is written
        files = [[], []]
    run = start(
        directory,
        data,
        settings,
        command=request.command,
        train=hash_files(files[0]),
        valid=hash_files(files[1]),
        init=request.init,
    )
    _check_ranks_agree(run)
    return OpenedRun(run, notices + _precision_notices(run))


def _resume(directory: RunDirectory, request: RunRequest) -> OpenedRun:
    record = directory.record()
    stored, notices = read_settings(directory.path, record)
    settings = _with_what_data_decided(changed_settings(request, stored), stored)
    place = request.data or record.data.directory or directory.data
    way_out = "restore the data that the run was started with, or start another RUN"
    data = PreparedData.open(place, way_out)
    differences = [*list_changes(stored, settings), *_list_other_text(data, record, request)]
    differences += list_other_initial(record, request.init)
    if request.vocabulary:
        languages = data.tokenizer.target_languages
        given = GivenVocabulary.read(request.vocabulary, languages).tokenizer
        if given.fingerprint != data.tokenizer.fingerprint:
            differences.append("--vocabulary has other subwords")
    if differences:
        raise HeadwayError(
            f"{directory.path}: a run keeps its settings and data, but {'; '.join(differences)}:"
            f" only {', '.join(MAY_CHANGE)} may change; for all else start another RUN (with"
            f" --data {place} its data need not be prepared again)"
        )
    check_data(directory.path, data, record)
    if record.settings is None:
        notices.append(
            f"{directory.path / 'run.json'}: was written without digests, so config.json, the validation"
            " text and the models cannot be checked"
        )
    lengths = [(c.training.max_steps, c.training.patience) for c in (stored, settings)]
    if record.finished and lengths[0] == lengths[1]:
        if settings.training.average != stored.training.average:
            raise HeadwayError(
                f"training.average = {settings.training.average}: {directory.path} is finished and has averaged"
                f" {stored.training.average}: give more --training.max-steps too, or average the checkpoints"
                f" that it has kept with headway average {directory.path} OUT"
            )
        notices += _repair_finished(directory, data, settings, record)
        notices += [
            f"{directory.path / CONFIG}: {change}, from now on"
            for change in list_differences(settings, stored)
        ]
        file = directory.path / shortlist.FILE
        if wants_shortlist(settings) and not file.exists():
            for _ in write_shortlist(directory, data):
                pass
            notices.append(f"{file}: learned")
        return OpenedRun(None, notices)
    run, damage = resume(directory, data, settings)
    _check_ranks_agree(run)
    others = _list_other_roundings(record, stored, settings) + _precision_notices(run)
    if rise := warn_if_rate_rises(run.step, stored.training, settings.training):
        others.append(rise)
    return OpenedRun(run, notices + damage + others)


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
        if record.settings not in (None, settings.to_dict()):
            record.settings = settings.to_dict()
            directory.write_record(record)
        write_settings(directory, data, settings)
    return notices


def _check_ranks_agree(run: Run) -> None:
    """Check that all ranks train the same.

    Raises:
        HeadwayError: If a machine has another version or command, or sees other files.
    """
    differences = parallel.find_differences(
        {
            "the version of Headway": __version__,
            "the version of PyTorch": torch.__version__,
            "the native code": build_id("training"),
            "the settings": json.dumps(run.config.to_dict(), sort_keys=True),
            "the data": run.record.data.fingerprint,
            "the precision": run.machine.precision,
            "the newest checkpoint": str(run.step),
        }
    )
    if differences:
        raise HeadwayError(
            f"the ranks of this training differ in {', '.join(differences)}: all machines need the same"
            " versions, the same command and the same files"
        )


def _list_other_roundings(record: RunRecord, stored: Config, settings: Config) -> list[str]:
    """Return a notice for each difference that may change the last bits of results."""
    differences = []
    if record.torch != torch.__version__:
        differences.append(
            f"the run was started with torch {record.torch}, and this is {torch.__version__}"
        )
    if record.native != build_id("training"):
        differences.append("the run was started with other native code")
    if settings.training.shard != stored.training.shard:
        differences.append(f"training.shard is now {spell(settings.training.shard)}")
    return [f"{found}: the last bits of results may differ" for found in differences]


def _precision_notices(run: Run) -> list[str]:
    other = f"start another RUN with --data {run.data.directory}"
    if run.machine.emulates_bf16:
        return [
            "this processor has no bf16 instructions, so bf16 takes several times longer than fp32:"
            f" train elsewhere, or {other} --training.precision fp32"
        ]
    if (
        run.machine.device != "cpu"
        and run.machine.precision == "fp32"
        and run.config.training.packed
    ):
        return [
            "training.packed in fp32 on a GPU: attention takes many small steps there, because the kernel for"
            f" packed rows needs bf16: {other} --training.packed false, or train in bf16"
        ]
    return []


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
