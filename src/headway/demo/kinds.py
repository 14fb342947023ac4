"""The seventeen kinds of phrase that CLDR writes in every language.

A kind draws something to say and returns ways of saying it: the phrase first, then its rivals,
other phrases that some locale writes in the same letters ("May 3, 2011" is both a long and a
medium date). The caller drops a phrase whose source a rival claims for another target.
"""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from random import Random

from headway.demo.speaker import Speaker
from headway.demo.stock import WITHOUT_CENTS, Stock

Wording = Callable[[Speaker], str]
Wordings = tuple[Wording, ...]
Kind = Callable[[Random, Stock], Wordings]


def draw_day(rng: Random) -> dt.date:
    """Draw a day of three centuries."""
    return dt.date(1800, 1, 1) + dt.timedelta(rng.randrange(300 * 365))


def draw_clock(rng: Random, first: int = 0, last: int = 23) -> dt.time:
    """Draw a time of day between two hours, more often than not at a multiple of 5 minutes."""
    minute = rng.choice((0, 30, 5 * rng.randrange(12), rng.randrange(60)))
    return dt.time(rng.randint(first, last), minute, rng.randrange(60))


def draw_amount(rng: Random) -> Decimal:
    """Draw a number: whole or with up to two decimals, small more often than large."""
    size = rng.choice((10, 100, 1000, 1000, 10000))
    places = rng.choice((0, 0, 1, 1, 2))
    value = rng.randrange(1, size * 10**places)
    return Decimal(value + (places > 0 and value % 10 == 0)).scaleb(-places)


def draw_integer(rng: Random) -> int:
    """Draw a whole number to be spelled, seldom one of millions."""
    return rng.randrange(rng.choice((100, 1000, 1000, 10**4, 10**4, 10**4, 10**5, 10**6, 10**7)))


def date(rng: Random, stock: Stock) -> Wordings:
    """Draw a day: "Tuesday, May 3, 2011", "May 3", "May 2011"."""
    day, style = draw_day(rng), rng.choice(("full", "long", "long", "medium", "MMMMd", "yMMMM"))
    return (lambda to: to.date(day, style)), (lambda to: to.date(day, "long"))


def time(rng: Random, stock: Stock) -> Wordings:
    """Draw a time of day: "3:15 PM", "3:15:09 PM", "Mon 3:15 PM"."""
    clock, style = draw_clock(rng), rng.choice(("short", "medium", "weekday"))
    if style == "weekday":
        when = dt.datetime.combine(draw_day(rng), clock)
        return (lambda to: to.weekday_time(when),)
    return (lambda to: to.time(clock, style),)


def datetime(rng: Random, stock: Stock) -> Wordings:
    """Draw a day and a time: "May 3, 2011, 3:15 PM"."""
    when, style = (
        dt.datetime.combine(draw_day(rng), draw_clock(rng)),
        rng.choice(("short", "medium")),
    )
    day = rng.choice(("full", "long", "medium"))
    return (lambda to: to.moment(when, day, style)), (lambda to: to.moment(when, "long", style))


def interval(rng: Random, stock: Stock) -> Wordings:
    """Draw a span: "May 3 – 8, 2011", "March – May 2011", "3:15 – 4:30 PM"."""
    what = rng.choice(("yMMMd", "yMMMd", "yMMMM", "hours"))
    if what == "hours":
        start, end = sorted((draw_clock(rng), draw_clock(rng)))
        return (lambda to: to.hours(start, end),)
    days = rng.choice((rng.randrange(1, 28), rng.randrange(31, 300)))
    first = draw_day(rng)
    last = first + dt.timedelta(max(days, 31) if what == "yMMMM" else days)
    return (lambda to: to.dates(first, last, what),)


def relative(rng: Random, stock: Stock) -> Wordings:
    """Draw a distance in time: "3 days ago", "in 12 weeks"."""
    unit, amount = rng.choice(stock.relative_units), rng.randrange(1, rng.choice((30, 100, 1000)))
    signed = rng.choice((-1, 1)) * amount
    return (lambda to: to.relative(signed, unit),)


def price(rng: Random, stock: Stock) -> Wordings:
    """Draw a sum of money: "$8.00", "8.50 US dollars", "8 US dollars"."""
    cents, style = rng.randrange(1, 10 ** rng.randrange(2, 7)), rng.choice(("standard", "name"))
    code = rng.choice(stock.symbols if style == "standard" else stock.currencies)
    if style == "name" and rng.random() < 0.5:
        return (lambda to: to.money(cents, code),)
    value = Decimal(cents).scaleb(0 if code in WITHOUT_CENTS else -2)
    return (lambda to: to.price(value, code, style),)


def number(rng: Random, stock: Stock) -> Wordings:
    """Draw a number: "one thousand and twenty-three", "1,023.5"."""
    if rng.random() < 0.2:
        amount = draw_amount(rng)
        return (lambda to: to.number(amount),)
    value = draw_integer(rng)
    return (lambda to: to.spelled(value),)


def ordinal(rng: Random, stock: Stock) -> Wordings:
    """Draw a rank: "twenty-third", "week 23 of 2011"."""
    if rng.random() < 0.2:
        week, within = rng.randint(1, 52), draw_day(rng).year
        return (lambda to: to.week(week, within),)
    value = rng.randrange(1, rng.choice((100, 1000, 10**4)))
    return (lambda to: to.spelled(value, "ordinal"),)


