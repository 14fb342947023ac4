"""The model card: what a model is, where it came from, how good it is and where it ends."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Config, describe
from headway.evaluation.measures import pick_measures
from headway.training.validation import ValidationReport


def model_card(
    config: Config,
    facts: Mapping[str, Any],
    languages: tuple[str, str],
    which: str,
    report: ValidationReport | None,
) -> str:
    """Write the card of a trained model, in Markdown.

    Args:
        config: The run's settings.
        facts: The run's ``run.json``.
        languages: Of source and target.
        which: Which of the run's weights these are.
        report: The model's validation scores, if it was validated.
    """
    if config.model.kind != "translator":
        return _other_card(config, facts, which, report)
    source, target = languages
    data, machine = facts["data"], facts["machine"]
    command = shlex.join(facts.get("command", ()))
    return f"""---
language:
- {source}
- {target}
library_name: headway
pipeline_tag: translation
metrics:
- bleu
- chrf
---

# Translation from {source} to {target}

A Transformer (Vaswani et al., 2017) trained with Headway {facts["headway"]}; {which}.

    echo "..." | headway translate .

## Validation

{_scores(config, data["validation_pairs"], target, report)}

## Data

{data["training_pairs"]:,} training pairs, cleaned, and {data["validation_pairs"]:,} validation pairs.
Fingerprint of the data: `{data["fingerprint"]}`; of the vocabulary: `{data["tokenizer"]}`.{_begun(facts)}

## Limits

The model knows what its training text contains: other subjects, styles and languages come out
badly, often fluently wrong. It reads a sentence at a time; in training the longest had at most
{config.text.max_tokens} pieces. It has not been examined for bias or for safety in any use: check
its translations before you rely on them.

## How it was made

    {command or "from Python"}

With torch {facts["torch"]} on {machine["device"]}, threads: {machine["threads"]}, matrix products
in {machine["precision"]}. All settings:

```toml
{describe(config).strip()}
```
"""


def _other_card(
    config: Config, facts: Mapping[str, Any], which: str, report: ValidationReport | None
) -> str:
    """Write the card of a language model or of a classifier."""
    data, machine = facts["data"], facts["machine"]
    title, task, use = {
        "language-model": ("Language model", "text-generation", "headway lm . --generate 1"),
        "classifier": ("Classifier of texts", "text-classification", "headway classify . < texts"),
    }[config.model.kind]
    scores = "This model was not validated."
    if report is not None:
        scores = f"{report.worth[0].upper()}{report.worth[1:]}, perplexity {report.perplexity:.3f}."
    return f"""---
library_name: headway
pipeline_tag: {task}
---

# {title}

{"The decoder" if task == "text-generation" else "The encoder"} of a Transformer (Vaswani et al., 2017) alone,
trained with Headway {facts["headway"]}; {which}.

    {use}

## Validation

{scores} On {data["validation_pairs"]:,} texts; the model was chosen by them.

## Data

{data["training_pairs"]:,} training texts. Fingerprint of the data: `{data["fingerprint"]}`; of the
vocabulary: `{data["tokenizer"]}`.

## How it was made

    {shlex.join(facts.get("command", ())) or "from Python"}

With torch {facts["torch"]} on {machine["device"]}, threads: {machine["threads"]}, matrix products
in {machine["precision"]}. All settings:

```toml
{describe(config).strip()}
```
"""


def _begun(facts: Mapping[str, Any]) -> str:
    init = facts.get("init")
    if not init:
        return ""
    name = Path(init["path"]).name
    return f"\nTraining began from the weights of the model `{name}` (sha256 `{init['sha256']}`)."


def _scores(config: Config, pairs: int, language: str, report: ValidationReport | None) -> str:
    if report is None:
        return "This model was not validated: score it with `headway evaluate`."
    bleu, chrf = (
        measure.segments([""], [""], language).signature
        for measure in pick_measures(["bleu", "chrf"])
    )
    sentences = min(config.training.validation_sentences or pairs, pairs)
    return f"""- BLEU {report.bleu:.2f}: `{bleu}`
- chrF2 {report.chrf:.2f}: `{chrf}`
- perplexity {report.perplexity:.3f} a target piece, without label smoothing

BLEU and chrF2 on {sentences} raw sentences, beam {config.training.validation_beam}. The model was
chosen by these scores: a test set that took no part in choosing will give lower ones."""
