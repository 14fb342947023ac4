"""Table 4: English constituency parsing, trained and decoded as a translation is.

The treebank is what lies in ``DIR/treebank`` (``train.tree``, ``valid.tree``, ``test.tree``, or
compressed), else sentences made by rules.
"""

import hashlib
import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch

from headway.config import Config, ModelConfig, SearchConfig, TextConfig, TrainingConfig
from headway.files import remove
from headway.model import Transformer, parameter_count
from headway.paper.bracketing import Agreement, agreement_of_all
from headway.paper.grammar import make_treebank
from headway.paper.learner import learn
from headway.paper.parser import PAPER, Parser
from headway.paper.results import Claim, Result, Table, say, verdict
from headway.paper.treebank import prepare_treebank, read_treebank
from headway.paper.trees import Tree, retag
from headway.paper.trial import code_version
from headway.paper.work import Work
from headway.text.prepare import PreparedData
from headway.training.checkpoint import replace_file

TITLE, SECTION = "English constituency parsing", "6.3, Table 4"
WINDOW = 7  # r: the sentences are short, but most are longer
# F1 on section 23 of the Wall Street Journal; discriminative, trained on it alone, then with more.
PAPERS = (
    ("Vinyals & Kaiser et al. (2014)", "WSJ only", 88.3),
    ("Petrov et al. (2006)", "WSJ only", 90.4),
    ("Zhu et al. (2013)", "WSJ only", 90.4),
    ("Dyer et al. (2016)", "WSJ only", 91.7),
    ("Transformer, 4 layers", "WSJ only", 91.3),
    ("Zhu et al. (2013)", "semi-supervised", 91.3),
    ("Huang & Harper (2009)", "semi-supervised", 91.3),
    ("McClosky et al. (2006)", "semi-supervised", 92.1),
    ("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    ("Transformer, 4 layers", "semi-supervised", 92.7),
    ("Luong et al. (2015)", "multi-task", 93.0),
    ("Dyer et al. (2016)", "generative", 93.3),
)
SMALL = Config(
    text=TextConfig(vocab_size=2000),
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=64, d_ff=256, num_heads=4,
        dropout=0.1, tying="none",
    ),
    training=TrainingConfig(
        max_steps=500, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=200,
        precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip


def run(work: Work) -> Result:
    """Train parsers with full and restricted attention, and score the trees they find."""
    began = time.monotonic()
    name, parts = treebank(work)
    config, search = settings(work, made=name is None)
    scores: dict[str, list[Agreement]] = {}
    sizes = {}
    for title, window in (("full attention", 0), (f"restricted attention, r = {WINDOW}", WINDOW)):
        shaped = replace(config, model=replace(config.model, window=window))
        for seed in work.seeds:
            seeded = replace(shaped, training=replace(shaped.training, seed=seed))
            found, sizes[title] = parse_trial(work, seeded, search, *parts)
            work.say(f"  {title}, seed {seed}: F1 {found.f1:.2f}")
            scores.setdefault(title, []).append(found)
    full, restricted = scores.values()
    sentences = len(parts[2])
    whole = sum(a.sentences + a.empty for a in (*full, *restricted))
    everything = sentences * len((*full, *restricted))
    differences = [a.f1 - b.f1 for a, b in zip(full, restricted, strict=True)]
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
            Table(
                "The paper's Table 4: F1 on section 23 of the Wall Street Journal",
                ("parser", "training", "F1"),
                PAPERS,
            ),
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
                verdict(differences, 1),
                "paired by seed",
                "4",
            ),
        ),
        differs=(
            "The paper's treebank is licensed; "
            + (f"here it is {name}." if name else "here sentences are made by a small grammar.")
            + " The model is far smaller than the paper's (4 layers, d_model 1024, a vocabulary of"
            " 16,000), and nothing was tuned. Parts of speech are predicted too; which words are"
            " punctuation is taken from the treebank when brackets are compared."
        ),
        seconds=time.monotonic() - began,
        settings={"search": asdict(search), **config.to_dict()},
    )


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
    if work.scale == "paper":
        # What the paper does not say of parsing is as in its base model for German.
        text = TextConfig(vocab_size=16000)
        model = ModelConfig(num_encoder_layers=4, num_decoder_layers=4, d_model=1024, tying="none")
        return Config(text=text, model=model), PAPER
    steps = work.pick(toy=3, minutes=500 if made else 1000, hours=20_000)
    words = work.pick(toy=340, minutes=400 if made else 2000, hours=6000)
    training = replace(SMALL.training, max_steps=steps, warmup_steps=max(1, steps * 2 // 5))
    if work.scale == "toy":
        training = replace(training, batch_tokens=300, micro_batch_tokens=300)
    config = replace(SMALL, text=TextConfig(vocab_size=words), training=training)
    beam, extra = work.pick(toy=(2, 5), minutes=(4, PAPER.max_extra), hours=(21, PAPER.max_extra))
    return config, replace(PAPER, beam=beam, max_extra=extra)


def parse_trial(
    work: Work,
    config: Config,
    search: SearchConfig,
    train_trees: list[Tree],
    valid_trees: list[Tree],
    test_trees: list[Tree],
) -> tuple[Agreement, int]:
    """Train a parser and score it on the test trees, or read what it came to.

    Returns:
        The scores, and the model's number of parameters.
    """
    text = "\n".join(map(str, (*train_trees, *valid_trees, *test_trees)))
    where = hashlib.sha256(f"{config.text}{text}".encode()).hexdigest()[:16]
    key = hashlib.sha256(f"{where}{config}{search}{_version()}".encode()).hexdigest()[:16]
    place = work.directory / "trials" / f"parser-{key}"
    if (place / "trial.json").is_file():
        values = json.loads((place / "trial.json").read_text(encoding="utf-8"))
        return Agreement(**values["agreement"]), values["parameters"]
    prepared = work.directory / "data" / f"trees-{where}"
    data = (
        PreparedData.open(prepared)
        if (prepared / "data.json").is_file()
        else prepare_treebank(train_trees, valid_trees, prepared, config.text)
    )
    model = learn(place / "run", data, config)
    assert isinstance(model, Transformer)
    parser = Parser(model, data.tokenizer, search)
    parses = parser.parse([tree.words() for tree in test_trees])
    found = [parse.tree for parse in parses if parse is not None]
    tags = [[leaf.label for leaf in tree.leaves()] for tree in test_trees]
    scores = agreement_of_all(test_trees, map(retag, found, tags))
    scores = replace(scores, tags=agreement_of_all(test_trees, found).tags)
    values = {"agreement": asdict(scores), "parameters": parameter_count(model)}
    replace_file(place / "trial.json", json.dumps(values).encode())
    remove(place / "run")
    return scores, values["parameters"]


def _version() -> str:
    """A hash of what a parser's score depends on, beside torch."""
    names = ("bracketing", "grammar", "parser", "table4", "treebank", "trees", "wellformed")
    sources = [Path(__file__).with_name(f"{name}.py").read_bytes() for name in names]
    return hashlib.sha256(b"".join(sources)).hexdigest() + code_version() + torch.__version__


def _row(title: str, found: list[Agreement], parameters: int) -> tuple[str | int, ...]:
    columns = [
        [getattr(scores, name) for scores in found] for name in ("f1", "precision", "recall")
    ]
    columns.append([100 * scores.exact / max(1, scores.sentences) for scores in found])
    columns.append([scores.tagging for scores in found])
    return (title, *(say(values, 1) for values in columns), parameters)
