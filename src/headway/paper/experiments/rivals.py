"""The systems that the paper names, trained on the same text beside the Transformer."""

from dataclasses import replace

from headway.config import Config
from headway.paper.experiments.rivals_sentences import classify_sentences
from headway.paper.experiments.rivals_stories import answer_questions
from headway.paper.experiments.rivals_trials import train_groups
from headway.paper.results import Claim, Result, Table, collect
from headway.paper.rivals.training import RIVALS, TRANSFORMER, train_rival
from headway.paper.running.trial import Group
from headway.paper.running.work import Work
from headway.paper.verdicts import if_learned, interval_text, verdict

TITLE = "The systems that the paper names, beside the Transformer"
SECTION = "1, 2 and 6.1"
DIFFERS = (
    "The paper compares with published scores of large models. Here each system is small, and reads the same"
    " subwords and batches. All are trained as the Transformer's paper trains it, by Adam and equation 3 (at"
    " the scale of hours 1.28 times that), with the same label smoothing, number of steps and beam search;"
    " the papers of the others have other settings. Equal steps are not equal time. The Extended Neural GPU"
    " has half of the width. Two systems do not translate: the structured self-attentive embedding"
    " classifies texts, and memory networks answer questions about generated stories and are trained as in"
    " their own paper."
)


def run(work: Work) -> Result:
    """Train every system with every seed; at the scale "paper" there is nothing to run."""
    if work.is_settings_only:
        return collect(differs="The systems are small, and are not trained at this scale.")
    names = (TRANSFORMER, *RIVALS)
    groups = train_groups(work, train_rival, names, settings(work), work.corpus)
    table = Table(
        "Systems trained on the same text",
        ("system", "BLEU", "perplexity", "processor time, s", "tokens/s", "parameters"),
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
        *(compare(work, groups[TRANSFORMER], name, groups[name]) for name in RIVALS),
        *classify_sentences(work),
        *answer_questions(work),
        differs=DIFFERS,
        settings=settings(work).to_dict(),
    )


def compare(work: Work, transformer: Group, name: str, rival: Group) -> Claim:
    """Judge whether the Transformer translates better than a rival."""
    gains = transformer.less(rival)
    return Claim(
        f"The Transformer translates better than {name}.",
        "better than all published models of its time",
        f"{interval_text(gains, sign=True)} BLEU",
        if_learned(verdict(gains, 1), work.least_bleu, transformer.bleu, rival.bleu),
        "paired by seed; the same steps, not the same time",
        "6.1",
    )


def settings(work: Work) -> Config:
    """Return the settings of all systems: the published base's, without averaging and in fp32."""
    base = work.published_base
    return replace(base, training=replace(base.training, average=1, precision="fp32"))
