"""The tasks of a Slurm step learn their ranks from Slurm's variables."""

import os

import pytest

from headway.cli import launch
from headway.cli.main import main
from headway.cli.slurm import rank_variables
from support.cases import each_case

# What a task of ``srun -n 2`` sees in a job with one node, and what its batch script sees (Slurm 22.05).
TASK = {
    "SLURM_JOB_ID": "3", "SLURM_JOB_NODELIST": "node1", "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.9",
    "SLURM_LOCALID": "1", "SLURM_NODEID": "0", "SLURM_NTASKS": "2", "SLURM_PROCID": "1", "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "node1", "SLURM_STEP_NUM_NODES": "1", "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_TASKS_PER_NODE": "2",
}  # fmt: skip
BATCH_SCRIPT = {
    "SLURM_JOB_ID": "3", "SLURM_JOB_NODELIST": "node1", "SLURM_LOCALID": "0", "SLURM_NODEID": "0",
    "SLURM_NTASKS": "2", "SLURM_PROCID": "0", "SLURM_TASKS_PER_NODE": "2",
}  # fmt: skip
SALLOC = {
    name: BATCH_SCRIPT[name] for name in ("SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE")
}
# A shell that ``salloc`` starts as a step of its own keeps the job's number of tasks.
INTERACTIVE_STEP = BATCH_SCRIPT | {"SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1"}
FOUR_NODES = TASK | {
    "SLURM_PROCID": "6", "SLURM_LOCALID": "0", "SLURM_NODEID": "3", "SLURM_STEP_NUM_TASKS": "7",
    "SLURM_STEP_TASKS_PER_NODE": "2(x3),1", "SLURM_STEP_NODELIST": "gpu[03-05,11]",
}  # fmt: skip


def test_a_task_of_a_step_is_a_rank():
    assert rank_variables(TASK) == {
        "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "15003",
    }  # fmt: skip


def test_the_first_node_of_a_step_is_the_master():
    assert rank_variables(FOUR_NODES) == {
        "RANK": "6", "WORLD_SIZE": "7", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": "gpu03", "MASTER_PORT": "15003",
    }  # fmt: skip


@each_case
def test_a_list_of_nodes_has_a_first_name(names, first):
    found = rank_variables(FOUR_NODES | {"SLURM_STEP_NODELIST": names})
    assert found["MASTER_ADDR"] == first


@pytest.mark.parametrize(
    "environment",
    [{}, BATCH_SCRIPT, SALLOC, INTERACTIVE_STEP, TASK | {"SLURM_STEP_NUM_TASKS": "1"},
     TASK | {"WORLD_SIZE": "1"}],
    ids=["no Slurm", "batch script", "salloc", "interactive step", "one task", "torchrun in a task"],
)  # fmt: skip
def test_all_other_processes_are_no_ranks(environment):
    assert rank_variables(environment) == {}


def test_two_steps_of_a_job_have_ports_of_their_own():
    ports = {
        rank_variables(TASK | {"SLURM_STEP_ID": str(step)})["MASTER_PORT"] for step in range(9)
    }
    assert len(ports) == 9


def test_a_master_that_the_user_has_named_stays():
    chosen = {"MASTER_ADDR": "10.1.2.3", "MASTER_PORT": "29500"}
    assert rank_variables(TASK | chosen).items() >= chosen.items()


@pytest.mark.parametrize(("cores", "sharing"), [(8, "1"), (16, "2")])
def test_tasks_with_cores_of_their_own_do_not_divide_them(cores, sharing, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores), raising=False)
    assert rank_variables(TASK | {"SLURM_CPUS_PER_TASK": "8"})["LOCAL_WORLD_SIZE"] == sharing


@pytest.mark.parametrize(("environment", "is_rank"), [(TASK, True), (BATCH_SCRIPT, False)])
def test_the_command_reads_the_variables(environment, is_rank, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ) | environment)
    with pytest.raises(SystemExit):
        main(["config"])
    assert launch.is_launched() is is_rank


@pytest.mark.parametrize(
    "change",
    [{"SLURM_PROCID": None}, {"SLURM_STEP_ID": "batch"}, {"SLURM_NODEID": "1"}, {"SLURM_STEP_NUM_TASKS": "x"}],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_a_step_that_is_known_in_part_is_a_mistake_of_one_line(change, monkeypatch, capsys):
    step = {name: value for name, value in (TASK | change).items() if value is not None}
    monkeypatch.setattr(os, "environ", dict(os.environ) | step)
    with pytest.raises(SystemExit) as end:
        main(["config"])
    printed = capsys.readouterr()
    assert (end.value.code, printed.out) == (1, "")
    assert "unset SLURM_STEP_NUM_TASKS" in printed.err
    assert len(printed.err.splitlines()) == 1
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
