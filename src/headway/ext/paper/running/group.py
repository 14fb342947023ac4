"""The trials of a comparison that differ in their seed alone, and their scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headway.ext.paper.results import Cell, Table
from headway.ext.paper.running.trial import Trial
from headway.ext.paper.verdicts import interval_text, percent_text, perplexity_text


@dataclass(frozen=True)
class TrialGroup:
    """The trials that differ in their seed alone, in the order of the seeds."""

    trials: tuple[Trial, ...]

    def values(self, score: str) -> list[float]:
        """Return one score of each trial."""
        return [trial.scores[score] for trial in self.trials]

    @property
    def bleu(self) -> list[float]:
        """The BLEU of each trial."""
        return self.values("bleu")

    @property
    def perplexity(self) -> list[float]:
        """The perplexity of each trial."""
        return self.values("perplexity")

    def cell(self, column: str) -> Cell:
        """Return what a table has of the trials in a column: scores have their intervals."""
        match column:
            case "BLEU":
                return percent_text(self.bleu)
            case "perplexity":
                return perplexity_text(self.perplexity)
            case "last training loss, nats":
                return interval_text(self.final_loss, 3, least=0)
            case "tokens/s":
                return round(self.tokens_per_second)
            case "seconds":
                return round(self.seconds)
            case "parameters":
                return self.parameters
        raise ValueError(f"{column}: no column of trainings")

    @property
    def final_loss(self) -> list[float]:
        """The training loss of each trial at its end, in nats a token."""
        return [trial.loss[-1][1] for trial in self.trials]

    @property
    def optimizer(self) -> str:
        """The method that has trained them, the same for all."""
        return self.trials[0].config.training.optimizer.capitalize()

    @property
    def parameters(self) -> int:
        """The count of trained numbers, the same for all."""
        return self.trials[0].parameters

    @property
    def seconds(self) -> float:
        """The mean time of training."""
        return sum(trial.seconds for trial in self.trials) / len(self.trials)

    @property
    def time_name(self) -> str:
        """What the seconds are, the same for all."""
        return self.trials[0].time_name

    @property
    def tokens_per_second(self) -> float:
        """The mean speed of training."""
        return sum(trial.tokens_per_second for trial in self.trials) / len(self.trials)

    def less(self, base: "TrialGroup", score: str = "bleu") -> list[float]:
        """Return for each seed this group's score less the base's."""
        return [a - b for a, b in zip(self.values(score), base.values(score), strict=True)]

    def nats_less(self, base: "TrialGroup") -> list[float]:
        """Return for each seed the logarithm of this group's perplexity less that of the base's, in nats."""
        pairs = zip(self.perplexity, base.perplexity, strict=True)
        return [math.log(ours / theirs) for ours, theirs in pairs]


def score_table(
    title: str,
    what: str,
    columns: Sequence[str],
    groups: Mapping[str, TrialGroup],
    note: str = "",
) -> Table:
    """Return a table with a row for each training, and what `TrialGroup.cell` says of it in each column.

    Args:
        title: Of the table.
        what: The heading of the names.
        columns: The other headings.
        groups: Trainings by their names.
        note: Below the table.
    """
    rows = ((name, *map(group.cell, columns)) for name, group in groups.items())
    return Table(title, (what, *columns), tuple(rows), note)