def year(rng: Random, stock: Stock) -> Wordings:
    """Draw a year or its quarter: "nineteen eighty-four", "44 BC", "3rd quarter 1984"."""
    what = rng.choice(("words", "era", "quarter"))
    if what == "words":
        value = rng.randrange(1100, 2100)
        return (lambda to: to.spelled(value, "year")), (lambda to: to.spelled(value))
    if what == "era":
        signed = rng.choice((-1, 1)) * rng.randrange(1, 2000)
        return (lambda to: to.era(signed),)
    day = draw_day(rng)
    return (lambda to: to.date(day, "yQQQQ"),)


def unit(rng: Random, stock: Stock) -> Wordings:
    """Draw a measure: "120.9 acres"."""
    value, code = draw_amount(rng), rng.choice(stock.units)
    return (lambda to: to.quantity(value, code),)


def duration(rng: Random, stock: Stock) -> Wordings:
    """Draw a length of time: "4 hours, 19 minutes, and 16 seconds"."""
    limits = {"year": 99, "month": 11, "day": 30, "hour": 23, "minute": 59, "second": 59}
    first, length = rng.randrange(5), rng.choice((2, 2, 3))
    parts = [
        (rng.randint(1, limits[name]), f"duration-{name}")
        for name in list(limits)[first : first + length]
    ]
    return (lambda to: to.listed([to.quantity(*part) for part in parts]),)


def territory(rng: Random, stock: Stock) -> Wordings:
    """Draw countries: "Kenya", "Kenya Time", "Kenya – Norway"."""
    what, code = rng.randrange(10), rng.choice(stock.territories)
    if what == 0:
        region = rng.choice(stock.regions)
        return (lambda to: to.territory(region),)
    if what == 1:
        return (lambda to: to.local_time(code),)
    if what < 4:
        return (lambda to: to.territory(code),)
    other = rng.choice(stock.territories)
    return (lambda to: f"{to.territory(code)} – {to.territory(other)}",)


def language(rng: Random, stock: Stock) -> Wordings:
    """Draw languages: "Danish", "German (Austria)", "German – Danish"."""
    what, code = rng.randrange(10), rng.choice(stock.languages)
    if what < 2:
        return (lambda to: to.language(code),)
    if what < 6:
        land = rng.choice(stock.territories)
        return (lambda to: f"{to.language(code)} ({to.territory(land)})",)
    other = rng.choice(stock.languages)
    return (lambda to: f"{to.language(code)} – {to.language(other)}",)


def series(rng: Random, stock: Stock) -> Wordings:
    """Draw a list of two to four: "Kenya, Norway, and Peru", "Monday or Friday"."""
    size, style = rng.choice((2, 2, 3, 3, 4)), rng.choice(("standard", "or"))
    draw_item = rng.choice((_land, _land, _tongue, _weekday, _month, _small, unit))
    items = [draw_item(rng, stock)[0] for _ in range(size)]

    def say(to: Speaker) -> str:
        texts = [item(to) for item in items]
        if len(set(texts)) < size:
            raise LookupError("a list that repeats itself")
        return to.listed(texts, style)

    return (say,)


def percent(rng: Random, stock: Stock) -> Wordings:
    """Draw a percentage: "83%", "0.5%", "83 percent"."""
    value = draw_amount(rng)
    if rng.random() < 0.3:
        return (lambda to: to.quantity(value, "concentr-percent"),)
    return (lambda to: to.percent(value),)


def compact(rng: Random, stock: Stock) -> Wordings:
    """Draw a large round number: "2.3 billion", "2.3B"."""
    value = rng.randrange(1, 1000) * 10 ** rng.randrange(3, 10)
    style = rng.choice(("long", "long", "short"))
    return (lambda to: to.compact(value, style)), (lambda to: to.compact(value, "long"))


def currency(rng: Random, stock: Stock) -> Wordings:
    """Draw currencies: "Swiss Franc", "Swiss Franc (CHF)", "1 euro = 0.97 Swiss francs"."""
    what, code = rng.randrange(10), rng.choice(stock.currencies)
    other = rng.choice([c for c in stock.currencies if c != code])
    if what == 0:
        return (lambda to: to.currency(code),)
    if what == 1:
        return (lambda to: f"{to.currency(code)} ({code})",)
    if what < 5:
        return (lambda to: f"{to.currency(code)} – {to.currency(other)}",)
    rate = Decimal(rng.randrange(2, 10000)).scaleb(-2)
    return (lambda to: f"{to.money(1, code)} = {to.money(rate, other)}",)


def _land(rng: Random, stock: Stock) -> Wordings:
    code = rng.choice(stock.territories)
    return (lambda to: to.territory(code),)


def _tongue(rng: Random, stock: Stock) -> Wordings:
    code = rng.choice(stock.languages)
    return (lambda to: to.language(code),)


def _weekday(rng: Random, stock: Stock) -> Wordings:
    day = rng.randrange(7)
    return (lambda to: to.weekday(day),)


def _month(rng: Random, stock: Stock) -> Wordings:
    month = rng.randint(1, 12)
    return (lambda to: to.month(month),)


def _small(rng: Random, stock: Stock) -> Wordings:
    value = rng.randrange(100)
    return (lambda to: to.spelled(value),)


KINDS: dict[str, Kind] = {
    "date": date,
    "time": time,
    "datetime": datetime,
    "interval": interval,
    "relative": relative,
    "price": price,
    "number": number,
    "ordinal": ordinal,
    "year": year,
    "unit": unit,
    "duration": duration,
    "territory": territory,
    "language": language,
    "list": series,
    "percent": percent,
    "compact": compact,
    "currency": currency,
}
