"""Objective, learning rate, steps, checkpoints and runs; it prints nothing."""

from importlib.util import find_spec

from headway.errors import HeadwayError

if find_spec("fcntl") is None or find_spec("resource") is None:
    raise HeadwayError("training needs Linux or macOS (on Windows: its subsystem for Linux)")
