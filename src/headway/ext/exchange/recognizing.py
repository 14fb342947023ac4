"""Recognizing the format of a foreign model by its files; none of them is read but ``config.json``."""

import zipfile
from contextlib import suppress
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.json_file import read_json_object


def recognize_format(path: Path) -> str:
    """Return the format of a file or directory.

    Returns:
        A format that can be imported, "headway", "marian" for a model of the program Marian itself, or "" for anything else.
    """
    if path.is_file():
        return "argos" if zipfile.is_zipfile(path) else ""
    values = {}
    with suppress(HeadwayError):  # it has none, or none that can be read
        values = read_json_object(path / "config.json")
    if "settings" in values:
        return "headway"
    if (path / "model" / "model.bin").is_file():
        return "argos"
    if (path / "model.bin").is_file():
        return "ctranslate2"
    if "model_type" in values:
        return "huggingface"
    return "marian" if any(path.glob("*.npz")) else ""


def is_foreign(path: Path) -> bool:
    """Return whether a file or directory is a model of another program, even if Headway cannot read it."""
    return recognize_format(path) not in ("", "headway")


def require_format(path: Path) -> str:
    """Return the format of a file or directory, one of which Headway can import models.

    Raises:
        HeadwayError: If it has another format.
    """
    if not path.exists():
        raise HeadwayError(
            f"{path}: no such file or directory: give the file or directory of a model"
        )
    found = recognize_format(path)
    if found == "headway":
        raise HeadwayError(f"{path}: is a Headway model already; it needs no import")
    if found == "marian":
        raise HeadwayError(
            f"{path}: a model of Marian itself (.npz): Headway reads it once the script"
            " convert_marian_to_pytorch of transformers has converted it"
        )
    if found:
        return found
    if path.is_file():
        raise HeadwayError(
            f"{path}: this file is not an Argos package: give the directory of a model"
        )
    if (path / "config.json").is_file():
        read_json_object(path / "config.json")
        raise HeadwayError(
            f"{path / 'config.json'}: no model_type: not a model that Headway can import"
        )
    raise HeadwayError(
        f"{path}: no config.json and no model.bin: not a model that Headway can import"
    )
