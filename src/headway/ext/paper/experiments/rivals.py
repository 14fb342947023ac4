"""The systems that the paper names, trained on the same text beside the Transformer."""

from collections.abc import Mapping
from dataclasses import replace

from torch.nn import Module

from headway.config import Config
from headway.ext.paper.experiments import rivals_sentences
from headway.ext.paper.experiments.rivals_stories import answer_questions
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.rivals.bytenet import ByteNet
from headway.ext.paper.rivals.convolutional import ConvolutionalTranslator
from headway.ext.paper.rivals.memory_network import MemoryNetwork
from headway.ext.paper.rivals.neural_gpu import NeuralGPU
from headway.ext.paper.rivals.recurrent import RecurrentTranslator
from headway.ext.paper.rivals.rival import Rival
from headway.ext.paper.rivals.rival_training import train_rival
from headway.ext.paper.rivals.self_attentive import SelfAttentiveClassifier
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.trends import compare
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
    names = [TRANSFORMER, *list_rivals(work)]
    table = Table(
        "Systems trained on the same text",
        ("system", "BLEU", "perplexity", f"{groups[TRANSFORMER].time_name}, s", "tokens/s", "parameters"),
        tuple(
            (
                name, *groups[name].score_cells, round(groups[name].seconds),
                round(groups[name].tokens_per_second), groups[name].parameters,
            )
            for name in names
        ),
        work.seeds_note,
    )  # fmt: skip
    return [
        table,
        *(compare_rival(work, groups, name) for name in names[1:]),
        *rivals_sentences.conclude(work, groups),
        *answer_questions(work),
        Table("What differs from their own papers", ("system", "here"), tuple(DEPARTURES.items())),
    ]


def compare_rival(work: Study, groups: Mapping[str, TrialGroup], name: str) -> Claim:
    """Judge whether the Transformer translates better than a rival."""
    return compare(
        f"The Transformer translates better than {name}.", groups, TRANSFORMER, name, work.gate,
        paper="surpasses all previously published models and ensembles",
        note="the same steps, not the same time", section="6.1",
    )  # fmt: skip


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
