"""The certificate of an export: a comparison of the foreign program with Headway.

Both programs translate the same lines greedily, and both compute the log-probability of each token of
Headway's translations. At float32 the translations must be the same, and the log-probabilities may
differ by `tolerance`. A rounded export may translate differently; only the mean of its differences has a
limit.
"""

import importlib.metadata
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from headway import __version__
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.exchange.formats import FORMATS, ExportRunner
from headway.training import RunDirectory
from headway.translation import Model, PlainEngine, TokenSearch, batch_by_length

MAX_LINES = 1000
RANDOM_LINES = 200
BATCH_TOKENS = 4000
MAX_LOST_BLEU = 0.5  # by rounding
MAX_MEAN_DIFFERENCE = 0.1  # by rounding, in nats; two trained models had 0.02 and 0.03 in int8


@dataclass(frozen=True)
class Certificate:
    """The result of a comparison.

    Attributes:
        format: Name of the format.
        precision: Of the stored weights.
        lines: The number of lines compared.
        origin: Where the lines come from.
        tokens: The number of tokens of Headway's translations.
        largest_difference: Of the log-probabilities of those tokens, in nats; None: not a number.
        mean_difference: Of the same log-probabilities, as an absolute value.
        tolerance: The largest difference that float32 may have, in nats.
        identical: Lines that both programs translate into the same tokens.
        ties: Other lines where the first differing tokens are equally likely within the tolerance.
        bleu: BLEU of both programs, if references were given.
        versions: Of the programs.
        notes: What differs in the other program, and what to set there.
        failures: Reasons why the export must not be used; empty if it passed.
    """

    format: str
    precision: str
    lines: int
    origin: str
    tokens: int
    largest_difference: float | None
    mean_difference: float | None
    tolerance: float
    identical: int
    ties: int
    bleu: dict[str, float] | None
    versions: dict[str, str]
    notes: list[str]
    failures: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """Return the content of ``certificate.json``."""
        return {**asdict(self), "passed": not self.failures}

    def to_text(self) -> str:
        """Return a few lines of Markdown."""
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
    runner: ExportRunner,
    format_name: str,
    precision: str,
    notes: Sequence[str],
    lines: Sequence[str] = (),
    references: Sequence[str] = (),
) -> Certificate:
    """Compare an export with the model that it was made from.

    Args:
        model: The model.
        runner: The export, loaded into the other program.
        format_name: Name of the format.
        precision: Of the stored weights.
        notes: The result of the format's ``write``.
        lines: Text to translate; by default the validation text of the model's run, or random subwords of its vocabulary.
        references: Translations of ``lines``, if they are known.
    """
    origin = "given"
    if not lines:
        origin, lines = "the run's validation text", read_validation_text(model.path)
    if not lines:
        origin, lines = "made from the model's vocabulary", random_lines(model, RANDOM_LINES)
    pairs = [
        (line.strip(), references[i] if references else "")
        for i, line in enumerate(lines)
        if line.strip()
    ][:MAX_LINES]
    search = SearchConfig(beam=1, precision="fp32", max_extra=model.config.search.max_extra)
    token_search = TokenSearch([model.transformer], model.tokenizer, model.path)
    longest = min(search.max_tokens, token_search.max_positions - 1)
    # The lines take turns to have the symbol of each target language.
    encoders = [*map(model.tokenizer.to, model.targets)] or [model.tokenizer]
    encoded = [
        encoders[number % len(encoders)].encode_source([line])[0]
        for number, (line, _) in enumerate(pairs)
    ]
    sources = [ids[: longest - 1] + ids[-1:] if len(ids) > longest else ids for ids in encoded]
    limits = [token_search.max_target_length(source, search) for source in sources]
    # Other programs may write translations without text.
    hypotheses = token_search.search(sources, [[] for _ in sources], search, may_be_blank=True)
    ours = [best.tokens for best, *_ in hypotheses]
    theirs = runner.translate_greedily(sources, limits)
    differences = [
        abs(a - b)
        for own, other in zip(
            _log_probs(model, sources, ours), runner.log_probs(sources, ours), strict=True
        )
        for a, b in zip(own, other, strict=True)
    ]
    is_finite = all(map(math.isfinite, differences))
    limit = tolerance(model)
    different = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if list(a) != list(b)]
    ties = sum(_gap(model, sources[i], ours[i], theirs[i]) <= 2 * limit for i in different)
    scores = None
    if references:
        scores = _bleu(model, ours, theirs, [reference for _, reference in pairs])
    certificate = Certificate(
        format=format_name,
        precision=precision,
        lines=len(sources),
        origin=origin,
        tokens=sum(map(len, ours)),
        largest_difference=max(differences) if is_finite else None,
        mean_difference=statistics.fmean(differences) if is_finite else None,
        tolerance=limit,
        identical=len(sources) - len(different),
        ties=ties,
        bleu=scores,
        versions=versions(format_name),
        notes=list(notes),
    )
    certificate.failures.extend(_find_failures(certificate))
    return certificate


