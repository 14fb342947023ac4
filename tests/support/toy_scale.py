"""Experiments of the paper at a size at which nothing is learned: they take seconds."""

from dataclasses import replace

from headway.ext.paper.experiments import (
    arguments,
    arguments_heads,
    classification,
    feed_forward,
    figures3to5,
    positions,
    rivals_stories,
    scaling,
    table1,
    table4,
)
from headway.ext.paper.running.scales import SCALES, SMALL, Scale, as_published
from headway.ext.paper.verdicts import Gate

TOY = replace(
    SMALL,
    text=replace(SMALL.text, vocab_size=400),
    training=replace(
        SMALL.training, max_steps=3, cool_steps=2, batch_tokens=300, micro_batch_tokens=300, warmup_steps=8,
        checkpoint_every=1,
    ),
)  # fmt: skip
# Beside those of `headway reproduce`, whose choices do not change.
SCALES["toy"] = Scale(TOY, as_published(TOY, 3, 8, 1.0), Gate(50.0), built_in=(300, 6))
SIZES: dict[object, dict[str, object]] = {
    arguments: {"ATTENTION": (32, 10), "SEPARABLE": (8, 16)},
    arguments_heads: {"STEPS": 20, "SENTENCES": 2},
    classification: {
        "TEXTS": (200, 200),
        "SMALL": replace(
            classification.SMALL,
            text=replace(classification.SMALL.text, vocab_size=400),
            training=replace(
                classification.SMALL.training, max_steps=3, warmup_steps=1,
                batch_tokens=300, micro_batch_tokens=300,
            ),
        ),
    },
    feed_forward: {"SIZES": (16, 64, 13)},
    figures3to5: {"MOST_SENTENCES": 4, "LEAST_SENTENCES": 1, "PAIRS": 8000},
    positions: {"TABLE": (16, 64)},
    rivals_stories: {"EPOCHS": 2, "QUESTIONS": 64},
    scaling: {"MEASURED": (1, 16, 64), "QUERIES": 500, "TIMED": (4, 16), "POSITIONS": 16},
    table1: {"LONG": (320, 640), "SHORT": (16, 32), "WIDTHS": (64, 128), "PATHS": (7, 26), "CROSSING": 64},
    table4: {
        "SENTENCES": 90, "WORDS": 340,
        "SMALL": replace(
            table4.SMALL,
            training=replace(
                table4.SMALL.training, max_steps=3, warmup_steps=1, cool_steps=1,
                batch_tokens=300, micro_batch_tokens=300,
            ),
            search=replace(table4.SMALL.search, beam=2, max_extra=5),
        ),
    },
}  # fmt: skip


def make_sizes_small(monkeypatch):
    """Let experiments count, time and train toys, until a test ends."""
    for module, sizes in SIZES.items():
        for name, value in sizes.items():
            monkeypatch.setattr(module, name, value)
