"""Checks of a model (masks, caches, search) and benchmarks of a machine."""

from headway.checks.finding import Finding
from headway.checks.selfcheck import self_check

__all__ = ["Finding", "self_check"]
