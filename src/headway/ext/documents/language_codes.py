"""The languages of a translation, and the language codes in a document that it changes."""

from dataclasses import dataclass, field

from headway.errors import HeadwayError
from headway.text import shorten_code

_UNKNOWN = ("", "none", "und", "mul")
# Languages and scripts that are written from right to left.
_RIGHT_TO_LEFT = frozenset({
    "acm", "aeb", "ajp", "apc", "ar", "arb", "arc", "ars", "ary", "arz", "azb", "bal", "ckb", "div", "dv", "fa", "glk", "he", "iw", "ji", "kas", "ks", "lrc", "mzn", "nqo", "pbt", "per", "pnb", "prs",
    "ps", "sd", "skr", "snd", "syr", "ug", "ur", "ydd", "yi",
})  # fmt: skip
_SCRIPTS = frozenset(
    {"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"}
)


@dataclass
class LanguagePair:
    """The languages of a translation.

    Attributes:
        source: Language code of the text; if it is not known, that of the first text that names one.
        target: Language code of the translation; "": nothing is changed.
        becomes_rtl: Whether the translation is written from right to left, and the text is not, or the other way round;
            None: both are, or the source is not known from the start, so that only a part of a document would be turned.
    """

    source: str
    target: str
    becomes_rtl: bool | None = field(init=False)

    def __post_init__(self) -> None:
        before, after = is_rtl(self.source), is_rtl(self.target)
        is_turned = self.source and self.target and before != after
        self.becomes_rtl = after if is_turned else None

    def replaces(self, code: str) -> bool:
        """Return whether a code names the language of the text: a translation names its own language there."""
        if not self.target or code in _UNKNOWN:
            return False
        self.source = self.source or code
        return (
            primary_language(code) == primary_language(self.source) != primary_language(self.target)
        )


def is_foreign(code: str, source: str) -> bool:
    """Return whether a text is in another language than its document; not if either is unknown.

    Args:
        code: Language code of the text.
        source: Language code of the document.
    """
    return (
        code not in _UNKNOWN and bool(source) and primary_language(code) != primary_language(source)
    )


def names_language(code: str, language: str) -> bool:
    """Return whether a code names a language, of any country and in any script."""
    return bool(code) and primary_language(code) == primary_language(language)


def check_catalog(texts: str, code: str, language: str) -> None:
    """Check that the texts of a catalog are in the language that they should be in.

    Args:
        texts: What the message calls them: "texts in" or "translations into".
        code: The language code that the catalog names; "" if it names none.
        language: Language code of what they should be in; "" if it is not known.

    Raises:
        HeadwayError: If not.
    """
    if is_foreign(code, language):
        raise HeadwayError(
            f"is a catalog of {texts} {code[:30]!r}, and not {language!r}: give a model of that language"
        )


def is_rtl(code: str) -> bool:
    """Return whether a language is written from right to left; a script that the code names (ur-Latn, arb_Arab) decides."""
    scripts = [part for part in code.lower().replace("_", "-").split("-")[1:] if len(part) == 4]
    return scripts[0] in _SCRIPTS if scripts else primary_language(code) in _RIGHT_TO_LEFT


def primary_language(code: str) -> str:
    """Return the language of a code without its country and script: ``en`` of ``en-US`` and of ``eng``."""
    return shorten_code(code.lower()).replace("_", "-").partition("-")[0]
