"""The learning rate, which depends on the step and the settings alone (paper: section 5.3)."""

import math
from typing import Literal

from headway.config import TrainingConfig


def learning_rate(
    step: int,
    *,
    d_model: int,
    warmup_steps: int,
    scale: float = 1.0,
    decay: Literal["inverse-sqrt", "none"] = "inverse-sqrt",
    cool_steps: int = 0,
    max_steps: int = 0,
) -> float:
    """Return the rate of a step: it rises linearly during the warm-up, then falls as step^-0.5.

    Paper: section 5.3, equation 3, d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5).

    Args:
        step: The first step is 1.
        d_model: Width of the model.
        warmup_steps: Steps until the peak.
        scale: Multiplies the rate; 1 is the paper's rate.
        decay: The paper's, or none: after the warm-up the rate stays at its peak, which is the same.
        cool_steps: Over the last so many steps the rate also falls linearly, to 0 just after the
            last step; 0 is the paper's rate.
        max_steps: The last step; needed only with ``cool_steps``.
    """
    cooled = min(1.0, max(0, max_steps + 1 - step) / cool_steps) if cool_steps else 1.0
    falling = step**-0.5 if decay == "inverse-sqrt" else warmup_steps**-0.5
    return cooled * scale * d_model**-0.5 * min(falling, step * warmup_steps**-1.5)


def warn_if_rate_rises(step: int, before: TrainingConfig, now: TrainingConfig) -> str:
    """Return a warning if a run that has begun to cool is made longer, else an empty string.

    Args:
        step: The step that the run has reached.
        before: Its settings.
        now: Its settings from here on.
    """
    cooled = step - (before.max_steps + 1 - before.cool_steps)
    if not before.cool_steps or cooled <= 0 or now.max_steps <= before.max_steps:
        return ""
    return (
        f"the learning rate has cooled for {cooled:,} of {before.cool_steps:,} steps and rises again, because the"
        f" last step is now {now.max_steps:,} and not {before.max_steps:,}: the result is not that of a run of"
        f" {now.max_steps:,} steps from the start"
    )


def warn_if_too_short(training: TrainingConfig) -> str:
    """Return a warning if a run ends before its rate has reached its peak, else an empty string.

    A user who shortens a run often forgets that the preset warms up and cools for longer than that.
    """
    warmup, cool, last = training.warmup_steps, training.cool_steps, training.max_steps
    if warmup + cool <= last:
        return ""
    shorter: dict[str, int | float] = {
        "warmup_steps": max(1, last // 10),
        "cool_steps": cool and last * 3 // 4,
    }
    # The same peak rate: in equation 3 it depends on the warm-up.
    shorter["rate_scale"] = training.rate_scale * math.sqrt(shorter["warmup_steps"] / warmup)
    options = [
        f"--training.{name.replace('_', '-')} {value if isinstance(value, int) else f'{value:.3g}'}"
        for name, value in shorter.items()
        if value != getattr(training, name)
    ]
    cooling = f" and cools for {cool:,}" if cool else ""
    return (
        f"the learning rate warms up for {warmup:,} steps{cooling}, but the run has {last:,}: the rate"
        f" never reaches its peak, and the model may learn little; for a run this short: {' '.join(options)}"
    )
