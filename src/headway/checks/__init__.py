"""A model's self-check: the bugs that look like success, looked for on the user's own model."""

from headway.checks.selfcheck import CHECKS, Finding, self_check

__all__ = ["CHECKS", "Finding", "self_check"]
