"""Figures 3 to 5: what the encoder heads of a model trained here look at, chosen by measure.

The figures show long-distance dependencies, anaphora, and the structure of a sentence. The head that is best
on half of the sentences is shown with its measure on the other half. A head that always looks at its neighbors
sees much of its clause, too; so each sentence is compared with others that have as many words.
Shapes: L layers, H heads; words on both sides. Paper: the appendix, "Attention Visualizations".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.inference import Translator
from headway.paper.charts import has_matplotlib
from headway.paper.experiments.figures3to5_links import (
    Link,
    find_anaphora,
    find_distant,
    number_clauses,
)
from headway.paper.results import Cell, Claim, Figure, Result, Table, collect
from headway.paper.running.bitext import Bitext
from headway.paper.running.group import Group
from headway.paper.running.plan import PlannedTrial
from headway.paper.running.scoring import Pairs
from headway.paper.running.work import ONLY_SETTINGS, Work
from headway.paper.trends import Learned, trend_claim
from headway.paper.verdicts import interval_text
from headway.pictures import AttentionMap, AttentionMaps, sentence_maps
from headway.pictures.head_view import head_view

TITLE = "What attention heads look at"
SECTION = "Figures 3 to 5"


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
    find_link: Callable[[str], Link | None] | None
    heads: int = 1


TOPICS = (
    Topic("Figure 3", "long-distance dependencies",
          "Heads attend to a distant dependency and complete the phrase.", find_distant),
    Topic("Figure 4", "anaphora", "Heads are involved in anaphora resolution.", find_anaphora),
    Topic("Figure 5", "sentence structure", "Heads exhibit behavior related to the structure.",
          None, heads=2),
)  # fmt: skip


@dataclass(frozen=True)
class MeasuredSentence:
    """A sentence with its attention maps, and how far each head is above chance.

    Attributes:
        maps: With subwords merged to words.
        query: The word whose lines are drawn; None: all.
        lifts: [L, H], weight on the words that belong together, less that on the places where such
            words stand in other sentences.
    """

    maps: AttentionMaps
    query: int | None
    lifts: NDArray[np.float64]


def run(work: Work) -> Result:
    """Train a model with each seed, choose their heads, measure them, and draw those of the first."""
    base = PlannedTrial("base", work.base)
    if work.is_settings_only:
        claim = Claim(
            "Heads do different things.", SECTION, "not drawn at this scale", "not decided",
            "no model is trained",
        )  # fmt: skip
        return collect(
            work.write_settings([base]),
            claim,
            differs=f"{ONLY_SETTINGS} headway heads and headway picture draw any model.",
        )
    group = work.run_groups([base])[base.name]
    translators = [trial.translator() for trial in group.trials]
    pairs = unseen_pairs(work)
    rows: list[tuple[Cell, ...]] = []
    figures: list[Figure] = []
    claims: list[Claim] = []
    for topic in TOPICS:
        work.show(f"{topic.figure}: {topic.name}")
        fitting = fitting_pairs(pairs, topic)[: work.pick(toy=4, minutes=200)]
        marked = compare_places([mark_words(source, topic) for source, _ in fitting])
        chosen = [
            (*pair, places)
            for pair, places in zip(fitting, marked, strict=True)
            if places is not None
        ]
        if len(chosen) < 2:
            why = "the test text has too few sentences of equal lengths that the rules know"
            claims.append(
                Claim(topic.claim, topic.figure, "no sentences", "not decided", why, topic.figure)
            )
            continue
        means = []
        for trial, translator in zip(group.trials, translators, strict=True):
            sentences = [measure(translator, *each, topic) for each in chosen]
            found = []
            for layer, head, lifts in measure_chosen(sentences, topic.heads):
                name = f"layer {layer + 1}, head {head + 1}"
                rows.append(
                    (
                        topic.figure, topic.name, trial.seed, name, len(sentences) - len(lifts), len(lifts),
                        interval_text(lifts, 3, sign=True),
                    )
                )  # fmt: skip
                found += lifts
                if trial is group.trials[0]:
                    figures.append(draw(sentences[1::2], topic, layer, head, trial.seed))
            means.append(float(np.mean(found)))
        claims.append(topic_claim(work, group, topic, means))
    table = Table(
        "Encoder heads chosen by measure",
        ("figure", "what", "seed", "head", "chosen on", "measured on", "weight above chance"),
        tuple(rows),
        "Weight on the word that the rule names, or on words of the query's own clause, less the weight of the same"
        " sentence on the places of such words in other sentences of as many words; these intervals are over sentences.",
    )
    return collect(
        table,
        *figures,
        *claims,
        differs="The model is small, and rules determine which words belong together; the sentences of the"
        " built-in corpus are made by such rules, too. The paper shows one sentence of its large model for each figure,"
        " chosen by eye.",
    )


def measure_chosen(
    sentences: Sequence[MeasuredSentence], count: int
) -> list[tuple[int, int, list[float]]]:
    """Choose the best heads on every other sentence.

    Returns:
        The layer and the number of each head, and its lifts on the sentences that did not choose it.
    """
    return [
        (layer, head, [float(sentence.lifts[layer, head]) for sentence in sentences[1::2]])
        for layer, head in best_heads(sentences[::2], count)
    ]


def topic_claim(work: Work, group: Group, topic: Topic, means: list[float]) -> Claim:
    """Return the claim of a figure, decided by each model's best heads on sentences that did not choose them."""
    return trend_claim(
        topic.claim,
        "drawn, not measured",
        "{} of the weight above chance",
        means,
        digits=3,
        learned=Learned(work.least_bleu, (group.bleu,)),
        why=f"the best {'head' if topic.heads == 1 else 'heads'} of each of {len(means)} models",
        section=topic.figure,
    )


