"""The learning rate: a function of the step and of nothing else (paper: section 5.3)."""


def learning_rate(step: int, *, d_model: int, warmup_steps: int, scale: float = 1.0) -> float:
    """Return the rate of a step: up linearly for the warm-up, then down as step^-0.5.

    Paper: section 5.3, equation 3, d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5).

    Args:
        step: 1 is the first.
        d_model: Width of the model.
        warmup_steps: Steps until the peak.
        scale: Multiplies the rate; the paper has none, that is 1.
    """
    return scale * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
