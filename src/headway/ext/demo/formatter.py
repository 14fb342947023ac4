"""Write values in one locale: CLDR data through Babel, number words through num2words."""

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from headway.errors import HeadwayError, require_packages, suggest

# Direction marks are invisible and would split words.
_MARKS = re.compile("[\u200e\u200f\u061c]")
_SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86400,
    "week": 7 * 86400, "month": 30 * 86400, "year": 365 * 86400,
}  # fmt: skip


def clean(text: str) -> str:
    """Return NFKC-normalized text in which every run of white space is one plain space."""
    return " ".join(_MARKS.sub("", unicodedata.normalize("NFKC", text)).split())


class Formatter:
    """Writes dates, prices, names and number words in one locale.

    Methods raise LookupError or NotImplementedError if the locale lacks the data.

    Args:
        name: A CLDR locale such as ``de``, ``pt_BR`` or ``zh-Hant``.

    Raises:
        HeadwayError: If the locale is unknown or a package of the extra ``demo`` is missing.
    """

    def __init__(self, name: str) -> None:
        require_packages("babel", "num2words")
        import babel.dates
        import babel.lists
        import babel.localedata
        import babel.numbers
        from num2words import CONVERTER_CLASSES

        try:
            self.locale = babel.Locale.parse(name.replace("-", "_"))
        except (ValueError, TypeError, babel.UnknownLocaleError):
            close = suggest(name.replace("-", "_"), babel.localedata.locale_identifiers())
            raise HeadwayError(
                f"'{name}' is not a CLDR locale{close}; examples: en, de, pt_BR"
            ) from None
        self._babel: Any = babel
        # num2words never returns for Amharic numbers of a million or more.
        converters = {**CONVERTER_CLASSES, "am": None}
        self._words = converters.get(str(self.locale)) or converters.get(self.language_code)
        short_time = self.locale.time_formats["short"].pattern
        self._clock = "hm" if "h" in short_time or "K" in short_time else "Hm"

    @property
    def language_code(self) -> str:
        """The locale's language without its territory, such as ``pt`` of ``pt_BR``."""
        return str(self.locale.language)

    def date(self, day: dt.date, style: str) -> str:
        """Write a day in a style (full, long, medium) or by a CLDR skeleton such as ``MMMMd``."""
        if style in ("full", "long", "medium"):
            return self._babel.dates.format_date(day, style, self.locale)
        return self.locale.datetime_skeletons[style].apply(day, self.locale)

    def time(self, moment: dt.time, style: str = "short") -> str:
        """Write a time of day with (medium) or without (short) its seconds."""
        return self._babel.dates.format_time(moment, style, locale=self.locale)

    def date_time(self, when: dt.datetime, date_style: str, time_style: str) -> str:
        """Write a day and a time of day."""
        pattern = str(self.locale.datetime_formats["medium"])
        day, clock = self.date(when.date(), date_style), self.time(when.time(), time_style)
        return pattern.replace("'", "").replace("{0}", clock).replace("{1}", day)

    def weekday_time(self, when: dt.datetime) -> str:
        """Write a time of day after the short name of its weekday."""
        return self.locale.datetime_skeletons[f"E{self._clock}"].apply(when, self.locale)

    def time_interval(self, start: dt.time, end: dt.time) -> str:
        """Write an interval between two times of day."""
        return self._babel.dates.format_interval(start, end, self._clock, locale=self.locale)

    def date_interval(self, start: dt.date, end: dt.date, skeleton: str) -> str:
        """Write an interval between two days.

        Raises:
            LookupError: If the locale's pattern leaves a year out.
        """
        self.locale.interval_formats[skeleton]
        text = str(self._babel.dates.format_interval(start, end, skeleton, locale=self.locale))
        if str(start.year) not in text or str(end.year) not in text:
            raise LookupError(skeleton)
        return text

    def era(self, year: int) -> str:
        """Write a year with its era: negative years are BC, positive ones AD."""
        text = self.date(dt.date(abs(year), 1, 1), "Gy")
        before, after = (self.locale.eras["abbreviated"][i] for i in (0, 1))
        if after not in text:
            raise LookupError("Gy")
        return text.replace(after, before) if year < 0 else text

    def week(self, week: int, year: int) -> str:
        """Write a week of a year by its number."""
        return self.locale.datetime_skeletons["yw"].format % {"w": week, "Y": year}

    def weekday(self, day: int) -> str:
        """Name a day of the week, 0 for Monday."""
        return self.locale.days["stand-alone"]["wide"][day]

    def month(self, month: int) -> str:
        """Name a month, 1 for January."""
        return self.locale.months["stand-alone"]["wide"][month]

    def relative(self, amount: int, unit: str) -> str:
        """Write "3 days ago" (-3, day) or "in 3 days" (3, day)."""
        fields = self.locale._data["date_fields"]
        fields[unit]["past"], fields[unit]["future"]
        return self._babel.dates.format_timedelta(
            amount * _SECONDS[unit],
            granularity=unit,
            threshold=10**9,
            add_direction=True,
            locale=self.locale,
        )

    def number(self, value: Decimal | int) -> str:
        """Write a number in digits."""
        return self._babel.numbers.format_decimal(value, locale=self.locale)

    def percent(self, value: Decimal) -> str:
        """Write a percentage (12.5 for 12.5 %)."""
        return self._babel.numbers.format_percent(
            value / 100, locale=self.locale, decimal_quantization=False
        )

    def compact(self, value: int, style: str) -> str:
        """Write a number rounded to three digits, long ("2.3 billion") or short ("2.3B")."""
        style = style if style in self.locale.compact_decimal_formats else "short"
        return self._babel.numbers.format_compact_decimal(
            value, format_type=style, locale=self.locale, fraction_digits=2
        )

    def price(self, value: Decimal, currency: str, style: str = "standard") -> str:
        """Write a sum of money with the symbol (standard) or the name (name) of the currency."""
        return self._babel.numbers.format_currency(
            value, currency, locale=self.locale, format_type=style
        )

    def money(self, value: Decimal | int, currency: str) -> str:
        """Write a sum of money with the name of the currency and without padding zeros."""
        return self._babel.numbers.format_currency(
            value,
            currency,
            "#,##0.####",
            locale=self.locale,
            format_type="name",
            currency_digits=False,
        )

    def quantity(self, value: Decimal | int, unit: str) -> str:
        """Write an amount of a CLDR unit such as ``length-meter``."""
        lengths = self.locale._data["unit_patterns"][unit]
        # Some locales have only a short pattern for a unit, such as Japanese for hours.
        patterns = {**lengths.get("short", {}), **lengths.get("long", {})}
        pattern: str = patterns[self.locale.plural_form(value)]
        return pattern.replace("{0}", self.number(value))

    def spelled(self, number: int, form: str = "cardinal") -> str:
        """Write a number in words (cardinal, ordinal or year).

        A cardinal is written in digits if num2words lacks the language.
        """
        if self._words is None and form == "cardinal":
            return self.number(number)
        # By default, Japanese years are counted by era, which the source text does not show.
        options = {"era": False} if form == "year" and self.language_code == "ja" else {}
        try:
            text = str(getattr(self._words, f"to_{form}")(number, **options))
        except (AttributeError, TypeError) as error:
            raise LookupError(form) from error
        if not text or any(character.isdigit() for character in text):
            raise LookupError(form)
        return text

    def territory(self, code: str) -> str:
        """Name a country or a region of the world."""
        return self.locale.territories[code]

    def local_time(self, code: str) -> str:
        """Name the time zone of a country: "Kenya Time"."""
        pattern: str = self.locale.zone_formats["region"]
        return pattern.replace("%s", self.territory(code))

    def language(self, code: str) -> str:
        """Name a language."""
        return self.locale.languages[code]

    def currency(self, code: str) -> str:
        """Name a currency."""
        return self.locale.currencies[code]

    def symbol(self, code: str) -> str:
        """Return the sign of a currency."""
        return self._babel.numbers.get_currency_symbol(code, locale=self.locale)

    def join(self, items: Sequence[str], style: str = "standard") -> str:
        """Join items with the locale's "and" (standard) or "or" (or)."""
        self.locale.list_patterns[style]
        return self._babel.lists.format_list(list(items), style, self.locale)
