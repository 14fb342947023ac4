"""Sentences: frames in three languages, filled with words and with what CLDR writes."""

import re
from dataclasses import dataclass
from random import Random

from headway.demo import english, french, german
from headway.demo.fillers import FILLERS
from headway.demo.kinds import Wording, Wordings
from headway.demo.speaker import Speaker
from headway.demo.stock import Stock

SLOT = re.compile(r"\{(?P<name>[a-z]+)(?P<count>2?)(?:\.(?P<column>[a-z]+))?\}")


@dataclass(frozen=True)
class Table:
    """A word table: the names of its columns and, for each key, a row of forms."""

    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]

    @classmethod
    def parse(cls, text: str) -> "Table":
        """Read lines of cells separated by ``|``; the first line names the columns."""
        lines = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
        return cls(tuple(lines[0][1:]), {key: tuple(forms) for key, *forms in lines[1:]})

    def form(self, key: str, column: str | None) -> str:
        """Return the form of a row in a column, or in the first one."""
        return self.rows[key][self.columns.index(column) if column else 0]


_MODULES = {"en": english, "de": german, "fr": french}
FRAMES = {code: module.FRAMES for code, module in _MODULES.items()}
TABLES = {
    code: {name: Table.parse(text) for name, text in module.TABLES.items()}
    for code, module in _MODULES.items()
}
_NAMES = tuple(english.FRAMES)


def slots(frame: str) -> list[str]:
    """Return the names of a frame's slots, sorted, each once and without its columns."""
    return sorted({match["name"] + match["count"] for match in SLOT.finditer(frame)})


def speaks(speaker: Speaker) -> bool:
    """Tell whether a locale's language has frames."""
    return speaker.language_code in FRAMES


def sentence(rng: Random, stock: Stock) -> Wordings:
    """Draw a frame and what fills its slots, the same in every language."""
    name = rng.choice(_NAMES)
    fillings: dict[str, Wording] = {}
    keys: dict[str, str] = {}
    for slot in slots(FRAMES["en"][name]):
        base = slot.removesuffix("2")
        if base in FILLERS:
            fillings[slot] = FILLERS[base](rng, stock)
        else:
            rows = TABLES["en"][base].rows
            keys[slot] = rng.choice([key for key in rows if key != keys.get(base)])

    def say(to: Speaker) -> str:
        tables = TABLES[to.language_code]
        filled = {slot: filling(to) for slot, filling in fillings.items()}
        if any(filled.get(slot + "2") == text for slot, text in filled.items()):
            raise LookupError(f"{name} says the same thing twice")

        def fill(match: re.Match[str]) -> str:
            slot = match["name"] + match["count"]
            if slot in filled:
                return filled[slot]
            return tables[match["name"]].form(keys[slot], match["column"])

        text = SLOT.sub(fill, FRAMES[to.language_code][name])
        return text[0].upper() + text[1:]

    return (say,)
