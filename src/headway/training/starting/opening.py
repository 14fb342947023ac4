"""From a plan to a run that is ready to train, whether it is new or resumed."""

import json

import torch

from headway import __version__
from headway.errors import HeadwayError
from headway.extension import HOOKS, identify_arithmetic, name_extensions
from headway.training import parallel
from headway.training.run import Run
from headway.training.starting.new_run import start_run
from headway.training.starting.plan import RunPlan


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
