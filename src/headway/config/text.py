"""The settings of text: cleaning and subwords."""

from dataclasses import dataclass
from typing import Annotated, Literal

from headway.config.setting import (
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    SHARE,
    at_least,
    at_most,
    list_broken_bounds,
    raise_all,
)

Subwords = Literal["bpe", "unigram", "none"]


@dataclass(frozen=True, kw_only=True)
class TextConfig:
    """How raw text becomes subwords, and which training pairs are dropped (paper: section 5.1).

    A cleaning rule is switched off by 0 or false.
    """

    vocab_size: Annotated[
        int, "subwords in a vocabulary, control symbols included", POSITIVE, at_most(300_000)
    ] = 37000
    joint_vocab: Annotated[bool, "one vocabulary for both languages"] = True
    subwords: Annotated[
        Subwords, "algorithm that learns the subwords; none: the text is split already, at spaces"
    ] = "bpe"
    character_coverage: Annotated[
        float,
        "share of characters that are subwords; the others become bytes",
        at_least(0.98),  # as sentencepiece has it
        at_most(1),
    ] = 1.0
    sample_lines: Annotated[
        int, "pairs that subwords are learned from, spread over the text; 0: all", NOT_NEGATIVE
    ] = 1000000
    split_digits: Annotated[bool, "make every digit a subword of its own"] = False
    copies: Annotated[
        int, "times that each training pair is used; from the second on with BPE dropout", POSITIVE
    ] = 1
    merge_dropout: Annotated[
        float, "BPE dropout: probability that a merge is omitted in further copies", PROBABILITY
    ] = 0.1
    max_tokens: Annotated[
        int, "longest side of a training pair in subwords; longer pairs are dropped", POSITIVE
    ] = 256
    drop_unreadable: Annotated[
        bool, "drop lines that are not UTF-8 or no pair; false: stop at the first"
    ] = True
    max_unreadable: Annotated[
        float, "largest share of lines that may be unreadable; above it, preparation stops", SHARE
    ] = 0.1
    drop_empty: Annotated[bool, "drop pairs with an empty side"] = True
    drop_control: Annotated[bool, "drop pairs with control characters"] = True
    max_characters: Annotated[
        int, "longest side of a pair in characters; 0: no limit", NOT_NEGATIVE
    ] = 5000
    compare_sides: Annotated[
        bool,
        "drop pairs by max_ratio, drop_identical and max_copied, as for translations; false: for copies and"
        " summaries",
    ] = True
    max_ratio: Annotated[
        float,
        "longer side / shorter side, each in characters + 10, a Chinese, Japanese or Korean one counted as 3; 0: no"
        " limit",
        NOT_NEGATIVE,
    ] = 3.0
    drop_duplicates: Annotated[bool, "keep only the first of equal pairs"] = True
    drop_identical: Annotated[bool, "drop pairs whose two sides are the same text"] = True
    max_copied: Annotated[
        float,
        "largest share of target words that are also in the source; 0: no limit",
        NOT_NEGATIVE,
    ] = 0.8
    drop_leaks: Annotated[bool, "drop training pairs that are also in the validation set"] = True

    def __post_init__(self) -> None:
        problems = list_broken_bounds(self)
        if self.copies > 1 and self.subwords != "bpe":
            problems.append(f"copies = {self.copies} needs subwords = bpe, which has merges")
        raise_all(problems)
