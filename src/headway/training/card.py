"""The model card: what a model is, where it came from, how good it is and where it ends."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.config import Config, describe
from headway.evaluation.measures import pick_measures
from headway.inference.card import front_matter
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
    named = list(_named(data.get("origins", ())))
    head = front_matter(
        languages,
        datasets=list(dict.fromkeys(d for d in map(_on_the_hub, named) if d)),
        scores=_values(target, report),
        scored_on=f"{data['validation_pairs']:,} validation pairs, by which the model was chosen",
    )
    return f"""{head}
# Translation from {source} to {target}

A Transformer (Vaswani et al., 2017) trained with Headway {facts["headway"]}; {which}.

    echo "..." | headway translate .

## Validation

{_scores(config, data["validation_pairs"], target, report)}

## Data

{data["training_pairs"]:,} training pairs, cleaned, and {data["validation_pairs"]:,} validation pairs.
Fingerprint of the data: `{data["fingerprint"]}`; of the vocabulary: `{data["tokenizer"]}`.{_begun(facts)}{_corpora(named)}

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
    return f"""{front_matter((), task=task)}
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


def _named(origins: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the manifests of corpora by name, for those of several corpora their parts'."""
    for about in origins:
        yield from _named(about["parts"]) if about.get("parts") else (about,)


def _on_the_hub(about: Mapping[str, Any]) -> str:
    """Return what a corpus is called on the hub, if it is from there."""
    kind, _, rest = str(about["name"]).partition(":")
    return re.split("[:@]", rest)[0] if kind == "hf" else ""


def _corpora(named: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        f"- `{about['name']}`, by {about['program']}"
        + (f", revision `{about['revision']}`" if about.get("revision") else "")
        for about in named
    ]
    return "\n\nTraining and validation text, by name:\n\n" + "\n".join(lines) if lines else ""


def _values(language: str, report: ValidationReport | None) -> dict[str, tuple[str, float]] | None:
    """Return the validation's scores under the hub's names of metrics, with their signatures."""
    if report is None:
        return None
    return {
        key: (f"{name} ({_signature(key, language)})", value)
        for key, name, value in (("bleu", "BLEU", report.bleu), ("chrf", "chrF2", report.chrf))
    }


def _signature(key: str, language: str) -> str:
    return pick_measures([key])[0].segments([""], [""], language).signature


def _begun(facts: Mapping[str, Any]) -> str:
    init = facts.get("init")
    if not init:
        return ""
    name = Path(init["path"]).name
    return f"\nTraining began from the weights of the model `{name}` (sha256 `{init['sha256']}`)."


def _scores(config: Config, pairs: int, language: str, report: ValidationReport | None) -> str:
    if report is None:
        return "This model was not validated: score it with `headway evaluate`."
    bleu, chrf = _signature("bleu", language), _signature("chrf", language)
    sentences = min(config.training.validation_sentences or pairs, pairs)
    return f"""- BLEU {report.bleu:.2f}: `{bleu}`
- chrF2 {report.chrf:.2f}: `{chrf}`
- perplexity {report.perplexity:.3f} a target piece, without label smoothing

BLEU and chrF2 on {sentences} raw sentences, beam {config.training.validation_beam}. The model was
chosen by these scores: a test set that took no part in choosing will give lower ones."""