def tolerance(model: Model) -> float:
    """Return the allowed difference of a log-probability at float32, in nats.

    Rounding errors grow with the width of the model.
    """
    return 1e-4 if model.config.model.d_model <= 256 else 2e-4


def _find_failures(found: Certificate) -> list[str]:
    if found.largest_difference is None or found.mean_difference is None:
        return ["the export's log-probabilities are not numbers"]
    reasons = []
    if found.precision == "float32":
        if found.largest_difference > found.tolerance:
            reasons.append(
                f"a token's log-probability differs by {found.largest_difference:.1e},"
                f" more than {found.tolerance:.0e}"
            )
        if different := found.lines - found.identical - found.ties:
            reasons.append(f"{different} of {found.lines} greedy translations differ")
        return reasons
    if found.mean_difference > MAX_MEAN_DIFFERENCE:
        reasons.append(
            f"log-probabilities differ by {found.mean_difference:.2f} in the mean, more than"
            f" {MAX_MEAN_DIFFERENCE:g}, which rounding does not explain"
        )
    lost = found.bleu["headway"] - found.bleu["exported"] if found.bleu else 0.0
    if lost > MAX_LOST_BLEU:
        reasons.append(f"rounding costs {lost:.2f} BLEU, more than {MAX_LOST_BLEU}")
    return reasons


def read_validation_text(directory: Path) -> list[str]:
    """Return the sources of the validation text of a run; none if a directory is no run, or the text is not there."""
    run = RunDirectory(directory)
    try:
        prepared = Path(run.record().data.directory or run.data)
        return (prepared / "valid.source").read_text("utf-8").split("\n")[:-1]
    except (HeadwayError, OSError, ValueError):
        return []


def random_lines(model: Model, count: int) -> list[str]:
    """Return lines of 3 to 25 random subwords of the source vocabulary, always the same."""
    random = np.random.default_rng(1)
    size = model.tokenizer.source_vocab_size
    lines: list[str] = []
    while len(lines) < count:
        ids = random.integers(2, size - 1, random.integers(3, 26))
        line = " ".join(model.tokenizer.decode_source(ids.tolist()).split())
        if line:
            lines.append(line)
    return lines


@torch.inference_mode()
def _log_probs(
    model: Model, sources: Sequence[list[int]], targets: Sequence[list[int]]
) -> list[list[float]]:
    """Return the log-probability of each target token by the plain model, in fp32."""
    engine = PlainEngine(model.transformer)
    log_probs: list[list[float]] = [[]] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for rows in batch_by_length(lengths, BATCH_TOKENS):
        found = engine.read([sources[i] for i in rows], [targets[i] for i in rows])
        for i, given in zip(rows, found, strict=True):
            log_probs[i] = [*map(float, given.log_p)]
    return log_probs


def _gap(model: Model, source: list[int], ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Return how much the log-probabilities of the first differing tokens differ, in nats."""
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if at is None:  # one translation goes on after the end of the other, which is never a tie
        return math.inf
    common = list(ours[:at])
    own, other = _log_probs(model, [source] * 2, [[*common, ours[at]], [*common, theirs[at]]])
    return abs(own[-1] - other[-1])


def _bleu(
    model: Model,
    ours: Sequence[Sequence[int]],
    theirs: Sequence[Sequence[int]],
    references: Sequence[str],
) -> dict[str, float]:
    from headway.evaluation import bleu

    texts = {
        name: [" ".join(model.tokenizer.decode(ids).split("\n")) for ids in translations]
        for name, translations in (("headway", ours), ("exported", theirs))
    }
    return {name: bleu(lines, references, model.languages[1]) for name, lines in texts.items()}


def versions(format_name: str) -> dict[str, str]:
    """Return the versions of Headway and of the packages of a format, with which it was written and compared."""
    packages = {name: importlib.metadata.version(name) for name in FORMATS[format_name]}
    return {"headway": __version__, "torch": torch.__version__} | packages
