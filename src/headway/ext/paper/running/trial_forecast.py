"""How long trainings take: estimated again after each."""

import time
from collections.abc import Mapping
from pathlib import Path

from headway.config import Config


def training_effort(config: Config) -> float:
    """Return about how many multiplications a training takes.

    Additive attention counts the n * d_k values that it holds for each head and token, with n about 20
    tokens. The factor 70 against a multiplication was measured on one processor.
    """
    m, t = config.model, config.training
    d_k, d_v = m.head_widths
    attention = 2 * m.d_model * m.num_heads * (d_k + d_v)
    if m.compatibility == "additive":
        attention += 70 * 20 * m.num_heads * d_k
    feed_forward = 2 * m.d_model * m.d_ff
    layers = m.num_encoder_layers * (attention + feed_forward)
    if m.kind == "classifier":
        return t.max_steps * t.batch_tokens * float(layers)
    layers += m.num_decoder_layers * (2 * attention + feed_forward)
    return t.max_steps * t.batch_tokens * float(layers + m.d_model * config.text.vocab_size)


class Forecast:
    """How long several trainings take together.

    Args:
        efforts: Each training's effort in proportion to the others.
    """

    def __init__(self, efforts: Mapping[Path, float]) -> None:
        self.efforts, self.count = dict(efforts), len(efforts)
        self.total = sum(efforts.values())
        self.started = time.monotonic()

    def after(self, directory: Path) -> str:
        """Count a training as done; return how many are, and how long the others take."""
        del self.efforts[directory]
        rest = sum(self.efforts.values())
        if not rest:
            return f"{self.count} of {self.count}"
        pace = (time.monotonic() - self.started) / (self.total - rest)
        done = self.count - len(self.efforts)
        return f"{done} of {self.count}, {duration_text(pace * rest)} to go"


def duration_text(seconds: float) -> str:
    """Write a time in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} hours"
