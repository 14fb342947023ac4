"""The learning rate: a function of the step and the settings alone (paper: section 5.3)."""


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
