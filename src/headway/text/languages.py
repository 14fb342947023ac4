"""Codes and names of languages."""

import re

_USUAL = re.compile(
    r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*"
)  # a language of ISO 639, with script and country
_UNSPACED = {"zh", "ja", "th", "lo", "km", "my"}

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
    """Return whether a language has no spaces between words, nor after a sentence."""
    return base_code(code) in _UNSPACED


def is_translatable(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(character.isalnum() for character in text)
