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
from headway.ext.paper.results import Claim, Findings, Table, collect
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.scales import LATER
from headway.ext.paper.running.treebank import Treebank
from headway.ext.paper.running.work import ONLY_SETTINGS, Study
from headway.ext.paper.settings import paper_settings
from headway.ext.paper.trends import LearnedScores, trend_claim
from headway.ext.paper.verdicts import percent_text, shown, verdict

TITLE, SECTION = "English constituency parsing", "6.3, Table 4"
SETTINGS = ("wsj-parsing", "wsj-parsing-semi-supervised")
LEAST_F1 = 50.0  # below it a parser has hardly learned anything
SMALL = Config(
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=64, d_ff=256, num_heads=4,
        dropout=0.1, tying="none",
    ),
    training=replace(
        LATER, muon_weight_decay=0.3, max_steps=500, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=100,
        rate_scale=1.0, cool_steps=330, average=1, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# For a real treebank, which is harder to learn than one made by rules.
MIDDLE = replace(
    SMALL,
    model=replace(SMALL.model, d_model=128, d_ff=512, dropout=0.15),
    training=replace(
        SMALL.training, max_steps=3000, batch_tokens=2500, micro_batch_tokens=1250,
        warmup_steps=200, rate_scale=0.64, cool_steps=2000, checkpoint_every=250, precision="auto",
    ),
)  # fmt: skip


def run(work: Study) -> Findings:
    """Train parsers with full and restricted attention, and score the trees that they find."""
    published = Table(
        "The paper's Table 4: F1 on section 23 of the Wall Street Journal",
        ("parser", "training", "F1"),
        TABLE4,
    )
    if work.is_settings_only:
        return collect(published, write_commands(work), differs=ONLY_SETTINGS)
    trees = find_treebank(work)
    config = settings(work, trees)
    groups = work.run_groups(
        [
            PlannedTrial(name, replace(config, model=replace(config.model, window=window)), trees)
            for name, window in (
                ("full attention", 0),
                (f"restricted attention, r = {trees.window}", trees.window),
            )
        ]
    )
    return collect(
        score_table(work, trees, config, groups),
        published,
        *parsing_claims(trees, *groups.values()),
        differs="The paper's treebank is licensed; "
        + (
            "here sentences are made by a small grammar."
            if trees.is_generated
            else f"here it is {trees.name}."
        )
        + " The model is far smaller than the paper's (4 layers, d_model 1024, a vocabulary of"
        " 16,000). Each word has its number before it, in the sentence and in the tree. Parts of speech are predicted too; which words are punctuation is taken from the treebank when"
        " brackets are compared.",
        settings=config.to_dict(),
    )


def write_commands(work: Study) -> Table:
    """Write the paper's own settings; returns the commands that train with them."""
    planned = [PlannedTrial(name, paper_settings(name)) for name in SETTINGS]
    return replace(
        work.write_settings(planned, text="--data data/wsj"),
        note="headway treebank data/wsj --train train.tree --valid valid.tree, with the same --config,"
        " makes the data; headway parse RUN --gold test.tree prints the F1.",
    )


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
        most = work.pick(toy=30, minutes=None)
        return Treebank("the treebank given", False, *(read_treebank(f)[:most] for f in files))
    trees = make_treebank(work.pick(toy=90, minutes=9000))
    held = len(trees) // 18
    parts = trees[2 * held :], trees[:held], trees[held : 2 * held]
    return Treebank("sentences made by rules", True, *parts)


def settings(work: Study, trees: Treebank) -> Config:
    """Return the settings of training and search at the work's scale."""
    made = trees.is_generated
    words = work.pick(toy=340, minutes=400 if made else 2000, hours=400 if made else 8000)
    text = TextConfig(vocab_size=words)
    if work.scale == "hours":
        return replace(MIDDLE, text=text, search=PAPER)
    training, search = SMALL.training, replace(PAPER, beam=4)
    if work.scale == "toy":
        training = replace(
            training, max_steps=3, warmup_steps=1, cool_steps=1, batch_tokens=300, micro_batch_tokens=300
        )  # fmt: skip
        search = replace(PAPER, beam=2, max_extra=5)
    return replace(SMALL, text=text, training=training, search=search)


def score_table(
    work: Study, trees: Treebank, config: Config, groups: Mapping[str, TrialGroup]
) -> Table:
    """Return the scores of both kinds of attention."""
    scores = ("f1", "precision", "recall", "exact", "tagging")
    search = config.search
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


def parsing_claims(trees: Treebank, full: TrialGroup, restricted: TrialGroup) -> list[Claim]:
    """Return the claims of section 6.3 on parsing and of section 4 on restricted attention."""
    whole = round(sum((*full.values("whole"), *restricted.values("whole"))))
    expected = len(trees.test) * (len(full.trials) + len(restricted.trials))
    a_sentence = 100 / len(trees.test)
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
            verdict([f1 - LEAST_F1 for f1 in full.values("f1")], 1, a_sentence),
            f"holds above {LEAST_F1:.0f} F1; another treebank and a smaller model, so that the scores cannot be"
            " compared",
            "6.3",
        ),
        trend_claim(
            f"Attention restricted to {trees.window} positions, whose paths are longer, loses something to full attention.",
            "to be investigated",
            "full attention less restricted attention: {} F1",
            full.less(restricted, "f1"),
            learned=LearnedScores(LEAST_F1, (full.values("f1"), restricted.values("f1"))),
            spread=a_sentence,
            why=f"paired by seed; not decided below {LEAST_F1:.0f} F1, where training has hardly begun",
            section="4",
        ),
    ]
