"""Training and scoring the self-attentive classifier, in a worker process.

It reads the batches that a Transformer reads, with its optimizer and learning rate, and adds the penalty to
its loss.
"""

import json
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from headway import config as settings
from headway.config import Config
from headway.ext.kinds import LabelTokenizer, read_examples
from headway.ext.paper.rivals.self_attentive import PENALTY, SelfAttentiveClassifier
from headway.ext.paper.running.trial import Trial, write_trial
from headway.model import parameter_count
from headway.text import PreparedData
from headway.training import (
    Feed,
    learning_rate,
    make_optimizers,
    seed_generators,
    thread_count,
    with_vocabulary,
)
from headway.translation import padded_batches

CPU = torch.device("cpu")
BATCH_TOKENS = 4000  # of a prediction, with padding


def train_classifier(directory: Path) -> None:
    """Train and score the classifier that ``spec.json`` in a directory describes; writes ``trial.json``."""
    spec = json.loads((directory / "spec.json").read_text(encoding="utf-8"))
    config = settings.from_dict(spec["settings"], where=str(directory))
    data = PreparedData.open(spec["data"])
    test = [Path(path) for path in spec["test"]]
    assert isinstance(data.tokenizer, LabelTokenizer)
    seed_generators(CPU, config.training.seed)
    config = with_vocabulary(config, data)
    sentences = len(next(read_examples(test)).parts)
    model = SelfAttentiveClassifier(config.model, len(data.tokenizer.labels), sentences)
    with thread_count(config.training.threads):
        started = time.process_time()
        texts = train(model, config, Feed(data, config.training, CPU))
        seconds = time.process_time() - started
        right = count_right(model.eval(), data.tokenizer, test)
    write_trial(
        Trial(
            spec["name"], config.training.seed, directory / "model", parameter_count(model),
            config.training.max_steps, (), {"right": right}, texts / seconds, seconds, config,
        )
    )  # fmt: skip


def train(model: SelfAttentiveClassifier, config: Config, feed: Feed) -> int:
    """Train a model in place; returns the number of texts."""
    regime = config.training
    (optimizer,) = make_optimizers(dict(model.named_parameters()), regime, low_precision=False)
    texts = 0
    for step in range(1, regime.max_steps + 1):
        data = feed.next()
        for batch in data.batches:
            scores_NC, penalties_N = model(batch.source, batch.source_segments)
            labels_N = batch.target[batch.target_segments != 0]
            entropy = F.cross_entropy(scores_NC, labels_N, reduction="sum")
            ((entropy + PENALTY * penalties_N.sum()) / data.target_tokens).backward()
        rate = learning_rate(
            step,
            d_model=config.model.d_model,
            warmup_steps=regime.warmup_steps,
            scale=regime.rate_scale,
        )
        optimizer.step(rate)
        model.zero_grad()
        texts += data.target_tokens
    return texts


@torch.inference_mode()
def count_right(
    model: SelfAttentiveClassifier, tokenizer: LabelTokenizer, test: list[Path]
) -> float:
    """Return the share of right labels in percent."""
    examples = list(read_examples(test))
    ids = [tokenizer.encode_parts(example.parts) for example in examples]
    right = 0
    for rows, text, segments in padded_batches(ids, BATCH_TOKENS, tokenizer.source_pad, CPU):
        scores_NC, _ = model(text, segments)
        for row, label in zip(rows, scores_NC.argmax(1).tolist(), strict=True):
            right += tokenizer.labels[label] == examples[row].label
    return 100 * right / len(examples)
