"""From a user's request to a run: start a new run, or resume the one in a directory."""

import json
from collections.abc import Mapping

from headway.cores import available_cores
from headway.extension import require
from headway.files import remove
from headway.text.groups import list_files, list_targets, make_groups
from headway.text.preparation.preparation import prepare
from headway.text.prepared import PreparedData
from headway.text.readers import describe_layout
from headway.training import parallel
from headway.training.starting.fine_tuning import (
    check_groups,
    check_languages,
    check_shape,
    check_vocabulary,
    describe_regime,
)
from headway.training.starting.given_vocabulary import GivenVocabulary
from headway.training.starting.opened_run import (
    OpenedRun,
    check_ranks_agree,
    list_precision_notices,
)
from headway.training.starting.resuming import resume_run
from headway.training.starting.run_builder import start
from headway.training.starting.run_request import RunRequest, new_settings
from headway.training.starting.sentence_splitting import resolve_splitting
from headway.training.storage.record import hash_files
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import load_model


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
    if request.kind:
        kind = require(f"a {request.kind}", "kinds", request.kind)
        train, valid = list_files(request.train), list_files(request.valid)
        kind.prepare(train, valid, directory.data, settings.text)
        return []
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
        return resume_run(directory, request)
    model = load_model(request.init) if request.init else None
    settings = new_settings(request, model.config if model else None)
    if model:
        check_shape(settings, model, is_prepared=bool(request.data))
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
    check_ranks_agree(run)
    return OpenedRun(run, notices + list_precision_notices(run))
