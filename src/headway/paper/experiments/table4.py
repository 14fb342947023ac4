"""Table 4: English constituency parsing, trained and decoded as a translation is.

The treebank is ``train.tree``, ``valid.tree`` and ``test.tree`` (or compressed) in ``DIR/treebank``; if
they are missing, sentences are made by rules.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headway.config import Config, ModelConfig, TextConfig
from headway.model import Network, Transformer
from headway.paper.experiments.table4_treebank import make_treebank
from headway.paper.published import TABLE4
from headway.paper.results import Claim, Result, Table, collect
from headway.paper.running.plan import PlannedTrial, code_version
from headway.paper.running.scales import LATER, paper_settings
from headway.paper.running.trial import Group
from headway.paper.running.work import ONLY_SETTINGS, Work
from headway.paper.trends import Learned, trend_claim
from headway.paper.verdicts import percent_text, shown, verdict
from headway.parsing.bracketing import score_parses
from headway.parsing.parser import PAPER, Parser
from headway.parsing.treebank import prepare_treebank, read_treebank
from headway.parsing.trees import Tree, retag
from headway.text.prepared import PreparedData
from headway.training.storage.checkpoint import replace_file

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


@dataclass(frozen=True)
class Treebank:
    """Trees to learn from and to be scored on; a `headway.paper.running.task.Task`.

    Attributes:
        name: For tables.
        is_generated: Whether the sentences are made by rules.
        train: Trees to learn from.
        valid: Trees that are scored during training.
        test: Trees that are scored after training.
    """

    name: str
    is_generated: bool
    train: Sequence[Tree]
    valid: Sequence[Tree]
    test: Sequence[Tree]

    @property
    def window(self) -> int:
        """How many positions restricted attention sees in all: fewer than most sentences have, with their numbers."""
        return 14 if self.is_generated else 32

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all trees."""
        text = "\n\n".join(
            "\n".join(map(str, part)) for part in (self.train, self.valid, self.test)
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def prepare(self, folder: Path, config: TextConfig) -> tuple[Path, list[Path]]:
        """Write and prepare the trees."""
        key = hashlib.sha256(f"{config}{self.fingerprint}{code_version()}".encode()).hexdigest()[
            :16
        ]
        prepared = folder / f"trees-{key}"
        if not (prepared / "data.json").is_file():
            prepare_treebank(self.train, self.valid, prepared, config, numbered=True)
        test = prepared.with_name(f"{prepared.name}-test.tree")
        replace_file(test, "".join(f"{tree}\n" for tree in self.test).encode())
        return prepared, [test]

    @staticmethod
    def score(
        model: Network, data: PreparedData, config: Config, test: list[Path]
    ) -> dict[str, float]:
        """Return what `bracket_scores` says of the trees that the model finds."""
        assert isinstance(model, Transformer)
        trees = read_treebank(test[0])
        parses = Parser(model, data.tokenizer, config.search).parse(
            [tree.words() for tree in trees]
        )
        return bracket_scores(trees, [parse.tree for parse in parses if parse is not None])


def bracket_scores(gold: Sequence[Tree], found: Sequence[Tree]) -> dict[str, float]:
    """Score trees: brackets with the treebank's parts of speech, and parts of speech as found.

    Returns:
        ``f1``, ``precision``, ``recall``, ``exact`` and ``tagging``, 0 to 100, and ``whole``, the number
        of trees that have their sentence's words.
    """
    tags = [[leaf.label for leaf in tree.leaves()] for tree in gold]
    brackets = score_parses(gold, list(map(retag, found, tags)))
    return {
        "f1": brackets.f1,
        "precision": brackets.precision,
        "recall": brackets.recall,
        "exact": 100 * brackets.exact / max(1, brackets.sentences),
        "tagging": replace(brackets, tags=score_parses(gold, found).tags).tagging,
        "whole": brackets.sentences + brackets.empty,
    }


def run(work: Work) -> Result:
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


def write_commands(work: Work) -> Table:
    """Write the paper's own settings; returns the commands that train with them."""
    planned = [PlannedTrial(name, paper_settings(name)) for name in SETTINGS]
    return replace(
        work.write_settings(planned, text="--data data/wsj"),
        note="headway treebank data/wsj --train train.tree --valid valid.tree, with the same --config,"
        " makes the data; headway parse RUN --gold test.tree prints the F1.",
    )


def find_treebank(work: Work) -> Treebank:
    """Return the treebank in the work's directory, or one made by rules."""
    folder = work.directory / "treebank"
    files = [sorted(folder.glob(f"{part}.tree*")) for part in ("train", "valid", "test")]
    if all(files):
        most = work.pick(toy=30, minutes=None)
        return Treebank(
            "the treebank given", False, *(read_treebank(paths[0])[:most] for paths in files)
        )
    trees = make_treebank(work.pick(toy=90, minutes=9000))
    held = len(trees) // 18
    parts = trees[2 * held :], trees[:held], trees[held : 2 * held]
    return Treebank("sentences made by rules", True, *parts)


def settings(work: Work, trees: Treebank) -> Config:
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


def score_table(work: Work, trees: Treebank, config: Config, groups: Mapping[str, Group]) -> Table:
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


def parsing_claims(trees: Treebank, full: Group, restricted: Group) -> list[Claim]:
    """Return the claims of section 6.3 on parsing and of section 4 on restricted attention."""
    whole = round(sum((*full.values("whole"), *restricted.values("whole"))))
    expected = len(trees.test) * (len(full.trials) + len(restricted.trials))
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
            verdict([f1 - LEAST_F1 for f1 in full.values("f1")], 1),
            f"holds above {LEAST_F1:.0f} F1; another treebank and a smaller model, so that the scores cannot be"
            " compared",
            "6.3",
        ),
        trend_claim(
            f"Attention restricted to {trees.window} positions, whose paths are longer, loses something to full attention.",
            "to be investigated",
            "{} F1 for full attention",
            full.less(restricted, "f1"),
            learned=Learned(LEAST_F1, (full.values("f1"), restricted.values("f1"))),
            why=f"paired by seed; not decided below {LEAST_F1:.0f} F1, where training has hardly begun",
            section="4",
        ),
    ]
