"""A text's translation, put together from those of its sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from headway.inference import Hypothesis, Translator
from headway.inference.translation import WordPairs
from headway.serving.cutting import Cut
from headway.serving.passages import Links


@dataclass
class Rendering:
    """A text's translation.

    Attributes:
        text: The best.
        score: What the n best are ranked by, summed over the sentences.
        alternatives: (text, score) of the next best.
        links: Words that belong together; None unless asked for.
    """

    text: str
    score: float = 0.0
    alternatives: list[tuple[str, float]] = field(default_factory=list)
    links: Links | None = None


def compose(
    translator: Translator,
    cut: Cut,
    found: Sequence[list[Hypothesis]],
    links: Sequence[WordPairs] | None,
) -> Rendering:
    """Put a text together from the translations of its parts, best with best.

    Args:
        translator: Who found them.
        cut: The text, taken apart.
        found: For each part its n best.
        links: For each part those of its best; None: not asked for.
    """
    if not found:
        return Rendering(cut.text, links=None if links is None else Links.same(cut.text))
    lines, at = [], 0
    for parts in cut.lines:
        here = slice(at, at + len(parts))
        at += len(parts)
        linked = None if links is None else [[pairs] for pairs in links[here]]
        lines.append(translator.join(parts, list(found[here]), linked))
    versions = []
    for rank in range(max(len(line) for line in lines)):
        # A sentence with fewer versions keeps its last.
        chosen = [line[min(rank, len(line) - 1)] for line in lines]
        texts = [translation.text for translation in chosen]
        joined, starts = cut.passage.join(texts, translator.languages[1])
        versions.append((joined, sum(t.score for t in chosen), starts))
    best, score, begins = versions[0]
    others: dict[str, float] = {}
    for version, value, _ in versions[1:]:
        if version.strip() and version != best:
            others.setdefault(version, value)
    if links is None:
        return Rendering(best, score, list(others.items()))
    whole = Links.between(cut.text, best)
    for core, start, line, begin in zip(
        cut.passage.cores, cut.passage.starts(), lines, begins, strict=True
    ):
        # In the text, but not in its passage, the sentences stand behind the language's name.
        start += len(cut.named)
        whole.add(core, start, line[0].text, begin, line[0].alignment or [])
    return Rendering(best, score, list(others.items()), whole)
