"""Text as source of XML."""

import html
import re

_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_text(text: str) -> str:
    """Return the source of a text in XML, without characters that XML cannot have."""
    return html.escape(_INVALID.sub("", text), quote=False)
