"""Rules that fill slots of sentence frames: names of people, and values that CLDR writes.

A filling needs no inflection: it is correct in every place where a frame has the slot. Amounts
therefore start at 2, so that every noun is plural, and days of the month at 2, because French writes
the first day differently.
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from random import Random

from headway.ext.demo.catalog import Catalog
from headway.ext.demo.kinds import Wording, draw_clock

# Names that are the same in all languages. None begins with a vowel or an h, so French needs no elision.
_WOMEN = (
    "Clara Diana Julia Katrin Laura Lena Lisa Maria Martha Nina Nora Paula Rosa Sandra Sarah"
    " Sophie Tina Vera"
)
_MEN = (
    "Daniel David Felix Jonas Karl Leo Lukas Martin Max Paul Peter Philip Robert Simon Thomas"
    " Tim Victor Walter"
)
_CURRENCIES = ("EUR", "USD", "GBP", "CHF")


def _name(names: str, rng: Random) -> Wording:
    name = rng.choice(names.split())
    return lambda fmt: name


def _digits(rng: Random, first: int, last: int) -> Wording:
    value = str(rng.randint(first, last))
    return lambda fmt: value


def _amount(rng: Random, catalog: Catalog) -> Wording:
    value = rng.randint(2, 999) * rng.choice((1, 10, 100, 1000))
    return lambda fmt: fmt.number(value)


def _percent(rng: Random, catalog: Catalog) -> Wording:
    value = Decimal(rng.randint(2, 98))
    return lambda fmt: fmt.percent(value)


def _spelled(rng: Random, catalog: Catalog) -> Wording:
    # French numbers that end in 1 agree with the gender of the noun ("vingt et une chaises").
    value = rng.choice([n for n in range(2, 100) if n % 10 != 1])
    return lambda fmt: fmt.spelled(value)


def _ordinal(rng: Random, catalog: Catalog) -> Wording:
    value = rng.randint(2, 40)
    return lambda fmt: fmt.spelled(value, "ordinal")


def _price(rng: Random, catalog: Catalog) -> Wording:
    value, code = (
        Decimal(rng.randint(200, 10 ** rng.randint(3, 5))).scaleb(-2),
        rng.choice(_CURRENCIES),
    )
    return lambda fmt: fmt.price(value, code)


def _sum(rng: Random, catalog: Catalog) -> Wording:
    value, code = rng.randint(2, 999) * rng.choice((1000, 10000)), rng.choice(_CURRENCIES)
    return lambda fmt: fmt.money(value, code)


def _clock(rng: Random, first: int, last: int) -> Wording:
    clock = draw_clock(rng, first, last)
    return lambda fmt: fmt.time(clock)


def _day(rng: Random, style: str) -> Wording:
    day = date(rng.randint(1930, 2009), rng.randint(1, 12), rng.randint(2, 28))
    return lambda fmt: fmt.date(day, style)


def _weekday(rng: Random, catalog: Catalog) -> Wording:
    day = rng.randrange(7)
    return lambda fmt: fmt.weekday(day)


def _month(rng: Random, catalog: Catalog) -> Wording:
    month = rng.randint(1, 12)
    return lambda fmt: fmt.month(month)


def _relative(rng: Random, sign: int) -> Wording:
    unit, amount = (
        rng.choice(("minute", "hour", "day", "week", "month", "year")),
        rng.randint(2, 30),
    )
    return lambda fmt: fmt.relative(sign * amount, unit)


def _span(rng: Random, *units: str) -> Wording:
    unit = rng.choice(units)
    amount = rng.randint(2, {"minute": 55, "hour": 12, "day": 30, "week": 12, "month": 11}[unit])
    return lambda fmt: fmt.quantity(amount, f"duration-{unit}")


def _measure(rng: Random, units: str, limit: int) -> Wording:
    tenths, unit = rng.randint(20, 10 * limit), rng.choice(units.split())
    value = Decimal(tenths).scaleb(-1) if tenths % 10 else Decimal(tenths // 10)
    return lambda fmt: fmt.quantity(value, unit)


def _language(rng: Random, catalog: Catalog) -> Wording:
    code = rng.choice(catalog.languages)
    return lambda fmt: fmt.language(code)


def _territory(rng: Random, catalog: Catalog) -> Wording:
    code = rng.choice(catalog.territories)
    return lambda fmt: fmt.territory(code)


FILLERS: dict[str, Callable[[Random, Catalog], Wording]] = {
    "woman": lambda rng, catalog: _name(_WOMEN, rng),
    "man": lambda rng, catalog: _name(_MEN, rng),
    "track": lambda rng, catalog: _digits(rng, 2, 24),
    "year": lambda rng, catalog: _digits(rng, 1950, 2024),
    "later": lambda rng, catalog: _digits(rng, 2030, 2059),
    "number": _spelled,
    "ordinal": _ordinal,
    "amount": _amount,
    "percent": _percent,
    "price": _price,
    "sum": _sum,
    "time": lambda rng, catalog: _clock(rng, 0, 23),
    "morning": lambda rng, catalog: _clock(rng, 6, 11),
    "evening": lambda rng, catalog: _clock(rng, 13, 22),
    "day": lambda rng, catalog: _day(rng, "MMMMd"),
    "date": lambda rng, catalog: _day(rng, "long"),
    "weekday": _weekday,
    "month": _month,
    "ago": lambda rng, catalog: _relative(rng, -1),
    "ahead": lambda rng, catalog: _relative(rng, 1),
    "span": lambda rng, catalog: _span(rng, "minute", "hour"),
    "stay": lambda rng, catalog: _span(rng, "day", "week", "month"),
    # German "seit" takes the dative; the plurals of these nouns are the same in all cases.
    "wait": lambda rng, catalog: _span(rng, "minute", "hour", "week"),
    "distance": lambda rng, catalog: _measure(rng, "length-kilometer length-mile", 2000),
    "weight": lambda rng, catalog: _measure(rng, "mass-kilogram mass-gram mass-pound", 300),
    "temperature": lambda rng, catalog: _measure(rng, "temperature-celsius", 40),
    "language": _language,
    "territory": _territory,
}
