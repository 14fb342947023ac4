"""The seventeen kinds of phrase that CLDR writes in every language.

A kind draws values and returns functions that write them in a locale. The first function writes the
phrase. The others write phrases that may look the same in the source locale but differ in the target:
"May 3, 2011" is both a long and a medium date. The corpus leaves out a phrase if its source text
would then have two targets.
"""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from random import Random

from headway.ext.demo.catalog import WITHOUT_CENTS, Catalog
from headway.ext.demo.formatter import Formatter

Wording = Callable[[Formatter], str]
Wordings = tuple[Wording, ...]
Kind = Callable[[Random, Catalog], Wordings]


def draw_day(rng: Random) -> dt.date:
    """Draw a day between 1800 and 2099."""
    return dt.date(1800, 1, 1) + dt.timedelta(rng.randrange(300 * 365))


def draw_clock(rng: Random, first: int = 0, last: int = 23) -> dt.time:
    """Draw a time of day between two hours, mostly at a multiple of 5 minutes."""
    minute = rng.choice((0, 30, 5 * rng.randrange(12), rng.randrange(60)))
    return dt.time(rng.randint(first, last), minute, rng.randrange(60))


def draw_amount(rng: Random) -> Decimal:
    """Draw a number: whole or with up to two decimals, small more often than large."""
    size = rng.choice((10, 100, 1000, 1000, 10000))
    places = rng.choice((0, 0, 1, 1, 2))
    value = rng.randrange(1, size * 10**places)
    return Decimal(value + (places > 0 and value % 10 == 0)).scaleb(-places)


def draw_integer(rng: Random) -> int:
    """Draw a whole number to spell out; small ones are more frequent."""
    return rng.randrange(rng.choice((100, 1000, 1000, 10**4, 10**4, 10**4, 10**5, 10**6, 10**7)))


