"""Codes of the territories, languages, currencies and units that the corpus names, and names of people."""

import tomllib
from collections.abc import Callable
from pathlib import Path

from headway.ext.demo.formatter import Formatter, clean

FOLDER = Path(__file__).parent
CODES: dict[str, tuple[str, ...]] = {
    name: tuple(codes.split())
    for name, codes in tomllib.loads((FOLDER / "catalog.toml").read_text(encoding="utf-8")).items()
}


Catalog = dict[str, tuple[str, ...]]  # codes of each sort
# What codes of a sort are found under, and how one is written.
_SORTS: dict[str, tuple[str, Callable[[Formatter, str], str]]] = {
    "territories": ("territories", Formatter.territory),
    "regions": ("regions", Formatter.territory),
    "languages": ("languages", Formatter.language),
    "currencies": ("currencies", Formatter.currency),
    "symbols": ("currencies", Formatter.symbol),
    "units": ("units", lambda formatter, unit: formatter.quantity(2, unit)),
    "relative_units": ("relative_units", lambda formatter, unit: formatter.relative(2, unit)),
}


def shared_codes(source: Formatter, target: Formatter) -> Catalog:
    """Return the codes that both locales can name, and that have different names in the source locale."""
    catalog: Catalog = {}
    for sort, (codes, name) in _SORTS.items():
        found: dict[str, str] = {}
        for code in CODES[codes]:
            try:
                name(target, code)
                # If two codes have the same source name, only the first is kept.
                found.setdefault(clean(name(source, code)).casefold(), code)
            except LookupError:
                continue
        catalog[sort] = tuple(found.values())
    return catalog
