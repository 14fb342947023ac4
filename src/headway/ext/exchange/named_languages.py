"""The languages that the name of a model ends in, such as ``opus-mt-en-de``."""

import re

from headway.text import NAMES, Languages, shorten_code

UNKNOWN_LANGUAGE = "und"  # the code of ISO 639 for a language that is not named


def find_named_languages(name: str) -> Languages:
    """Return the codes of source and target at the end of a name or path; unknown ones if there are none.

    The names of OPUS-MT end in codes. In other names, words of two or three letters are only codes that Headway lists.
    """
    found = re.fullmatch(r"(.*?)([a-z]{2,3})-([a-z]{2,3})", name, re.DOTALL)
    if found is None:
        return UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE
    before, source, target = found.groups()
    _, is_opus, words = before.rpartition("opus-mt-")
    if before.endswith("marian/") or (is_opus and re.fullmatch(r"(?:\w++-)*+", words)):
        return source, target
    is_word = not before or before[-1] in "-_./"
    if is_word and all(shorten_code(code) in NAMES for code in (source, target)):
        return source, target
    return UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE
