"""The plural forms of languages, as a catalog of gettext names them."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from gettext import c2py
from importlib.resources import files
from typing import NamedTuple

from headway.ext.documents.language_codes import primary_language


def _read_table(kind: str) -> dict[str, str]:
    """Return the rows of a kind in the table, by the codes of languages."""
    lines = (files(__package__) / "plural_forms.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line.startswith(kind)]
    return {code: own for _, own, codes in rows for code in codes.split()}


_FORMS, _CATEGORIES = _read_table("forms"), _read_table("categories")
_RULE = re.compile(r"nplurals\s*=\s*([1-6])\s*;\s*plural\s*=([^;]*)")
_NUMBERS = (*range(200), 1_000, 1_000_000)  # of which a rule uses every form that it ever uses
_NUMBER = re.compile(r"(?<![\d.,])\d{1,9}(?![.,]?\d)")
_OF_ENGLISH = "nplurals=2; plural=(n != 1);"


class PluralForms(NamedTuple):
    """The plural forms of a catalog.

    Attributes:
        numbers: For each form, the numbers of `_NUMBERS` that it serves.
    """

    numbers: Sequence[Sequence[int]]

    @classmethod
    def parse(cls, field: str) -> "PluralForms | None":
        """Return the forms that a header field declares; None: it is missing, or is wrong for some number."""
        declared = _RULE.search(field)
        if declared is None:
            return None
        numbers: list[list[int]] = [[] for _ in range(int(declared[1]))]
        # Division by zero, unknown names, and a form that is not declared.
        with suppress(ValueError, ArithmeticError, IndexError, RecursionError):
            rule = c2py(declared[2].strip())
            for number in _NUMBERS:
                numbers[rule(number)].append(number)
            return cls(numbers)
        return None

    def fits(self, others: "PluralForms") -> bool:
        """Return whether no form serves numbers that have different forms in others."""
        return all(any({*own} <= {*other} for other in others.numbers) for own in self.numbers)

    @property
    def is_plain(self) -> bool:
        """Whether the texts for one thing and for several are all forms, as in English."""
        first, *others = self.numbers
        return not others or (len(others) == 1 and {*first} <= {0, 1})


class NumberedText(NamedTuple):
    """A text in which a number stands in the place of its count, so that a model writes the form of the number.

    Attributes:
        text: With the count.
        placeholder: How that is written, such as ``%d``.
        number: What stands in its place.
    """

    text: str
    placeholder: str
    number: int

    @property
    def filled(self) -> str:
        """What is translated."""
        return self.text.replace(self.placeholder, str(self.number), 1)

    def restore(self, written: str) -> str | None:
        """Return a translation with the count in the place of the number; None: it does not have the number once."""
        numbers = [each for each in _NUMBER.finditer(written) if int(each[0]) == self.number]
        if len(numbers) != 1:
            return None
        [found] = numbers
        return written[: found.start()] + self.placeholder + written[found.end() :]


def find_plural_forms(language: str) -> str:
    """Return the header field of a language's plural forms; "" if they are not known here."""
    code = language.lower().replace("_", "-")
    return _FORMS.get(code) or _FORMS.get(primary_language(language), "")


def find_categories(language: str) -> Mapping[str, int]:
    """Return the plural forms that a language has besides "one" and "other", each with a number that it serves."""
    found = _CATEGORIES.get(primary_language(language), "").split()
    pairs = (each.split("=") for each in found)
    return {name: int(number) for name, number in pairs}


def choose_plural_forms(declared: str, language: str, *, may_change: bool) -> str:
    """Return the header field of a catalog's plural forms: the declared one, unless it is wrong for the language.

    Args:
        declared: What the header says; "" if it says nothing.
        language: The language of the translations; "" if it is not known.
        may_change: Whether no text with plural forms has a translation yet.
    """
    usual, own = find_plural_forms(language), PluralForms.parse(declared)
    expected = PluralForms.parse(usual)
    if expected is None or own == expected:
        return declared
    is_wrong = own is None or not own.fits(expected) or own == PluralForms.parse(_OF_ENGLISH)
    return usual if own is None or (is_wrong and may_change) else declared
