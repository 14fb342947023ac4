"""The variables of a Slurm job step, as ``torchrun`` names them.

``srun headway train ...`` starts a task for each rank. Slurm tells a task its place by variables of its own
(`srun(1)`, "OUTPUT ENVIRONMENT VARIABLES"). Everything else in Headway knows the variables of ``torchrun`` only.
"""

import os
import re
from collections.abc import Mapping

from headway.errors import HeadwayError

FIRST_PORT, PORTS = 15000, 15000  # below the ports that Linux gives to outgoing connections


def rank_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of ``torchrun`` for a task of a Slurm step with several tasks.

    Batch scripts and the shells of ``salloc`` have variables of the whole job, such as ``SLURM_NTASKS``, and are
    no ranks. Only the tasks that ``srun`` has started have ``SLURM_STEP_NUM_TASKS``.

    Args:
        environment: Of this process. The variables of another launcher have priority, and so have ``MASTER_ADDR``
            and ``MASTER_PORT``.

    Returns:
        Nothing if this process is not one of several tasks.

    Raises:
        HeadwayError: If a variable of the step is missing, as in a container that gets only some, or damaged.
    """
    count = environment.get("SLURM_STEP_NUM_TASKS", "1")
    if count == "1" or "WORLD_SIZE" in environment:
        return {}
    try:
        return _variables_of_step(environment)
    except (KeyError, ValueError, IndexError) as error:
        raise HeadwayError(
            f"SLURM_STEP_NUM_TASKS is {count}, but other variables of the Slurm step are missing or damaged"
            f" ({error}): start with srun, or unset SLURM_STEP_NUM_TASKS"
        ) from None


def _variables_of_step(environment: Mapping[str, str]) -> dict[str, str]:
    tasks = _expand_counts(environment["SLURM_STEP_TASKS_PER_NODE"])
    # Slurm may give each task processors of its own, which it then does not share with the others.
    cores = int(environment.get("SLURM_CPUS_PER_TASK", "0"))
    own = cores > 0 and cores >= len(os.sched_getaffinity(0))
    job, step = int(environment["SLURM_JOB_ID"]), int(environment["SLURM_STEP_ID"])
    first = _first_node(environment["SLURM_STEP_NODELIST"])
    # Every task computes the same port, and two steps that run at the same time seldom share one.
    port = str(FIRST_PORT + (job + 1009 * step) % PORTS)
    return {
        "RANK": environment["SLURM_PROCID"],
        "WORLD_SIZE": str(int(environment["SLURM_STEP_NUM_TASKS"])),
        "LOCAL_RANK": environment["SLURM_LOCALID"],
        "LOCAL_WORLD_SIZE": str(1 if own else tasks[int(environment["SLURM_NODEID"])]),
        "MASTER_ADDR": environment.get("MASTER_ADDR", first if len(tasks) > 1 else "127.0.0.1"),
        "MASTER_PORT": environment.get("MASTER_PORT", port),
    }


def _expand_counts(words: str) -> list[int]:
    """Return a number for each node: ``2(x3),1`` means 2, 2, 2 and 1."""
    found = []
    for word in words.split(","):
        count, _, repeats = word.rstrip(")").partition("(x")
        found += [int(count)] * int(repeats or "1")
    return found


def _first_node(names: str) -> str:
    """Return the first of the nodes: ``gpu[03-07,9],login`` begins with ``gpu03``."""
    first = re.match(r"(?:[^[,]|\[[^]]*+\])*+", names)
    return re.sub(r"\[(\w++)[^][]*+\]", r"\1", first[0] if first else "")
