"""The plural forms of languages, as a catalog of gettext names them.

The rules are those of the Unicode CLDR for whole numbers, but for languages in which most catalogs have others.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from gettext import c2py
from typing import NamedTuple

from headway.ext.documents.language_codes import primary_language

_FORMS = {
    "nplurals=1; plural=0;":
        "bm bo dz id ig ja jv km ko lo ms my sah su th to vi wo yo yue zh",
    "nplurals=2; plural=(n != 1);":
        "af an ast az bal bg ca ce ckb da de dv ee el en eo es et eu fi fo fur fy gl gsw ha haw hu ia it ka kk kl ks ku "
        "ky lb lg lij ml mn mr nb nd ne nl nn no nr ny om or os pap ps pt rm sc sd sn so sq ss st sv sw ta te tk tn ts ug "
        "ur uz ve xh yi",
    "nplurals=2; plural=(n > 1);":
        "ak am as bho bn fa ff fr gu guw hi hy kab kn ln mg nso oc pa pt-br si ti tr wa zu",
    "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);": "is mk",
    "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);": "he iu iw se",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);":
        "be bs hr ru sh sr uk",
    "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);": "cs sk",
    "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);": "pl",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);": "lt",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100>0 && n%100<20)) ? 1 : 2);": "ro",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": "dsb hsb sl",
    "nplurals=4; plural=(n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3);": "gd",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n>=3 && n<=6 ? 2 : n>=7 && n<=10 ? 3 : 4);": "ga",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n==0 || (n%100>=3 && n%100<=10) ? 2 : n%100>=11 && n%100<=19 ? 3 : 4);":
        "mt",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5);": "cy",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);":
        "ar",
}  # fmt: skip
# What the Unicode CLDR calls the forms besides "one" and "other", each with a number that it serves.
_CATEGORIES: Mapping[str, Mapping[str, int]] = {
    "be pl ru uk": {"few": 3, "many": 5},
    "bs cs hr lt ro sh sk sr": {"few": 3},
    "he iu iw se": {"two": 2},
    "lv": {"zero": 10},
    "dsb gd hsb sl": {"two": 2, "few": 3},
    "ga": {"two": 2, "few": 3, "many": 7},
    "mt": {"two": 2, "few": 3, "many": 11},
    "cy": {"zero": 0, "two": 2, "few": 3, "many": 6},
    "ar": {"zero": 0, "two": 2, "few": 3, "many": 11},
}
_BY_CODE = {code: forms for forms, codes in _FORMS.items() for code in codes.split()}
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
    return _BY_CODE.get(code) or _BY_CODE.get(primary_language(language), "")


def find_categories(language: str) -> Mapping[str, int]:
    """Return the plural forms that a language has besides "one" and "other", each with a number that it serves."""
    code = primary_language(language)
    return next((forms for codes, forms in _CATEGORIES.items() if code in codes.split()), {})


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
