"""The settings of a training run."""

from dataclasses import dataclass
from typing import Annotated, Literal

from headway.config.setting import (
    AT_LEAST_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    list_broken_bounds,
    raise_all,
)


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The training regime (paper: section 5)."""

    max_steps: Annotated[int, "optimizer steps of the whole run", POSITIVE] = 100000
    batch_tokens: Annotated[
        int, "largest number of source tokens, and of target tokens, in a step", POSITIVE
    ] = 25000
    micro_batch_tokens: Annotated[
        int, "the same of a micro-batch; ranks share the micro-batches of a step", POSITIVE
    ] = 3125
    packed: Annotated[
        bool, "mix lengths, without padding; the paper batches sentences of similar length"
    ] = False
    rate_scale: Annotated[float, "multiplies equation 3's learning rate", POSITIVE] = 1.0
    warmup_steps: Annotated[int, "steps of linear warm-up", POSITIVE] = 4000
    decay: Annotated[
        Literal["inverse-sqrt", "none"],
        "how the rate falls after the warm-up; none: only in the last cool_steps",
    ] = "inverse-sqrt"
    cool_steps: Annotated[
        int, "last steps, in which the rate also falls linearly to 0; paper: none", NOT_NEGATIVE
    ] = 0
    zero_outputs: Annotated[
        bool, "each sub-layer adds nothing at first: its last matrix starts at zero"
    ] = False
    optimizer: Annotated[
        Literal["adam", "muon"], "muon: for hidden matrices, Adam for the rest; paper: adam"
    ] = "adam"
    muon_momentum: Annotated[float, "Muon's momentum", PROBABILITY] = 0.95
    muon_weight_decay: Annotated[
        float,
        "Muon's weight decay: share of a weight, times the rate, that a step takes away",
        NOT_NEGATIVE,
    ] = 0.0
    adam_beta1: Annotated[float, "Adam's beta1", PROBABILITY] = 0.9
    adam_beta2: Annotated[float, "Adam's beta2", PROBABILITY] = 0.98
    adam_epsilon: Annotated[float, "Adam's epsilon", POSITIVE] = 1e-9
    clip_norm: Annotated[float, "largest gradient norm; 0, the paper's: no limit", NOT_NEGATIVE] = (
        0.0
    )
    label_smoothing: Annotated[
        float, "epsilon_ls, spread evenly over the whole vocabulary", PROBABILITY
    ] = 0.1
    agreement: Annotated[
        float,
        "alpha of R-Drop: two passes over a batch must agree; twice the time; 0: off",
        NOT_NEGATIVE,
    ] = 0.0
    cut: Annotated[
        float,
        "share of tokens that the second of the two passes does not see (SimCut); 0: off",
        PROBABILITY,
    ] = 0.0
    group_temperature: Annotated[
        float,
        "of the groups of a model of several languages: above 1, small groups are repeated; 1: as they are",
        AT_LEAST_ONE,
    ] = 1.0
    validate_every: Annotated[int, "steps between validations", POSITIVE] = 1500
    checkpoint_every: Annotated[int, "steps between checkpoints (paper: 10 minutes)", POSITIVE] = (
        1500
    )
    average: Annotated[
        int, "number of last checkpoints that are kept and averaged; 1: no average", POSITIVE
    ] = 5
    patience: Annotated[
        int, "stop after so many validations without a better one; 0: never", NOT_NEGATIVE
    ] = 0
    validation_beam: Annotated[int, "beam of validation translations; 1: greedy", POSITIVE] = 1
    validation_sentences: Annotated[
        int, "validation pairs that are translated for BLEU; 0: all", NOT_NEGATIVE
    ] = 1000
    seed: Annotated[int, "seed of initial weights, batch order and dropout", NOT_NEGATIVE] = 1
    precision: Annotated[
        Literal["auto", "bf16", "fp32"], "of matrix products; auto: bf16 if it is fast here"
    ] = "auto"
    device: Annotated[str, "auto, cpu, cuda or cuda:N"] = "auto"
    threads: Annotated[
        int, "processor threads of all ranks on a machine; 0: all cores", NOT_NEGATIVE
    ] = 0
    max_failures: Annotated[
        int, "non-finite steps in a row after which a run returns to a checkpoint", POSITIVE
    ] = 5
    tensorboard: Annotated[bool, "also write TensorBoard events"] = False
    shard: Annotated[
        bool, "divide weights, gradients and Adam's state between the ranks, to save memory"
    ] = False

    @property
    def micro_batches_per_step(self) -> int:
        """How many micro-batches a step has; only the last step of an epoch may have fewer."""
        return -(-self.batch_tokens // self.micro_batch_tokens)

    def __post_init__(self) -> None:
        problems = list_broken_bounds(self)
        if self.cut and not self.agreement:
            problems.append(f"cut = {self.cut} needs agreement, whose second pass it changes")
        if self.shard and self.optimizer == "muon":
            problems.append("shard = true needs optimizer = adam: Muon needs whole matrices")
        raise_all(problems)
