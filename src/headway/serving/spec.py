"""The description of the interface, OpenAPI 3.0: a hand-written file, with this server's facts put in."""

import json
from functools import cache
from importlib import resources
from typing import Any

from headway import __version__
from headway.serving.settings import ServerConfig

FILE = "openapi.json"


@cache
def _written() -> str:
    return resources.files("headway.serving").joinpath(FILE).read_text(encoding="utf-8")


def specification(codes: list[str], limits: ServerConfig, keys: bool) -> dict[str, Any]:
    """Return the description, with the languages and limits of this server.

    Args:
        codes: Of the languages served.
        limits: What a client may send.
        keys: Whether a key is required.
    """
    found: dict[str, Any] = json.loads(_written())
    found["info"]["version"] = __version__
    schemas = found["components"]["schemas"]
    schemas["Source"]["enum"] = ["auto", *codes]
    schemas["Target"]["enum"] = list(codes)
    schemas["Text"]["maxLength"] = limits.char_limit
    schemas["Texts"]["maxItems"] = limits.batch_limit
    schemas["Alternatives"]["maximum"] = limits.alternatives_limit
    if keys:
        for name, schema in schemas.items():
            if name.endswith("Request"):
                schema["required"] = [*schema["required"], "api_key"]
    return found
