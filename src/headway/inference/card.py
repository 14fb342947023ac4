"""The head of a model card: the fields of the Hugging Face hub, as YAML, before the text."""

import json
import re
from collections.abc import Mapping, Sequence

UNKNOWN = "unknown"  # what the hub calls a licence that nobody named
# What YAML takes for something else than a text: Norwegian's code, for one.
_NO_TEXT = {"no", "yes", "on", "off", "y", "n", "true", "false", "null", "~"}


def front_matter(
    languages: Sequence[str],
    *,
    task: str = "translation",
    licence: str = "",
    datasets: Sequence[str] = (),
    scores: Mapping[str, tuple[str, float]] | None = None,
    scored_on: str = "",
) -> str:
    """Return the head of a card, with its two lines of dashes.

    Args:
        languages: Codes of source and target; none for what is of no certain language.
        task: The hub's name of what the model does.
        licence: Its name, such as ``cc-by-4.0``; none: unknown.
        datasets: Names on the hub of what it was trained on.
        scores: Metric -> its full name, and the value.
        scored_on: The text of the scores.
    """
    fields = _fields(languages, task, licence)
    if datasets:
        fields["datasets"] = _list("datasets", datasets)
    if scores:
        fields["metrics"] = _list("metrics", list(scores))
        name = "-".join(["headway", *languages])
        lines = ["model-index:", f"- name: {_text(name)}", "  results:"]
        lines += ["  - task:", f"      type: {task}", "    dataset:", "      type: text"]
        lines += [f"      name: {_text(scored_on)}", "    metrics:"]
        for metric, (full, value) in scores.items():
            lines += [f"    - type: {metric}", f"      value: {value:.2f}"]
            lines += [f"      name: {_text(full)}"]
        fields["model-index"] = "\n".join(lines)
    return _joined(fields)


def split_card(text: str) -> tuple[str, str]:
    """Return a card's head, without the dashes, and its text; a card may have no head."""
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        head, _, body = text[4:].partition("\n---\n")
        return head, body
    return "", text


def completed(text: str, languages: Sequence[str], licence: str = "") -> str:
    """Return a card with the fields that its head lacks, and with the licence if one is given."""
    head, body = split_card(text)
    known: dict[str, str] = {}
    for line in head.split("\n") if head else []:
        if not known or re.match(r"[^\s#-]", line):  # else it goes on with the field before
            known[line.partition(":")[0]] = line
        else:
            known[list(known)[-1]] += f"\n{line}"
    fields = known | {k: v for k, v in _fields(languages).items() if k not in known}
    if licence:
        fields["license"] = f"license: {licence}"
    return _joined(fields) + body


def _fields(
    languages: Sequence[str], task: str = "translation", licence: str = ""
) -> dict[str, str]:
    fields = {"language": _list("language", languages)} if languages else {}
    return fields | {
        "license": f"license: {licence or UNKNOWN}",
        "library_name": "library_name: headway",
        "pipeline_tag": f"pipeline_tag: {task}",
        "tags": _list("tags", list(dict.fromkeys([task, "transformer", "headway"]))),
    }


def _list(name: str, values: Sequence[str]) -> str:
    return "\n".join([f"{name}:", *(f"- {_text(value)}" for value in values)])


def _text(value: str) -> str:
    """Write a text so that YAML reads it as one; what JSON quotes, YAML understands."""
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", value) and value.lower() not in _NO_TEXT
    return value if plain else json.dumps(value, ensure_ascii=False)


def _joined(fields: Mapping[str, str]) -> str:
    return "---\n" + "\n".join(fields.values()) + "\n---\n"
