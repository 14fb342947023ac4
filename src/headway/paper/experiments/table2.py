"""Table 2: what training costs, by the paper's method and counted, and BLEU with the paper's scoring."""

import time
from collections.abc import Sequence
from functools import cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.config import PRESETS, ModelConfig, SearchConfig
from headway.evaluation import pick_measures
from headway.inference import Translator
from headway.model import Transformer
from headway.paper.measuring.parameters import formula, with_rows
from headway.paper.published import (
    GPUS,
    HOURS,
    SECONDS_A_STEP,
    STEPS,
    SUSTAINED,
    TABLE2,
    TABLE2_NOTE,
    TABLE3,
    TOKENS_A_STEP,
    VOCABULARY,
)
from headway.paper.results import Cell, Claim, Result, Table, say, verdict
from headway.paper.running.rows import configure
from headway.paper.running.scales import paper_settings
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work
from headway.training.objective import plain_loss

TITLE = "Table 2: training cost and BLEU"
SECTION = "6.1"
LENGTH = 27  # subwords of a sentence, for the count: about WMT's mean
SEARCH = SearchConfig(beam=4, alpha=0.6)
SETTINGS = tuple(f"wmt14-{name}" for name in ("en-de-base", "en-de-big", "en-fr-base", "en-fr-big"))


def run(work: Work) -> Result:
    """Count the paper's models; train and score base and big at the size at hand."""
    tables, claims = [published(), cost_table()], cost_claims()
    if work.scale == "paper":
        tables.append(work.write_settings([Job(name, paper_settings(name)) for name in SETTINGS]))
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result("table2", TITLE, SECTION, tuple(tables), (), tuple(claims), differs)
    rows = {"base": TABLE3[0], "big": TABLE3[-1]}
    trials = work.by_seed([Job(name, configure(work.base, row)) for name, row in rows.items()])
    speed = sustained()
    tables.append(trained_table(trials, work, speed))
    gains = [
        a - b
        for name in trials
        for a, b in zip(
            scores(work, trials[name], True), scores(work, trials[name], False), strict=True
        )
    ]
    bleu = {name: scores(work, found, True) for name, found in trials.items()}
    ahead = [a - b for a, b in zip(bleu["big"], bleu["base"], strict=True)]
    claims += [
        Claim(
            "Big is better than base", "28.4 and 27.3", f"{say(ahead, 1, sign=True)} BLEU",
            work.sober(verdict(ahead, 1), *trials.values()), f"{len(ahead)} seeds, averaged checkpoints", "6.1",
        ),
        Claim(
            "Averaged checkpoints are better than the last", "", f"{say(gains, 1, sign=True)} BLEU",
            work.sober(verdict(gains, 1), *trials.values()), "base and big, each seed; the paper averages without a comparison", "6.1",
        ),
    ]  # fmt: skip
    differs = (
        f"Trained on {work.corpus.name}, {len(work.corpus.train):,} pairs, and scored on"
        f" {len(work.corpus.test):,} unseen pairs, not on newstest2014: these scores may not stand beside"
        f" the paper's. Scoring is the paper's: the last {work.base.training.average} checkpoints averaged, beam 4, alpha 0.6, cased,"
        " Moses tokens, hyphens split, unsmoothed. Sentencepiece stands in for word-pieces"
        " (English-French). The paper's method takes the seconds of training times the sustained speed of"
        " the hardware; here that speed is measured on one matrix product, and seconds are of one core."
    )
    settings = {"seeds": list(work.seeds), "sustained FLOP/s of a core": f"{speed:.3g}"}
    return Result(
        "table2", TITLE, SECTION, tuple(tables), (), tuple(claims), differs, 0.0, settings
    )


def published() -> Table:
    """The paper's own table."""
    rows = tuple((s.name, s.en_de, s.en_fr, s.flops_en_de, s.flops_en_fr) for s in TABLE2)
    columns = ("system", "BLEU en-de", "BLEU en-fr", "FLOPs en-de", "FLOPs en-fr")
    return Table("The paper's Table 2 (newstest2014)", columns, rows, TABLE2_NOTE)


def estimate(name: str) -> float:
    """Return floating-point operations by the paper's method: hours, GPUs, sustained speed."""
    return HOURS[name] * 3600 * GPUS * SUSTAINED["P100"]


