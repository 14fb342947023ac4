"""The systems that the paper names, trained on the same text beside the Transformer."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from headway.config import Config
from headway.paper.experiments.rivals_stories import answer_questions
from headway.paper.results import Claim, Result, Table, collect
from headway.paper.rivals import training
from headway.paper.rivals.training import RIVALS, TRANSFORMER, train_rival
from headway.paper.running.plan import code_version
from headway.paper.running.trial import Group, Trial, read_trial
from headway.paper.running.work import Work
from headway.paper.running.workers import run_together
from headway.paper.verdicts import if_learned, interval_text, verdict
from headway.training.checkpoint import replace_file

TITLE = "The systems that the paper names, beside the Transformer"
SECTION = "1, 2 and 6.1"
DIFFERS = (
    "The paper compares with published scores of large models. Here each system is small, reads the same"
    " subwords and batches, and has the Transformer's optimizer, learning rate, label smoothing, number of"
    " steps and beam search; its own paper has others. Equal steps are not equal time. Memory networks do"
    " not translate: they answer questions about generated stories, and are trained as in their own paper."
)


def run(work: Work) -> Result:
    """Train every system with every seed; at the scale "paper" there is nothing to run."""
    if work.is_settings_only:
        return collect(differs="The systems are small, and are not trained at this scale.")
    names = (TRANSFORMER, *RIVALS)
    groups = {name: Group(tuple(trials)) for name, trials in train_all(work, names).items()}
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
    """Return the settings of all systems: the base's, with rows of one sentence each."""
    # Several micro-batches of like lengths make a step of mixed lengths.
    tokens = work.base.training.batch_tokens
    return replace(
        work.base,
        training=replace(
            work.base.training,
            packed=False,
            micro_batch_tokens=tokens // work.pick(toy=1, minutes=4),
            average=1,
        ),
    )


def train_all(work: Work, names: tuple[str, ...]) -> dict[str, list[Trial]]:
    """Train each system with each seed; finished trainings are read."""
    planned = {(name, seed): write_spec(work, name, seed) for name in names for seed in work.seeds}
    waiting = [directory for directory in planned.values() if read_trial(directory) is None]
    for directory in run_together(train_rival, waiting, work.processes):
        trial = read_trial(directory)
        assert trial is not None
        work.show(f"  {trial.name}, seed {trial.seed}: BLEU {trial.scores['bleu']:.1f}")
    trials: dict[str, list[Trial]] = {name: [] for name in names}
    for (name, _), directory in planned.items():
        found = read_trial(directory)
        assert found is not None
        trials[name].append(found)
    return trials


def write_spec(work: Work, name: str, seed: int) -> Path:
    """Prepare the text, and write what a training is to do; returns its directory."""
    config = settings(work)
    config = replace(config, training=replace(config.training, seed=seed))
    rivals = sorted(Path(training.__file__).parent.glob("*.py"))
    modules = (f"headway.paper.rivals.{file.stem}" for file in rivals if file.stem != "__init__")
    parts = (name, config, work.corpus.fingerprint, code_version(*modules))
    directory = work.directory / "trials" / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    data, test = work.corpus.prepare(work.directory / "data", config.text)
    spec = {
        "name": name,
        "settings": config.to_dict(),
        "data": str(data),
        "test": [str(path) for path in test],
    }
    directory.mkdir(parents=True, exist_ok=True)
    replace_file(directory / "spec.json", json.dumps(spec, indent=1).encode())
    return directory
