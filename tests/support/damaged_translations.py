"""Good translations with a placeholder or a name, and the same with this placeholder or name damaged."""

import random
from typing import NamedTuple

PLACEHOLDERS = (
    "{name}", "{0}", "{{item.count}}", "${user}", "%s", "%1$d", "%(total)d", "$HOST", "[[page]]",
    "<b>", "__TITLE__", "`ls -l`", "https://example.org/a?b=c", "joe@example.org", "report_final.pdf",
)  # fmt: skip
NAMES = (
    "Anna", "Zoltan", "Brigitte", "Oleksandr", "Yusuf", "Giulia", "Nakamura", "Warsaw", "Ljubljana",
    "Kyoto", "Siobhan", "Mikkel", "Priya", "Toulouse", "Quentin", "Ngozi", "Lindqvist", "Tbilisi",
)  # fmt: skip


class Damaged(NamedTuple):
    """A source, a good translation of it, and a damaged one.

    Attributes:
        source: Raw text.
        good: Its translation.
        damaged: The translation with something lost, doubled, changed or in a place where it breaks the sentence.
        damage: What was done.
    """

    source: str
    good: str
    damaged: str
    damage: str


def damage_placeholders(pairs, count, seed):
    """Put placeholders into pairs of texts, and damage those of the translations."""
    chooser = random.Random(seed)
    for _ in range(count):
        source, target = (text.split() for text in chooser.choice(pairs))
        placeholder = chooser.choice(PLACEHOLDERS)
        place = chooser.random()
        before, own = (round(place * len(words)) for words in (source, target))
        rest, at = [*target], chooser.randrange(1, len(placeholder))
        damages = {
            "dropped": "",
            "doubled": f"{placeholder} {placeholder}",
            "cut": placeholder[:-1] if chooser.random() < 0.5 else placeholder[1:],
            "spaced": f"{placeholder[:at]} {placeholder[at:]}",
            "other": chooser.choice([each for each in PLACEHOLDERS if each != placeholder]),
            "changed": f"{placeholder[:at]}x{placeholder[at:]}",
            "behind a space": f", {placeholder} ,",
            "before decimals": f"{placeholder},5",
            "inside a word": "",
        }
        damage = chooser.choice(list(damages))
        damaged = [*target[:own], damages[damage], *target[own:]]
        if damage == "inside a word" and not placeholder.startswith("<"):
            word = max(range(len(rest)), key=lambda n: len(rest[n]))
            rest[word] = f"{rest[word][:2]}{placeholder}{rest[word][2:]}"
            damaged = rest
        yield Damaged(
            " ".join([*source[:before], placeholder, *source[before:]]),
            " ".join([*target[:own], placeholder, *target[own:]]),
            " ".join(filter(None, damaged)),
            damage,
        )


def damage_names(pairs, count, seed):
    """Put names, some in capitals, into pairs of texts, and drop those of the translations, or write another name."""
    chooser = random.Random(seed)
    for _ in range(count):
        source, target = (text.rstrip(" .") for text in chooser.choice(pairs))
        name, other = chooser.sample(NAMES, 2)
        if chooser.random() < 0.5:
            name, other = name.upper(), other.upper()
        damaged = chooser.choice([f"{target}, {other}.", f"{target}."])
        yield Damaged(
            f"{source}, {name}.",
            f"{target}, {name}.",
            damaged,
            "other" if other in damaged else "dropped",
        )
