"""Reading Argos Translate packages."""

from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2 import reader as ctranslate2_reader
from headway.ext.exchange.json_file import read_json_object
from headway.text import CODE
from headway.translation import Model


def read(path: Path) -> Model:
    """Read the directory of a package.

    Raises:
        HeadwayError: Naming what is missing, foreign or damaged.
    """
    try:
        metadata = read_json_object(path / "metadata.json")
    except HeadwayError:
        raise HeadwayError(f"{path}: metadata.json is missing or damaged") from None
    source, target = metadata.get("from_code"), metadata.get("to_code")
    for code in (source, target):
        if not isinstance(code, str) or not CODE.fullmatch(code):
            raise HeadwayError(f"{path}: metadata.json names no from_code and to_code")
    if (path / "bpe.model").exists() or not (path / "sentencepiece.model").is_file():
        raise HeadwayError(f"{path}: no sentencepiece.model: Headway reads no other subwords")
    return ctranslate2_reader.read(path / "model", (str(source), str(target)))
