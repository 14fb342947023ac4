"""The front matter of a model card: fields of the Hugging Face hub, as YAML, before the text."""

import json
import re
from collections.abc import Mapping, Sequence

UNKNOWN = "unknown"  # the hub's word for a license that is not known
LICENSE_FIELDS = ("license", "license_name", "license_link")
# YAML reads these words as something else than text; "no" is the code of Norwegian.
_NO_TEXT = {"no", "yes", "on", "off", "y", "n", "true", "false", "null", "~"}


def front_matter(
    languages: Sequence[str],
    *,
    task: str = "translation",
    datasets: Sequence[str] = (),
    scores: Mapping[str, tuple[str, float]] | None = None,
    scored_on: str = "",
) -> str:
    """Return the front matter of a card, with its two lines of dashes.

    Args:
        languages: Codes of source and target; empty if the model has no certain language.
        task: The hub's name of the task.
        datasets: Names of the training corpora on the hub.
        scores: Metric -> its full name, and the value.
        scored_on: Name of the test set of the scores.
    """
    fields = _fields(languages, task)
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
    """Split a card into front matter, without the dashes, and text; a card may lack front matter."""
    if text.startswith("---\n") and "\n---\n" in text[4:]:
        head, _, body = text[4:].partition("\n---\n")
        return head, body
    return "", text


def complete_card(text: str, languages: Sequence[str], licence: str = "") -> str:
    """Add the missing fields to the front matter of a card, and set the license if one is given."""
    head, body = split_card(text)
    known = _split_fields(head)
    fields = known | {k: v for k, v in _fields(languages).items() if k not in known}
    if licence:
        fields["license"] = f"license: {licence}"
    return _joined(fields) + body


def license_fields(text: str) -> str:
    """Return the front matter of a card with the fields of its license only: name and link may be beside it."""
    known = _split_fields(split_card(text)[0])
    given = {name: field for name, field in known.items() if field.partition(":")[2].strip()}
    return _joined({name: given[name] for name in LICENSE_FIELDS if name in given})


def _split_fields(head: str) -> dict[str, str]:
    """Return the fields of a front matter by name, each with its lines as they are."""
    known: dict[str, str] = {}
    for line in head.split("\n") if head else []:
        if not known or re.match(r"[^\s#-]", line):  # other lines continue the field before
            known[line.partition(":")[0]] = line
        else:
            known[list(known)[-1]] += f"\n{line}"
    return known


def _fields(languages: Sequence[str], task: str = "translation") -> dict[str, str]:
    fields = {"language": _list("language", languages)} if languages else {}
    return fields | {
        "license": f"license: {UNKNOWN}",
        "library_name": "library_name: headway",
        "pipeline_tag": f"pipeline_tag: {task}",
        "tags": _list("tags", list(dict.fromkeys([task, "transformer", "headway"]))),
    }


def _list(name: str, values: Sequence[str]) -> str:
    return "\n".join([f"{name}:", *(f"- {_text(value)}" for value in values)])


def _text(value: str) -> str:
    """Quote a text if YAML would read it as something else; YAML understands the quotes of JSON."""
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", value) and value.lower() not in _NO_TEXT
    return value if plain else json.dumps(value, ensure_ascii=False)


def _joined(fields: Mapping[str, str]) -> str:
    return "---\n" + "\n".join(fields.values()) + "\n---\n"
