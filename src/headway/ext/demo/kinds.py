"""The seventeen kinds of phrase that CLDR writes in every language.

A kind draws values and yields functions that write them in a locale. The first function writes the
phrase. The others write phrases that may look the same in the source locale but differ in the target:
"May 3, 2011" is both a long and a medium date. The corpus leaves out a phrase if its source text
would then have two targets.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from random import Random

from headway.ext.demo.catalog import CODES, Catalog
from headway.ext.demo.formatter import Formatter

Wording = Callable[[Formatter], str]
Wordings = Iterator[Wording]
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


def draw_territory(rng: Random, catalog: Catalog) -> Wording:
    """Draw the name of a country."""
    return partial(Formatter.territory, code=rng.choice(catalog["territories"]))


def draw_language(rng: Random, catalog: Catalog) -> Wording:
    """Draw the name of a language."""
    return partial(Formatter.language, code=rng.choice(catalog["languages"]))


def draw_weekday(rng: Random, catalog: Catalog) -> Wording:
    """Draw the name of a day of the week."""
    return partial(Formatter.weekday, day=rng.randrange(7))


def draw_month(rng: Random, catalog: Catalog) -> Wording:
    """Draw the name of a month."""
    return partial(Formatter.month, month=rng.randint(1, 12))


def draw_small_number(rng: Random, catalog: Catalog) -> Wording:
    """Draw a number below 100 in words."""
    return partial(Formatter.spelled, number=rng.randrange(100))


def draw_measure(rng: Random, catalog: Catalog) -> Wording:
    """Draw an amount of a unit."""
    return partial(Formatter.quantity, value=draw_amount(rng), unit=rng.choice(catalog["units"]))


def combine(pattern: str, *parts: Wording) -> Wording:
    """Return a function that writes several parts into a pattern, such as ``{} ({})``."""
    return lambda fmt: pattern.format(*(part(fmt) for part in parts))


def make_date(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a day: "Tuesday, May 3, 2011", "May 3", "May 2011"."""
    day, style = draw_day(rng), rng.choice(("full", "long", "long", "medium", "MMMMd", "yMMMM"))
    yield partial(Formatter.date, day=day, style=style)
    yield partial(Formatter.date, day=day, style="long")


