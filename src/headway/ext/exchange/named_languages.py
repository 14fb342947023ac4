"""The languages that the name of a model ends in, such as ``opus-mt-en-de``."""

import re

from headway.text import NAMES, Languages, shorten_code

UNKNOWN_LANGUAGE = "und"  # the code of ISO 639 for a language that is not named


def find_named_languages(name: str) -> Languages:
    """Return the codes of source and target at the end of a name or path; unknown ones if there are none.

    The names of OPUS-MT end in codes. In other names, words of two or three letters are only codes that Headway lists.
    """
    match = re.search(r"(opus-mt-(?:\w+-)*?|marian/|^|[-_./])([a-z]{2,3})-([a-z]{2,3})$", name)
    if match is None:
        return UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE
    before, source, target = match.groups()
    if len(before) > 1 or all(shorten_code(code) in NAMES for code in (source, target)):
        return source, target
    return UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE
