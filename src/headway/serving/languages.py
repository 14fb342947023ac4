"""The names of languages, and which one a text is in."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from headway.errors import HeadwayError

# ISO 639-1, with the codes that scripts and countries distinguish in use.
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
UNSPACED = {"zh", "zh-Hans", "zh-Hant", "ja", "th", "lo", "km", "my"}  # no space after a sentence
READ = 3_000  # characters that are looked at: the rest of a long text says nothing new


def name_of(code: str) -> str:
    """Return a language's English name; a code without one stands for itself."""
    return NAMES.get(code, code)


def translatable(text: str) -> bool:
    """Whether there is anything to translate: a letter or a digit."""
    return any(character.isalnum() for character in text)


class Detector:
    """Tells languages apart, among those served only.

    Args:
        codes: Of the languages served; the first is what a text without letters counts as.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        self.codes = list(codes)
        self._identifier: Any = None
        self._lock = threading.Lock()

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Return (code, confidence from 0 to 100) of each likely language, the likeliest first.

        Raises:
            HeadwayError: If a package is missing.
        """
        if not translatable(text):
            first = "en" if "en" in self.codes else self.codes[0]
            return [(first, 0.0)]
        with self._lock:
            if self._identifier is None:
                self._identifier = _identifier(self.codes)
        # One language leaves nothing to compare, and none nothing to ask.
        ranked = self._identifier.rank(text[:READ]) if self._identifier.labels else []
        known: dict[str, float] = dict(ranked)
        found = [(code, 100 * known[code.partition("-")[0]]) for code in self._known(known)]
        found.sort(key=lambda pair: -pair[1])
        return found or [(self.codes[0], 0.0)]

    def _known(self, labels: Iterable[str]) -> list[str]:
        labels = set(labels)
        return [code for code in self.codes if code.partition("-")[0] in labels]


def _identifier(codes: Sequence[str]) -> Any:
    try:
        from py3langid import langid
    except ImportError:
        raise HeadwayError(
            'telling languages apart needs py3langid: pip install "headway[serve]"'
        ) from None
    found = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    wanted = {code.partition("-")[0] for code in codes} & set(found.labels)
    found.set_languages(sorted(wanted))
    return found
