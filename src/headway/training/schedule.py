"""The learning rate: a function of the step and the settings alone (paper: section 5.3)."""

import math

from headway.config import TrainingConfig


def learning_rate(
    step: int,
    *,
    d_model: int,
    warmup_steps: int,
    scale: float = 1.0,
    cool_steps: int = 0,
    max_steps: int = 0,
) -> float:
    """Return the rate of a step: up linearly for the warm-up, then down as step^-0.5.

    Paper: section 5.3, equation 3, d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5).

    Args:
        step: 1 is the first.
        d_model: Width of the model.
        warmup_steps: Steps until the peak.
        scale: Multiplies the rate; the paper has none, that is 1.
        cool_steps: Over the last so many steps the rate also falls linearly, to nothing just after
            the last; the paper has none, that is 0.
        max_steps: The last step; counts only if the rate cools.
    """
    cooled = min(1.0, max(0, max_steps + 1 - step) / cool_steps) if cool_steps else 1.0
    return cooled * scale * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def told_if_too_short(training: TrainingConfig) -> str:
    """Return what to tell of a run that ends before its rate has been up; empty if it has room.

    Who shortens a run often forgets that its preset warms up and cools for longer than that.
    """
    warmup, cool, last = training.warmup_steps, training.cool_steps, training.max_steps
    if warmup + cool <= last:
        return ""
    shorter: dict[str, float] = {
        "warmup_steps": max(1, last // 10),
        "cool_steps": cool and last * 3 // 4,
    }
    # The same peak, which equation 3 ties to the warm-up.
    shorter["rate_scale"] = training.rate_scale * math.sqrt(shorter["warmup_steps"] / warmup)
    words = [
        f"--training.{name.replace('_', '-')} {value:.3g}"
        for name, value in shorter.items()
        if value != getattr(training, name)
    ]
    cooling = f" and cools for {cool:,}" if cool else ""
    return (
        f"the learning rate warms up for {warmup:,} steps{cooling}, of {last:,} in all, so that it"
        f" stays below its peak and may teach little; for a run this short: {' '.join(words)}"
    )
