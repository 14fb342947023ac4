"""How long trainings take: said before they begin, and better with each that ends."""

import time
from collections.abc import Mapping
from pathlib import Path

from headway.config import Config


def effort(config: Config) -> float:
    """Return the multiplications of a training, about: longer ones have more.

    Additive attention counts what it holds: n · d_k values a head and token, with n of some 20 tokens.
    What they cost beside a multiplication was measured on one processor.
    """
    m, t = config.model, config.training
    d_k, d_v = m.head_widths
    attention = 2 * m.d_model * m.num_heads * (d_k + d_v)
    if m.compatibility == "additive":
        attention += 70 * 20 * m.num_heads * d_k
    feed_forward = 2 * m.d_model * m.d_ff
    layers = m.num_encoder_layers * (attention + feed_forward)
    layers += m.num_decoder_layers * (2 * attention + feed_forward)
    return t.max_steps * t.batch_tokens * float(layers + m.d_model * config.text.vocab_size)


class Forecast:
    """How long several trainings take together.

    Args:
        efforts: What each takes, beside the others.
        seconds: What all would take one by one, as a guess.
        processes: That work at once.
    """

    def __init__(self, efforts: Mapping[Path, float], seconds: float, processes: int) -> None:
        self.efforts, self.count = dict(efforts), len(efforts)
        self.total = sum(efforts.values())
        self.guess = seconds / max(1, min(processes, self.count))
        self.started = time.monotonic()

    def first(self) -> str:
        """Say how many trainings there are, and how long they take by the guess."""
        return f"{self.count} trainings, about {in_words(self.guess)}"

    def after(self, place: Path) -> str:
        """Say how many are done with this one, and how long the others take at the pace so far."""
        del self.efforts[place]
        rest = sum(self.efforts.values())
        if not rest:
            return f"{self.count} of {self.count}"
        pace = (time.monotonic() - self.started) / (self.total - rest)
        return f"{self.count - len(self.efforts)} of {self.count}, {in_words(pace * rest)} to go"


def in_words(seconds: float) -> str:
    """Say a time in minutes, or in hours where they are many."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} hours"
