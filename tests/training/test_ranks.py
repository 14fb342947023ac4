"""Two ranks of torchrun train what one process trains; the others end if one is killed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.training import ranks
from headway.training.checkpoint import read_tensors
from headway.training.run_directory import RunDirectory
from support.runs import command, metrics

AND_THREADS = """
import atexit, pathlib, sys
from headway.cli.main import main

def threads():
    names = (x.read_text().strip() for x in pathlib.Path("/proc/self/task").glob("*/comm"))
    print("threads:", *names, file=sys.stderr)

atexit.register(threads)
main()
"""


@pytest.mark.slow
def test_two_ranks_compute_the_result_of_one(corpus, tmp_path):
    changes = {"model__dropout": 0.0, "training__max_steps": 7, "training__average": 1}
    alone, together = tmp_path / "alone", tmp_path / "together"
    assert dispatch(command(alone, corpus, **changes)) == 0
    script = tmp_path / "script.py"
    script.write_text(AND_THREADS)
    result = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone",
         script, *command(together, corpus, **changes)],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    # If a thread of the library still runs when the interpreter ends, the process may end with SIGABRT.
    threads = re.findall("^threads: (.*)$", result.stderr, re.MULTILINE)
    assert len(threads) == 2
    assert "gloo" not in "".join(threads)
    for one, two in zip(metrics(alone), metrics(together), strict=True):
        for key, value in one.items():
            exact = isinstance(value, (str, list))
            assert two[key] == (value if exact else pytest.approx(value, rel=1e-3)), key
    weights = [read_tensors(RunDirectory(path).weights(7)) for path in (alone, together)]
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, rtol=1e-3, atol=1e-4)


def test_an_exchange_with_a_lost_rank_gives_a_message_of_one_line(monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("Connection reset by peer")

    for name in ("all_reduce", "barrier", "broadcast", "all_gather_object"):
        monkeypatch.setattr(ranks.distributed, name, fail)
    monkeypatch.setattr(ranks, "world_size", lambda: 2)
    monkeypatch.setattr(ranks, "rank", lambda: 0)
    parameter = torch.nn.Parameter(torch.zeros(2))
    for exchange in (
        ranks.wait,
        lambda: ranks.sum_tensor(torch.zeros(2)),
        lambda: ranks.sum_number(1),
        lambda: ranks.maximum(1),
        lambda: ranks.sum_gradients([parameter]),
        lambda: ranks.broadcast([1.0]),
        lambda: ranks.random_states(torch.device("cpu")),
    ):
        with pytest.raises(HeadwayError, match="another rank of this training has ended"):
            exchange()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--trian", "x"], ["--training.max-steps", "-3"], []])
def test_a_mistake_under_torchrun_is_named_once(words, tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone",
         "-m", "headway", "train", str(tmp_path / "run"), *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode != 0
    own = [line for line in result.stderr.splitlines() if line.startswith("headway")]
    assert len([line for line in own if not line.startswith("headway FAILED")]) == 1, own


@pytest.mark.slow
def test_a_killed_rank_loses_at_most_one_interval():
    campaign = Path(__file__).parents[1] / "outside" / "killed_processes.py"
    result = subprocess.run(
        [sys.executable, campaign, "--ranks", "1", "--workers", "0"],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr + result.stdout
