"""What can be named in a pair of locales: territories, languages, currencies and units.

The well-known ones only: names that hardly anybody writes would teach a model letter noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.demo.speaker import Speaker, clean

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
class Stock:
    """The codes that both locales can name, the source locale unambiguously."""

    territories: tuple[str, ...]
    regions: tuple[str, ...]
    languages: tuple[str, ...]
    currencies: tuple[str, ...]
    symbols: tuple[str, ...]
    units: tuple[str, ...]
    relative_units: tuple[str, ...]

    @classmethod
    def of(cls, source: Speaker, target: Speaker) -> "Stock":
        """Collect what two locales can both name."""

        def named(codes: Sequence[str], name: Callable[[Speaker, str], str]) -> tuple[str, ...]:
            found: dict[str, str] = {}
            for code in codes:
                try:
                    name(target, code)
                    # Two codes of one name cannot be told apart by a reader: the first has it.
                    found.setdefault(clean(name(source, code)).casefold(), code)
                except LookupError:
                    continue
            return tuple(found.values())

        return cls(
            territories=named(TERRITORIES.split(), Speaker.territory),
            regions=named(REGIONS.split(), Speaker.territory),
            languages=named(LANGUAGES.split(), Speaker.language),
            currencies=named(CURRENCIES.split(), Speaker.currency),
            symbols=named(CURRENCIES.split(), Speaker.symbol),
            units=named(UNITS, lambda speaker, unit: speaker.quantity(2, unit)),
            relative_units=named(
                RELATIVE_UNITS.split(), lambda speaker, unit: speaker.relative(2, unit)
            ),
        )
