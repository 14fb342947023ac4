"""The certificate of an export: the foreign program and Headway, asked the same, compared.

Both translate the same lines greedily, and both say how likely each token of Headway's translations
is. At float32 the texts must be the same, and the log-probabilities within `tolerance`.
"""

import importlib.metadata
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from headway import __version__
from headway.config import SearchConfig
from headway.exchange.formats import PROGRAMS, Runner
from headway.inference.batching import batch_by_length, pad_right
from headway.inference.directory import Model
from headway.inference.token_search import TokenSearch

MOST_LINES = 1000
MADE_LINES = 200
BATCH_TOKENS = 4000
LOST_BLEU = 0.5  # what rounding may cost


@dataclass(frozen=True)
class Certificate:
    """What the comparison found.

    Attributes:
        format: Of the export.
        precision: Its weights'.
        lines: Compared.
        origin: Where the lines come from.
        tokens: Of Headway's translations.
        largest_difference: Of the log-probabilities of those tokens, in nats; None: not a number.
        tolerance: What it may be at float32.
        identical: Lines that both translate into the same tokens.
        ties: Other lines whose first differing token is as likely as Headway's, within tolerance.
        bleu: Of both against the references, where they are given.
        versions: Of the programs.
        notes: What could not be said in the format, and what to set.
        failures: Reasons why the export must not be trusted; none: it passed.
    """

    format: str
    precision: str
    lines: int
    origin: str
    tokens: int
    largest_difference: float | None
    tolerance: float
    identical: int
    ties: int
    bleu: dict[str, float] | None
    versions: dict[str, str]
    notes: list[str]
    failures: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what goes into ``certificate.json``."""
        return {**asdict(self), "passed": not self.failures}

    def to_text(self) -> str:
        """Say it in a few lines of Markdown."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        difference = (
            "not a number" if self.largest_difference is None else f"{self.largest_difference:.1e}"
        )
        lines = [
            f"- {self.lines:,} lines ({self.origin}), {self.tokens:,} tokens of output",
            f"- same greedy translation: {self.identical:,} of {self.lines:,}"
            + (f", and {self.ties:,} that differ by a tie" if self.ties else ""),
            f"- largest difference of a token's log-probability: {difference}"
            + (f" (at most {self.tolerance:.0e})" if self.precision == "float32" else ""),
        ]
        if self.bleu:
            ours, theirs = self.bleu["headway"], self.bleu["exported"]
            lines.append(f"- BLEU, greedy: {ours:.2f} by Headway, {theirs:.2f} by the export")
        lines.append(f"- compared with {versions}")
        lines += [f"- FAILED: {reason}" for reason in self.failures]
        return "\n".join(lines)


def certify(
    model: Model,
    runner: Runner,
    form: str,
    precision: str,
    notes: Sequence[str],
    lines: Sequence[str] = (),
    references: Sequence[str] = (),
) -> Certificate:
    """Compare an export with the model it was made from.

    Args:
        model: Ours.
        runner: Theirs.
        form: Name of the format.
        precision: Of the export's weights.
        notes: From the format's `write`.
        lines: To translate; none: made from the model's own vocabulary.
        references: Their translations, if known.
    """
    origin = "given" if lines else "made from the model's vocabulary"
    kept = [
        (line.strip(), references[i] if references else "")
        for i, line in enumerate(lines or made_lines(model, MADE_LINES))
        if line.strip()
    ][:MOST_LINES]
    finder = TokenSearch(model.transformer, model.tokenizer, model.path)
    search = SearchConfig(beam=1, precision="fp32", max_extra=model.config.search.max_extra)
    longest = min(search.max_tokens, finder.max_positions - 1)
    sources = [ids[: longest - 1] + ids[-1:] if len(ids) > longest else ids for ids in
               model.tokenizer.encode_source([line for line, _ in kept])]  # fmt: skip
    limits = [finder.max_target_length(source, search) for source in sources]
    ours = [found[0].tokens for found in finder.search(sources, [[] for _ in sources], search)]
    theirs = runner.translate_greedily(sources, limits)
    known = _log_probs(model, sources, ours)
    said = runner.log_probs(sources, ours)
    largest = 0.0
    for mine, other in zip(known, said, strict=True):
        pairs = zip(mine, other, strict=True)
        largest = max(
            largest, *(abs(a - b) if math.isfinite(a - b) else math.inf for a, b in pairs)
        )
    limit = tolerance(model)
    different = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if list(a) != list(b)]
    ties = sum(_gap(model, sources[i], ours[i], theirs[i]) <= 2 * limit for i in different)
    found = Certificate(
        format=form,
        precision=precision,
        lines=len(sources),
        origin=origin,
        tokens=sum(map(len, ours)),
        largest_difference=largest if math.isfinite(largest) else None,
        tolerance=limit,
        identical=len(sources) - len(different),
        ties=ties,
        bleu=_bleu(model, ours, theirs, [reference for _, reference in kept])
        if references
        else None,
        versions=versions(form),
        notes=list(notes),
    )
    found.failures.extend(_failures(found))
    return found


