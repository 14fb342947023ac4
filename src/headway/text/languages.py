"""Pairs of languages, such as en-de, and the codes by which people name one language.

What is known of each language stands in ``languages.json``.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from headway.errors import HeadwayError

# A language of ISO 639, with script and country.
_USUAL = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_FACTS = json.loads(Path(__file__).with_suffix(".json").read_bytes())
# English names of ISO 639-1 codes, and of common codes with a script or country.
NAMES: dict[str, str] = _FACTS["names"]
# ISO 639-3 codes, which models of OPUS-MT use, and their ISO 639-1 codes.
SHORT: dict[str, str] = _FACTS["short"]
_ALIASES: dict[str, str] = _FACTS["aliases"]  # of older standards and of LibreTranslate
# The script in which a language is mostly written, if not in the Latin one.
_SCRIPTS: dict[str, str] = _FACTS["scripts"]
# The encoding of older Windows programs for a language; cp1252 for all others.
ENCODINGS: dict[str, str] = _FACTS["encodings"]
_TRADITIONAL: list[str] = _FACTS["traditional"]  # countries of Chinese in traditional characters
_JOINED: list[str] = _FACTS["joined"]  # no space after a sentence
_UNSPACED = [*_JOINED, *_FACTS["unspaced"]]  # no spaces between words

# A dozen of the words of a language that most lines have; characters where there are no spaces.
FREQUENT = {code: words.split() for code, words in _FACTS["frequent"].items()}
MORE = 3  # times as many frequent words of the other language, and then so many more, on both sides
FEWEST = 10


def is_code(word: str) -> bool:
    """Return whether a word that a person writes can be the code of a language."""
    return bool(_USUAL.fullmatch(word))


def name_of(code: str) -> str:
    """Return the English name of a language, or the code itself if the name is not listed."""
    return NAMES.get(code, code)


def base_code(code: str) -> str:
    """Return a code without its script and country: ``zh`` of zh-CN and zh_Hant."""
    return re.split("[-_]", code)[0].lower()


def is_unspaced(code: str) -> bool:
    """Return whether a language has no spaces between words."""
    return base_code(code) in _UNSPACED


def look_exchanged(sources: Iterable[str], targets: Iterable[str], languages: "Languages") -> bool:
    """Return whether two texts seem to be exchanged: each has many words of the other's language, few of its own.

    Args:
        sources: Raw lines.
        targets: Raw lines.
        languages: Codes of source and target; of languages without a list, nothing is known.
    """
    codes = [base_code(code) for code in languages]
    if codes[0] == codes[1] or not all(code in FREQUENT for code in codes):
        return False

    def count(lines: Iterable[str], code: str) -> int:
        known = {*FREQUENT[code]}
        return sum(word in known for line in lines for word in _list_words(line, code))

    both = [*sources], [*targets]
    (own, other), (other_target, own_target) = ([count(t, code) for code in codes] for t in both)
    return other > MORE * own + FEWEST and other_target > MORE * own_target + FEWEST


def _list_words(line: str, code: str) -> Iterable[str]:
    return line if is_unspaced(code) else line.lower().split()


def translate_gap(gap: str, languages: "Languages") -> str:
    """Return what stands between the translations of two sentences.

    Chinese and Japanese write no space behind a sentence, so it is left out for them. Other languages get one where the
    source needs none. Line breaks, tags and the like stay.

    Args:
        gap: What stands between the sentences.
        languages: Codes of source and target.
    """
    source, target = (base_code(shorten_code(code)) for code in languages)
    if target in _JOINED:
        return gap if source in _JOINED or gap.strip(" \u00a0\u3000") else ""
    return gap or " " * (source in _UNSPACED)


def is_translatable(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


Languages = tuple[str, str]  # codes of source and target
CODE = re.compile(r"\w[\w-]{0,30}")  # of a language, such as de, pt-BR or zh_Hant

_PART = re.compile(r"[a-z]{2,3}(?![a-z])")  # how the code of a language begins


def parse_pair(word: str) -> Languages | None:
    """Return the languages of a word such as ``en-de`` or ``pt-BR-en``; None: it names no pair.

    Raises:
        HeadwayError: If the word can be read in two ways.
    """
    cuts = [match.start() for match in re.finditer("-", word)]
    if len(cuts) > 1:  # a country or a script has capitals, more letters or digits
        cuts = [cut for cut in cuts if _PART.match(word, cut + 1)]
    pairs = [(word[:cut], word[cut + 1 :]) for cut in cuts]
    pairs = [pair for pair in pairs if all(CODE.fullmatch(code) for code in pair)]
    if len(pairs) > 1:
        read = " or ".join(" to ".join(pair) for pair in pairs)
        raise HeadwayError(f"{word}: can be read as {read}: write a country as in pt-BR")
    return pairs[0] if pairs else None


def name_pair(languages: Languages) -> str:
    """Return the name of a pair, such as ``en-de``."""
    return "-".join(languages)


def list_pairs(pairs: Iterable[Languages]) -> str:
    """Return the names of pairs for a message."""
    return ", ".join(map(name_pair, pairs))


def list_codes(pairs: Iterable[Languages]) -> list[str]:
    """Return the codes of all languages of pairs, each once."""
    return list(dict.fromkeys(code for pair in pairs for code in pair))


def describe_pairs(pairs: Iterable[Languages]) -> str:
    """Return what a model of these pairs does, for the heading of its card."""
    return "Translation " + ", ".join(f"from {source} to {target}" for source, target in pairs)


class _Code(NamedTuple):
    """What a code says: a language, its script, and a country, or a variant, or ""."""

    language: str
    script: str
    country: str


def _read_code(code: str) -> _Code:
    """Return what a code says; of one without a script, that in which its language is mostly written there."""
    language, *others = shorten_code(_expand(code)).split("-")
    script = next((part for part in others if len(part) == 4 and part.isalpha()), "")
    country = "-".join(part for part in others if part != script)
    usual = _SCRIPTS.get(language, "latn")
    if country in _TRADITIONAL and usual == "hans":
        usual = "hant"
    return _Code(language, script or usual, country)


def find_code(wanted: str, codes: Iterable[str]) -> str | None:
    """Return the code, among those of a model, that means the language a user names; None: none does.

    The same code is preferred; letter case and ``_`` do not matter; ``fra`` and ``fr`` are one language. A country that no
    code names does not count, and a code without script and country is any of them. A script always counts: ``zh-TW``
    is no ``zh``, which means simplified characters.
    """
    known = {code: _read_code(code) for code in codes}
    own, is_bare = _read_code(wanted), "-" not in _expand(wanted)
    fits: list[Callable[[str, _Code], bool]] = [
        lambda code, _: code == wanted,
        lambda code, _: _fold(code) == _fold(wanted),
        lambda _, read: read == own,
        lambda _, read: read == own._replace(country=""),
        lambda _, read: not own.country and read[:2] == own[:2],
        lambda _, read: is_bare and read.language == own.language,
    ]
    return next((code for fit in fits for code, read in known.items() if fit(code, read)), None)


def _expand(code: str) -> str:
    """Return a code in small letters, and the usual one for another name of a language."""
    folded = _fold(code)
    return _ALIASES.get(folded, folded)


def _fold(code: str) -> str:
    return code.lower().replace("_", "-")


def shorten_code(code: str) -> str:
    """Return a code whose language has two letters if ISO 639-1 lists it."""
    language = re.split("[-_]", code)[0]
    return SHORT.get(language, language) + code[len(language) :]


def normalize_code(code: str) -> str:
    """Return what is equal for all codes of one language with the same script and country."""
    return shorten_code(_fold(code))
