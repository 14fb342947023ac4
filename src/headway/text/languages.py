"""Pairs of languages, such as en-de, and the codes by which people name one language."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from headway.errors import HeadwayError

# A language of ISO 639, with script and country.
_USUAL = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_JOINED = {"zh", "yue", "cmn", "ja"}  # no space after a sentence
_UNSPACED = _JOINED | {"th", "lo", "km", "my"}  # no spaces between words

# ISO 639-1 codes, and common codes with a script or country.
NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "gu": "Gujarati",
    "ha": "Hausa", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "jv": "Javanese", "ka": "Georgian", "kk": "Kazakh", "km": "Khmer",
    "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy",
    "mi": "Maori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi",
    "ms": "Malay", "mt": "Maltese", "my": "Burmese", "nb": "Norwegian Bokmål", "ne": "Nepali",
    "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian", "nr": "Southern Ndebele",
    "nso": "Northern Sotho", "oc": "Occitan", "or": "Odia", "pa": "Punjabi", "pl": "Polish",
    "ps": "Pashto", "pt": "Portuguese", "pt-BR": "Portuguese (Brazil)", "qu": "Quechua",
    "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda", "sa": "Sanskrit", "si": "Sinhala",
    "sk": "Slovak", "sl": "Slovenian", "so": "Somali", "sq": "Albanian", "sr": "Serbian",
    "ss": "Swati", "st": "Southern Sotho", "su": "Sundanese", "sv": "Swedish", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "tg": "Tajik", "th": "Thai", "tk": "Turkmen", "tl": "Tagalog",
    "tn": "Tswana", "tr": "Turkish", "ts": "Tsonga", "tt": "Tatar", "ug": "Uyghur",
    "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "ve": "Venda", "vi": "Vietnamese",
    "xh": "Xhosa", "yi": "Yiddish", "yo": "Yoruba", "zh": "Chinese", "zh-Hans": "Chinese",
    "zh-Hant": "Chinese (traditional)", "zu": "Zulu",
}  # fmt: skip


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
    return any(character.isalnum() for character in text)


Languages = tuple[str, str]  # codes of source and target
CODE = re.compile(r"\w[\w-]{0,30}")  # of a language, such as de, pt-BR or zh_Hant

_PART = re.compile(r"[a-z]{2,3}(?![a-z])")  # how the code of a language begins

# ISO 639-3 codes, which models of OPUS-MT use, and their ISO 639-1 codes.
SHORT = {
    "afr": "af", "amh": "am", "ara": "ar", "aze": "az", "bel": "be", "bul": "bg", "ben": "bn",
    "bos": "bs", "cat": "ca", "ces": "cs", "cym": "cy", "dan": "da", "deu": "de",
    "ell": "el", "eng": "en", "epo": "eo", "spa": "es", "est": "et", "eus": "eu", "fas": "fa",
    "pes": "fa", "fin": "fi", "fra": "fr", "gle": "ga", "glg": "gl", "guj": "gu", "hau": "ha",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ind": "id", "ibo": "ig",
    "isl": "is", "ita": "it", "jpn": "ja", "jav": "jv", "kat": "ka", "kaz": "kk", "khm": "km",
    "kan": "kn", "kor": "ko", "kur": "ku", "kmr": "ku", "kir": "ky", "lat": "la", "ltz": "lb",
    "lao": "lo", "lit": "lt", "lav": "lv", "mlg": "mg", "mri": "mi", "mkd": "mk", "mal": "ml",
    "mon": "mn", "mar": "mr", "msa": "ms", "zsm": "ms", "mlt": "mt", "mya": "my", "nob": "nb",
    "nep": "ne", "nld": "nl", "nno": "nn", "nor": "no", "nbl": "nr", "oci": "oc", "ori": "or",
    "pan": "pa", "pol": "pl", "pus": "ps", "por": "pt", "que": "qu", "ron": "ro", "rus": "ru",
    "kin": "rw", "san": "sa", "sin": "si", "slk": "sk", "slv": "sl", "som": "so", "sqi": "sq",
    "srp": "sr", "ssw": "ss", "sot": "st", "sun": "su", "swe": "sv", "swa": "sw",
    "swh": "sw", "tam": "ta", "tel": "te", "tgk": "tg", "tha": "th", "tuk": "tk", "tgl": "tl",
    "tsn": "tn", "tur": "tr", "tso": "ts", "tat": "tt", "uig": "ug", "ukr": "uk", "urd": "ur",
    "uzb": "uz", "ven": "ve", "vie": "vi", "xho": "xh", "yid": "yi", "yor": "yo", "zho": "zh",
    "cmn": "zh", "zul": "zu",
}  # fmt: skip


# Codes of older standards and of LibreTranslate.
_ALIASES = {"pb": "pt-br", "zt": "zh-hant", "iw": "he", "ji": "yi", "in": "id"}
# In which script a language is mostly written, if not in the Latin one.
_SCRIPTS = {
    "hans": {"zh"}, "hant": {"yue"}, "jpan": {"ja"}, "kore": {"ko"}, "grek": {"el"}, "hebr": {"he", "yi"}, "thai": {"th"},
    "arab": {"ar", "ckb", "fa", "ps", "sd", "ug", "ur"}, "armn": {"hy"}, "geor": {"ka"}, "ethi": {"am", "ti"}, "khmr": {"km"},
    "cyrl": {"ba", "be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "tt", "uk"}, "laoo": {"lo"}, "mymr": {"my"},
    "deva": {"hi", "mr", "ne", "sa"}, "beng": {"as", "bn"}, "gujr": {"gu"}, "guru": {"pa"}, "knda": {"kn"}, "mlym": {"ml"},
    "orya": {"or"}, "sinh": {"si"}, "taml": {"ta"}, "telu": {"te"}, "tibt": {"bo", "dz"},
}  # fmt: skip
_TRADITIONAL = ("tw", "hk", "mo")  # countries of Chinese in traditional characters


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
    usual = next((name for name, of in _SCRIPTS.items() if language in of), "latn")
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
