"""Texts in which rules are expanded at random, for generated documents.

``{{NAME}}`` stands for one of the lines of the rule NAME, ``{{NAME*1-5}}`` for so many of them, ``{{words 4}}`` for a
sentence of at most so many words in XML and ``{{plain 4}}`` without markup, ``{{#}}`` for the next number, and
``{{cut NAME}}`` for a sentence that is cut within words, each of whose pieces is the ``{{piece}}`` of the rule NAME.
``{{VARIABLE=NAME}}`` keeps what NAME has become, for ``{{VARIABLE=}}``. In rules ¶ is the end of a line. Deep inside of
others, a rule has only its first two lines.
"""

import html
import random
import re
from collections import defaultdict
from functools import cache
from itertools import count, pairwise
from pathlib import Path

from support.office_packages import PNG, words

TEMPLATES = Path(__file__).with_name("templates.txt")
DEEPEST = 7


def read_packages(path: Path) -> dict[str, dict[str, bytes]]:
    """Return the members of the packages in a text file.

    There ``== NAME`` begins a package, ``== NAME = OTHER`` one that differs from another package in what follows, and
    ``-- NAME`` a member.
    """
    found: dict[str, dict[str, bytes]] = {}
    for package in path.read_bytes()[len("== ") : -1].split(b"\n== "):
        head, *members = package.split(b"\n-- ")
        name, _, other = head.decode().partition(" = ")
        found[name] = dict(found.get(other, {}))
        for member in members:
            place, _, content = member.partition(b"\n")
            found[name][place.decode()] = PNG if place.endswith(b".png") else content
    return found


@cache
def read_templates() -> tuple[dict[str, dict[str, bytes]], dict[str, list[str]]]:
    """Return the members of each package, and the lines of each rule."""
    packages, rules = read_packages(TEMPLATES), defaultdict[str, list[str]](list)
    for line in packages.pop("rules")["rules"].decode().splitlines():
        name, _, text = line.partition("\t")
        rules[name].append(text.replace("¶", "\n"))
    return packages, rules


class Expander:
    """Expands the rules in a package."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser
        self.kept: dict[str, str] = {}
        self.numbers = count(1)

    def expand(self, text: str, depth: int = 0) -> str:
        return re.sub(r"\{\{(.*?)\}\}", lambda found: self._replace(found[1], depth), text)

    def _replace(self, name: str, depth: int) -> str:
        variable, is_kept, rule = name.rpartition("=")
        if is_kept and rule:
            self.kept[variable] = self._replace(rule, depth)
        if is_kept or name in self.kept:
            return self.kept[variable or name]
        name, _, counts = name.partition("*")
        if counts:
            times = range(self.chooser.randint(*map(int, counts.split("-"))))
            return "".join(self._replace(name, depth) for _ in times)
        match name.split(" ", 1):
            case ["#"]:
                return str(next(self.numbers))
            case ["words", most]:
                return words(self.chooser, int(most))
            case ["plain", most]:
                return html.unescape(words(self.chooser, int(most))).replace("<", "")
            case ["cut", rule]:
                return "".join(self._replace(rule, depth) for self.kept["piece"] in self._cut())
        _, rules = read_templates()
        lines = rules[name] if depth <= DEEPEST else rules[name][:2]
        return self.expand(self.chooser.choice(lines), depth + 1)

    def _cut(self) -> list[str]:
        """Return a sentence without entities, often in several pieces."""
        text = re.sub(r"&\w+;|&", "+", words(self.chooser, 5))
        places = self.chooser.choices(range(len(text) + 1), k=self.chooser.choice([0, 0, 1, 3]))
        ends = [0, *sorted(places), len(text)]
        return [text[start:end] for start, end in pairwise(ends) if start < end]


def make_text(suffix: str, chooser: random.Random) -> str:
    """Return a document of a text format."""
    packages, _ = read_templates()
    return Expander(chooser).expand(packages[f"x{suffix}"][f"x{suffix}"].decode())