def unseen_pairs(work: Work) -> Pairs:
    """Return pairs that were not trained on; of the built-in corpus more than are scored.

    Few sentences fit a rule. A pair is in the same part of every built-in corpus, so that the test part of
    a larger one is unseen by the model of a smaller one.
    """
    if work.text_fingerprint:
        return work.corpus.test
    count = work.pick(toy=8000, minutes=200_000)
    return Bitext.built_in(count, count).test


def fitting_pairs(pairs: Pairs, topic: Topic) -> list[tuple[str, str]]:
    """Return pairs whose source has a link or, for structure, more than one clause."""
    find = topic.find_link
    if find is None:
        return [pair for pair in pairs if max(number_clauses(pair[0]), default=0) > 0]
    return [pair for pair in pairs if find(pair[0]) is not None]


def measure(
    translator: Translator, source: str, target: str, places: NDArray[np.float64], topic: Topic
) -> MeasuredSentence:
    """Measure every encoder head on a sentence, with its part of `compare_places`."""
    maps = sentence_maps(translator, source, target).words()
    link = topic.find_link(source) if topic.find_link else None
    lifts = weight_on(maps.maps["encoder"], places)
    return MeasuredSentence(maps, link.query if link else None, lifts)


def mark_words(source: str, topic: Topic) -> NDArray[np.float64]:
    """Return how much the weight from each word to each other counts: [words, words].

    For a link, that from its one word to the other counts; for clauses, the mean over all words of the weight on other
    words of their clause.
    """
    clause = np.asarray(number_clauses(source))
    if topic.find_link is None:
        same = (clause[:, None] == clause[None, :]) & ~np.eye(len(clause), dtype=bool)
        return same / len(clause)
    counts = np.zeros((len(clause), len(clause)))
    if link := topic.find_link(source):
        counts[link.query, link.key] = 1
    return counts


def compare_places(marked: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64] | None]:
    """Return the marks of each sentence, less their mean over the other sentences of as many words.

    A head that knows positions alone, whichever they are, then has nothing in the mean over all sentences.

    Args:
        marked: The result of `mark_words` for each sentence.

    Returns:
        None for a sentence whose number of words no other has.
    """
    by_length: dict[int, list[NDArray[np.float64]]] = {}
    for places in marked:
        by_length.setdefault(len(places), []).append(places)
    compared: list[NDArray[np.float64] | None] = []
    for places in marked:
        alike = by_length[len(places)]
        others = (np.sum(alike, 0) - places) / max(len(alike) - 1, 1)
        compared.append(places - others if len(alike) > 1 else None)
    return compared


def weight_on(found: AttentionMap, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each head's weights, each times what it counts: [L, H]."""
    words = len(places)
    return np.asarray((found.weights[:, :, :words, :words] * places).sum((-2, -1)), np.float64)


def best_heads(sentences: Sequence[MeasuredSentence], count: int) -> list[tuple[int, int]]:
    """Return layer and head of those with the largest mean, the best first."""
    mean = np.mean([sentence.lifts for sentence in sentences], 0)
    order = np.argsort(-mean, axis=None, kind="stable")[:count]
    return [(int(i) // mean.shape[1], int(i) % mean.shape[1]) for i in order]


def draw(
    sentences: Sequence[MeasuredSentence], topic: Topic, layer: int, head: int, seed: int
) -> Figure:
    """Draw a head on the sentence where it is furthest above chance."""
    best = max(sentences, key=lambda s: float(s.lifts[layer, head]))
    picture = head_view(
        best.maps, "encoder", layer=layer, heads=[head], query=best.query, orientation="paper"
    )
    caption = f"{topic.figure}, {topic.name}: layer {layer + 1}, head {head + 1} of seed {seed}"
    return Figure(caption, picture.svg() if has_matplotlib() else "")
