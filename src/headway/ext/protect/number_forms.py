"""A number with its unit, as each language writes it: 1,500.5 kg in English are 1.500,5 kg in German.

If it stayed as it is, it would say another thing: to a German reader, 1,500 kg are one kilogram and a half.

Source: Unicode CLDR, the symbols of numbers and the patterns of percent of each language, as in Babel 2.19. A space
is written before a percent sign, as models write it, where CLDR has a no-break space.
"""

import re
from typing import NamedTuple

from headway.ext.protect.patterns import DEFINITIONS
from headway.text import Languages, base_code

# The marks of the fraction and of the thousands, and the languages that write them.
MARKS = {
    ".,": "am ar bn ceb cy en fa fil ga gd gu ha he hi ig ja km kn ko mg mi ml mn mr ms mt my ne om or pa sd si sn so st"
    " sw ta te th ti tl tn ug ur yi yo zh zu",
    ",.": "az bs ca da de el es eu fo fy hr id is it jv ku lb ln lo mk nl ps pt ro rw sl sr tr vi wo",
    ",\u00a0": "af be bg cs et fi gl hu hy ka kk ky lt lv nb nn no pl ru sk sq sv tg tk tt uk uz",
    ",\u202f": "eo fr",
}  # fmt: skip
# Others write 5%.
PERCENT = {
    "{} %": "be ca cs da de es fi fo fr gl hr lb lt mk nb nn no ro ru sk sl sv tk tt",
    "%{}": "ku tr",
    "% {}": "eu",
}
SPACES = DEFINITIONS["SPACE"][1:-1] + "'\u2019"  # between thousands, in any language
_NUMBER = re.compile(rf"\d(?:[\d.,{SPACES}]*\d)?")
# By the mark of the fraction: in each language the other one can only stand between thousands. India's groups have two digits.
_NUMBERS = {
    mark: re.compile(
        rf"\A(\d{{1,3}}(?:[{other}{SPACES}]\d{{2,3}})*[{other}{SPACES}]\d{{3}}|\d+)(?:{re.escape(mark)}(\d+))?"
    )
    for mark, other in (".,", ",.")
}


class _Form(NamedTuple):
    """How a language writes numbers.

    Attributes:
        fraction: The mark before the fraction.
        thousands: The mark between groups of digits.
        percent: Where the percent sign stands.
    """

    fraction: str
    thousands: str
    percent: str


_FORMS = {
    language: _Form(marks[0], marks[1], next((p for p, some in PERCENT.items() if language in some.split()), "{}%"))
    for marks, languages in MARKS.items()
    for language in languages.split()
}  # fmt: skip


def write_number(text: str, languages: Languages) -> str:
    """Return a number with its unit, or several such as a range, as the target language writes it.

    It stays as it is if one of the languages is not listed here; so do the marks of a number that the source language
    would write in another way, such as 1.5.2 and an English 5,5.

    Args:
        text: As the source has it, such as "1,500.5 kg", "50%" and "USD 20".
        languages: Codes of source and target.
    """
    source, target = (_FORMS.get(base_code(code)) for code in languages)
    found = [each.span() for each in _NUMBER.finditer(text)]
    if source is None or target is None or not found:
        return text
    (start, _), (_, end) = found[0], found[-1]
    before, after = text[:start], text[end:]
    numbers = _NUMBER.sub(lambda number: _write(number[0], source, target), text[start:end])
    sign = after.strip()
    if sign in ("%", "%%"):
        return before + target.percent.format(numbers).replace("%", sign)
    return before + numbers + after


def _write(number: str, source: _Form, target: _Form) -> str:
    parts = _NUMBERS[source.fraction].fullmatch(number)
    if parts is None:
        return number
    digits, fraction = re.sub(r"\D", "", parts[1]), parts[2]
    is_grouped = digits != parts[1]
    whole = f"{int(digits):,}".replace(",", target.thousands) if is_grouped else digits
    return whole if fraction is None else whole + target.fraction + fraction
