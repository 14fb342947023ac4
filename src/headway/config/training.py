"""The settings of a training run."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from headway.config.declaration import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    Paper,
    Role,
    list_wrong_values,
    raise_all,
    setting,
)

# The settings that another length changes; see `TrainingConfig.of_length`.
LENGTHS = (
    "max_steps", "warmup_steps", "cool_steps", "rate_scale", "validate_every", "checkpoint_every",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The training regime (paper: section 5).

    Attributes:
        max_steps: optimizer steps of the whole run
        batch_tokens: largest number of source tokens, and of target tokens, in a step
        micro_batch_tokens: the same of a micro-batch; ranks share the micro-batches of a step
        packed: mix lengths, without padding; the paper batches sentences of similar length
        rate_scale: multiplies equation 3's learning rate
        warmup_steps: steps of linear warm-up
        decay: how the rate falls after the warm-up; none: only in the last cool_steps
        cool_steps: last steps, in which the rate also falls linearly to 0; paper: none
        zero_outputs: each sub-layer adds nothing at first: its last matrix starts at zero
        optimizer: muon: for hidden matrices, Adam for the rest; paper: adam
        muon_momentum: Muon's momentum
        muon_weight_decay: Muon's weight decay: share of a weight, times the rate, that a step takes away
        adam_beta1: Adam's beta1
        adam_beta2: Adam's beta2
        adam_epsilon: Adam's epsilon
        clip_norm: largest gradient norm; 0, the paper's: no limit
        label_smoothing: epsilon_ls, spread evenly over the whole vocabulary
        agreement: alpha of R-Drop: two passes over a batch must agree; twice the time; 0: off
        cut: share of tokens that the second of the two passes does not see (SimCut); 0: off
        group_temperature: of the groups of a model of several languages: above 1, small groups are repeated; 1: as they are
        validate_every: steps between validations
        checkpoint_every: steps between checkpoints (paper: 10 minutes)
        average: number of last checkpoints that are kept and averaged; 1: no average
        patience: stop after so many validations without a better one; 0: never
        validation_beam: beam of validation translations; 1: greedy
        validation_sentences: validation pairs that are translated for BLEU; 0: all
        seed: seed of initial weights, batch order and dropout
        precision: of matrix products; auto: bf16 if it is fast here
        device: auto, cpu, cuda or cuda:N
        threads: processor threads of all ranks on a machine; 0: all cores
        max_failures: non-finite steps in a row after which a run returns to a checkpoint
        tensorboard: also write TensorBoard events
        shard: divide weights, gradients and Adam's state between the ranks, to save memory
    """

    max_steps: int = setting(100000, POSITIVE, Role.SCHEDULE)
    batch_tokens: int = setting(25000, POSITIVE)
    micro_batch_tokens: int = setting(3125, POSITIVE, Role.UNSAID)
    packed: bool = False
    rate_scale: float = setting(1.0, POSITIVE)
    warmup_steps: int = setting(4000, POSITIVE)
    decay: Literal["inverse-sqrt", "none"] = "inverse-sqrt"
    cool_steps: int = setting(0, NOT_NEGATIVE)
    zero_outputs: bool = False
    optimizer: Literal["adam", "muon"] = "adam"
    muon_momentum: float = setting(0.95, PROBABILITY, Role.UNSAID)
    muon_weight_decay: float = setting(0.0, NOT_NEGATIVE)
    adam_beta1: float = setting(0.9, PROBABILITY)
    adam_beta2: float = setting(0.98, PROBABILITY)
    adam_epsilon: float = setting(1e-9, POSITIVE)
    clip_norm: float = setting(0.0, NOT_NEGATIVE)
    label_smoothing: float = setting(0.1, PROBABILITY)
    agreement: float = setting(0.0, NOT_NEGATIVE)
    cut: float = setting(0.0, PROBABILITY)
    group_temperature: float = setting(1.0, AT_LEAST_ONE, Role.UNSAID)
    validate_every: int = setting(1500, POSITIVE, Role.SCHEDULE, Role.UNCOMPARED)
    checkpoint_every: int = setting(1500, POSITIVE, Role.SCHEDULE, Role.UNSAID)
    average: int = setting(5, POSITIVE, Role.SCHEDULE)
    patience: int = setting(0, NOT_NEGATIVE, Role.SCHEDULE)
    validation_beam: int = setting(1, POSITIVE, Role.UNCOMPARED)
    validation_sentences: int = setting(1000, NOT_NEGATIVE, Role.UNCOMPARED)
    seed: int = setting(1, NOT_NEGATIVE, Role.ANEW, Role.UNCOMPARED)
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", Role.ANEW, Role.UNSAID, Paper("fp32")
    )
    device: str = setting("auto", Role.MACHINE)
    threads: int = setting(0, NOT_NEGATIVE, Role.MACHINE)
    max_failures: int = setting(5, POSITIVE, Role.UNCOMPARED)
    tensorboard: bool = setting(False, Role.MACHINE)
    shard: bool = setting(False, Role.MACHINE)

    @property
    def micro_batches_per_step(self) -> int:
        """How many micro-batches a step has; only the last step of an epoch may have fewer."""
        return -(-self.batch_tokens // self.micro_batch_tokens)

    def of_length(self, steps: int, validate_every: int, checkpoint_every: int) -> "TrainingConfig":
        """Return the same regime in more or fewer steps: warm-up and cooling keep their share of them.

        The highest learning rate stays; in equation 3 it depends on the warm-up.

        Args:
            steps: The steps of the whole run.
            validate_every: Steps between validations.
            checkpoint_every: Steps between checkpoints.
        """
        share = steps / self.max_steps
        warmup = max(1, round(share * self.warmup_steps))
        return replace(
            self,
            max_steps=steps,
            warmup_steps=warmup,
            cool_steps=min(steps, round(share * self.cool_steps)),
            rate_scale=float(f"{self.rate_scale * math.sqrt(warmup / self.warmup_steps):.3g}"),
            validate_every=validate_every,
            checkpoint_every=checkpoint_every,
        )

    def __post_init__(self) -> None:
        raise_all(list_wrong_values(self))
        problems = []
        if self.cut and not self.agreement:
            problems.append(f"cut = {self.cut} needs agreement, whose second pass it changes")
        if self.shard and self.optimizer == "muon":
            problems.append("shard = true needs optimizer = adam: Muon needs whole matrices")
        raise_all(problems)
