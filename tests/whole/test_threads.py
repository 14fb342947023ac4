"""Native code computes the same bits with any number of threads, which plain PyTorch does not promise."""

import pytest

from headway.cli.main import dispatch
from support.runs import command


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit(corpus, tmp_path):
    sizes = {
        "model__d_model": 64, "model__d_ff": 128, "training__batch_tokens": 1500,
        "training__micro_batch_tokens": 1500, "training__max_steps": 3, "training__average": 1,
        "training__warmup_steps": 2, "training__validate_every": 3, "training__checkpoint_every": 3,
    }  # fmt: skip
    found = set()
    for threads in (1, 3):
        path = tmp_path / str(threads)
        assert dispatch(command(path, corpus, **sizes, training__threads=threads)) == 0
        found.add((path / "model.safetensors").read_bytes())
    assert len(found) == 1
