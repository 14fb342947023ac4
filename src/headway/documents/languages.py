"""The languages of a translation, and the language codes in a document that it changes."""

from dataclasses import dataclass
from typing import Literal

from headway.text.language_pairs import shorten_code

_UNKNOWN = ("", "none", "und", "mul")
# Languages and scripts that are written from right to left.
_RIGHT_TO_LEFT = frozenset({
    "ar", "arc", "arb", "azb", "ckb", "dv", "fa", "glk", "he", "iw", "ji", "ks", "lrc", "mzn", "nqo", "pbt", "per", "pnb", "prs",
    "ps", "sd", "snd", "syr", "ug", "ur", "ydd", "yi",
})  # fmt: skip
_SCRIPTS = frozenset(
    {"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"}
)
_ASIAN = frozenset({"ja", "ko", "yue", "zh"})
# Languages from left to right whose letters change with their neighbors, or are written around each other.
_COMPLEX = frozenset({
    "as", "bn", "bo", "dz", "gu", "hi", "km", "kn", "lo", "mai", "ml", "mr", "my", "ne", "or", "pa", "sa", "si", "ta", "te", "th",
})  # fmt: skip


@dataclass
class Language:
    """The languages of a translation.

    Attributes:
        source: Language code of the text; if it is not known, that of the first text that names one.
        target: Language code of the translation; "": nothing is changed.
    """

    source: str
    target: str

    def replaces(self, code: str) -> bool:
        """Return whether a code names the language of the text: a translation names its own language there."""
        if not self.target or code in _UNKNOWN:
            return False
        self.source = self.source or code
        return _primary(code) == _primary(self.source) != _primary(self.target)

    @property
    def directions(self) -> tuple[str, str] | None:
        """The directions of the text and of its translation, ltr or rtl, if they differ; None if they do not."""
        before, after = (_direction(code) for code in (self.source, self.target))
        return (before, after) if self.source and self.target and before != after else None


def is_foreign(code: str, source: str) -> bool:
    """Return whether a text is in another language than its document; not if either is unknown.

    Args:
        code: Language code of the text.
        source: Language code of the document.
    """
    return code not in _UNKNOWN and bool(source) and _primary(code) != _primary(source)


def find_script_group(code: str) -> Literal["western", "asian", "complex"]:
    """Return the group of the scripts of a language, as office programs have fonts and languages for each."""
    if _direction(code) == "rtl" or _primary(code) in _COMPLEX:
        return "complex"
    return "asian" if _primary(code) in _ASIAN else "western"


def _direction(code: str) -> str:
    """Return ltr or rtl; a script that the code names (ur-Latn, arb_Arab) decides."""
    scripts = [part for part in code.lower().replace("_", "-").split("-")[1:] if len(part) == 4]
    is_rtl = scripts[0] in _SCRIPTS if scripts else _primary(code) in _RIGHT_TO_LEFT
    return "rtl" if is_rtl else "ltr"


def _primary(code: str) -> str:
    """Return the language of a code without its country and script: ``en`` of ``en-US`` and of ``eng``."""
    return shorten_code(code.lower()).replace("_", "-").partition("-")[0]
