"""Checks of a model (masks, caches, search) and benchmarks of a machine."""

from headway.checks.selfcheck import Finding, self_check

__all__ = ["Finding", "self_check"]