def make_time(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a time of day: "3:15 PM", "3:15:09 PM", "Mon 3:15 PM"."""
    clock, style = draw_clock(rng), rng.choice(("short", "medium", "weekday"))
    if style == "weekday":
        yield partial(Formatter.weekday_time, when=dt.datetime.combine(draw_day(rng), clock))
    else:
        yield partial(Formatter.time, moment=clock, style=style)


def make_datetime(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a day and a time: "May 3, 2011, 3:15 PM"."""
    when = dt.datetime.combine(draw_day(rng), draw_clock(rng))
    style, day = rng.choice(("short", "medium")), rng.choice(("full", "long", "medium"))
    yield partial(Formatter.date_time, when=when, date_style=day, time_style=style)
    yield partial(Formatter.date_time, when=when, date_style="long", time_style=style)


def make_interval(rng: Random, catalog: Catalog) -> Wordings:
    """Draw an interval: "May 3 – 8, 2011", "March – May 2011", "3:15 – 4:30 PM"."""
    what = rng.choice(("yMMMd", "yMMMd", "yMMMM", "hours"))
    if what == "hours":
        start, end = sorted((draw_clock(rng), draw_clock(rng)))
        yield partial(Formatter.time_interval, start=start, end=end)
    else:
        days = rng.choice((rng.randrange(1, 28), rng.randrange(31, 300)))
        first = draw_day(rng)
        last = first + dt.timedelta(max(days, 31) if what == "yMMMM" else days)
        yield partial(Formatter.date_interval, start=first, end=last, skeleton=what)


def make_relative(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a time relative to now: "3 days ago", "in 12 weeks"."""
    unit, amount = (
        rng.choice(catalog["relative_units"]),
        rng.randrange(1, rng.choice((30, 100, 1000))),
    )
    yield partial(Formatter.relative, amount=rng.choice((-1, 1)) * amount, unit=unit)


def make_price(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a sum of money: "$8.00", "8.50 US dollars", "8 US dollars"."""
    cents, style = rng.randrange(1, 10 ** rng.randrange(2, 7)), rng.choice(("standard", "name"))
    code = rng.choice(catalog["symbols"] if style == "standard" else catalog["currencies"])
    if style == "name" and rng.random() < 0.5:
        yield partial(Formatter.money, value=cents, currency=code)
    else:
        value = Decimal(cents).scaleb(0 if code in CODES["without_cents"] else -2)
        yield partial(Formatter.price, value=value, currency=code, style=style)


def make_number(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a number: "one thousand and twenty-three", "1,023.5"."""
    if rng.random() < 0.2:
        yield partial(Formatter.number, value=draw_amount(rng))
    else:
        yield partial(Formatter.spelled, number=draw_integer(rng))


def make_ordinal(rng: Random, catalog: Catalog) -> Wordings:
    """Draw an ordinal: "twenty-third", "week 23 of 2011"."""
    if rng.random() < 0.2:
        yield partial(Formatter.week, week=rng.randint(1, 52), year=draw_day(rng).year)
    else:
        value = rng.randrange(1, rng.choice((100, 1000, 10**4)))
        yield partial(Formatter.spelled, number=value, form="ordinal")


def make_year(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a year or its quarter: "nineteen eighty-four", "44 BC", "3rd quarter 1984"."""
    what = rng.choice(("words", "era", "quarter"))
    if what == "words":
        value = rng.randrange(1100, 2100)
        yield partial(Formatter.spelled, number=value, form="year")
        yield partial(Formatter.spelled, number=value)
    elif what == "era":
        yield partial(Formatter.era, year=rng.choice((-1, 1)) * rng.randrange(1, 2000))
    else:
        yield partial(Formatter.date, day=draw_day(rng), style="yQQQQ")


def make_unit(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a measure: "120.9 acres"."""
    yield draw_measure(rng, catalog)


def make_duration(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a duration: "4 hours, 19 minutes, and 16 seconds"."""
    limits = {"year": 99, "month": 11, "day": 30, "hour": 23, "minute": 59, "second": 59}
    first, length = rng.randrange(5), rng.choice((2, 2, 3))
    parts = [
        (rng.randint(1, limits[name]), f"duration-{name}")
        for name in list(limits)[first : first + length]
    ]
    yield lambda fmt: fmt.join([fmt.quantity(*part) for part in parts])


def make_territory(rng: Random, catalog: Catalog) -> Wordings:
    """Draw countries: "Kenya", "Kenya Time", "Kenya – Norway"."""
    what, code = rng.randrange(10), rng.choice(catalog["territories"])
    country = partial(Formatter.territory, code=code)
    if what == 0:
        yield partial(Formatter.territory, code=rng.choice(catalog["regions"]))
    elif what == 1:
        yield partial(Formatter.local_time, code=code)
    elif what < 4:
        yield country
    else:
        yield combine("{} – {}", country, draw_territory(rng, catalog))


def make_language(rng: Random, catalog: Catalog) -> Wordings:
    """Draw languages: "Danish", "German (Austria)", "German – Danish"."""
    what, language = rng.randrange(10), draw_language(rng, catalog)
    if what < 2:
        yield language
    elif what < 6:
        yield combine("{} ({})", language, draw_territory(rng, catalog))
    else:
        yield combine("{} – {}", language, draw_language(rng, catalog))


def make_list(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a list of two to four: "Kenya, Norway, and Peru", "Monday or Friday"."""
    size, style = rng.choice((2, 2, 3, 3, 4)), rng.choice(("standard", "or"))
    names = (draw_territory, draw_territory, draw_language, draw_weekday, draw_month)
    draw_item = rng.choice((*names, draw_small_number, draw_measure))
    items = [draw_item(rng, catalog) for _ in range(size)]

    def write(fmt: Formatter) -> str:
        texts = [item(fmt) for item in items]
        if len(set(texts)) < size:
            raise LookupError("a list would repeat an item")
        return fmt.join(texts, style)

    yield write


def make_percent(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a percentage: "83%", "0.5%", "83 percent"."""
    value = draw_amount(rng)
    if rng.random() < 0.3:
        yield partial(Formatter.quantity, value=value, unit="concentr-percent")
    else:
        yield partial(Formatter.percent, value=value)


def make_compact(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a large round number: "2.3 billion", "2.3B"."""
    value = rng.randrange(1, 1000) * 10 ** rng.randrange(3, 10)
    yield partial(Formatter.compact, value=value, style=rng.choice(("long", "long", "short")))
    yield partial(Formatter.compact, value=value, style="long")


def make_currency(rng: Random, catalog: Catalog) -> Wordings:
    """Draw currencies: "Swiss Franc", "Swiss Franc (CHF)", "1 euro = 0.97 Swiss francs"."""
    what, code = rng.randrange(10), rng.choice(catalog["currencies"])
    other = rng.choice([c for c in catalog["currencies"] if c != code])
    name = partial(Formatter.currency, code=code)
    if what == 0:
        yield name
    elif what == 1:
        yield combine(f"{{}} ({code})", name)
    elif what < 5:
        yield combine("{} – {}", name, partial(Formatter.currency, code=other))
    else:
        rate = Decimal(rng.randrange(2, 10000)).scaleb(-2)
        yield lambda fmt: f"{fmt.money(1, code)} = {fmt.money(rate, other)}"


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
