"""Figures 3 to 5: what encoder heads of a model trained here look at, chosen by measure.

Long-distance dependencies, anaphora, and the structure of a sentence. The head that does best on
half of the sentences is shown with what it does on the other half.
Shapes: L layers, H heads; words on both sides. Paper: the appendix, "Attention Visualizations".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.inference import Translator
from headway.paper.charts import has_matplotlib
from headway.paper.experiments.figures3to5_links import Link, anaphora, clauses, distant
from headway.paper.results import Cell, Claim, Figure, Result, Table, say, verdict
from headway.paper.running.bitext import Bitext, Pairs
from headway.paper.running.work import Job, Work
from headway.pictures import AttentionMap, AttentionMaps, sentence_maps
from headway.pictures.head_view import head_view

TITLE = "What attention heads look at"
SECTION = "Figures 3 to 5"
Lifts = NDArray[np.float64]
Place = tuple[int, int]


@dataclass(frozen=True)
class Seen:
    """A sentence with its attention maps, in words, and how much more than chance each head gave.

    Attributes:
        maps: Merged to words.
        asks: The word whose lines are drawn; None: all.
        lifts: [L, H], weight on what should be found, less what even weights would give it.
    """

    maps: AttentionMaps
    asks: int | None
    lifts: Lifts


def run(work: Work) -> Result:
    """Train a model, and draw its heads."""
    if work.scale == "paper":
        table = work.write_settings([Job("base", work.base)])
        differs = (
            "Nothing is trained at this size: headway heads and headway picture draw any model."
        )
        claim = Claim("Heads do different things.", "Figures 3 to 5", "not drawn at this size",
                      "not decided", "no model is trained", SECTION)  # fmt: skip
        return Result("figures3to5", TITLE, SECTION, (table,), (), (claim,), differs)
    trial = work.trial("figures 3 to 5")
    translator = trial.translator()
    pairs = unseen(work)
    most = work.pick(toy=4, minutes=200)
    rows: list[tuple[Cell, ...]] = []
    figures: list[Figure] = []
    claims: list[Claim] = []
    parts: tuple[tuple[str, str, str, Callable[[str], Link | None] | None], ...] = (
        ("Figure 3", "long-distance dependencies",
         "Heads attend to a distant dependency and complete the phrase.", distant),
        ("Figure 4", "anaphora", "Heads are involved in anaphora resolution.", anaphora),
        ("Figure 5", "sentence structure", "Heads exhibit behaviour related to the structure.",
         None),
    )  # fmt: skip
    for number, what, text, rule in parts:
        work.say(f"{number}: {what}")
        chosen = _chosen(pairs, rule, most)
        seen = [look(translator, source, target, rule) for source, target in chosen]
        if len(seen) < 2:
            claims.append(Claim(text, number, "no sentences", "not decided",
                                "the test text has too few that the rules know", number))  # fmt: skip
            continue
        heads = 2 if rule is None else 1  # Figure 5 shows two
        for layer, head in best(seen[::2], heads):
            held = [float(s.lifts[layer, head]) for s in seen[1::2]]
            rows.append((number, what, f"layer {layer + 1}, head {head + 1}", len(seen[::2]),
                         len(held), say(held, 3, sign=True)))  # fmt: skip
            shown = max(seen[1::2], key=lambda s: float(s.lifts[layer, head]))
            figures.append(_draw(shown, number, what, layer, head))
            claims.append(
                Claim(
                    text,
                    "drawn, not measured",
                    f"layer {layer + 1}, head {head + 1}: {say(held, 3, sign=True)} of its weight"
                    " above chance",
                    work.sober(verdict(held, 1), [trial]),
                    f"chosen on {len(seen[::2])} sentences, measured on {len(held)} others",
                    number,
                )
            )
    table = Table(
        "Encoder heads chosen by measure",
        ("figure", "what", "head", "chosen on", "measured on", "weight above chance"),
        tuple(rows),
        "Weight on the word that the rule names, or on words of the query's own clause, less what"
        " even weights would give; the intervals are over sentences.",
    )
    return Result(
        "figures3to5",
        TITLE,
        SECTION,
        (table,),
        tuple(figures),
        tuple(claims),
        "The model is small and its sentences are made by rules, which also say what belongs"
        " together; the paper shows one sentence of its large model for each, chosen by eye.",
    )


def unseen(work: Work) -> Pairs:
    """Return pairs that no training saw: more than are scored where the text is made by rules.

    What a rule fits is rare. A pair falls on the same side in every built-in corpus, so that what a
    larger one keeps for tests is unseen by the model of a smaller one.
    """
    if work.text_fingerprint:
        return work.corpus.test
    count = work.pick(toy=4000, minutes=150_000)
    return Bitext.built_in(count, count).test


def _chosen(
    pairs: Pairs, rule: Callable[[str], Link | None] | None, most: int
) -> list[tuple[str, str]]:
    """Return pairs that a rule, or for structure more than one clause, fits."""
    fits = [
        (source, target)
        for source, target in pairs
        if (rule(source) is not None if rule else max(clauses(source), default=0) > 0)
    ]
    return fits[:most]


def look(
    translator: Translator, source: str, target: str, rule: Callable[[str], Link | None] | None
) -> Seen:
    """Measure every encoder head on a sentence."""
    maps = sentence_maps(translator, source, target).words()
    found = maps.maps["encoder"]
    link = rule(source) if rule else None
    if link is not None:
        return Seen(maps, link.asks, link_lift(found, link))
    return Seen(maps, None, clause_lift(found, clauses(source)))


def link_lift(found: AttentionMap, link: Link) -> Lifts:
    """Return each head's weight from one word to another, above even weights: [L, H]."""
    weights = found.weights[:, :, link.asks, link.finds].astype(np.float64)
    return weights - 1 / len(found.keys)


def clause_lift(found: AttentionMap, numbers: Sequence[int]) -> Lifts:
    """Return the mean weight on other words of the query's clause, above even weights: [L, H]."""
    words = len(numbers)
    clause = np.asarray(numbers)
    same = (clause[:, None] == clause[None, :]) & ~np.eye(words, dtype=bool)
    weight = (found.weights[:, :, :words, :words] * same).sum(-1)
    lifts = (weight - same.sum(-1) / len(found.keys)).mean(-1)
    return np.asarray(lifts, np.float64)


def best(seen: Sequence[Seen], count: int) -> list[Place]:
    """Return the heads that gave most, the best first."""
    mean = np.mean([s.lifts for s in seen], 0)
    order = np.argsort(-mean, axis=None, kind="stable")[:count]
    return [(int(i) // mean.shape[1], int(i) % mean.shape[1]) for i in order]


def _draw(shown: Seen, number: str, what: str, layer: int, head: int) -> Figure:
    picture = head_view(
        shown.maps, "encoder", layer=layer, heads=[head], query=shown.asks, orientation="paper"
    )
    svg = picture.svg() if has_matplotlib() else ""
    return Figure(f"{number}, {what}: layer {layer + 1}, head {head + 1}", svg)
