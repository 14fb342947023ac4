"""Figures 3 to 5: what the encoder heads of a model trained here look at, chosen by measure.

The figures show long-distance dependencies, anaphora, and the structure of a sentence. The head that is best
on half of the sentences is shown with its measure on the other half.
Shapes: L layers, H heads. Paper: the appendix, "Attention Visualizations".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.ext.paper.charts import has_matplotlib
from headway.ext.paper.experiments.figures3to5_heads import (
    TOPICS,
    ChosenHead,
    MarkedSentence,
    Topic,
    choose_heads,
    compare_places,
    fitting_pairs,
    weigh,
)
from headway.ext.paper.results import Cell, Claim, Figure, Finding, Table
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.scoring import Pairs
from headway.ext.paper.running.study import Study
from headway.ext.paper.trends import trend_claim
from headway.ext.paper.verdicts import LearnedScores, interval_text
from headway.ext.pictures import AttentionMaps, draw_view, sentence_maps
from headway.translation import Translator

LEAST_SENTENCES = 20  # that choose, and that measure
MOST_SENTENCES = 200  # of both together
PAIRS = 200_000  # of the built-in corpus, of which the unseen ones are searched
BASE = "base"


@dataclass(frozen=True)
class Seen:
    """What the encoder's heads see in a sentence.

    Attributes:
        maps: With subwords merged to words.
        lifts: [L, H], weight above chance.
    """

    maps: AttentionMaps
    lifts: NDArray[np.float64]


def plan(work: Study) -> list[PlannedTrial]:
    """Return the training whose heads are drawn."""
    return [PlannedTrial(BASE, work.base)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Choose the heads of the model of each seed, measure them, and draw those of the first."""
    group = groups[BASE]
    translators = {trial.seed: trial.translator() for trial in group.trials}
    pairs = unseen_pairs(work)
    rows: list[tuple[Cell, ...]] = []
    figures: list[Figure] = []
    claims: list[Claim] = []
    for topic in TOPICS:
        work.show(f"{topic.figure}: {topic.name}")
        fitting = fitting_pairs(pairs, topic)[:MOST_SENTENCES]
        chooses, measures = (
            compare_places(fitting[::2], topic),
            compare_places(fitting[1::2], topic),
        )
        if min(len(chooses), len(measures)) < LEAST_SENTENCES:
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
    return [table, *figures, *claims]


def topic_claim(work: Study, group: TrialGroup, topic: Topic, means: list[float]) -> Claim:
    """Return the claim of a figure, decided by each model's best heads on sentences that did not choose them."""
    return trend_claim(
        topic.claim,
        "drawn, not measured",
        "{} of the weight above chance",
        means,
        digits=3,
        learned=LearnedScores(work.gate, (group.bleu,)),
        optimizer=group.optimizer,
        why=f"the best {'head' if topic.heads == 1 else 'heads'} of each of {len(means)} models",
        section=topic.figure,
    )


def unseen_pairs(work: Study) -> Pairs:
    """Return pairs that were not trained on; of the built-in corpus more than are scored.

    Few sentences fit a rule. A pair is in the same part of every built-in corpus, so that the test part of
    a larger one is unseen by the model of a smaller one.
    """
    if work.text_fingerprint:
        return work.corpus.test
    return Bitext.built_in(PAIRS, PAIRS).test


def look(translator: Translator, sentence: MarkedSentence) -> Seen:
    """Return what every encoder head sees in a sentence."""
    maps = sentence_maps(translator, sentence.source, sentence.target).words()
    return Seen(maps, weigh(maps.maps["encoder"], sentence.places))


def draw(
    sentences: Sequence[MarkedSentence],
    seen: Sequence[Seen],
    topic: Topic,
    chosen: ChosenHead,
    seed: int,
) -> Figure:
    """Draw a head on the sentence where it is furthest above chance."""
    best = int(np.argmax(chosen.lifts))
    link = topic.find_link(sentences[best].source) if topic.find_link else None
    picture = draw_view(
        seen[best].maps,
        "paper",
        "encoder",
        layer=chosen.layer,
        heads=[chosen.head],
        query=link.query if link else None,
    )
    caption = (
        f"{topic.figure}, {topic.name}: {chosen.name} of seed {seed}, in that of {len(seen)} sentences where it is furthest"
        " above chance"
    )
    return Figure(caption, picture.svg() if has_matplotlib() else "")
