"""Forked processes: a fork copies one thread, and a child waits forever for the other threads of its parent's OpenMP."""

import os
import sys
import threading
from functools import cache
from pathlib import Path

import torch


@cache
def survive_forks() -> None:
    """Let processes that are forked from this one compute with one thread, if this one has used several.

    This concerns GCC's OpenMP, with which PyTorch computes on Linux.
    """
    has_used_threads = False

    def look() -> None:
        nonlocal has_used_threads
        tasks = len([*Path("/proc/self/task").iterdir()])
        has_used_threads = tasks > threading.active_count()

    def use_one_thread() -> None:
        if has_used_threads:
            torch.set_num_threads(1)

    if sys.platform == "linux":
        os.register_at_fork(before=look, after_in_child=use_one_thread)
