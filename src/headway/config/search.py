"""The settings of the search."""

from dataclasses import dataclass
from typing import Annotated, Literal

from headway.config.setting import (
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    SHARE,
    at_least,
    at_most,
    in_file_at_most,
    list_broken_bounds,
    raise_all,
)


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How the search finds translations (paper: section 6.1)."""

    beam: Annotated[int, "hypotheses kept; 1: greedy", POSITIVE, in_file_at_most(64)] = 4
    alpha: Annotated[
        float, "length penalty ((5 + |Y|) / 6)^alpha; 0: none", NOT_NEGATIVE, at_most(10)
    ] = 0.6
    max_extra: Annotated[
        int, "longest output: source tokens + this", NOT_NEGATIVE, in_file_at_most(1000)
    ] = 50
    n_best: Annotated[
        int, "translations of each line, the best first", POSITIVE, in_file_at_most(64)
    ] = 1
    sample: Annotated[bool, "sample from the model instead of searching"] = False
    temperature: Annotated[float, "of sampling; below 1: sharper", at_least(0.01)] = 1.0
    top_k: Annotated[int, "sample among the k likeliest tokens; 0: all", NOT_NEGATIVE] = 0
    top_p: Annotated[
        float, "sample among the likeliest tokens with this total probability", SHARE
    ] = 1.0
    epsilon: Annotated[
        float, "sample among tokens of at least this probability; 0: all", PROBABILITY
    ] = 0.0
    seed: Annotated[int, "seed of sampling", NOT_NEGATIVE] = 1
    mbr: Annotated[
        bool, "choose the candidate that resembles the others most (minimum Bayes risk)"
    ] = False
    round_trip: Annotated[
        bool,
        "choose the candidate that the same model best translates back; it knows both directions",
    ] = False
    candidates: Annotated[
        int,
        "hypotheses, or samples, among which mbr, round_trip or a backward model chooses",
        POSITIVE,
        in_file_at_most(64),
    ] = 16
    backward_weight: Annotated[
        float,
        "of round_trip or a backward model: weight of log p(source | candidate)",
        NOT_NEGATIVE,
        at_most(10),
    ] = 0.25
    max_tokens: Annotated[
        int,
        "longer lines are split, at sentence ends if possible, and joined again",
        POSITIVE,
        in_file_at_most(10_000),
    ] = 200
    split_sentences: Annotated[
        Literal["auto", True, False],
        "translate each sentence of a line alone; auto: if the training text has single sentences",
    ] = "auto"
    keep: Annotated[
        bool,
        "keep placeholders, addresses, code, tags, symbols, labels of lists, codes, numbers with units; read capitals as small letters",
    ] = True
    batch_tokens: Annotated[
        int,
        "padded source tokens translated at once; a GPU takes 15 times as many",
        POSITIVE,
        in_file_at_most(100_000),
    ] = 2000
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16", "int8"],
        "of matrix products; auto: fp32, bf16 on a GPU",
    ] = "auto"
    shortlist: Annotated[
        int,
        "search only among so many target tokens for each source token; 0: all",
        NOT_NEGATIVE,
        at_most(100),
    ] = 0

    def __post_init__(self) -> None:
        problems = list_broken_bounds(self)
        wide = self.mbr or self.round_trip  # these follow all candidates
        if self.n_best > max(self.beam, self.candidates * wide) > 0 and not self.sample:
            problems.append(
                f"n_best = {self.n_best} is more than beam = {self.beam}: set beam to {self.n_best} or more"
            )
        if self.mbr and self.round_trip:
            problems.append("mbr and round_trip both choose: use one of them")
        raise_all(problems)
