"""How much attention heads give to words that belong together, above chance, and which heads give most.

A head that always looks at its neighbors sees much of its clause, too; so each sentence is compared with others that
have as many words. And one that looks at names from everywhere follows no pronoun; so each word is compared with the
others of its sentence.
Shapes: L layers, H heads; words on both sides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.ext.paper.experiments.figures3to5_links import (
    WordLink,
    find_anaphora,
    find_distant,
    number_clauses,
)
from headway.ext.paper.running.scoring import Pairs
from headway.ext.pictures import AttentionMap


@dataclass(frozen=True)
class Topic:
    """What one of the paper's figures shows.

    Attributes:
        figure: Its number in the paper.
        name: Of what is shown.
        claim: What the paper says.
        find_link: Finds the two words that belong together; None: all words of a clause do.
        heads: How many heads the figure shows.
    """

    figure: str
    name: str
    claim: str
    find_link: Callable[[str], WordLink | None] | None
    heads: int = 1


TOPICS = (
    Topic("Figure 3", "long-distance dependencies",
          "Heads attend to a distant dependency and complete the phrase.", find_distant),
    Topic("Figure 4", "anaphora", "Heads are involved in anaphora resolution.", find_anaphora),
    Topic("Figure 5", "sentence structure", "Heads exhibit behavior related to the structure.",
          None, heads=2),
)  # fmt: skip


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence, and the places in it that are compared.

    Attributes:
        source: Its text.
        target: Its translation.
        places: [words, words], how much the weight from each word to each other counts.
    """

    source: str
    target: str
    places: NDArray[np.float64]


@dataclass(frozen=True)
class ChosenHead:
    """A head that was chosen on some sentences, and what it sees in others.

    Attributes:
        layer: Its layer, from 0.
        head: Its number, from 0.
        lifts: Its weight above chance in each of the others.
    """

    layer: int
    head: int
    lifts: list[float]

    @property
    def name(self) -> str:
        """The head as people count."""
        return f"layer {self.layer + 1}, head {self.head + 1}"


def fitting_pairs(pairs: Pairs, topic: Topic) -> list[tuple[str, str]]:
    """Return the pairs in whose source two words belong together as the topic says; for clauses, those with several."""
    find = topic.find_link
    if find is None:
        return [pair for pair in pairs if max(number_clauses(pair[0]), default=0) > 0]
    return [pair for pair in pairs if find(pair[0]) is not None]


def compare_places(pairs: Sequence[tuple[str, str]], topic: Topic) -> list[MarkedSentence]:
    """Return the marks of each sentence, less their mean over the other sentences of as many words.

    A head that knows positions alone, whichever they are, then has nothing in the mean over the sentences. Left out are
    those that say nothing: of their length there is no other, or all others have the same places.
    """
    marked = [mark_words(source, topic) for source, _ in pairs]
    alike: dict[int, list[NDArray[np.float64]]] = {}
    for marks in marked:
        alike.setdefault(len(marks), []).append(marks)
    compared = []
    for (source, target), marks in zip(pairs, marked, strict=True):
        same = alike[len(marks)]
        others = (np.sum(same, 0) - marks) / max(len(same) - 1, 1)
        if len(same) > 1 and not np.allclose(marks, others):
            compared.append(MarkedSentence(source, target, marks - others))
    return compared


def mark_words(source: str, topic: Topic) -> NDArray[np.float64]:
    """Return how much the weight from each word to each other counts: [words, words].

    For a link, that from its one word to the other counts; for clauses, the mean over all words of the weight on other
    words of their clause.
    """
    clause = np.asarray(number_clauses(source))
    if topic.find_link is None:
        same = (clause[:, None] == clause[None, :]) & ~np.eye(len(clause), dtype=bool)
        return same / len(clause)
    marks = np.zeros((len(clause), len(clause)))
    if link := topic.find_link(source):
        marks[link.query, link.key] = 1
    return marks


def weigh(found: AttentionMap, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each head gives to the places, less what the other words give to the same keys: [L, H].

    So a head that looks at the same words from everywhere, such as names, has nothing.
    """
    words = len(places)
    weights = found.weights[:, :, :words, :words].astype(np.float64)
    others = (weights.sum(2, keepdims=True) - weights) / max(words - 1, 1)
    return np.asarray(((weights - others) * places).sum((-2, -1)), np.float64)


def choose_heads(
    chooses: Sequence[NDArray[np.float64]], measures: Sequence[NDArray[np.float64]], count: int
) -> list[ChosenHead]:
    """Choose the heads with the largest mean, the best first.

    Args:
        chooses: [L, H] of each sentence that chooses.
        measures: The same of those that measure.
        count: How many heads.
    """
    mean = np.mean(chooses, 0)
    best = np.argsort(-mean, axis=None, kind="stable")[:count]
    places = [divmod(int(place), mean.shape[1]) for place in best]
    return [
        ChosenHead(layer, head, [float(each[layer, head]) for each in measures])
        for layer, head in places
    ]
