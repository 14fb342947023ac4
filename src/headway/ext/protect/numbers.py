"""Numbers in a text and its translation: do they agree, in whatever form each language writes them?

Numbers with the same digits agree if their decimal marks stand in the same place. What is left is read again as what
it may be in another form: a time of day (3:20 PM is 15:20), a date (Feb 4, 1808 is 04.02.1808), or thousands (14
thousand is 14,000).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SMALLEST_NUMBER = 13  # languages often spell smaller ones as words
FOLLOWING = 12  # characters after a number that may say what it is
NUMBER = r"(?<!\d)\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:\u00a0\u202f'’]\d+)*"
_NUMBER = re.compile(NUMBER)
_HALF = re.compile(r"\s?([ap])\.?\s?m\b", re.IGNORECASE)  # of a day
_HALF_HOURS = frozenset(map(str, range(1, 13)))
_WHOLE_DAY = re.compile(r"\s?Uhr\b")  # says that hours go to 24
_DECIMAL = re.compile(r"(.*)([.,:])(?!\d{3}$)(\d+)")
_CLOCK = re.compile(r"(\d\d?)[:.](\d\d)(?:[:.](\d\d))?")
_DATE = re.compile(r"\d\d?\.\d\d?\.\d{2,4}|\d{4}\.\d\d?\.\d\d?")
_SCALE = re.compile(  # thousands and more; a mile is none
    r"[\s-]?(?:[KkMB]|(?i:thousand|tausend|tsd|mio|mrd|[mb](?:n|ln|ld|il(?:le|l?[ij]?[aoó]\w*)?)"
    r"|тыс\w*|мил\w*|млн|млрд))\b|\s?[千万萬億亿만억]"
)
_SWAPPED = str.maketrans(",.", ".,")


# Whether a number counts thousands and the like, whether another one does, and a reading.
_Meaning = tuple[bool, bool, str | int]


class _Number(NamedTuple):
    """A number, or a part of one.

    Attributes:
        readings: What it may mean: a value, or as an integer the hour of a day.
        is_needed: Whether the other text must have it, too, because it hardly writes it as a word.
        is_scaled: Whether it counts thousands, millions and the like.
    """

    readings: frozenset[str | int]
    is_needed: bool
    is_scaled: bool = False

    def meanings(self) -> Iterator[_Meaning]:
        """Yield its readings for a number of the same kind, and its digits without zeros at the end for one of the other.

        Two numbers can mean the same if a meaning of one is one of the other with the kinds swapped.
        """
        for reading in self.readings:
            yield self.is_scaled, self.is_scaled, reading
            if isinstance(reading, str):
                yield self.is_scaled, not self.is_scaled, _read_digits(reading).rstrip("0")


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
    def value(self) -> str:
        """Its digits, with a full stop for its decimal mark: 1500.5 of 1,500.5 or 1.500,5.

        A mark is decimal if it stands once and other than three digits follow it: 1.500 may be 1,500. So is a colon:
        3:16 is written 3,16 or 3.16 in other languages.
        """
        found = _DECIMAL.fullmatch(self.written)
        if not found or found[2] in found[1]:
            return _read_digits(self.written)
        return f"{_read_digits(found[1])}.{found[3]}"

    @property
    def key(self) -> tuple[str, str]:
        """What is equal if the other text writes the same."""
        return self.value, self.half

    @property
    def is_scaled(self) -> bool:
        """Whether it counts thousands, millions and the like."""
        return _SCALE.match(self.following) is not None

    def parts(self) -> Iterator[_Number]:
        """Yield the numbers that it may be written as in another form."""
        if clock := self._find_clock():
            yield _read_hours(self._find_hours(clock[1]))
            rest = (_read_digits(part) for part in clock.groups("0")[1:])
            yield from (_Number(frozenset([digits]), is_needed=True) for digits in rest if digits)
        elif _DATE.fullmatch(self.written):
            parts = map(_read_digits, self.written.split("."))
            yield from map(_read_plain, parts)
        elif ":" in self.written:  # the score 2:1, which is 2-1 in other languages
            yield from map(_read_plain, map(_read_digits, self.written.split(":")))
        elif self.half and self.written in _HALF_HOURS:
            yield _read_hours(self._find_hours(self.written))._replace(is_needed=False)
        else:
            yield _read_plain(self.value)._replace(is_scaled=self.is_scaled)

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
        if self.is_scaled and ":" not in self.written:
            return None  # 1.25 million
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


def count_different_numbers(source: str, translation: str) -> int:
    """Return how many numbers stand in one of two texts only.

    A number below 13 may stand in one text only, because the other one may have a word for it; but not if each text has one
    that the other lacks, such as 2 and 3.
    """
    mentions = [[*_find_mentions(text)] for text in (source, translation)]
    counts = [Counter(mention.key for mention in each) for each in mentions]
    # Those that can mean the least are paired first, and with each other.
    numbers, others = (
        sorted(_read_rest(each, counts[0] & counts[1]), key=lambda number: len(number.readings))
        for each in mentions
    )
    alone = _leave_out_pairs(numbers, others)
    needed = [sum(number.is_needed for number in some) for some in alone]
    return sum(needed) + min(len(some) - count for some, count in zip(alone, needed, strict=True))


def _leave_out_pairs(
    numbers: Sequence[_Number], others: Sequence[_Number]
) -> tuple[list[_Number], list[_Number]]:
    """Pair each number with another that can mean the same, and return those on both sides that are left."""
    places: dict[_Meaning, list[int]] = defaultdict(list)
    for place, other in reversed([*enumerate(others)]):
        for meaning in other.meanings():
            places[meaning].append(place)
    left, alone = dict(enumerate(others)), list[_Number]()
    for number in numbers:
        queues = [places[b, a, reading] for a, b, reading in number.meanings()]
        for queue in queues:
            while queue and queue[-1] not in left:
                queue.pop()
        first = min((queue[-1] for queue in queues if queue), default=None)
        if first is None:
            alone.append(number)
        else:
            del left[first]
    return alone, [*left.values()]


def spell_numbers(text: str) -> Iterator[list[str]]:
    """Yield for each number from 13 on of a text the forms in which its translation may have it.

    What a translation may write in yet other forms, such as 14 thousand, is left out.
    """
    for mention in _find_mentions(text):
        if _is_needed(mention.written) and not mention.is_scaled:
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
    return _Number(frozenset([*hours, *map(_read_digits, map(str, hours))]), is_needed=True)


def _read_plain(value: str) -> _Number:
    """Return a number, which is perhaps an hour of either half of the day."""
    hours = {int(value) % 12, int(value) % 12 + 12} if value in _HALF_HOURS else set()
    return _Number(frozenset([value, *hours]), _is_needed(value))


def _is_needed(value: str) -> bool:
    digits = _read_digits(value)
    return len(digits) > 2 or int(digits or 0) >= SMALLEST_NUMBER


def _read_digits(written: str) -> str:
    return "".join(c for c in written if c.isdigit()).lstrip("0")
