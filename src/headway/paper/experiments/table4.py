"""Table 4: English constituency parsing, trained and decoded as a translation is.

The treebank is what lies in ``DIR/treebank`` (``train.tree``, ``valid.tree``, ``test.tree``, or
compressed), else sentences made by rules.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from headway.config import (
    Config,
    ModelConfig,
    SearchConfig,
    TextConfig,
    TrainingConfig,
    from_dict,
)
from headway.files import remove
from headway.model import Transformer, parameter_count
from headway.paper.experiments.table4_treebank import make_treebank
from headway.paper.published import TABLE4
from headway.paper.results import Claim, Result, Table, say, verdict
from headway.paper.running.learner import learn
from headway.paper.running.scales import paper_settings
from headway.paper.running.trial import code_version
from headway.paper.running.work import Job, Work
from headway.parsing import parser as parser_module
from headway.parsing.bracketing import BracketScores, score_parses
from headway.parsing.parser import PAPER, Parser
from headway.parsing.treebank import prepare_treebank, read_treebank
from headway.parsing.trees import Tree, retag
from headway.text.prepare import PreparedData
from headway.training.checkpoint import replace_file

TITLE, SECTION = "English constituency parsing", "6.3, Table 4"
SETTINGS = ("wsj-parsing", "wsj-parsing-semi-supervised")
LEARNED = 50.0  # F1 from which parsers are compared
WINDOW = 7  # r: the sentences are short, but most are longer
SMALL = Config(
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=64, d_ff=256, num_heads=4,
        dropout=0.1, tying="none",
    ),
    training=TrainingConfig(
        max_steps=500, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=200,
        precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# For a real treebank, which is harder to learn than one made by rules.
MIDDLE = Config(
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=128, d_ff=512, num_heads=4,
        dropout=0.1, tying="none",
    ),
    training=TrainingConfig(
        max_steps=10_000, batch_tokens=2500, micro_batch_tokens=2500, packed=True, warmup_steps=800,
        rate_scale=1.28, cool_steps=7500, checkpoint_every=250, device="cpu", threads=1,
    ),
)  # fmt: skip


def run(work: Work) -> Result:
    """Train parsers with full and restricted attention, and score the trees they find."""
    published = Table(
        "The paper's Table 4: F1 on section 23 of the Wall Street Journal",
        ("parser", "training", "F1"),
        TABLE4,
    )
    if work.scale == "paper":
        return papers_size(work, published)
    began = time.monotonic()
    name, parts = treebank(work)
    config, search = settings(work, made=name is None)
    wanted = {
        (title, seed): replace(
            config,
            model=replace(config.model, window=window),
            training=replace(config.training, seed=seed),
        )
        for title, window in (
            ("full attention", 0),
            (f"restricted attention, r = {WINDOW}", WINDOW),
        )
        for seed in work.seeds
    }
    scores: dict[str, list[BracketScores]] = {}
    sizes = {}
    for (title, seed), (found, size) in zip(
        wanted, parse_trials(work, list(wanted.values()), search, *parts), strict=True
    ):
        work.say(f"  {title}, seed {seed}: F1 {found.f1:.2f}")
        scores.setdefault(title, []).append(found)
        sizes[title] = size
    full, restricted = scores.values()
    sentences = len(parts[2])
    whole = sum(a.sentences + a.empty for a in (*full, *restricted))
    everything = sentences * len((*full, *restricted))
    differences = [a.f1 - b.f1 for a, b in zip(full, restricted, strict=True)]
    learned = sum(found.f1 for found in full) / len(full) >= LEARNED
    return Result(
        name="table4",
        title=TITLE,
        section=SECTION,
        tables=(
            Table(
                f"Labelled bracket F1 here, on {name or 'sentences made by rules'}",
                ("model", "F1", "precision", "recall", "exact, %", "tags, %", "parameters"),
                tuple(_row(title, found, sizes[title]) for title, found in scores.items()),
                f"Mean (95 % interval) of {len(work.seeds)} seeds; {len(parts[0]):,} training and"
                f" {sentences:,} test sentences; evalb's rules; beam {search.beam},"
                f" alpha {search.alpha}, trees of at most {search.max_extra} tokens more than"
                " their sentence; well-formed trees only.",
            ),
            published,
        ),
        claims=(
            Claim(
                "A sentence is translated into its tree; what comes out is a tree of it.",
                "-",
                f"{whole} of {everything} are whole trees with the sentence's words",
                "shown" if whole == everything else "does not",
                "nothing else can be said: what would make no tree is forbidden at each step",
                "6.3",
            ),
            Claim(
                "The model parses, with next to no change for the task.",
                "91.3 F1 (WSJ only)",
                f"{say([a.f1 for a in full])} F1",
                "shown",
                "another treebank, a smaller model: the numbers are not to be compared",
                "6.3",
            ),
            Claim(
                f"Attention restricted to {WINDOW} positions loses something to full attention.",
                "section 4 expects that it may",
                f"{say(differences, sign=True)} F1 for full attention",
                verdict(differences, 1) if learned else "not decided",
                f"paired by seed; none below {LEARNED:.0f} F1, which says more of training than of parsers",
                "4",
            ),
        ),
        differs=(
            "The paper's treebank is licensed; "
            + (f"here it is {name}." if name else "here sentences are made by a small grammar.")
            + " The model is far smaller than the paper's (4 layers, d_model 1024, a vocabulary of"
            " 16,000), and nothing was tuned. It is trained on every constituent too, as a sentence"
            " of its own. Parts of speech are predicted too; which words are punctuation is taken"
            " from the treebank when brackets are compared."
        ),
        seconds=time.monotonic() - began,
        settings={"search": asdict(search), **config.to_dict()},
    )


def papers_size(work: Work, published: Table) -> Result:
    """Write the paper's own settings, and the commands that train with them."""
    jobs = [Job(name, paper_settings(name)) for name in SETTINGS]
    commands = replace(
        work.write_settings(jobs, text="--data data/wsj"),
        note="The data comes from headway treebank data/wsj --train train.tree --valid valid.tree, with"
        " the same --config; headway parse RUN --gold test.tree says the F1.",
    )
    differs = "Nothing is trained at this size: the settings are written, with their commands."
    return Result("table4", TITLE, SECTION, (published, commands), (), (), differs)


