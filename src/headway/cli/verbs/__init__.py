"""The verbs of ``headway``, in the groups of its help."""

from importlib import import_module
from typing import Any

from headway.errors import HeadwayError, UsageError, suggest
from headway.extension import collect, find_switched_off, load

GROUPS = {
    "every day": {
        "train": "train a translator on parallel text, or resume a run",
        "translate": "translate standard input, lines of a file, or a document",
        "evaluate": "translate a test set and score the translations",
        "info": "show what a run or model directory holds",
    },
    "step by step": {
        "prepare": "clean parallel text and split it into subwords, for several runs",
        "average": "average several checkpoints of a run into one model",
        "score": "score a file of translations against a file of references",
        "compare": "compare the translations of two systems, with significance tests",
        "config": "print every setting with its meaning, as TOML",
        "completion": "print a script that completes verbs and options in your shell",
    },
    "look inside": {},
    "other programs": {},
    "other kinds of model": {},
}
CORE = [verb for verbs in GROUPS.values() for verb in verbs]


def list_groups() -> dict[str, dict[str, str]]:
    """Return the groups of the help: heading -> verb -> what it does. In a group, verbs of the core come first."""
    groups = {name: dict(verbs) for name, verbs in GROUPS.items()}
    for verb, (_, added) in collect("verbs", CORE).items():
        groups.setdefault(added.group, {})[verb] = added.help
    return {name: verbs for name, verbs in groups.items() if verbs}


def list_verbs() -> dict[str, str]:
    """Return all verbs with what they do, in the order of the help."""
    return {verb: summary for verbs in list_groups().values() for verb, summary in verbs.items()}


def load_verb(verb: str) -> Any:
    """Return the module of a verb, or the object of an extension that has what such a module has.

    Raises:
        UsageError: If there is no such verb.
        HeadwayError: If its extension is broken.
    """
    if verb in CORE:
        return import_module(f"headway.cli.verbs.{verb}")
    added = collect("verbs", CORE)
    if verb not in added:
        if owner := find_switched_off("verbs", verb):
            raise UsageError(f"{verb}: {owner}")
        raise UsageError(f"{verb}: no such verb{suggest(verb, list_verbs())}; see headway --help")
    extension, declared = added[verb]
    module = load(extension, declared.target)
    for name in ("EXAMPLE", "configure", "run"):
        if not hasattr(module, name):
            raise HeadwayError(
                f"extension '{extension}': {declared.target}: has no {name}, which a verb needs"
            )
    return module


def overview() -> str:
    """Return the help of ``headway`` itself."""
    groups = list_groups()
    width = max(map(len, list_verbs())) + 2
    listed = "\n\n".join(
        "\n".join([f"{name}:", *(f"  {verb:<{width}}{text}" for verb, text in verbs.items())])
        for name, verbs in groups.items()
    )
    return (
        "usage: headway VERB ...      headway VERB --help shows the options of a verb\n"
        "       headway --version\n\n"
        "The Transformer of 'Attention Is All You Need': from raw parallel text to a\n"
        f"translation model that is scored, served and exported.\n\n{listed}\n\n"
        "example:\n"
        "  headway train runs/mine --train a.en a.de --valid v.en v.de --preset quick\n"
        "  headway translate runs/mine < text.en > text.de"
    )
