"""The systems that the paper names, trained on the same text beside the Transformer."""

from collections.abc import Mapping
from dataclasses import replace

from torch.nn import Module

from headway.config import Config
from headway.ext.paper.experiments import rivals_sentences
from headway.ext.paper.experiments.rivals_stories import answer_questions
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.rivals.bytenet import ByteNet
from headway.ext.paper.rivals.convolutional import ConvolutionalTranslator
from headway.ext.paper.rivals.memory_network import MemoryNetwork
from headway.ext.paper.rivals.neural_gpu import NeuralGPU
from headway.ext.paper.rivals.recurrent import RecurrentTranslator
from headway.ext.paper.rivals.rival import Rival
from headway.ext.paper.rivals.rival_training import train_rival
from headway.ext.paper.rivals.self_attentive import SelfAttentiveClassifier
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.model import Transformer

TRANSFORMER = "Transformer"
RIVALS: dict[str, type[Rival]] = {
    "RNN with attention": RecurrentTranslator,
    "ConvS2S": ConvolutionalTranslator,
    "ByteNet": ByteNet,
    "Extended Neural GPU": NeuralGPU,
}
# How long a training takes, in those of a Transformer with packed rows; measured at the scale of minutes.
PACES = {
    TRANSFORMER: 2.1, "RNN with attention": 2.9, "ConvS2S": 1.1, "ByteNet": 0.9, "Extended Neural GPU": 16.0,
}  # fmt: skip
# One training would take three hours of a core, nine with three seeds: half of what all others of this scale take together.
LEFT_OUT = {"hours": "Extended Neural GPU"}
DEPARTURES = {
    **{name: rival.departs for name, rival in RIVALS.items()},
    "structured self-attentive embedding": SelfAttentiveClassifier.departs,
    "end-to-end memory networks": MemoryNetwork.departs,
}


def count(work: Study) -> list[Finding]:
    """Return what needs no training: nothing."""
    return []


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training of each system with each task; at the scale "paper" there is nothing to train."""
    if work.is_settings_only:
        return []
    return [*plan_translators(work), *rivals_sentences.plan(work)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the systems that translate, classify and answer questions."""
    translators = {name: groups[name] for name in (TRANSFORMER, *list_rivals(work))}
    table = score_table(
        "Systems trained on the same text",
        "system", ("BLEU", "perplexity", "seconds", "tokens/s", "parameters"), translators,
        f"{work.seeds_note} Seconds are of {groups[TRANSFORMER].time_name}.",
    )  # fmt: skip
    return [
        table,
        *rivals_sentences.conclude(work, groups),
        *answer_questions(work),
        Table("What differs from their own papers", ("system", "here"), tuple(DEPARTURES.items())),
    ]


def list_rivals(work: Study) -> list[str]:
    """Return the names of the systems that translate, besides the Transformer, at the work's scale."""
    return [name for name in RIVALS if name != LEFT_OUT.get(work.scale)]


def plan_translators(work: Study) -> list[PlannedTrial]:
    """Return a training of each system that translates, the Transformer first."""
    config = settings(work)
    systems: dict[str, type[Module]] = {
        TRANSFORMER: Transformer,
        **{name: RIVALS[name] for name in list_rivals(work)},
    }
    return [
        PlannedTrial(name, config, trainer=train_rival, system=system, pace=PACES[name])
        for name, system in systems.items()
    ]


def settings(work: Study) -> Config:
    """Return the settings of all systems: the published base's, without averaging and in fp32."""
    base = work.published_base
    return replace(base, training=replace(base.training, average=1, precision="fp32"))
