"""Numbers in a text and its translation: do they agree, in whatever form each language writes them?

Numbers whose digits are the same agree. What is left is read again as what it may be in another form: a time of
day (3:20 PM is 15:20), a date (Feb 4, 1808 is 04.02.1808), or thousands (14 thousand is 14,000).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SMALLEST_NUMBER = 13  # languages often spell smaller ones as words
FOLLOWING = 12  # characters after a number that may say what it is
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:\u00a0\u202f'’]\d+)*")
_HALF = re.compile(r"\s?([ap])\.?\s?m\b", re.IGNORECASE)  # of a day
_HALF_HOURS = frozenset(map(str, range(1, 13)))
_WHOLE_DAY = re.compile(r"\s?Uhr\b")  # says that hours go to 24
_CLOCK = re.compile(r"(\d\d?)[:.](\d\d)(?:[:.](\d\d))?")
_DATE = re.compile(r"\d\d?\.\d\d?\.\d{2,4}|\d{4}\.\d\d?\.\d\d?")
_SCALE = re.compile(  # thousands and more; a mile is none
    r"[\s-]?(?:[KkMB]|(?i:thousand|tausend|tsd|mio|mrd|[mb](?:n|ln|ld|il(?:le|l?[ij]?[aoó]\w*)?)"
    r"|тыс\w*|мил\w*|млн|млрд))\b|\s?[千万萬億亿만억]"
)
_SWAPPED = str.maketrans(",.", ".,")


class Agreement(NamedTuple):
    """How far the numbers of two texts agree.

    Attributes:
        same: How many stand in both texts.
        different: How many stand in one of them only.
    """

    same: int
    different: int


class _Number(NamedTuple):
    """A number, or a part of one.

    Attributes:
        readings: What it may mean: digits, or as an integer the hour of a day.
        is_needed: Whether the other text must have it, too, because it hardly writes it as a word.
        is_dated: Whether it is a part of a date or a time of day, so that only the name of a month may stand for it.
        is_scaled: Whether it counts thousands, millions and the like.
    """

    readings: frozenset[str | int]
    is_needed: bool
    is_dated: bool = False
    is_scaled: bool = False

    def agrees(self, other: "_Number") -> bool:
        """Return whether it can mean the same as a number of the other text."""
        if self.is_scaled == other.is_scaled:
            return not self.readings.isdisjoint(other.readings)
        return not _drop_zeros(self.readings).isdisjoint(_drop_zeros(other.readings))


class _Mention(NamedTuple):
    """Where a number stands in a text.

    Attributes:
        written: Its characters; digits of all scripts are ASCII ones.
        following: The text after it.
        half: "a" or "p", the half of the day that the text names; "": none.
    """

    written: str
    following: str
    half: str

    @property
    def digits(self) -> str:
        """Its digits without zeros at the front; marks between digits do not count."""
        return _read_digits(self.written)

    @property
    def key(self) -> tuple[str, str]:
        """What is equal if the other text writes the same."""
        return self.digits, self.half

    def parts(self) -> Iterator[_Number]:
        """Yield the numbers that it may be written as in another form."""
        if clock := self._find_clock():
            yield _read_hours(self._find_hours(clock[1]))
            rest = (_read_digits(part) for part in clock.groups("0")[1:])
            yield from (_Number(frozenset([digits]), is_needed=True) for digits in rest if digits)
        elif _DATE.fullmatch(self.written):
            parts = map(_read_digits, self.written.split("."))
            yield from (_read_plain(digits)._replace(is_dated=True) for digits in parts)
        elif self.half and self.written in _HALF_HOURS:
            hours = _read_hours(self._find_hours(self.written))
            yield hours._replace(is_needed=False, is_dated=True)
        else:
            is_scaled = _SCALE.match(self.following) is not None
            yield _read_plain(self.digits)._replace(is_scaled=is_scaled)

    def forms(self) -> Iterator[str]:
        """Yield the forms in which the other text may write it."""
        yield self.written
        yield self.written.translate(_SWAPPED)  # 1,000.5 is 1.000,5 in other languages
        if self._find_clock() and ":" in self.written:
            hour, rest = self.written.split(":", 1)
            for each in self._find_hours(hour):
                yield f"{each:02}:{rest}"
                yield f"{each % 12 or 12}:{rest}"

    def _find_clock(self) -> re.Match[str] | None:
        """Return the hours, minutes and seconds of a time of day; None: it is none."""
        clock = _CLOCK.fullmatch(self.written)
        if clock and int(clock[1]) <= 24 and all(int(n) < 60 for n in clock.groups("0")[1:]):
            return clock
        return None

    def _find_hours(self, written: str) -> set[int]:
        """Return the hours that a number may mean here, from 0 to 23."""
        hour = int(written)
        if self.half:
            return {hour % 12 + 12 * (self.half == "p")}
        if 0 < hour <= 12 and written[0] != "0" and not _WHOLE_DAY.match(self.following):
            # Most languages have words of their own for the halves of a day.
            return {hour % 12, hour % 12 + 12}
        return {hour % 24}


def compare_numbers(source: str, translation: str) -> Agreement:
    """Return how many numbers stand in both texts, and how many in one only.

    A number below 13 may stand in one text only, because the other one may have a word for it.
    """
    mentions = [[*_find_mentions(text)] for text in (source, translation)]
    counts = [Counter(mention.key for mention in each) for each in mentions]
    common = counts[0] & counts[1]
    same = sum(count for (digits, _), count in common.items() if _is_needed(digits))
    # Those that can mean the least are paired first, and with each other.
    left, others = (
        sorted(_read_rest(each, common), key=lambda number: len(number.readings))
        for each in mentions
    )
    alone: list[_Number] = []
    for number in left:
        other = next((each for each in others if number.agrees(each)), None)
        if other is None:
            alone.append(number)
        else:
            others.remove(other)
            same += number.is_needed or other.is_needed
    different = sum(number.is_needed for number in [*alone, *others])
    # 04.02. is Feb 4 without its 2, but not Feb 5: each has a number that the other lacks.
    small = [[each for each in some if not each.is_needed] for some in (alone, others)]
    if any(number.is_dated for each in small for number in each):
        different += min(map(len, small))
    return Agreement(same, different)


def spell_numbers(text: str) -> Iterator[list[str]]:
    """Yield for each number from 13 on of a text the forms in which its translation may have it.

    What a translation may write in yet other forms, such as 14 thousand, is left out.
    """
    for mention in _find_mentions(text):
        if _is_needed(mention.digits) and not _SCALE.match(mention.following):
            yield [*dict.fromkeys(mention.forms())]


def _find_mentions(text: str) -> Iterator[_Mention]:
    if not text.isascii():
        text = re.sub(r"\d", lambda digit: str(int(digit[0])), text)
    for found in _NUMBER.finditer(text):
        half = _HALF.match(text, found.end())
        following = text[found.end() : found.end() + FOLLOWING]
        yield _Mention(found[0], following, half[1].lower() if half else "")


def _read_rest(mentions: Sequence[_Mention], common: Counter[tuple[str, str]]) -> Iterator[_Number]:
    """Yield the parts of the numbers that are not among some common ones."""
    unused = Counter(common)
    for mention in mentions:
        if unused[mention.key]:
            unused[mention.key] -= 1
        else:
            yield from mention.parts()


def _read_hours(hours: set[int]) -> _Number:
    """Return an hour of the day, which the other text may write as a plain number."""
    return _Number(frozenset([*hours, *map(str, hours)]), is_needed=True)


def _read_plain(digits: str) -> _Number:
    """Return a number, which is perhaps an hour of either half of the day."""
    hours = {int(digits) % 12, int(digits) % 12 + 12} if digits in _HALF_HOURS else set()
    return _Number(frozenset([digits, *hours]), _is_needed(digits))


def _is_needed(digits: str) -> bool:
    return len(digits) > 2 or int(digits or 0) >= SMALLEST_NUMBER


def _read_digits(written: str) -> str:
    return "".join(c for c in written if c.isdigit()).lstrip("0")


def _drop_zeros(readings: frozenset[str | int]) -> frozenset[str]:
    return frozenset(each.rstrip("0") for each in readings if isinstance(each, str))
