"""An Argos Translate package: a zip file of one directory.

The directory holds ``metadata.json``, ``model/`` (of CTranslate2), ``sentencepiece.model`` and
``README.md``.
"""

import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.zip_archive import check_list_of_entries

# The files that an import reads, with the largest size of each. Names in the archive only select
# from these, so nothing is written elsewhere.
MAX_BYTES = {
    "metadata.json": 1 << 20,
    "sentencepiece.model": 1 << 24,
    "model/config.json": 1 << 20,
    "model/headway.json": 1 << 20,
    "model/model.bin": 1 << 34,
    "model/shared_vocabulary.json": 1 << 24,
    "model/shared_vocabulary.txt": 1 << 24,
    "model/source_vocabulary.json": 1 << 24,
    "model/source_vocabulary.txt": 1 << 24,
    "model/target_vocabulary.json": 1 << 24,
    "model/target_vocabulary.txt": 1 << 24,
}
MAX_RATIO = 20  # weights hardly shrink, a vocabulary to a quarter; zeros to a thousandth
CHUNK_BYTES = 1 << 20
# The same model makes the same package, so the date of its files is fixed.
FILE_DATE = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path, package: Path, top: str) -> None:
    """Write a package.

    Args:
        folder: The directory whose files go into the package.
        package: The file to write.
        top: The name of the directory in the package.
    """
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                name = f"{top}/{file.relative_to(folder).as_posix()}"
                _add(archive, name, file.read_bytes())


def add_files(package: Path, files: dict[str, str]) -> None:
    """Add text files to a package, beside ``metadata.json``."""
    with zipfile.ZipFile(package, "a") as archive:
        top = archive.namelist()[0].split("/")[0]
        for name, text in files.items():
            _add(archive, f"{top}/{name}", text.encode())


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, FILE_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)


def unpack(package: Path, out: Path, files: Mapping[str, int] = MAX_BYTES) -> Path:
    """Extract the named files from a package.

    Args:
        package: A zip file.
        out: An empty directory; nothing is written outside of it.
        files: Their names in the package's directory, with the largest size of each.

    Returns:
        The directory.

    Raises:
        HeadwayError: If the package is damaged, or an entry is too large or not a regular file.
    """
    check_list_of_entries(package)
    try:
        with zipfile.ZipFile(package) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            tops = {name.split("/")[0] for name in entries}
            if len(tops) != 1:
                raise HeadwayError(
                    f"{package}: no Argos package: it holds {len(tops)} files and directories instead of one directory"
                )
            (top,) = tops
            for name, limit in files.items():
                if f"{top}/{name}" in entries:
                    _extract(package, archive, entries[f"{top}/{name}"], out / name, limit)
            if f"{top}/bpe.model" in entries:
                raise HeadwayError(f"{package}: holds a bpe.model, not a sentencepiece.model")
    except HeadwayError:
        raise
    except (
        zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error,
    ) as error:  # fmt: skip
        raise HeadwayError(f"{package}: damaged, or no Argos package: {error}") from None
    return out


def _extract(
    package: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: Path, limit: int
) -> None:
    name = repr(entry.filename[:80])
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise HeadwayError(f"{package}: {name} is a link, or no file")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise HeadwayError(f"{package}: {name} is compressed in another way than packages are")
    if entry.file_size > min(limit, MAX_RATIO * max(entry.compress_size, 1) + CHUNK_BYTES):
        raise HeadwayError(f"{package}: {name} of {entry.file_size} bytes is too large")
    out.parent.mkdir(parents=True, exist_ok=True)
    remaining = entry.file_size
    with archive.open(entry) as source, out.open("wb") as target:
        while chunk := source.read(CHUNK_BYTES):
            remaining -= len(chunk)
            if remaining < 0:
                raise HeadwayError(f"{package}: {name} is longer than it says")
            target.write(chunk)
