"""The systems that the paper names, trained on the same text beside the Transformer."""

from collections.abc import Mapping
from dataclasses import replace

from torch.nn import Module

from headway.config import Config
from headway.ext.paper.experiments import classification
from headway.ext.paper.experiments.rivals_stories import answer_questions
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.rivals.bytenet import ByteNet
from headway.ext.paper.rivals.classifying import train_classifier
from headway.ext.paper.rivals.convolutional import ConvolutionalTranslator
from headway.ext.paper.rivals.memory_network import MemoryNetwork
from headway.ext.paper.rivals.recurrent import LargerRecurrentTranslator, RecurrentTranslator
from headway.ext.paper.rivals.rival import Rival
from headway.ext.paper.rivals.rival_training import train_rival
from headway.ext.paper.rivals.self_attentive import SelfAttentiveClassifier
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.model import Transformer

TRANSFORMER = "Transformer"
SENTENCES = "structured self-attentive embedding"
RIVALS: dict[str, type[Rival]] = {
    "RNN with attention, small initial weights": RecurrentTranslator,
    "RNN with attention, larger initial weights": LargerRecurrentTranslator,
    "ConvS2S": ConvolutionalTranslator,
    "ByteNet": ByteNet,
}
# How long a training takes, in those of a Transformer with packed rows; measured at the scale of minutes.
PACES = {
    TRANSFORMER: 2.1, "RNN with attention, small initial weights": 2.9,
    "RNN with attention, larger initial weights": 2.9, "ConvS2S": 1.1, "ByteNet": 1.4,
}  # fmt: skip
DEPARTURES = {
    **{name: rival.departs for name, rival in RIVALS.items()},
    SENTENCES: SelfAttentiveClassifier.departs,
    "end-to-end memory networks": MemoryNetwork.departs,
}


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training of each system with each task; at the scale "paper" there is nothing to train."""
    if work.is_settings_only:
        return []
    return [*plan_translators(work), *plan_classifiers(work)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the systems that translate, classify and answer questions."""
    translators = {name: groups[name] for name in (TRANSFORMER, *RIVALS)}
    table = score_table(
        "Systems trained on the same text",
        "system", ("BLEU", "perplexity", "seconds", "tokens/s", "parameters"), translators,
        f"{work.seeds_note} Seconds are of {groups[TRANSFORMER].time_name}.",
    )  # fmt: skip
    return [
        table,
        *compare_classifiers(work, groups),
        *answer_questions(work),
        Table("What differs from their own papers", ("system", "here"), tuple(DEPARTURES.items())),
    ]


def plan_translators(work: Study) -> list[PlannedTrial]:
    """Return a training of each system that translates, the Transformer first."""
    systems: dict[str, type[Module]] = {TRANSFORMER: Transformer, **RIVALS}
    return [plan_system(work, name, system, PACES[name]) for name, system in systems.items()]


def plan_system(work: Study, name: str, system: type[Module], pace: float) -> PlannedTrial:
    """Return the training of a system that translates: the published base's, without averaging and in fp32."""
    return PlannedTrial(name, settings(work), trainer=train_rival, system=system, pace=pace)


def settings(work: Study) -> Config:
    """Return the settings of all systems: the published base's, without averaging and in fp32."""
    base = work.published_base
    return replace(base, training=replace(base.training, average=1, precision="fp32"))


def plan_classifiers(work: Study) -> list[PlannedTrial]:
    """Return the Transformer's encoder and the sentence embedding (section 2), on both tasks of `classification`."""
    config = classification.settings(work)
    return [
        PlannedTrial(f"{task.name}: {name}", config, task, trainer=trainer)
        for task in classification.make_tasks(work)
        for name, trainer in ((classification.ATTENTION, None), (SENTENCES, train_classifier))
    ]


def compare_classifiers(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the right labels of both classifiers."""
    return classification.compare_classifiers(
        work, groups, classification.ATTENTION, SENTENCES, {classification.ATTENTION: "Transformer's encoder"},
        "the Transformer's encoder", "named, without a number", "2",
    )  # fmt: skip
