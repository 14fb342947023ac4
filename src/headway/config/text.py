"""The settings of text: cleaning and subwords."""

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
    list_wrong_values,
    raise_all,
    setting,
    with_role,
)

Subwords = Literal["bpe", "unigram", "none"]


@dataclass(frozen=True, kw_only=True)
class TextConfig:
    """How raw text becomes subwords, and which training pairs are dropped (paper: section 5.1).

    A cleaning rule is switched off by 0 or false.

    Attributes:
        vocab_size: subwords in a vocabulary, control symbols included
        joint_vocab: one vocabulary for both languages
        subwords: algorithm that learns the subwords; none: the text is split already, at spaces
        character_coverage: share of characters that are subwords; the others become bytes
        sample_lines: pairs that subwords are learned from, spread over the text; 0: all
        split_digits: make every digit a subword of its own
        copies: times that each training pair is used; from the second on with BPE dropout
        merge_dropout: BPE dropout: probability that a merge is omitted in further copies
        max_tokens: longest side of a training pair in subwords; longer pairs are dropped
        drop_unreadable: drop lines that are not UTF-8 or no pair; false: stop at the first
        max_unreadable: largest share of lines that may be unreadable; above it, preparation stops
        drop_empty: drop pairs with an empty side
        drop_control: drop pairs with control characters
        max_characters: longest side of a pair in characters; 0: no limit
        compare_sides: drop pairs by max_ratio, drop_identical and max_copied, as for translations; false: for copies and summaries
        max_ratio: longer side / shorter side, each in characters + 10, a Chinese, Japanese or Korean one counted as 3; 0: no limit
        drop_duplicates: keep only the first of equal pairs
        drop_identical: drop pairs whose two sides are the same text
        max_copied: largest share of target words that are also in the source; 0: no limit
        drop_leaks: drop training pairs that are also in the validation set
    """

    vocab_size: int = setting(37000, POSITIVE, at_most(300_000), Role.VOCABULARY, Role.ANY_TEXT)
    joint_vocab: bool = setting(True, Role.VOCABULARY)
    subwords: Subwords = setting("bpe", Role.VOCABULARY, Role.ANY_TEXT)
    character_coverage: float = setting(
        1.0, at_least(0.98), at_most(1), Role.VOCABULARY, Role.ANY_TEXT, Role.UNSAID
    )
    sample_lines: int = setting(1000000, NOT_NEGATIVE, Role.ANY_TEXT, Paper(0))
    split_digits: bool = setting(False, Role.VOCABULARY, Role.ANY_TEXT)
    copies: int = setting(1, POSITIVE, Role.UNSAID)
    merge_dropout: float = setting(0.1, PROBABILITY, Role.UNSAID)
    max_tokens: int = setting(256, POSITIVE, Role.ANY_TEXT, Paper(NO_LIMIT))
    drop_unreadable: bool = setting(True, Paper(False))
    max_unreadable: float = setting(0.1, SHARE, Role.UNCOMPARED)
    drop_empty: bool = setting(True, Paper(False))
    drop_control: bool = setting(True, Paper(False))
    max_characters: int = setting(5000, NOT_NEGATIVE, Paper(0))
    compare_sides: bool = setting(True, Role.UNCOMPARED)
    max_ratio: float = setting(3.0, NOT_NEGATIVE, Paper(0.0))
    drop_duplicates: bool = setting(True, Paper(False))
    drop_identical: bool = setting(True, Paper(False))
    max_copied: float = setting(0.8, NOT_NEGATIVE, Paper(0.0))
    drop_leaks: bool = setting(True, Paper(False))

    def __post_init__(self) -> None:
        raise_all(list_wrong_values(self))
        problems = []
        if self.copies > 1 and self.subwords != "bpe":
            problems.append(f"copies = {self.copies} needs subwords = bpe, which has merges")
        raise_all(problems)

    @classmethod
    def of_any_text(cls) -> list[str]:
        """Return the names of the settings that have an effect on text that is not parallel, too."""
        return sorted(with_role(cls, Role.ANY_TEXT))
