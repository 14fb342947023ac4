"""The model card: what a model is, how it was made, how good it is, and what its limits are."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.config import Config
from headway.config.toml import to_toml
from headway.evaluation.metrics import pick_metrics
from headway.extension import require
from headway.text.groups import Manifest
from headway.text.languages import Languages, describe_pairs, list_codes
from headway.training.storage.record import RunRecord
from headway.training.validation import ValidationReport
from headway.translation.direction import KnownLanguages
from headway.translation.front_matter import front_matter

LIMITS = """
## Limits

The model knows only subjects, styles and languages that are in its training text. On other text
it often translates fluently but wrongly. It translates each sentence without its context; the longest
sentence in training had at most {} subwords. The model has not been examined
for bias, nor for safety in any use: check its translations before you rely on them.
"""


def model_card(
    config: Config,
    record: RunRecord,
    languages: tuple[str, str],
    which: str,
    report: ValidationReport | None,
    pairs: Sequence[Languages] = (),
) -> str:
    """Return the card of a trained model, in Markdown.

    Args:
        config: The settings of the run.
        record: What the run's ``run.json`` holds.
        languages: Codes of source and target.
        which: The weights of the run that this model has, such as "weights at step 500".
        report: The model's validation scores; None: it was not validated.
        pairs: All pairs of languages of a model of several.
    """
    data, machine, target = record.data, record.machine, languages[1]
    corpora = list(_fetched_corpora(data.origins))
    network, scores, limits = "A Transformer", "This model was not validated.", ""
    if config.model.kind == "translator":
        head = front_matter(
            list_codes(pairs) if pairs else languages,
            datasets=list(dict.fromkeys(name for name in map(_hub_name, corpora) if name)),
            scores=_values(target, report),
            scored_on=f"{data.validation_pairs:,} validation pairs, by which the model was chosen",
        )
        title, texts = describe_pairs(pairs or [languages]), "pairs, cleaned"
        choice = f" {KnownLanguages(languages, pairs, ()).example}" if pairs else ""
        use = f'echo "..." | headway translate .{choice}'
        limits = LIMITS.format(config.text.max_tokens)
        scores = "This model was not validated: score it with `headway evaluate`."
        if report:
            scores = _scores(config, data.validation_pairs, target, report)
    else:
        kind, texts = require("the model card", "kinds", config.model.kind), "texts"
        title, task, use = kind.CARD
        head, network = front_matter((), task=task), "One half of a Transformer"
        if report:
            measured = f"{kind.describe_score(report)}perplexity {report.perplexity:.3f}"
            scores = f"Of the texts by which the model was chosen: {measured}."
    return f"""{head}
# {title}

{network} (Vaswani et al., 2017) trained with Headway {record.headway}; {which}.

    {use}

## Validation

{scores}

## Data

{data.training_pairs:,} training {texts}, and {data.validation_pairs:,} for validation.
Fingerprint of the data: `{data.fingerprint}`; of the vocabulary: `{data.tokenizer}`.{_initial_model(record)}{_list_corpora(corpora)}
{limits}
## How it was made

This command started the training:

    {shlex.join(record.command) or "from Python"}

With torch {record.torch} on {machine.device}, threads: {machine.threads}, matrix products
in {machine.precision}. All settings, those included that a resume has changed:

```toml
{to_toml(config.sections()).strip()}
```
"""


def _fetched_corpora(origins: Sequence[Manifest]) -> Iterator[Manifest]:
    """Yield the manifests of fetched corpora; a corpus of several parts yields those of its parts."""
    for manifest in origins:
        yield from _fetched_corpora(manifest["parts"]) if manifest.get("parts") else (manifest,)


def _hub_name(manifest: Manifest) -> str:
    """Return a corpus's name on the Hugging Face hub, or an empty string if it is from elsewhere."""
    source, _, rest = str(manifest["name"]).partition(":")
    return re.split("[:@]", rest)[0] if source == "hf" else ""


def _list_corpora(manifests: Sequence[Manifest]) -> str:
    lines = [
        f"- `{manifest['name']}`, fetched by {manifest['program']}"
        + (f", revision `{manifest['revision']}`" if manifest.get("revision") else "")
        for manifest in manifests
    ]
    return "\n\nTraining and validation text, by name:\n\n" + "\n".join(lines) if lines else ""


def _values(language: str, report: ValidationReport | None) -> dict[str, tuple[str, float]] | None:
    """Return validation scores under the hub's names of metrics: key -> (name with signature, value)."""
    if report is None:
        return None
    return {
        key: (f"{name} ({_signature(key, language)})", value)
        for key, name, value in (("bleu", "BLEU", report.bleu), ("chrf", "chrF2", report.chrf))
    }


def _signature(key: str, language: str) -> str:
    return pick_metrics([key])[0].statistics([""], [""], language).signature


def _initial_model(record: RunRecord) -> str:
    if not record.init:
        return ""
    name, digest = Path(record.init.path).name, record.init.sha256
    return f"\nTraining started from the weights of the model `{name}` (sha256 `{digest}`)."


def _scores(config: Config, pairs: int, language: str, report: ValidationReport) -> str:
    bleu, chrf = _signature("bleu", language), _signature("chrf", language)
    limit = config.training.validation_sentences
    sentences = f"{min(limit or pairs, pairs)} raw sentences"
    of_pairs = ""
    if report.bleu_of_pairs:
        sentences = f"{f'the first {limit}' if limit else 'all'} raw sentences of each pair"
        lines = [f"- {pair}: BLEU {bleu:.2f}" for pair, bleu in report.bleu_of_pairs.items()]
        of_pairs = "\n".join(["\n\nThey are means over these pairs of languages:", "", *lines])
    return f"""- BLEU {report.bleu:.2f}: `{bleu}`
- chrF2 {report.chrf:.2f}: `{chrf}`
- perplexity {report.perplexity:.3f} per target subword, without label smoothing

BLEU and chrF2 on {sentences}, beam {config.training.validation_beam}. The model was
chosen by these scores; expect lower ones on a test set that took no part in the choice.{of_pairs}"""
