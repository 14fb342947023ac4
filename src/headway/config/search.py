"""The settings of the search."""

from dataclasses import dataclass
from typing import Literal

from headway.config.declaration import (
    NO_LIMIT,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    SHARE,
    Paper,
    Role,
    at_least,
    at_most,
    in_file_at_most,
    list_wrong_values,
    raise_all,
    setting,
)


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How the search finds translations (paper: section 6.1).

    Attributes:
        beam: hypotheses kept; 1: greedy
        alpha: length penalty ((5 + |Y|) / 6)^alpha; 0: none
        max_extra: longest output: source tokens + this
        n_best: translations of each line, the best first
        sample: sample from the model instead of searching
        temperature: of sampling; below 1: sharper
        top_k: sample among the k likeliest tokens; 0: all
        top_p: sample among the likeliest tokens with this total probability
        epsilon: sample among tokens of at least this probability; 0: all
        seed: seed of sampling
        mbr: choose the candidate that resembles the others most (minimum Bayes risk)
        round_trip: choose the candidate that the same model best translates back; it knows both directions
        candidates: hypotheses, or samples, among which mbr, round_trip or a backward model chooses
        backward_weight: of round_trip or a backward model: weight of log p(source | candidate)
        max_tokens: longer lines are split, at sentence ends if possible, and joined again
        split_sentences: translate each sentence of a line alone; auto: if the training text has single sentences
        keep: keep placeholders, addresses, code, tags, symbols, labels of lists, codes, numbers with units; read capitals as small letters
        batch_tokens: padded source tokens translated at once; a GPU takes 15 times as many
        precision: of matrix products; auto: fp32, bf16 on a GPU
        shortlist: search only among so many target tokens for each source token; 0: all
    """

    beam: int = setting(4, POSITIVE, in_file_at_most(64))
    alpha: float = setting(0.6, NOT_NEGATIVE, at_most(10))
    max_extra: int = setting(50, NOT_NEGATIVE, in_file_at_most(1000))
    n_best: int = setting(1, POSITIVE, in_file_at_most(64), Role.UNCOMPARED)
    sample: bool = False
    temperature: float = setting(1.0, at_least(0.01), Role.UNSAID)
    top_k: int = setting(0, NOT_NEGATIVE)
    top_p: float = setting(1.0, SHARE, Role.UNSAID)
    epsilon: float = setting(0.0, PROBABILITY)
    seed: int = setting(1, NOT_NEGATIVE, Role.UNCOMPARED)
    mbr: bool = False
    round_trip: bool = False
    candidates: int = setting(16, POSITIVE, in_file_at_most(64), Role.UNSAID)
    backward_weight: float = setting(0.25, NOT_NEGATIVE, at_most(10), Role.UNSAID)
    max_tokens: int = setting(200, POSITIVE, in_file_at_most(10_000), Paper(NO_LIMIT))
    split_sentences: Literal["auto", True, False] = setting("auto", Paper(False))
    keep: bool = setting(True, Paper(False))
    batch_tokens: int = setting(2000, POSITIVE, in_file_at_most(100_000), Role.UNCOMPARED)
    precision: Literal["auto", "fp32", "bf16", "fp16", "int8"] = setting(
        "auto", Role.UNSAID, Paper("fp32")
    )
    shortlist: int = setting(0, NOT_NEGATIVE, at_most(100))

    def __post_init__(self) -> None:
        raise_all(list_wrong_values(self))
        problems = []
        wide = self.mbr or self.round_trip  # these follow all candidates
        if self.n_best > max(self.beam, self.candidates * wide) > 0 and not self.sample:
            problems.append(
                f"n_best = {self.n_best} is more than beam = {self.beam}: set beam to {self.n_best} or more"
            )
        if self.mbr and self.round_trip:
            problems.append("mbr and round_trip both choose: use one of them")
        raise_all(problems)
