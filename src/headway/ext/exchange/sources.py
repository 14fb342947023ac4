"""Models that are no directories of Headway's own: of other programs, and on the Hugging Face hub; see `headway.hooks`."""

from pathlib import Path

from headway.ext.exchange.hub import Notify, parse_name
from headway.ext.exchange.hub import download_settings as download_settings
from headway.ext.exchange.hub import download_weights as download_weights
from headway.ext.exchange.recognizing import is_foreign as is_foreign


def fetch(word: str, notify: Notify) -> Path:
    """Return a directory of a Headway model for the path of a model of another program, or for a name on the hub.

    Args:
        word: A path, or ``[hf:]ORGANIZATION/NAME[@REVISION]``.
        notify: Called with a line about what is downloaded or converted.

    Raises:
        HeadwayError: If there is no such model, or it cannot be had or converted.
    """
    if not Path(word).exists():
        parse_name(word)  # reports a mistyped path before torch is imported
    from headway.ext.exchange.downloading import download_and_import

    return download_and_import(word, notify)