def treebank(work: Work) -> tuple[str | None, tuple[list[Tree], list[Tree], list[Tree]]]:
    """Return the treebank's name, None if made by rules, and its training, validation and test trees."""
    folder = work.directory / "treebank"
    files = [sorted(folder.glob(f"{part}.tree*")) for part in ("train", "valid", "test")]
    most = work.pick(toy=30, minutes=None)
    if all(files):
        train, valid, test = (read_treebank(paths[0])[:most] for paths in files)
        return "the treebank given", (train, valid, test)
    trees = make_treebank(work.pick(toy=90, minutes=9000))
    held = len(trees) // 18
    return None, (trees[2 * held :], trees[:held], trees[held : 2 * held])


def settings(work: Work, made: bool) -> tuple[Config, SearchConfig]:
    """Return the settings of training and search at a scale."""
    words = work.pick(toy=340, minutes=400 if made else 2000, hours=400 if made else 8000)
    text = TextConfig(vocab_size=words)
    if work.scale == "hours":
        return replace(MIDDLE, text=text), PAPER
    steps = work.pick(toy=3, minutes=800 if made else 1000)
    training = replace(SMALL.training, max_steps=steps, warmup_steps=max(1, steps * 2 // 5))
    if work.scale == "toy":
        training = replace(training, batch_tokens=300, micro_batch_tokens=300)
    beam, extra = work.pick(toy=(2, 5), minutes=(4, PAPER.max_extra))
    return replace(SMALL, text=text, training=training), replace(PAPER, beam=beam, max_extra=extra)


def parse_trials(
    work: Work,
    configs: Sequence[Config],
    search: SearchConfig,
    train_trees: list[Tree],
    valid_trees: list[Tree],
    test_trees: list[Tree],
) -> list[tuple[BracketScores, int]]:
    """Train parsers and score them on the test trees, or read what they came to.

    Returns:
        The scores of each, and its number of parameters.
    """
    text = "\n".join(map(str, (*train_trees, *valid_trees, *test_trees)))
    where = hashlib.sha256(f"{configs[0].text}{_version()}{text}".encode()).hexdigest()[:16]
    prepared = work.directory / "data" / f"trees-{where}"
    if not (prepared / "data.json").is_file():
        prepare_treebank(train_trees, valid_trees, prepared, configs[0].text, with_parts=True)
    test = "".join(f"{tree}\n" for tree in test_trees)
    replace_file(prepared.with_name(f"{prepared.name}-test.tree"), test.encode())
    specs = [
        {
            "name": f"parser, r = {config.model.window or 'all'}, seed {config.training.seed}",
            "data": prepared.name,
            "settings": config.to_dict(),
            "search": asdict(search),
            "version": _version(),
        }
        for config in configs
    ]
    return [
        (BracketScores(**values["agreement"]), values["parameters"])
        for values in work.pieces(parser, specs)
    ]


def parser(place: Path) -> None:
    """Train the parser that a directory's ``spec.json`` describes, and score it; one of `parse_trials`."""
    spec = json.loads((place / "spec.json").read_text(encoding="utf-8"))
    prepared = place.parents[1] / "data" / spec["data"]
    data = PreparedData.open(prepared)
    test_trees = read_treebank(prepared.with_name(f"{prepared.name}-test.tree"))
    model = learn(place / "run", data, from_dict(spec["settings"], where=str(place)))
    assert isinstance(model, Transformer)
    search = SearchConfig(**spec["search"])
    parses = Parser(model, data.tokenizer, search).parse([tree.words() for tree in test_trees])
    found = [parse.tree for parse in parses if parse is not None]
    tags = [[leaf.label for leaf in tree.leaves()] for tree in test_trees]
    scores = score_parses(test_trees, map(retag, found, tags))
    scores = replace(scores, tags=score_parses(test_trees, found).tags)
    values = {"agreement": asdict(scores), "parameters": parameter_count(model)}
    replace_file(place / "trial.json", json.dumps(values).encode())
    remove(place / "run")


def _version() -> str:
    """A hash of what a parser's score depends on, beside torch."""
    parsing = Path(parser_module.__file__).parent
    files = (
        Path(__file__),
        *sorted(parsing.glob("*.py")),
        *sorted(Path(__file__).parent.glob("table4*.py")),
    )
    sources = [file.read_bytes() for file in files]
    return hashlib.sha256(b"".join(sources)).hexdigest() + code_version() + torch.__version__


def _row(title: str, found: list[BracketScores], parameters: int) -> tuple[str | int, ...]:
    columns = [
        [getattr(scores, name) for scores in found] for name in ("f1", "precision", "recall")
    ]
    columns.append([100 * scores.exact / max(1, scores.sentences) for scores in found])
    columns.append([scores.tagging for scores in found])
    return (title, *(say(values, 1) for values in columns), parameters)
