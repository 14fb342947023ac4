"""Argos Translate packages read: what is needed of a zip file, taken out one by one, within limits."""

import json
import re
import stat
import tempfile
import zipfile
from pathlib import Path

from headway.errors import HeadwayError
from headway.exchange.ctranslate2 import reader as ctranslate2_reader
from headway.inference.directory import Model

# What is taken out, at most so large; a name in the archive only picks one of these.
WANTED = {
    "metadata.json": 1 << 20,
    "sentencepiece.model": 1 << 26,
    "model/config.json": 1 << 20,
    "model/headway.json": 1 << 20,
    "model/model.bin": 1 << 34,
    "model/shared_vocabulary.json": 1 << 27,
    "model/shared_vocabulary.txt": 1 << 27,
    "model/source_vocabulary.json": 1 << 27,
    "model/target_vocabulary.json": 1 << 27,
}
MOST_PACKED = 1032  # what deflate can save at most; more is a lie
CHUNK = 1 << 20
CODE = re.compile(r"[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*")


def read(path: Path) -> Model:
    """Read a package, or a directory that one was installed to.

    Raises:
        HeadwayError: Naming what is missing, foreign or damaged.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = path if path.is_dir() else unpack(path, Path(place))
        languages = _languages(path, folder / "metadata.json")
        if (folder / "bpe.model").exists() or not (folder / "sentencepiece.model").is_file():
            raise HeadwayError(f"{path}: no sentencepiece.model: pieces of another kind")
        return ctranslate2_reader.read(folder / "model", path=path, languages=languages)


def unpack(package: Path, place: Path) -> Path:
    """Take the known files out of a package.

    Args:
        package: A zip file.
        place: An empty directory, which nothing is written outside of.

    Returns:
        The directory that holds them.

    Raises:
        HeadwayError: If the package is damaged, or holds something that is no file.
    """
    try:
        with zipfile.ZipFile(package) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            tops = {name.split("/")[0] for name in entries}
            if len(tops) != 1:
                raise HeadwayError(f"{package}: must hold one directory, and holds {len(tops)}")
            (top,) = tops
            for name, most in WANTED.items():
                if f"{top}/{name}" in entries:
                    _take(package, archive, entries[f"{top}/{name}"], place / name, most)
            if f"{top}/bpe.model" in entries:
                raise HeadwayError(f"{package}: holds a bpe.model: pieces of another kind")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise HeadwayError(f"{package}: damaged, or no Argos package: {error}") from None
    return place


def _take(
    package: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: Path, most: int
) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise HeadwayError(f"{package}: {entry.filename[:80]!r} is a link, or no file")
    if entry.file_size > min(most, MOST_PACKED * max(entry.compress_size, 1) + CHUNK):
        raise HeadwayError(f"{package}: {entry.filename[:80]!r} of {entry.file_size} bytes")
    out.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with archive.open(entry) as source, out.open("wb") as target:
        while chunk := source.read(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise HeadwayError(f"{package}: {entry.filename[:80]!r} is longer than it says")
            target.write(chunk)


def _languages(path: Path, file: Path) -> tuple[str, str]:
    if not file.is_file() or file.stat().st_size > WANTED["metadata.json"]:
        raise HeadwayError(f"{path}: no metadata.json, or a huge one: no Argos package")
    try:
        values = json.loads(file.read_bytes().decode("utf-8"))
        codes = values["from_code"], values["to_code"]
    except (ValueError, RecursionError, KeyError, TypeError):
        codes = None, None
    if not all(isinstance(code, str) and CODE.fullmatch(code) for code in codes):
        raise HeadwayError(f"{path}: metadata.json names no from_code and to_code")
    return str(codes[0]), str(codes[1])
