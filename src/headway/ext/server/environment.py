"""Settings of the server from environment variables, LibreTranslate's variables among them."""

from collections.abc import Mapping
from dataclasses import fields

from headway.errors import HeadwayError
from headway.ext.server.server_settings import UNLIMITED, ServerConfig

# LibreTranslate's variables, the settings that they set, and what their value -1 (no limit) means here.
# For alternatives it means the default, because each alternative takes memory in the search.
LIBRETRANSLATE = {
    "LT_CHAR_LIMIT": ("char_limit", str(UNLIMITED)),
    "LT_BATCH_LIMIT": ("batch_limit", str(UNLIMITED)),
    "LT_ALTERNATIVES_LIMIT": ("alternatives_limit", ""),
    "LT_REQ_LIMIT": ("req_limit", "0"),
    "LT_METRICS_AUTH_TOKEN": ("metrics_token", ""),
}
OPTIONS = ("LT_HOST", "LT_PORT", "LT_THREADS")  # the command has an option for each
ALWAYS_TRUE = ("LT_METRICS", "LT_DISABLE_FILES_TRANSLATION")
OFF = ("", "0", "-1", "false", "no", "off", "none")


def read_variables(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the settings in the environment, for `headway.config.load_section`.

    Args:
        environment: ``HEADWAY_CHAR_LIMIT`` and so on, and the variables of `LIBRETRANSLATE`.
            ``HEADWAY_`` variables win.

    Returns:
        ``{"server.char_limit": (variable, text)}``.
    """
    found: dict[str, tuple[str, str]] = {}
    for variable, (name, unlimited) in LIBRETRANSLATE.items():
        text = environment.get(variable, "")
        if text := unlimited if text == "-1" else text:
            found[f"server.{name}"] = variable, text
    for field in fields(ServerConfig):
        variable = f"HEADWAY_{field.name.upper()}"
        if text := environment.get(variable, ""):
            found[f"server.{field.name}"] = variable, text
    return found


def unused_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the names of LibreTranslate's variables that ask for something Headway does not do."""
    known = {*LIBRETRANSLATE, *OPTIONS, *ALWAYS_TRUE}
    active = (name for name, text in environment.items() if text.strip().lower() not in OFF)
    return sorted(name for name in active if name.startswith("LT_") and name not in known)


def parse_whole_number(name: str, text: str, largest: int) -> int:
    """Return the value of an option or a variable, from 0 to ``largest``.

    Raises:
        HeadwayError: If the text is not such a number; the message names the option.
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= largest:
        raise HeadwayError(f"{name} {text}: must be a whole number from 0 to {largest}")
    return number
