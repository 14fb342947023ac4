"""Training and scoring one rival, or the Transformer beside it, in a worker process.

All have the same text, batches, trainer and search.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch

from headway import config as settings
from headway.devices import resolve_device
from headway.ext.paper.rivals.rival import Rival
from headway.ext.paper.running.scoring import (
    SEARCH,
    Pairs,
    score_predictions,
    score_text,
    score_translations,
)
from headway.ext.paper.running.trial import Trial, write_trial
from headway.ext.paper.running.trial_run import clock_of, import_named
from headway.model import Transformer, parameter_count
from headway.text import PreparedData, Tokenizer, read_batch, read_lines
from headway.training import (
    Feed,
    Step,
    Trainer,
    seed_generators,
    thread_count,
    with_vocabulary,
)
from headway.translation import StepDecoding, batch_by_length, beam_search, pad_right

# Whole lines as they are, in the precision of the rivals' search.
PLAIN = replace(SEARCH, keep=False, split_sentences=False, precision="fp32")
EXTRA_TOKENS = 50  # beyond the source's length, as in section 6.1
BATCH_TOKENS = 1000  # of a search, with padding
PARTS = 4  # of a step; the sentences of a part have like lengths


def train_rival(directory: Path) -> None:
    """Train and score the model that ``spec.json`` in a directory describes; writes ``trial.json``."""
    spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
    config = settings.from_dict(spec["settings"], where=str(directory))
    data = PreparedData.open(spec["data"])
    config = with_vocabulary(config, data)
    device = resolve_device(config.training.device)
    seed_generators(device, config.training.seed)
    model: Rival | Transformer = import_named(spec["system"])(config.model).to(device)
    # A rival has everything that the trainer uses of a Transformer.
    trainer = Trainer(cast(Transformer, model), config.training)
    feed = PaddedFeed(data, config.training, device)
    tokens, clock = 0, clock_of(device)
    test = [Path(path) for path in spec["test"]]
    with thread_count(config.training.threads):
        started = clock()
        for _ in range(config.training.max_steps):
            report = trainer.step(feed.next())
            tokens += report.tokens
        seconds = clock() - started
        scores = score_rival(model.eval(), data, config, test)
    write_trial(
        Trial(
            spec["name"], config.training.seed, directory / "model", parameter_count(model),
            config.training.max_steps, (), scores, tokens / seconds, seconds, config,
        )
    )  # fmt: skip


class PaddedFeed(Feed):
    """Reads the same pairs in each step as `Feed` does, of mixed lengths, and pads them.

    In the built-in corpus the length of a sentence depends on its kind. In steps of like lengths, which hold a few
    kinds each, the Transformer learns next to nothing (25 instead of 87 BLEU). The sentences of a step are in several
    batches of like lengths, because the time of some rivals grows with the square of the longest.
    """

    def next(self) -> Step:
        """Return the data of the next step, and move on."""
        step = super().next()
        rows = np.concatenate([batch.pair_indices for batch in step.batches])
        corpus, tokenizer = self.data.train, self.data.tokenizer
        pads = tokenizer.source_pad, tokenizer.target_pad
        lengths = np.maximum(*(corpus.lengths_at(side, rows) for side in ("source", "target")))
        groups = batch_by_length(lengths.tolist(), self.config.batch_tokens // PARTS)
        batches = [
            read_batch(corpus, rows[group], *pads, packed=False).to(self.device) for group in groups
        ]
        return replace(step, batches=batches, count=len(batches))


def score_rival(
    model: Rival | Transformer, data: PreparedData, config: settings.Config, test: list[Path]
) -> dict[str, float]:
    """Return perplexity, accuracy, confidence and BLEU, as `Bitext.score` does, but with one search for all systems."""
    pairs: Pairs = tuple(zip(*(read_lines(path) for path in test), strict=True))
    scores = score_predictions(cast(Transformer, model), data.tokenizer, pairs)
    if isinstance(model, Transformer):
        bleu = score_translations(model, data.tokenizer, pairs, data.languages, PLAIN)
    else:
        translations = translate(model, data.tokenizer, [source for source, _ in pairs])
        bleu = score_text(translations, pairs, data.languages[1])
    return {**scores, "bleu": bleu}


@torch.inference_mode()
def translate(model: Rival, tokenizer: Tokenizer, texts: list[str]) -> list[str]:
    """Translate short texts by the beam search of Table 3's scores.

    Args:
        model: In evaluation mode.
        tokenizer: Of its training.
        texts: Each is one segment.
    """
    device = next(model.parameters()).device
    sources = tokenizer.encode_source(texts)
    translations = [""] * len(texts)
    for rows in batch_by_length([len(source) for source in sources], BATCH_TOKENS):
        ids, segments = pad_right([sources[row] for row in rows], tokenizer.source_pad)
        state = model.start(ids.to(device), segments.to(device)).repeat(SEARCH.beam)
        found = beam_search(
            StepDecoding(model.step, state, tokenizer.target_pad, device),
            [len(sources[row]) + EXTRA_TOKENS for row in rows],
            beam=SEARCH.beam,
            alpha=SEARCH.alpha,
            eos=tokenizer.eos,
            pad=tokenizer.target_pad,
        )
        for row, hypotheses in zip(rows, found, strict=True):
            translations[row] = tokenizer.decode(hypotheses[0].tokens)
    return translations
