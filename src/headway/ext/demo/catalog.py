"""Codes of the territories, languages, currencies and units that the corpus names.

The lists hold well-known ones only. Rare names are mostly copied letter by letter and teach little.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.ext.demo.formatter import Formatter, clean

TERRITORIES = (
    "DE AT CH FR BE NL LU IT ES PT IE GB DK SE NO FI IS PL CZ SK HU RO BG GR CY MT HR SI RS BA ME"
    " AL UA BY MD RU EE LV LT TR GE AM IL LB JO SY IQ IR SA AE QA KW YE OM EG MA DZ TN LY SD ET KE"
    " TZ UG NG GH SN CM AO ZA ZW ZM NA BW MG ML CN JP KR KP MN IN PK BD LK NP TH VN KH MY SG ID"
    " PH AU NZ US CA MX CU JM GT PA CO VE EC PE BO BR CL AR UY PY"
)
REGIONS = "001 150 002 142 019 009 005 003 013 155 151 154 039"
LANGUAGES = (
    "de en fr it es pt nl da sv no fi is pl cs sk hu ro bg el hr sl sr sq uk be ru et lv lt tr ka"
    " hy he ar fa ur hi bn ta th vi id ms zh ja ko mn sw am af ga cy ca eu la"
)
CURRENCIES = (
    "EUR USD GBP CHF JPY CNY INR SEK NOK DKK PLN CZK HUF RON BGN TRY UAH RUB ILS EGP ZAR NGN KES"
    " THB KRW AUD NZD CAD MXN BRL ARS CLP"
)
WITHOUT_CENTS = ("JPY", "KRW", "CLP")
UNITS = tuple(
    f"{family}-{unit}"
    for family, units in {
        "length": "millimeter centimeter meter kilometer inch foot yard mile light-year",
        "mass": "milligram gram kilogram tonne ounce pound",
        "volume": "milliliter liter hectoliter cubic-meter barrel teaspoon tablespoon",
        "area": "square-meter square-kilometer hectare acre square-mile",
        "speed": "kilometer-per-hour meter-per-second mile-per-hour knot",
        "temperature": "celsius fahrenheit",
        "energy": "kilowatt-hour joule kilocalorie",
        "power": "watt kilowatt megawatt horsepower",
        "electric": "volt ampere ohm",
        "frequency": "hertz megahertz",
        "digital": "kilobyte megabyte gigabyte terabyte",
        "duration": "second minute hour day week month year century",
    }.items()
    for unit in units.split()
)
RELATIVE_UNITS = "second minute hour day week month year"


@dataclass(frozen=True)
class Catalog:
    """Codes that both locales can name, and that have different names in the source locale."""

    territories: tuple[str, ...]
    regions: tuple[str, ...]
    languages: tuple[str, ...]
    currencies: tuple[str, ...]
    symbols: tuple[str, ...]
    units: tuple[str, ...]
    relative_units: tuple[str, ...]

    @classmethod
    def of(cls, source: Formatter, target: Formatter) -> "Catalog":
        """Collect the codes that both locales can name."""

        def named(codes: Sequence[str], name: Callable[[Formatter, str], str]) -> tuple[str, ...]:
            found: dict[str, str] = {}
            for code in codes:
                try:
                    name(target, code)
                    # If two codes have the same source name, only the first is kept.
                    found.setdefault(clean(name(source, code)).casefold(), code)
                except LookupError:
                    continue
            return tuple(found.values())

        return cls(
            territories=named(TERRITORIES.split(), Formatter.territory),
            regions=named(REGIONS.split(), Formatter.territory),
            languages=named(LANGUAGES.split(), Formatter.language),
            currencies=named(CURRENCIES.split(), Formatter.currency),
            symbols=named(CURRENCIES.split(), Formatter.symbol),
            units=named(UNITS, lambda formatter, unit: formatter.quantity(2, unit)),
            relative_units=named(
                RELATIVE_UNITS.split(), lambda formatter, unit: formatter.relative(2, unit)
            ),
        )
