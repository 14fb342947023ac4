"""Reading a foreign JSON file within limits of its size and of its number of values."""

import json
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError

MAX_JSON_BYTES = 1 << 24
MAX_COMMAS = 310_000  # a value of three bytes takes up to a hundred once it is parsed


def read_json(file: Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Read a JSON file.

    Raises:
        HeadwayError: If the file is missing, larger than ``max_bytes``, has too many values, is not
            JSON, or holds half a character, which JSON can express and UTF-8 cannot.
    """
    if not file.is_file():
        raise HeadwayError(f"{file.parent}: no {file.name}")
    if file.stat().st_size > max_bytes:
        raise HeadwayError(f"{file}: larger than {max_bytes} bytes")
    try:
        content = file.read_bytes()
    except OSError as error:  # such as of a link to something that is no text
        raise HeadwayError(f"{file}: {error.strerror}") from None
    if content.count(b",") > MAX_COMMAS:
        raise HeadwayError(f"{file}: has more than {MAX_COMMAS:,} values")
    try:
        value = json.loads(content.decode("utf-8"))
        if b"\\u" in content:  # only an escape can express half a character
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HeadwayError(f"{file}: holds half a character, which UTF-8 cannot express") from None
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: not JSON: {str(error).splitlines()[0]}") from None
    return value


def read_json_object(file: Path, max_bytes: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    Raises:
        HeadwayError: As `read_json` does, and if the file holds something else.
    """
    value = read_json(file, max_bytes)
    if not isinstance(value, dict):
        raise HeadwayError(f"{file}: not a JSON object")
    return value


def read_optional_json_object(file: Path) -> dict[str, Any]:
    """Do what `read_json_object` does, but return an empty object if there is no such file."""
    return read_json_object(file) if file.exists() else {}
