"""Slots that CLDR fills in any language, in forms that are right wherever a frame puts them.

Amounts start at 2, so that every noun is a plural; days at the 2nd, because the French 1st is
written otherwise.
"""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from random import Random

from headway.demo.kinds import Wording, draw_clock
from headway.demo.stock import Stock

# The same names in all languages; none begins with a vowel or an h, for French.
_WOMEN = (
    "Clara Diana Julia Katrin Laura Lena Lisa Maria Martha Nina Nora Paula Rosa Sandra Sarah"
    " Sophie Tina Vera"
)
_MEN = (
    "Daniel David Felix Jonas Karl Leo Lukas Martin Max Paul Peter Philip Robert Simon Thomas"
    " Tim Victor Walter"
)
# In these currencies the sentences are paid.
_MONEY = ("EUR", "USD", "GBP", "CHF")


def _name(names: str, rng: Random) -> Wording:
    name = rng.choice(names.split())
    return lambda to: name


def _digits(rng: Random, first: int, last: int) -> Wording:
    value = str(rng.randint(first, last))
    return lambda to: value


def _amount(rng: Random, stock: Stock) -> Wording:
    value = rng.randint(2, 999) * rng.choice((1, 10, 100, 1000))
    return lambda to: to.number(value)


def _percent(rng: Random, stock: Stock) -> Wording:
    value = Decimal(rng.randint(2, 98))
    return lambda to: to.percent(value)


def _spelled(rng: Random, stock: Stock) -> Wording:
    # "vingt et une chaises" would take the noun's gender.
    value = rng.choice([n for n in range(2, 100) if n % 10 != 1])
    return lambda to: to.spelled(value)


def _ordinal(rng: Random, stock: Stock) -> Wording:
    value = rng.randint(2, 40)
    return lambda to: to.spelled(value, "ordinal")


def _price(rng: Random, stock: Stock) -> Wording:
    value, code = Decimal(rng.randint(200, 10 ** rng.randint(3, 5))).scaleb(-2), rng.choice(_MONEY)
    return lambda to: to.price(value, code)


def _sum(rng: Random, stock: Stock) -> Wording:
    value, code = rng.randint(2, 999) * rng.choice((1000, 10000)), rng.choice(_MONEY)
    return lambda to: to.money(value, code)


def _clock(rng: Random, first: int, last: int) -> Wording:
    clock = draw_clock(rng, first, last)
    return lambda to: to.time(clock)


def _day(rng: Random, style: str) -> Wording:
    day = date(rng.randint(1930, 2009), rng.randint(1, 12), rng.randint(2, 28))
    return lambda to: to.date(day, style)


def _weekday(rng: Random, stock: Stock) -> Wording:
    day = rng.randrange(7)
    return lambda to: to.weekday(day)


def _month(rng: Random, stock: Stock) -> Wording:
    month = rng.randint(1, 12)
    return lambda to: to.month(month)


def _relative(rng: Random, sign: int) -> Wording:
    unit, amount = (
        rng.choice(("minute", "hour", "day", "week", "month", "year")),
        rng.randint(2, 30),
    )
    return lambda to: to.relative(sign * amount, unit)


def _span(rng: Random, *units: str) -> Wording:
    unit = rng.choice(units)
    amount = rng.randint(2, {"minute": 55, "hour": 12, "day": 30, "week": 12, "month": 11}[unit])
    return lambda to: to.quantity(amount, f"duration-{unit}")


def _measure(rng: Random, units: str, limit: int) -> Wording:
    tenths, unit = rng.randint(20, 10 * limit), rng.choice(units.split())
    value = Decimal(tenths).scaleb(-1) if tenths % 10 else Decimal(tenths // 10)
    return lambda to: to.quantity(value, unit)


def _language(rng: Random, stock: Stock) -> Wording:
    code = rng.choice(stock.languages)
    return lambda to: to.language(code)


def _territory(rng: Random, stock: Stock) -> Wording:
    code = rng.choice(stock.territories)
    return lambda to: to.territory(code)


FILLERS: dict[str, Callable[[Random, Stock], Wording]] = {
    "woman": lambda rng, stock: _name(_WOMEN, rng),
    "man": lambda rng, stock: _name(_MEN, rng),
    "track": lambda rng, stock: _digits(rng, 2, 24),
    "year": lambda rng, stock: _digits(rng, 1950, 2024),
    "later": lambda rng, stock: _digits(rng, 2030, 2059),
    "number": _spelled,
    "ordinal": _ordinal,
    "amount": _amount,
    "percent": _percent,
    "price": _price,
    "sum": _sum,
    "time": lambda rng, stock: _clock(rng, 0, 23),
    "morning": lambda rng, stock: _clock(rng, 6, 11),
    "evening": lambda rng, stock: _clock(rng, 13, 22),
    "day": lambda rng, stock: _day(rng, "MMMMd"),
    "date": lambda rng, stock: _day(rng, "long"),
    "weekday": _weekday,
    "month": _month,
    "ago": lambda rng, stock: _relative(rng, -1),
    "ahead": lambda rng, stock: _relative(rng, 1),
    "span": lambda rng, stock: _span(rng, "minute", "hour"),
    "stay": lambda rng, stock: _span(rng, "day", "week", "month"),
    # German "seit" takes a dative, which these nouns do not show in the plural.
    "wait": lambda rng, stock: _span(rng, "minute", "hour", "week"),
    "distance": lambda rng, stock: _measure(rng, "length-kilometer length-mile", 2000),
    "weight": lambda rng, stock: _measure(rng, "mass-kilogram mass-gram mass-pound", 300),
    "temperature": lambda rng, stock: _measure(rng, "temperature-celsius", 40),
    "language": _language,
    "territory": _territory,
}
