"""Device, precision and threads of a run, and the state of the process it runs in."""

import os

import pytest
import torch

from headway import devices
from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.training import machine
from headway.training.dry_run import make_dry_run
from headway.training.machine import Machine
from headway.training.run import run_to_end
from headway.training.validation import ValidationReport
from support.cases import each_case
from support.runs import command, opened


def test_the_library_changes_nothing_of_the_process(corpus, tmp_path, monkeypatch):
    """A run that is started, trained and resumed by the library changes no state of the process."""
    calls = []
    monkeypatch.setattr(machine.gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(machine, "keep_large_allocations", lambda: calls.append("keep"))
    threads, generator = torch.get_num_threads(), torch.get_rng_state()
    path = tmp_path / "run"
    for arguments in (command(path, corpus, training__threads=threads + 1), ["train", str(path)]):
        run = opened(path, arguments)
        make_dry_run(run)
        for event in run_to_end(run):
            assert torch.get_num_threads() == threads
            assert torch.equal(torch.get_rng_state(), generator)
            if isinstance(event, ValidationReport):
                break
        run.save()
        run.directory.unlock()
    assert calls == []


def test_ranks_of_one_machine_divide_its_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(12))
    for local, threads in (("1", 12), ("5", 2), ("17", 1)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", local)
        machine = Machine.resolve(TrainingConfig(device="cpu"))
        assert (machine.threads, machine.threads_per_rank) == (12, threads)


@each_case
def test_threads_are_within_the_quota_of_a_container(groups, files, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(12))
    monkeypatch.setattr(devices, "OWN_CGROUP", tmp_path / "own")
    monkeypatch.setattr(devices, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "own").write_text(groups)
    for name, text in files.items():
        (tmp_path / "cgroup" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cgroup" / name).write_text(text + "\n")
    assert Machine.resolve(TrainingConfig(device="cpu")).threads == threads


@pytest.mark.parametrize(("avx512", "amx"), [(True, False), (False, True), (False, False)])
def test_bf16_is_chosen_only_on_processors_with_instructions_for_it(avx512, amx, monkeypatch):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
    found = Machine.resolve(TrainingConfig(device="cpu", threads=5))
    wanted = "bf16" if avx512 or amx else "fp32"
    assert found == Machine(device="cpu", precision=wanted, threads=5)
    fixed = Machine.resolve(TrainingConfig(device="cpu", threads=5, precision="fp32"))
    assert fixed.precision == "fp32"


@each_case
def test_a_missing_device_is_rejected(device, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(HeadwayError, match=f"training.device = '{device}'.* {message}"):
        Machine.resolve(TrainingConfig(device=device))
    assert Machine.resolve(TrainingConfig(device="cuda:1", precision="fp32")).device == "cuda:1"
    monkeypatch.setenv("LOCAL_RANK", "1")
    every = Machine.resolve(TrainingConfig(device="cuda", precision="fp32"))
    assert every.torch_device == torch.device("cuda:1")  # each rank has its own
