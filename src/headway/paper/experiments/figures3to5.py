"""Figures 3 to 5: what the encoder heads of a model trained here look at, chosen by measure.

The figures show long-distance dependencies, anaphora, and the structure of a sentence. The head that is best
on half of the sentences is shown with its measure on the other half. A head that always looks at its neighbors
sees much of its clause, too; so each sentence is compared with others that have as many words. And one that looks
at names from everywhere follows no pronoun; so each word is compared with the others of its sentence.
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
LEAST_SENTENCES = 20  # that choose, and that measure


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
class Sentence:
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
class Seen:
    """What the encoder's heads see in a sentence.

    Attributes:
        maps: With subwords merged to words.
        lifts: [L, H], weight above chance.
    """

    maps: AttentionMaps
    lifts: NDArray[np.float64]


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
    translators = {trial.seed: trial.translator() for trial in group.trials}
    pairs = unseen_pairs(work)
    rows: list[tuple[Cell, ...]] = []
    figures: list[Figure] = []
    claims: list[Claim] = []
    for topic in TOPICS:
        work.show(f"{topic.figure}: {topic.name}")
        fitting = fitting_pairs(pairs, topic)[: work.pick(toy=4, minutes=200)]
        chooses, measures = (
            compare_places(fitting[::2], topic),
            compare_places(fitting[1::2], topic),
        )
        if min(len(chooses), len(measures)) < work.pick(toy=1, minutes=LEAST_SENTENCES):
            why = "the test text has too few sentences of equal lengths that the rules know"
            claims.append(
                Claim(topic.claim, topic.figure, "no sentences", "not decided", why, topic.figure)
            )
            continue
        means: list[float] = []
        for seed, translator in translators.items():
            seen = [look(translator, sentence) for sentence in measures]
            heads = choose_heads(
                [look(translator, sentence).lifts for sentence in chooses],
                [each.lifts for each in seen],
                topic.heads,
            )
            for head in heads:
                lift = interval_text(head.lifts, 3, sign=True)
                counts = len(chooses), len(measures)
                rows.append((topic.figure, topic.name, seed, head.name, *counts, lift))
                if not means:
                    figures.append(draw(measures, seen, topic, head, seed))
            means.append(float(np.mean([head.lifts for head in heads])))
        claims.append(topic_claim(work, group, topic, means))
    table = Table(
        "Encoder heads chosen by measure",
        ("figure", "what", "seed", "head", "chosen on", "measured on", "weight above chance"),
        tuple(rows),
        "Weight on the word that the rule names, or on words of the query's own clause. Taken off are what the other words"
        " give to the same keys, and the weight of the same sentence on the places of such words in other sentences of as"
        " many words. These intervals are over sentences.",
    )
    return collect(
        table,
        *figures,
        *claims,
        differs="The model is small, and rules determine which words belong together; the sentences of the"
        " built-in corpus are made by such rules, too. The paper shows one sentence of its large model for each figure,"
        " chosen by eye.",
    )


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


def compare_places(pairs: Sequence[tuple[str, str]], topic: Topic) -> list[Sentence]:
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
            compared.append(Sentence(source, target, marks - others))
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


def look(translator: Translator, sentence: Sentence) -> Seen:
    """Return what every encoder head sees in a sentence."""
    maps = sentence_maps(translator, sentence.source, sentence.target).words()
    return Seen(maps, weigh(maps.maps["encoder"], sentence.places))


def weigh(found: AttentionMap, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each head gives to the places, less what the other words give to the same keys: [L, H].

    So a head that looks at the same words from everywhere, such as names, has nothing.
    """
    words = len(places)
    weights = found.weights[:, :, :words, :words].astype(np.float64)
    others = (weights.sum(2, keepdims=True) - weights) / max(words - 1, 1)
    return np.asarray(((weights - others) * places).sum((-2, -1)), np.float64)


def draw(
    sentences: Sequence[Sentence], seen: Sequence[Seen], topic: Topic, chosen: ChosenHead, seed: int
) -> Figure:
    """Draw a head on the sentence where it is furthest above chance."""
    best = int(np.argmax(chosen.lifts))
    link = topic.find_link(sentences[best].source) if topic.find_link else None
    picture = head_view(
        seen[best].maps,
        "encoder",
        layer=chosen.layer,
        heads=[chosen.head],
        query=link.query if link else None,
        orientation="paper",
    )
    caption = (
        f"{topic.figure}, {topic.name}: {chosen.name} of seed {seed}, in that of {len(seen)} sentences where it is furthest"
        " above chance"
    )
    return Figure(caption, picture.svg() if has_matplotlib() else "")
