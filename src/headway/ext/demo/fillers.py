"""Rules that fill slots of sentence frames: names of people, and values that CLDR writes.

A filling needs no inflection: it is correct in every place where a frame has the slot. Amounts
therefore start at 2, so that every noun is plural, and days of the month at 2, because French writes
the first day differently.
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from random import Random

from headway.ext.demo.catalog import CODES, Catalog
from headway.ext.demo.formatter import Formatter
from headway.ext.demo.kinds import (
    Wording,
    draw_clock,
    draw_language,
    draw_month,
    draw_territory,
    draw_weekday,
)

_CURRENCIES = ("EUR", "USD", "GBP", "CHF")
_RELATIVE_UNITS = ("minute", "hour", "day", "week", "month", "year")
_MOST = {"minute": 55, "hour": 12, "day": 30, "week": 12, "month": 11}  # of a unit in a span
# French numbers that end in 1 agree with the gender of the noun ("vingt et une chaises").
_SPELLED = [n for n in range(2, 100) if n % 10 != 1]


def _same(text: object) -> Wording:
    """Return a function that writes the same text in every locale."""
    return lambda fmt: str(text)


def _price(rng: Random, catalog: Catalog) -> Wording:
    value = Decimal(rng.randint(200, 10 ** rng.randint(3, 5))).scaleb(-2)
    return partial(Formatter.price, value=value, currency=rng.choice(_CURRENCIES))


def _sum(rng: Random, catalog: Catalog) -> Wording:
    value = rng.randint(2, 999) * rng.choice((1000, 10000))
    return partial(Formatter.money, value=value, currency=rng.choice(_CURRENCIES))


def _clock(rng: Random, first: int, last: int) -> Wording:
    return partial(Formatter.time, moment=draw_clock(rng, first, last))


def _day(rng: Random, style: str) -> Wording:
    day = date(rng.randint(1930, 2009), rng.randint(1, 12), rng.randint(2, 28))
    return partial(Formatter.date, day=day, style=style)


def _relative(rng: Random, sign: int) -> Wording:
    unit = rng.choice(_RELATIVE_UNITS)
    return partial(Formatter.relative, amount=sign * rng.randint(2, 30), unit=unit)


def _span(rng: Random, *units: str) -> Wording:
    unit = rng.choice(units)
    return partial(Formatter.quantity, value=rng.randint(2, _MOST[unit]), unit=f"duration-{unit}")


def _measure(rng: Random, limit: int, *units: str) -> Wording:
    tenths, unit = rng.randint(20, 10 * limit), rng.choice(units)
    value = Decimal(tenths).scaleb(-1) if tenths % 10 else Decimal(tenths // 10)
    return partial(Formatter.quantity, value=value, unit=unit)


FILLERS: dict[str, Callable[[Random, Catalog], Wording]] = {
    "woman": lambda rng, catalog: _same(rng.choice(CODES["women"])),
    "man": lambda rng, catalog: _same(rng.choice(CODES["men"])),
    "track": lambda rng, catalog: _same(rng.randint(2, 24)),
    "year": lambda rng, catalog: _same(rng.randint(1950, 2024)),
    "later": lambda rng, catalog: _same(rng.randint(2030, 2059)),
    "number": lambda rng, catalog: partial(Formatter.spelled, number=rng.choice(_SPELLED)),
    "ordinal": lambda rng, catalog: partial(
        Formatter.spelled, number=rng.randint(2, 40), form="ordinal"
    ),
    "amount": lambda rng, catalog: partial(
        Formatter.number, value=rng.randint(2, 999) * rng.choice((1, 10, 100, 1000))
    ),
    "percent": lambda rng, catalog: partial(Formatter.percent, value=Decimal(rng.randint(2, 98))),
    "price": _price,
    "sum": _sum,
    "time": lambda rng, catalog: _clock(rng, 0, 23),
    "morning": lambda rng, catalog: _clock(rng, 6, 11),
    "evening": lambda rng, catalog: _clock(rng, 13, 22),
    "day": lambda rng, catalog: _day(rng, "MMMMd"),
    "date": lambda rng, catalog: _day(rng, "long"),
    "weekday": draw_weekday,
    "month": draw_month,
    "ago": lambda rng, catalog: _relative(rng, -1),
    "ahead": lambda rng, catalog: _relative(rng, 1),
    "span": lambda rng, catalog: _span(rng, "minute", "hour"),
    "stay": lambda rng, catalog: _span(rng, "day", "week", "month"),
    # German "seit" takes the dative; the plurals of these nouns are the same in all cases.
    "wait": lambda rng, catalog: _span(rng, "minute", "hour", "week"),
    "distance": lambda rng, catalog: _measure(rng, 2000, "length-kilometer", "length-mile"),
    "weight": lambda rng, catalog: _measure(rng, 300, "mass-kilogram", "mass-gram", "mass-pound"),
    "temperature": lambda rng, catalog: _measure(rng, 40, "temperature-celsius"),
    "language": draw_language,
    "territory": draw_territory,
}
