"""One head averages, several need not: a task with two targets, and the heads of trained translators.

Shapes: B batch, H heads, T queries, S keys, L layers, D d_model. Paper: sections 2 and 3.2.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial import Trial
from headway.ext.paper.trends import trend_claim
from headway.ext.paper.verdicts import LearnedScores, interval_text, percent_text
from headway.ext.pictures import sentence_maps
from headway.model import MultiHeadAttention

SYMBOLS, PLACES, WIDTH = 16, 8, 32
STEPS = 600
SENTENCES = 40  # whose attention is measured


@dataclass(frozen=True)
class TargetScores:
    """How a layer of attention did on the task of two targets.

    Attributes:
        right: Share of the targets that were named.
        keys: e to the entropy of a head's weights, the mean over heads: how many keys a head uses.
    """

    right: float
    keys: float


class TwoTargets(nn.Module):
    """Attention and a linear map that names the symbols before and after each position.

    Nothing nonlinear follows attention, so that two averaged values stay averaged.

    Args:
        heads: H, of width D / H each.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        width = WIDTH // heads
        self.attention = MultiHeadAttention(WIDTH, heads, width, width)
        self.names = nn.Linear(WIDTH, 2 * SYMBOLS)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Return logits for both targets, [B, T, 2, symbols]."""
        return self.names(self.attention(x_BTD, x_BTD)).unflatten(-1, (2, SYMBOLS))

    def weights(self, x_BTD: Tensor) -> Tensor:
        """Return the attention weights, [B, H, T, S]."""
        q, k, _ = self.attention.project_self(x_BTD)
        return self.attention.core.weights(q, k)


def draw_symbols(batch: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw symbols in a ring: inputs [B, T, D], one-hot symbol and place, and targets [B, T, 2]."""
    symbols_BT = torch.randint(SYMBOLS, (batch, PLACES), generator=random)
    places_BTP = torch.eye(PLACES).expand(batch, -1, -1)
    x_BTD = torch.cat((F.one_hot(symbols_BT, SYMBOLS).float(), places_BTP), -1)
    targets_BT2 = torch.stack((symbols_BT.roll(1, 1), symbols_BT.roll(-1, 1)), -1)
    return F.pad(x_BTD, (0, WIDTH - x_BTD.size(-1))), targets_BT2


def train_two_targets(heads: int, seed: int, steps: int) -> TargetScores:
    """Train a layer of so many heads on the task, and score it on new rings."""
    torch.manual_seed(seed)
    random = torch.Generator().manual_seed(seed)
    layer = TwoTargets(heads)
    optimizer = torch.optim.Adam(layer.parameters(), lr=1e-2)
    for _ in range(steps):
        x_BTD, targets_BT2 = draw_symbols(64, random)
        loss = F.cross_entropy(layer(x_BTD).flatten(0, 2), targets_BT2.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x_BTD, targets_BT2 = draw_symbols(500, random)
        right = (layer(x_BTD).argmax(-1) == targets_BT2).float().mean()
        entropy = torch.special.entr(layer.weights(x_BTD)).sum(-1).mean()
    return TargetScores(float(right), float(entropy.exp()))


def compare_two_targets(work: Study) -> tuple[Table, Claim]:
    """Compare one head of full width with two of half of it and four of a quarter."""
    found = {h: [train_two_targets(h, seed, STEPS) for seed in work.seeds] for h in (1, 2, 4)}
    rows = tuple(
        (
            heads,
            percent_text([100 * scores.right for scores in group], 1),
            interval_text([scores.keys for scores in group]),
        )
        for heads, group in found.items()
    )
    gaps = [100 * (two.right - one.right) for one, two in zip(found[1], found[2], strict=True)]
    limit = 50 * (1 + 1 / SYMBOLS)
    table = Table(
        "Naming the symbols before and after: one layer of attention, then a linear map",
        ("heads", "right, %", "keys a head uses"),
        rows,
        f"The width is {WIDTH} in all. A head that uses one of the two keys, or gives both the same"
        f" weight, can name {limit:.1f} %; uneven weights allow a little more.",
    )
    claim = trend_claim(
        "Averaging keeps a single head from attending to several positions at once; several heads"
        " can.",
        "no number",
        "two heads less one of full width: {} % of the symbols",
        gaps,
        digits=1,
        learned=None,
        optimizer="Adam",
        section="3.2.2",
    )
    return table, claim


def mean_entropy(trial: Trial, work: Study) -> float:
    """Return the mean entropy of the encoder-decoder heads, in nats."""
    translator = trial.translator()
    total = torch.zeros(())
    pairs = work.corpus.test[:SENTENCES]
    for source, target in pairs:
        weights = sentence_maps(translator, source, target).maps["cross"].weights
        total = total + torch.special.entr(torch.from_numpy(weights)).sum(-1).mean(-1)
    return float(total.mean()) / len(pairs)


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training with one head and one with many, of the same width in all."""
    base = work.base
    return [
        PlannedTrial(str(heads), replace(base, model=replace(base.model, num_heads=heads)))
        for heads in (1, base.model.num_heads)
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the heads of translators with one head and with many."""
    names = "1", str(work.base.model.num_heads)
    found = {name: [mean_entropy(trial, work) for trial in groups[name].trials] for name in names}
    table = Table(
        "Entropy of the encoder-decoder heads of trained translators, in nats",
        ("heads", "BLEU", "mean entropy"),
        tuple(
            (name, percent_text(groups[name].bleu), interval_text(entropies))
            for name, entropies in found.items()
        ),
        f"{work.seeds_note} All have the same width in all.",
    )
    one_head, many_heads = found.values()
    claim = trend_claim(
        "A single head has a lower effective resolution.",
        "no number",
        f"entropy of 1 head less the mean of {names[1]}: {{}} nats",
        [one - many for one, many in zip(one_head, many_heads, strict=True)],
        learned=LearnedScores(work.gate, tuple(groups[name].bleu for name in names)),
        optimizer=groups["1"].optimizer,
        why="paired by seed; the sharpest of many heads would be sharper by chance, too",
        section="2",
    )
    return [table, claim]
