"""Table 4: English constituency parsing, trained and decoded as a translation is.

The treebank is ``train.tree``, ``valid.tree`` and ``test.tree`` (or compressed) in ``DIR/treebank``; if
they are missing, sentences are made by rules.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from headway.config import Config, ModelConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.parsing.parser import PAPER
from headway.ext.paper.parsing.treebank import read_treebank
from headway.ext.paper.published import TABLE4
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.scales import LATER
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.treebank import Treebank
from headway.ext.paper.settings import paper_settings
from headway.ext.paper.trends import Comparison
from headway.ext.paper.verdicts import Gate, percent_text, shown, verdict

SETTINGS = ("wsj-parsing", "wsj-parsing-semi-supervised")
GATE = Gate(50.0)  # F1
FULL = "full attention"
SENTENCES = 9000  # that are made by rules
WORDS = 400  # subwords of such sentences
COMMAND = ("train", "--data data/wsj")
SMALL = Config(
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=64, d_ff=256, num_heads=4,
        dropout=0.1, tying="none",
    ),
    training=replace(
        LATER, muon_weight_decay=0.3, max_steps=500, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=100,
        rate_scale=1.0, cool_steps=330, average=1, precision="fp32", device="cpu", threads=1,
    ),
    search=replace(PAPER, beam=4),
)  # fmt: skip
# For a real treebank, which is harder to learn than one made by rules.
MIDDLE = replace(
    SMALL,
    model=replace(SMALL.model, d_model=128, d_ff=512, dropout=0.15),
    training=replace(
        SMALL.training, max_steps=3000, batch_tokens=2500, micro_batch_tokens=1250,
        warmup_steps=200, rate_scale=0.64, cool_steps=2000, checkpoint_every=250, precision="auto",
    ),
    search=PAPER,
)  # fmt: skip


def count(work: Study) -> list[Finding]:
    """Return the paper's own table."""
    note = ""
    if work.is_settings_only:
        note = (
            "headway treebank data/wsj --train train.tree --valid valid.tree, with the same --config,"
            " makes the data; headway parse RUN --gold test.tree prints the F1."
        )
    title = "The paper's Table 4: F1 on section 23 of the Wall Street Journal"
    return [Table(title, ("parser", "training", "F1"), TABLE4, note)]


def plan(work: Study) -> list[PlannedTrial]:
    """Return parsers with full and restricted attention, or the paper's own settings."""
    if work.is_settings_only:
        return [PlannedTrial(name, paper_settings(name), command=COMMAND) for name in SETTINGS]
    trees = find_treebank(work)
    config = settings(work, trees)
    return [
        PlannedTrial(name, replace(config, model=replace(config.model, window=window)), trees)
        for name, window in ((FULL, 0), (restricted_name(trees), trees.window))
    ]


def restricted_name(trees: Treebank) -> str:
    """Return the name of the parser with restricted attention."""
    return f"restricted attention, r = {trees.window}"


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Score the trees that both parsers find."""
    trees = find_treebank(work)
    return [score_table(work, trees, groups), *parsing_claims(trees, groups)]


def given_files(work: Study) -> list[Path]:
    """Return the files of the treebank that is given: training, validation and test trees; none: no treebank is.

    Raises:
        HeadwayError: If only some of them are there.
    """
    folder = work.directory / "treebank"
    parts = ("train", "valid", "test")
    found = {part: sorted(folder.glob(f"{part}.tree*")) for part in parts}
    missing = [f"{part}.tree" for part, files in found.items() if not files]
    if missing and folder.exists():
        raise HeadwayError(
            f"{folder}: has no {' and no '.join(missing)}: a treebank is train.tree, valid.tree and test.tree,"
            " plain or compressed; without this directory, sentences are made by rules"
        )
    return [files[0] for files in found.values() if files]


def find_treebank(work: Study) -> Treebank:
    """Return the treebank that is given, or one made by rules."""
    if files := given_files(work):
        return Treebank("the treebank given", False, *map(read_treebank, files))
    trees = make_treebank(SENTENCES)
    held = len(trees) // 18
    parts = trees[2 * held :], trees[:held], trees[held : 2 * held]
    return Treebank("sentences made by rules", True, *parts)


def settings(work: Study, trees: Treebank) -> Config:
    """Return the settings of training and search at the work's scale."""
    words = WORDS if trees.is_generated else work.pick(2000, 8000)
    return replace(work.pick(SMALL, MIDDLE), text=TextConfig(vocab_size=words))


def score_table(work: Study, trees: Treebank, groups: Mapping[str, TrialGroup]) -> Table:
    """Return the scores of both kinds of attention."""
    scores = ("f1", "precision", "recall", "exact", "tagging")
    search = settings(work, trees).search
    return Table(
        f"Labeled bracket F1 here, on {trees.name}",
        ("model", "F1", "precision", "recall", "exact, %", "tags, %", "parameters"),
        tuple(
            (name, *(percent_text(group.values(s), 1) for s in scores), group.parameters)
            for name, group in groups.items()
        ),
        f"Mean (95 % interval) of {len(work.seeds)} seeds; {len(trees.train):,} training and"
        f" {len(trees.test):,} test sentences; evalb's rules; beam {search.beam}, alpha {search.alpha},"
        f" trees of at most {search.max_extra} tokens more than their sentence; well-formed trees only.",
    )


def parsing_claims(trees: Treebank, groups: Mapping[str, TrialGroup]) -> list[Claim]:
    """Return the claims of section 6.3 on parsing and of section 4 on restricted attention."""
    full, other = groups[FULL], restricted_name(trees)
    whole = round(sum(sum(group.values("whole")) for group in groups.values()))
    expected = len(trees.test) * sum(len(group.trials) for group in groups.values())
    a_sentence = 100 / len(trees.test)
    least = GATE.least
    return [
        Claim(
            "A sentence is translated into its tree; the output is a tree of the sentence.",
            "-",
            f"{whole} of {expected} are whole trees with the sentence's words",
            shown(whole == expected),
            "by construction: each step forbids tokens that would make no tree",
            "6.3",
        ),
        Claim(
            "The model parses with small changes: each word has its number in the sentence and in the tree, and the"
            " search forms trees only.",
            "91.3 F1 (WSJ only) without such numbers",
            f"{percent_text(full.values('f1'))} F1",
            verdict([f1 - least for f1 in full.values("f1")], 1, a_sentence),
            f"holds above {least:g} F1; not tested as the paper states it, without numbers and without such a search; another"
            " treebank and a smaller model, so that the scores cannot be compared",
            "6.3",
            optimizer=full.optimizer,
        ),
        Comparison(
            f"Attention restricted to {trees.window} positions, whose paths are longer, loses something to full attention.",
            FULL, other, "to be investigated", "f1", section="4",
        ).judge(groups, GATE, a_sentence),
    ]  # fmt: skip
