"""Why embeddings are multiplied by sqrt(d_model): the sizes of what is added (paper: section 3.4)."""

from dataclasses import replace

import torch

from headway.model import Transformer
from headway.paper.results import Claim, Table, say
from headway.paper.running.work import Job, Work


def sizes_of(model: Transformer) -> tuple[float, float, float]:
    """Return root mean squares: embedding rows as they are, as they are fed, positions' rows."""
    embedding = model.source_embedding
    rows = embedding.weight.detach()[:-1]  # <pad> is zero
    root = float(rows.square().mean().sqrt())
    table = model.source_positions.table
    return root, root * embedding.scale, float(table.square().mean().sqrt())


def jobs(work: Work) -> list[Job]:
    """Return a training with the factor and one without."""
    return [
        Job(name, replace(work.base, model=replace(work.base.model, scale_embeddings=scaled)))
        for name, scaled in (("times sqrt(d_model)", True), ("as they are", False))
    ]


def embedding_sizes(work: Work) -> tuple[Table, Claim]:
    """Measure what is added, before and after training, with and without sqrt(d_model)."""
    rows, ratios = [], []
    groups = work.by_seed(jobs(work))
    for job in jobs(work):
        trials = groups[job.name]
        size = trials[0].model.config.source_vocab_size
        torch.manual_seed(work.seed)
        model = replace(job.config.model, source_vocab_size=size, target_vocab_size=size)
        first = sizes_of(Transformer(model))
        found = [sizes_of(trial.model) for trial in trials]
        rows.append((job.name, "at first", *(f"{value:.3f}" for value in first), ""))
        rows.append((job.name, "trained", *(say([f[i] for f in found], 3) for i in range(3)),
                     say([t.bleu for t in trials])))  # fmt: skip
        ratios.append(first[1] / first[2])
    table = Table(
        "Root mean square of a component",
        ("embeddings are fed", "when", "stored", "fed", "position", "BLEU"),
        tuple(rows),
        "The matrix is the softmax's too, so it is drawn small; rows are drawn with d_model^-0.5.",
    )
    claim = Claim(
        "Embeddings are multiplied by sqrt(d_model).",
        "no reason given",
        f"fed embedding over position at first: {ratios[0]:.2f} with, {ratios[1]:.2f} without",
        "shown" if 0.5 < ratios[0] < 2 and ratios[1] < ratios[0] / 2 else "does not",
        "with it both are of a size; without it positions drown the words until training has grown"
        " the matrix",
        "3.4",
    )
    return table, claim
