"""The systems that the paper names, trained on the same text beside the Transformer."""

from dataclasses import replace

from torch.nn import Module

from headway.config import Config
from headway.ext.paper.experiments.rivals_sentences import classify_sentences
from headway.ext.paper.experiments.rivals_stories import answer_questions
from headway.ext.paper.results import Claim, Findings, Table, collect
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
from headway.ext.paper.running.work import Study
from headway.ext.paper.trends import LearnedScores, trend_claim
from headway.model import Transformer

TITLE = "The systems that the paper names, beside the Transformer"
SECTION = "1, 2 and 6.1"
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
DIFFERS = (
    "The paper compares with published scores of large models. Here each system is small, and reads the same"
    " subwords and batches. All are trained as the Transformer's paper trains it, by Adam and equation 3 (at"
    " the scale of hours 1.28 times that), with the same label smoothing, number of steps and beam search;"
    " the papers of the others have other settings. Equal steps are not equal time, and all read padded rows,"
    " with which the Transformer takes about twice the time that it takes with packed ones. The Extended Neural GPU"
    " is left out at the scale of hours, because one training would take three hours of a core. Two systems do not"
    " translate: the structured self-attentive embedding classifies texts, and memory networks answer questions about"
    " generated stories, trained by SGD."
)
DEPARTURES = {
    **{name: rival.departs for name, rival in RIVALS.items()},
    "structured self-attentive embedding": SelfAttentiveClassifier.departs,
    "end-to-end memory networks": MemoryNetwork.departs,
}


def run(work: Study) -> Findings:
    """Train every system with every seed; at the scale "paper" there is nothing to run."""
    if work.is_settings_only:
        return collect(differs="The systems are small, and are not trained at this scale.")
    groups = work.run_groups(plan_trials(work))
    table = Table(
        "Systems trained on the same text",
        ("system", "BLEU", "perplexity", f"{groups[TRANSFORMER].time_name}, s", "tokens/s", "parameters"),
        tuple(
            (
                name, *group.score_cells, round(group.seconds), round(group.tokens_per_second),
                group.parameters,
            )
            for name, group in groups.items()
        ),
        work.seeds_note,
    )  # fmt: skip
    return collect(
        table,
        *(compare(work, groups[TRANSFORMER], name, groups[name]) for name in list_rivals(work)),
        *classify_sentences(work),
        *answer_questions(work),
        Table("What differs from their own papers", ("system", "here"), tuple(DEPARTURES.items())),
        differs=DIFFERS,
        settings=settings(work).to_dict(),
    )


def compare(work: Study, transformer: TrialGroup, name: str, rival: TrialGroup) -> Claim:
    """Judge whether the Transformer translates better than a rival."""
    return trend_claim(
        f"The Transformer translates better than {name}.",
        "surpasses all previously published models and ensembles",
        f"{TRANSFORMER} less {name}: {{}} BLEU",
        transformer.less(rival),
        learned=LearnedScores(work.least_bleu, (transformer.bleu, rival.bleu)),
        why="paired by seed; the same steps, not the same time",
        section="6.1",
    )


def list_rivals(work: Study) -> list[str]:
    """Return the names of the systems that translate, besides the Transformer, at the work's scale."""
    return [name for name in RIVALS if name != LEFT_OUT.get(work.scale)]


def plan_trials(work: Study) -> list[PlannedTrial]:
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