def make_date(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a day: "Tuesday, May 3, 2011", "May 3", "May 2011"."""
    day, style = draw_day(rng), rng.choice(("full", "long", "long", "medium", "MMMMd", "yMMMM"))
    return (lambda fmt: fmt.date(day, style)), (lambda fmt: fmt.date(day, "long"))


def make_time(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a time of day: "3:15 PM", "3:15:09 PM", "Mon 3:15 PM"."""
    clock, style = draw_clock(rng), rng.choice(("short", "medium", "weekday"))
    if style == "weekday":
        when = dt.datetime.combine(draw_day(rng), clock)
        return (lambda fmt: fmt.weekday_time(when),)
    return (lambda fmt: fmt.time(clock, style),)


def make_datetime(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a day and a time: "May 3, 2011, 3:15 PM"."""
    when, style = (
        dt.datetime.combine(draw_day(rng), draw_clock(rng)),
        rng.choice(("short", "medium")),
    )
    day = rng.choice(("full", "long", "medium"))
    return (lambda fmt: fmt.date_time(when, day, style)), (
        lambda fmt: fmt.date_time(when, "long", style)
    )


def make_interval(rng: Random, catalog: Catalog) -> Wordings:
    """Draw an interval: "May 3 – 8, 2011", "March – May 2011", "3:15 – 4:30 PM"."""
    what = rng.choice(("yMMMd", "yMMMd", "yMMMM", "hours"))
    if what == "hours":
        start, end = sorted((draw_clock(rng), draw_clock(rng)))
        return (lambda fmt: fmt.time_interval(start, end),)
    days = rng.choice((rng.randrange(1, 28), rng.randrange(31, 300)))
    first = draw_day(rng)
    last = first + dt.timedelta(max(days, 31) if what == "yMMMM" else days)
    return (lambda fmt: fmt.date_interval(first, last, what),)


def make_relative(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a time relative to now: "3 days ago", "in 12 weeks"."""
    unit, amount = rng.choice(catalog.relative_units), rng.randrange(1, rng.choice((30, 100, 1000)))
    signed = rng.choice((-1, 1)) * amount
    return (lambda fmt: fmt.relative(signed, unit),)


def make_price(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a sum of money: "$8.00", "8.50 US dollars", "8 US dollars"."""
    cents, style = rng.randrange(1, 10 ** rng.randrange(2, 7)), rng.choice(("standard", "name"))
    code = rng.choice(catalog.symbols if style == "standard" else catalog.currencies)
    if style == "name" and rng.random() < 0.5:
        return (lambda fmt: fmt.money(cents, code),)
    value = Decimal(cents).scaleb(0 if code in WITHOUT_CENTS else -2)
    return (lambda fmt: fmt.price(value, code, style),)


def make_number(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a number: "one thousand and twenty-three", "1,023.5"."""
    if rng.random() < 0.2:
        amount = draw_amount(rng)
        return (lambda fmt: fmt.number(amount),)
    value = draw_integer(rng)
    return (lambda fmt: fmt.spelled(value),)


def make_ordinal(rng: Random, catalog: Catalog) -> Wordings:
    """Draw an ordinal: "twenty-third", "week 23 of 2011"."""
    if rng.random() < 0.2:
        week, within = rng.randint(1, 52), draw_day(rng).year
        return (lambda fmt: fmt.week(week, within),)
    value = rng.randrange(1, rng.choice((100, 1000, 10**4)))
    return (lambda fmt: fmt.spelled(value, "ordinal"),)


def make_year(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a year or its quarter: "nineteen eighty-four", "44 BC", "3rd quarter 1984"."""
    what = rng.choice(("words", "era", "quarter"))
    if what == "words":
        value = rng.randrange(1100, 2100)
        return (lambda fmt: fmt.spelled(value, "year")), (lambda fmt: fmt.spelled(value))
    if what == "era":
        signed = rng.choice((-1, 1)) * rng.randrange(1, 2000)
        return (lambda fmt: fmt.era(signed),)
    day = draw_day(rng)
    return (lambda fmt: fmt.date(day, "yQQQQ"),)


def make_unit(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a measure: "120.9 acres"."""
    value, code = draw_amount(rng), rng.choice(catalog.units)
    return (lambda fmt: fmt.quantity(value, code),)


def make_duration(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a duration: "4 hours, 19 minutes, and 16 seconds"."""
    limits = {"year": 99, "month": 11, "day": 30, "hour": 23, "minute": 59, "second": 59}
    first, length = rng.randrange(5), rng.choice((2, 2, 3))
    parts = [
        (rng.randint(1, limits[name]), f"duration-{name}")
        for name in list(limits)[first : first + length]
    ]
    return (lambda fmt: fmt.join([fmt.quantity(*part) for part in parts]),)


def make_territory(rng: Random, catalog: Catalog) -> Wordings:
    """Draw countries: "Kenya", "Kenya Time", "Kenya – Norway"."""
    what, code = rng.randrange(10), rng.choice(catalog.territories)
    if what == 0:
        region = rng.choice(catalog.regions)
        return (lambda fmt: fmt.territory(region),)
    if what == 1:
        return (lambda fmt: fmt.local_time(code),)
    if what < 4:
        return (lambda fmt: fmt.territory(code),)
    other = rng.choice(catalog.territories)
    return (lambda fmt: f"{fmt.territory(code)} – {fmt.territory(other)}",)


def make_language(rng: Random, catalog: Catalog) -> Wordings:
    """Draw languages: "Danish", "German (Austria)", "German – Danish"."""
    what, code = rng.randrange(10), rng.choice(catalog.languages)
    if what < 2:
        return (lambda fmt: fmt.language(code),)
    if what < 6:
        place = rng.choice(catalog.territories)
        return (lambda fmt: f"{fmt.language(code)} ({fmt.territory(place)})",)
    other = rng.choice(catalog.languages)
    return (lambda fmt: f"{fmt.language(code)} – {fmt.language(other)}",)


def make_list(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a list of two to four: "Kenya, Norway, and Peru", "Monday or Friday"."""
    size, style = rng.choice((2, 2, 3, 3, 4)), rng.choice(("standard", "or"))
    make_item = rng.choice(
        (
            _make_one_territory,
            _make_one_territory,
            _make_one_language,
            _make_one_weekday,
            _make_one_month,
            _make_small_number,
            make_unit,
        )
    )
    items = [make_item(rng, catalog)[0] for _ in range(size)]

    def write(fmt: Formatter) -> str:
        texts = [item(fmt) for item in items]
        if len(set(texts)) < size:
            raise LookupError("a list would repeat an item")
        return fmt.join(texts, style)

    return (write,)


def make_percent(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a percentage: "83%", "0.5%", "83 percent"."""
    value = draw_amount(rng)
    if rng.random() < 0.3:
        return (lambda fmt: fmt.quantity(value, "concentr-percent"),)
    return (lambda fmt: fmt.percent(value),)


def make_compact(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a large round number: "2.3 billion", "2.3B"."""
    value = rng.randrange(1, 1000) * 10 ** rng.randrange(3, 10)
    style = rng.choice(("long", "long", "short"))
    return (lambda fmt: fmt.compact(value, style)), (lambda fmt: fmt.compact(value, "long"))


def make_currency(rng: Random, catalog: Catalog) -> Wordings:
    """Draw currencies: "Swiss Franc", "Swiss Franc (CHF)", "1 euro = 0.97 Swiss francs"."""
    what, code = rng.randrange(10), rng.choice(catalog.currencies)
    other = rng.choice([c for c in catalog.currencies if c != code])
    if what == 0:
        return (lambda fmt: fmt.currency(code),)
    if what == 1:
        return (lambda fmt: f"{fmt.currency(code)} ({code})",)
    if what < 5:
        return (lambda fmt: f"{fmt.currency(code)} – {fmt.currency(other)}",)
    rate = Decimal(rng.randrange(2, 10000)).scaleb(-2)
    return (lambda fmt: f"{fmt.money(1, code)} = {fmt.money(rate, other)}",)


def _make_one_territory(rng: Random, catalog: Catalog) -> Wordings:
    code = rng.choice(catalog.territories)
    return (lambda fmt: fmt.territory(code),)


def _make_one_language(rng: Random, catalog: Catalog) -> Wordings:
    code = rng.choice(catalog.languages)
    return (lambda fmt: fmt.language(code),)


def _make_one_weekday(rng: Random, catalog: Catalog) -> Wordings:
    day = rng.randrange(7)
    return (lambda fmt: fmt.weekday(day),)


def _make_one_month(rng: Random, catalog: Catalog) -> Wordings:
    month = rng.randint(1, 12)
    return (lambda fmt: fmt.month(month),)


def _make_small_number(rng: Random, catalog: Catalog) -> Wordings:
    value = rng.randrange(100)
    return (lambda fmt: fmt.spelled(value),)


KINDS: dict[str, Kind] = {
    "date": make_date,
    "time": make_time,
    "datetime": make_datetime,
    "interval": make_interval,
    "relative": make_relative,
    "price": make_price,
    "number": make_number,
    "ordinal": make_ordinal,
    "year": make_year,
    "unit": make_unit,
    "duration": make_duration,
    "territory": make_territory,
    "language": make_language,
    "list": make_list,
    "percent": make_percent,
    "compact": make_compact,
    "currency": make_currency,
}
