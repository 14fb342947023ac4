"""Reading Argos Translate packages."""

import tempfile
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.argos.package import MAX_BYTES, unpack
from headway.ext.exchange.ctranslate2 import reader as ctranslate2_reader
from headway.ext.exchange.json_file import read_json_object
from headway.text import CODE
from headway.translation import Model


def read(path: Path) -> Model:
    """Read a package, or a directory to which one was installed.

    Raises:
        HeadwayError: Naming what is missing, foreign or damaged.
    """
    if path.is_dir():
        return _read_folder(path, path)
    with tempfile.TemporaryDirectory() as temporary:
        try:
            return _read_folder(unpack(path, Path(temporary)), path)
        except HeadwayError as error:  # the user knows the package, not the temporary directory
            raise HeadwayError(str(error).replace(f"{temporary}/", f"{path}: ")) from None


def _read_folder(folder: Path, path: Path) -> Model:
    languages = _read_languages(path, folder / "metadata.json")
    if (folder / "bpe.model").exists() or not (folder / "sentencepiece.model").is_file():
        raise HeadwayError(f"{path}: no sentencepiece.model: Headway reads no other subwords")
    return ctranslate2_reader.read(folder / "model", path=path, languages=languages)


def _read_languages(path: Path, file: Path) -> tuple[str, str]:
    try:
        metadata = read_json_object(file, MAX_BYTES["metadata.json"])
    except HeadwayError:
        raise HeadwayError(f"{path}: metadata.json is missing or damaged") from None
    source, target = metadata.get("from_code"), metadata.get("to_code")
    for code in (source, target):
        if not isinstance(code, str) or not CODE.fullmatch(code):
            raise HeadwayError(f"{path}: metadata.json names no from_code and to_code")
    return str(source), str(target)