def tolerance(model: Model) -> float:
    """Return how far float32's rounding may take a log-probability; sums grow with the width."""
    return 1e-4 if model.config.model.d_model <= 256 else 2e-4


def _failures(found: Certificate) -> list[str]:
    reasons = []
    if found.largest_difference is None:
        reasons.append("the export's log-probabilities are not numbers")
    if found.precision == "float32":
        if found.largest_difference is not None and found.largest_difference > found.tolerance:
            reasons.append(
                f"a token's log-probability differs by {found.largest_difference:.1e},"
                f" more than {found.tolerance:.0e}"
            )
        if found.identical + found.ties < found.lines:
            reasons.append(
                f"{found.lines - found.identical - found.ties} of {found.lines} greedy translations"
                " differ"
            )
    elif found.bleu and found.bleu["headway"] - found.bleu["exported"] > LOST_BLEU:
        lost = found.bleu["headway"] - found.bleu["exported"]
        reasons.append(f"rounding costs {lost:.2f} BLEU, more than {LOST_BLEU}")
    return reasons


def made_lines(model: Model, count: int, seed: int = 1) -> list[str]:
    """Make lines of 3 to 25 random pieces of the source vocabulary, the same for a seed."""
    chooser = np.random.default_rng(seed)
    size = model.tokenizer.source_vocab_size
    made: list[str] = []
    while len(made) < count:
        ids = chooser.integers(2, size - 1, chooser.integers(3, 26))
        line = " ".join(model.tokenizer.decode_source(ids.tolist()).split())
        if line:
            made.append(line)
    return made


@torch.inference_mode()
def _log_probs(
    model: Model, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> list[list[float]]:
    """Return the log-probability of each target token by the paper's formulas, in fp32."""
    found: list[list[float]] = [[]] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for rows in batch_by_length(lengths, BATCH_TOKENS):
        source_BS, segments = pad_right([sources[i] for i in rows], model.tokenizer.source_pad)
        target_BT, _ = pad_right([targets[i] for i in rows], model.tokenizer.target_pad)
        log_p_BTV = F.log_softmax(model.transformer(source_BS, target_BT, segments), -1)
        log_p_BT = log_p_BTV.gather(-1, target_BT[..., None])[..., 0]
        for row, i in enumerate(rows):
            found[i] = log_p_BT[row, : len(targets[i])].tolist()
    return found


def _gap(model: Model, source: list[int], ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Return by how much our model prefers our token where two translations first differ."""
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if at is None:  # one ends where the other goes on: after </s>, which neither may
        return math.inf
    common = list(ours[:at])
    mine, other = _log_probs(model, [source] * 2, [[*common, ours[at]], [*common, theirs[at]]])
    return abs(mine[-1] - other[-1])


def _bleu(
    model: Model,
    ours: Sequence[Sequence[int]],
    theirs: Sequence[Sequence[int]],
    references: Sequence[str],
) -> dict[str, float]:
    from headway.evaluation import bleu

    texts = {
        name: [" ".join(model.tokenizer.decode(ids).split("\n")) for ids in found]
        for name, found in (("headway", ours), ("exported", theirs))
    }
    return {name: bleu(lines, references, model.languages[1]) for name, lines in texts.items()}


def versions(form: str) -> dict[str, str]:
    """Return the versions of Headway and of the programs that know a format."""
    found = {"headway": __version__, "torch": torch.__version__}
    for name in PROGRAMS[form]:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