@cache
def count_step(shape: ModelConfig, tokens: int, length: int = LENGTH) -> int:
    """Count the operations of a training step's matrix products on the running model.

    Forward and backward, of sentences of one length, on a device without memory: it computes nothing,
    but takes every step. A multiplication and an addition are two operations.

    Args:
        shape: With its vocabulary sizes.
        tokens: Of each side.
        length: Of each sentence, in subwords.
    """
    rows = max(1, round(tokens / length))
    with torch.device("meta"):
        model = Transformer(shape)
        source = torch.zeros(rows, length, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        logits = model(source, source)
        plain_loss(logits.flatten(0, 1), source.flatten(), 0.1).smoothed.backward()
    return round(counter.get_total_flops() * tokens / (rows * length))


def by_formula(shape: ModelConfig, tokens: int) -> int:
    """Return six operations a token and parameter of a product: the usual rule, attention left out."""
    tables = 0 if shape.tying == "three-way" else shape.source_vocab_size * shape.d_model
    return 6 * tokens * (formula(shape) - tables)


def cost_table() -> Table:
    """Set the paper's estimate beside the counted operations of its models."""
    cells: list[tuple[Cell, ...]] = []
    for name in ("base", "big"):
        shape = with_rows(PRESETS[name].model, VOCABULARY["en-de"])
        step = count_step(shape, TOKENS_A_STEP)
        total = step * STEPS[name]
        cells.append(
            (
                name, estimate(name), GPUS * SUSTAINED["P100"] * SECONDS_A_STEP[name] * STEPS[name],
                next(s.flops_en_de for s in TABLE2 if s.name.endswith(name)),
                float(step), by_formula(shape, TOKENS_A_STEP) / step, float(total),
                round(100 * total / estimate(name), 1),
            )
        )  # fmt: skip
    columns = (
        "model", "hours × GPUs × sustained speed", "steps × seconds × the same", "printed",
        "counted, a step", "six a token and parameter, of that", "counted, all steps",
        "counted / estimated, %",
    )  # fmt: skip
    return Table(
        "Floating-point operations of training the paper's models, English-German",
        columns, tuple(cells),
        f"Counted on the running model, forward and backward, {TOKENS_A_STEP:,} tokens a side in sentences"
        f" of {LENGTH} subwords, padding not counted. The paper's method counts what the hardware could have"
        " done in the time, not what the model needed: the last column is how much of it was needed.",
    )  # fmt: skip


def cost_claims() -> list[Claim]:
    """Check the paper's arithmetic, and its conclusion."""
    found = []
    for name, printed in (("base", 3.3e18), ("big", 2.3e19)):
        ours = estimate(name)
        found.append(
            Claim(
                f"{name}: hours of training times GPUs times their sustained speed",
                f"{printed:.1e}", f"{ours:.2e}",
                "shown" if abs(ours / printed - 1) < 0.02 else "does not",
                f"{HOURS[name]:g} h · {GPUS} · {SUSTAINED['P100']:.2g} FLOP/s", "6.1",
            )
        )  # fmt: skip
    cheapest = min(s.flops_en_de for s in TABLE2[:-2] if s.flops_en_de)
    shape = with_rows(PRESETS["base"].model, VOCABULARY["en-de"])
    counted = count_step(shape, TOKENS_A_STEP) * STEPS["base"]
    found.append(
        Claim(
            "Base costs a fraction of the cheapest competitor",
            f"3.3e+18 of {cheapest:.1e}", f"{counted:.2e} counted",
            "shown" if counted < 3.3e18 < cheapest else "does not",
            "the competitors' costs are the paper's estimates", "6.1",
        )
    )  # fmt: skip
    return found


def sustained(size: int = 768, seconds: float = 0.5) -> float:
    """Measure the FLOP/s of one core on a product of square matrices, as fp32."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        a, done = torch.ones(size, size), 0
        _ = a @ a
        started = time.process_time()
        while time.process_time() - started < seconds:
            _ = a @ a
            done += 1
        return done * 2 * size**3 / (time.process_time() - started)
    finally:
        torch.set_num_threads(threads)


@cache
def _translations(path: str, sources: tuple[str, ...]) -> list[str]:
    return Translator.load(path, "cpu").translate(list(sources), SEARCH)


def scores(work: Work, trials: Sequence[Trial], averaged: bool, split: bool = True) -> list[float]:
    """Return BLEU of each trial's last or averaged weights, scored as the paper does or as sacreBLEU."""
    (measure,) = pick_measures(["bleu_moses_split" if split else "bleu"])
    sources, targets = zip(*work.corpus.test, strict=True)
    return [
        measure.segments(
            _translations(str(trial.averaged if averaged else trial.directory), sources),
            list(targets),
            work.corpus.languages[1],
        ).total()
        for trial in trials
    ]


def trained_table(trials: dict[str, list[Trial]], work: Work, speed: float) -> Table:
    """Show the models trained here: scores, and cost by both methods."""
    cells: list[tuple[Cell, ...]] = []
    for name, found in trials.items():
        shape = ModelConfig(**found[0].settings["model"])
        settings = found[0].settings["training"]
        tokens = sum(t.seconds * t.tokens_per_second for t in found) / len(found)
        counted = count_step(shape, settings["batch_tokens"]) * tokens / settings["batch_tokens"]
        seconds = sum(t.seconds for t in found) / len(found)
        cells.append(
            (
                name,
                say(scores(work, found, True), 1), say(scores(work, found, False), 1),
                say(scores(work, found, True, split=False), 1),
                found[0].parameters, round(seconds, 1), seconds * speed, counted,
                round(100 * counted / (seconds * speed), 1),
            )
        )  # fmt: skip
    columns = (
        "model", "BLEU, the paper's scoring", "the last checkpoint", "sacreBLEU, averaged", "parameters",
        "seconds", "FLOPs by the paper's method", "FLOPs counted", "%",
    )  # fmt: skip
    return Table("Trained here: mean and 95 % interval over the seeds", columns, tuple(cells))
