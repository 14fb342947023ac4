"""The languages that the name of a model ends in, such as ``opus-mt-en-de``."""

import re

from headway.exchange.placeholders import UNKNOWN_LANGUAGE
from headway.text.language_pairs import Languages, shorten_code
from headway.text.languages import NAMES


def find_named_languages(name: str) -> Languages:
    """Return the codes of source and target at the end of a name or path; unknown ones if Headway lists no such codes."""
    match = re.search(r"(?:^|[-_./])([a-z]{2,3})-([a-z]{2,3})$", name)
    if match and all(shorten_code(code) in NAMES for code in match.groups()):
        return match[1], match[2]
    return UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE
