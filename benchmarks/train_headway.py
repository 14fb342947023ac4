"""Train with Headway: ``Trainer.step`` on the same batches as the other sides."""

import tempfile
from collections.abc import Iterator

import numpy as np
import torch
from shapes import make_config
from worker import Facts, Ids, TrainingTask, Work, serve, training_work

from headway.model import Transformer, parameter_count
from headway.text.batches import Batch, read_batch
from headway.text.shards import Corpus
from headway.training.machine import Machine, configure_process
from headway.training.steps.trainer import Trainer


def start(task: TrainingTask) -> tuple[Work, Facts]:
    """Build model and trainer as a training run does."""
    config = make_config(task)
    machine = Machine(device="cpu", precision=task["precision"], threads=task["threads"])
    device = machine.torch_device
    torch.manual_seed(1)
    model = Transformer(config.model).to(device)
    trainer = Trainer(model, config.training, machine.precision)
    configure_process(machine.threads)
    pad = task["vocab_size"] - 1

    def ready(source: list[Ids], target: list[Ids]) -> Batch:
        with tempfile.TemporaryDirectory() as directory:
            corpus = Corpus.write(f"{directory}/pairs", pairs(source, target), task["vocab_size"])
            return read_batch(corpus, np.arange(len(source)), pad, pad).to(device)

    def step(batch: Batch) -> float:
        return trainer.step([batch]).loss

    facts: Facts = {"parameters": parameter_count(model), "torch": torch.__version__}
    return training_work(task, ready, step), facts


def pairs(source: list[Ids], target: list[Ids]) -> Iterator[tuple[Ids, Ids]]:
    """Return the sentence pairs of a batch."""
    return zip(source, target, strict=True)


if __name__ == "__main__":
    serve(start)
