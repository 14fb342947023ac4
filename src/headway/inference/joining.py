"""A line's translations, put together from those of its parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.inference.search import Hypothesis
from headway.inference.splitting import join_parts
from headway.text.tokenizer import Tokenizer

LINE_ENDS = re.compile(r"[\n\r]")
Pairs = list[tuple[int, int]]  # (source word, target word)


@dataclass(frozen=True)
class Translation:
    """One translation of a line.

    Attributes:
        text: Raw text.
        score: What the n best are ranked by: log-probability over the length penalty.
        log_probability: Natural logarithm, summed over the tokens.
        tokens: The subwords, of all the line's parts.
        alignment: Pairs (source word, target word), counted from 0 between spaces, by attention;
            None unless asked for.
    """

    text: str
    score: float
    log_probability: float
    tokens: list[str] = field(default_factory=list)
    alignment: Pairs | None = None


def joined(
    tokenizer: Tokenizer,
    parts: list[str],
    found: list[list[Hypothesis]],
    links: Sequence[Sequence[Pairs]] | None,
) -> list[Translation]:
    """Do what `Translator.join` says."""
    translations = []
    named = tokenizer.named_language(parts[0]) if parts else ""
    bare = [part.removeprefix(named) for part in parts]
    for rank, hypotheses in enumerate(zip(*found, strict=False)):
        texts = [tokenizer.decode(h.tokens) for h in hypotheses]
        translations.append(
            Translation(
                # One line in, one line out, whatever bytes the model spells.
                text=" ".join(LINE_ENDS.split(join_parts(bare, texts))).strip(),
                score=sum(h.score for h in hypotheses),
                log_probability=sum(h.log_probability for h in hypotheses),
                tokens=[p for h in hypotheses for p in tokenizer.target_pieces(h.tokens[:-1])],
                alignment=None
                if links is None
                else _whole_line(bare, texts, [of[rank] for of in links], named),
            )
        )
    return translations


def _whole_line(parts: list[str], texts: list[str], links: Sequence[Pairs], named: str) -> Pairs:
    """Number the words of parts as those of the whole line, which begins with ``named``."""
    pairs: Pairs = []
    source_before, target_before = named, ""
    for at, (part, text) in enumerate(zip(parts, texts, strict=True)):
        first_source = _words_before(source_before, part)
        first_target = _words_before(target_before, text)
        pairs += [(s + first_source, t + first_target) for s, t in links[at]]
        source_before += part
        target_before = join_parts(parts[at : at + 2], [target_before + text, ""])
    return pairs


def _words_before(before: str, text: str) -> int:
    """Count the words before ``text``; one that a cut has split goes on in it."""
    split = before and not before[-1].isspace() and not text[:1].isspace()
    return len(before.split()) - bool(split)
