"""From a plan to a run that is ready to train, whether it is new or resumed."""

import json
from collections.abc import Mapping
from dataclasses import replace

import torch

from headway import __version__
from headway.config import Config
from headway.config.loading import find_preset
from headway.devices import available_cores, has_bf16
from headway.errors import HeadwayError
from headway.extension import HOOKS, identify_arithmetic, name_extensions, require
from headway.files import remove
from headway.text.groups import list_files, make_groups
from headway.text.languages import look_exchanged
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.run import Run
from headway.training.starting.plan import RunPlan, with_vocabulary
from headway.training.storage.model_writer import write_settings
from headway.training.storage.record import DataRecord, InitialModel, RunRecord, hash_files
from headway.training.validation import list_texts
from headway.translation.splitting import split_sentences

MAX_LINES = 20_000  # of the training text; a thousand take a hundredth of a second
# A model that has hardly seen lines of several sentences ends a translation with its first sentence. Lists of single
# sentences have hardly any such lines: Multi30k none, and the built-in corpus 0.4 %, which includes mistakes of the
# splitter. Text with whole paragraphs in a line has many times more.
FEW = 0.02
TOO_FEW = 0.1  # of the steps of a preset
EXAMINED = 200  # lines of the validation text, by which exchanged sides are noticed


def prepare_text(plan: RunPlan) -> list[str]:
    """Prepare the text of a new run, in its directory; does nothing if it is prepared already.

    Args:
        plan: Its directory is locked, and its corpora are files, not names.

    Returns:
        What the user should know, a line each.
    """
    request, directory = plan.request, plan.directory
    if plan.record or request.data or plan.is_prepared:
        return []
    if plan.initial:
        from headway.training.starting.fine_tuning import check_text

        groups = make_groups(request.train, request.valid, languages=request.languages)
        check_text(
            plan.initial,
            " ".join(list_files(request.train)),
            (group.codes for group in groups),
            has_symbols=isinstance(request.train, Mapping),
            may_differ=request.other_languages,
        )
    directory.check_lock()  # otherwise the preparation would make the directory again
    remove(directory.data)  # files of an interrupted start
    if request.kind:
        kind = require(f"a {request.kind}", "kinds", request.kind)
        train, valid = list_files(request.train), list_files(request.valid)
        kind.prepare(train, valid, directory.data, plan.settings.text)
        return []
    from headway.text.preparation.plan import Plan
    from headway.text.preparation.preparing import Preparation

    text = Plan.make(
        request.train,
        request.valid,
        plan.settings.text,
        request.languages,
        tokenizer=plan.tokenizer,
        form=request.form,
    )
    for _ in Preparation(text, directory.data).run(available_cores()):
        pass
    report = directory.data / "report.txt"
    advice = json.loads(report.with_suffix(".json").read_bytes())["advice"]
    return [
        *filter(None, [*text.layouts, advice]),
        f"{report}: how many training pairs were kept and dropped, and why",
    ]


def find_exchanged_sides(data: PreparedData) -> list[str]:
    """Return a notice for each language pair whose source and target files seem to be swapped."""
    return [
        f"{data.directory}: the sides look exchanged: the source is said to be '{text.languages[0]}', and looks like"
        f" '{text.languages[1]}': give the files in the other order"
        for text in list_texts(data, EXAMINED)
        if look_exchanged(text.sources, text.references, text.languages)
    ]


