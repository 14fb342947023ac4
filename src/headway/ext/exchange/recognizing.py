"""Recognizing the format of a foreign model by its files; none of them is read but ``config.json``."""

import zipfile
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.json_file import read_json_object


def is_foreign(path: Path) -> bool:
    """Return whether a file or directory is a model of another program, even if Headway cannot read it."""
    if path.is_file():
        return zipfile.is_zipfile(path)
    try:
        values = read_json_object(path / "config.json")
    except HeadwayError:  # it has none
        values = {}
    if "settings" in values:
        return False
    files = ("model.bin", "model/model.bin", "*.npz")
    return "model_type" in values or any(any(path.glob(file)) for file in files)


def recognize_format(path: Path) -> str:
    """Return the name of the format of a file or directory.

    Raises:
        HeadwayError: If it is a format that Headway cannot read.
    """
    if not path.exists():
        raise HeadwayError(
            f"{path}: no such file or directory: give the file or directory of a model"
        )
    if path.is_file():
        if zipfile.is_zipfile(path):
            return "argos"
        raise HeadwayError(
            f"{path}: this file is not an Argos package: give the directory of a model"
        )
    if (path / "metadata.json").is_file() and (path / "model" / "model.bin").is_file():
        return "argos"
    if (path / "model.bin").is_file():
        return "ctranslate2"
    config = path / "config.json"
    if not config.is_file():
        if any(path.glob("*.npz")):
            raise HeadwayError(
                f"{path}: a model of Marian itself (.npz): Headway reads it once the script"
                " convert_marian_to_pytorch of transformers has converted it"
            )
        raise HeadwayError(
            f"{path}: no config.json and no model.bin: not a model that Headway can import"
        )
    values = read_json_object(config)
    if "model_type" in values:
        return "huggingface"
    if "settings" in values:
        raise HeadwayError(f"{path}: is a Headway model already; it needs no import")
    raise HeadwayError(f"{config}: no model_type: not a model that Headway can import")