def start_run(plan: RunPlan) -> tuple[Run, list[str]]:
    """Start the run that is planned; return it, and what the user should know, a line each.

    Args:
        plan: Of a new run; its corpora are files, not names.
    """
    notices = prepare_text(plan) if parallel.rank() == 0 else []
    parallel.wait_for_first()
    request, directory = plan.request, plan.directory
    data = PreparedData.open(request.data or directory.data)
    notices += find_exchanged_sides(data)
    settings = plan.settings
    if request.data and request.preset:
        size, usual = (each.vocab_size for each in (data.text, find_preset(request.preset).text))
        if size != usual:
            notices.append(
                f"{request.data}: its vocabulary has {size:,} subwords, and the preset has {usual:,}: headway prepare has --preset, too"
            )
    if plan.initial:
        from headway.training.starting import fine_tuning

        if not request.preset:
            tokens = max(data.train.source_tokens, data.train.target_tokens)
            steps = fine_tuning.fine_tuning_steps(plan.initial.config.training, tokens)
            settings = fine_tuning.inherit(
                plan.initial.config, request.changes, settings.text, steps
            )
        fine_tuning.check_vocabulary(data, plan.initial)
        if request.data:
            fine_tuning.check_text(
                plan.initial,
                str(data.directory),
                (group.languages for group in data.groups),
                has_symbols=data.has_symbols,
                may_differ=request.other_languages,
            )
    settings = resolve_splitting(with_vocabulary(settings, data), data)
    if request.minutes is not None:
        from headway.training.starting.time_budget import fill_time, measure_pace

        # The run that is measured is gone before the other one is built.
        pace = measure_pace(_make_run(plan, data, settings), request.minutes)
        training = fill_time(settings.training, request.minutes, pace)
        usual = settings.training.max_steps
        # Options keep what they say. Lengths in a settings file belong to the number of steps there, and are scaled
        # as those of a preset are.
        options = request.changes.of_command_line
        settings = options.apply(replace(settings, training=training))
        notices.append(
            f"--minutes {request.minutes:g}: {settings.training.max_steps:,} steps of {pace.step:.2g} s, and a validation"
            f" of {pace.validation:.2g} s every {settings.training.validate_every:,} steps"
        )
        if settings.training.max_steps < TOO_FEW * usual:
            notices.append(
                f"--minutes {request.minutes:g} is short: without it, the run would have {usual:,} steps; a model of so few may"
                " translate nothing rightly"
            )
    if plan.initial and not request.preset:
        own = plan.initial.config.training
        notices.append(
            f"fine-tuning by the training regime of {plan.initial.path}, in {settings.training.max_steps:,} instead of"
            f" {own.max_steps:,} steps; for another regime give --preset or --training settings"
        )
    run = _make_run(plan, data, settings)
    if parallel.rank() == 0:
        write_settings(directory, data, settings)
    return run, notices


def _make_run(plan: RunPlan, data: PreparedData, settings: Config) -> Run:
    """Return a new run; the directory holds it from `Run.begin` on."""
    request = plan.request
    # Only the record of rank 0 is written, and other machines may not have the files.
    texts = {} if parallel.rank() else {"train": request.train, "valid": request.valid}
    record = RunRecord(
        headway=__version__,
        torch=torch.__version__,
        native=identify_arithmetic("training"),
        command=list(request.command),
        files={name: hash_files(list_files(text)) for name, text in texts.items()},
        data=DataRecord.describe(data, plan.directory.path),
        init=InitialModel.describe(request.init) if request.init else None,
        machine=plan.machine,
        processes=parallel.world_size(),
        settings=settings,
        minutes=request.minutes,
    )
    record.identity = record.identify()
    return Run(plan.directory, data, settings, record)


def resolve_splitting(settings: Config, data: PreparedData) -> Config:
    """Return settings in which ``search.split_sentences`` is not "auto": the training text decides, before the training.

    So all models of the run have it from the first on, and a resumed run does not decide again.
    """
    if settings.search.split_sentences != "auto":
        return settings
    is_split = False
    if data.kind == "translator":
        several = [
            len(split_sentences(line, language)) > 1
            for (language, _), pairs in data.sample(MAX_LINES)
            for line, _ in pairs
        ]
        is_split = sum(several) / len(several) < FEW
    return replace(settings, search=replace(settings.search, split_sentences=is_split))


def open_run(plan: RunPlan) -> tuple[Run | None, list[str]]:
    """Start or resume the run that is planned.

    Args:
        plan: Its corpora are files, not names.

    Returns:
        The run, or None if it is finished and the request asks for no more steps; and what the user
        should know, a line each.

    Raises:
        HeadwayError: If text, data or model cannot be used, or the run has other settings.
    """
    run: Run | None
    if plan.record:
        from headway.training.starting.resuming import resume_run

        run, notices = resume_run(plan)
    else:
        run, notices = start_run(plan)
    if run is not None:
        if run.saved < 0 and run.record.init:
            from headway.training.starting.fine_tuning import load_initial_weights

            load_initial_weights(run, run.record.init)
        _check_ranks_agree(run)
        notices += list_precision_notices(run)
    return run, notices


def _check_ranks_agree(run: Run) -> None:
    """Check that all ranks train the same.

    Raises:
        HeadwayError: If a machine has another version or command, or sees other files.
    """
    differences = parallel.find_differences(
        {
            "the version of Headway": __version__,
            "the version of PyTorch": torch.__version__,
            "the native code": identify_arithmetic("training"),
            "the extensions": name_extensions(HOOKS),
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


def list_precision_notices(run: Run) -> list[str]:
    """Return what the user should know of the precision: nothing, or why it is slow here."""
    other = f"start another RUN with --data {run.data.directory}"
    if run.machine.precision == "bf16" and not has_bf16(run.machine.torch_device):
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
