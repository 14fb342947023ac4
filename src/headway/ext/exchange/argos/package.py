"""An Argos Translate package: a zip file of one directory.

The directory holds ``metadata.json``, ``model/`` (of CTranslate2), ``sentencepiece.model`` and
``README.md``.
"""

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.zip_archive import check_list_of_entries
from headway.translation import CARD

# The files that an import reads, with the largest size of each. Names in the archive only select
# from these, so nothing is written elsewhere.
VOCABULARIES = [
    f"model/{side}_vocabulary.{kind}"
    for side in ("shared", "source", "target")
    for kind in ("json", "txt")
]
MAX_BYTES = {
    **dict.fromkeys(("metadata.json", CARD, "model/config.json", "model/headway.json"), 1 << 20),
    **dict.fromkeys(("sentencepiece.model", *VOCABULARIES), 1 << 24),
    "model/model.bin": 1 << 34,
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
                entry = zipfile.ZipInfo(f"{top}/{file.relative_to(folder).as_posix()}", FILE_DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, file.read_bytes())


@contextmanager
def open_directory(path: Path) -> Iterator[Path]:
    """Yield a model's directory: the path itself, or, if it is a file, where the package is unpacked meanwhile.

    Raises:
        HeadwayError: As `unpack` does. Errors of the body name the package instead of the directory.
    """
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory() as temporary:
        try:
            unpack(path, Path(temporary))
            yield Path(temporary)
        except HeadwayError as error:
            message = str(error).replace(f"{temporary}/", f"{path}: ")
            raise HeadwayError(message.replace(temporary, str(path))) from None


def unpack(package: Path, out: Path) -> None:
    """Extract the files that an import reads; a card that cannot be read is left out.

    Args:
        package: A zip file.
        out: An empty directory; nothing is written outside of it.

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
            for name, limit in MAX_BYTES.items():
                try:
                    if f"{top}/{name}" in entries:
                        _extract(package, archive, entries[f"{top}/{name}"], out / name, limit)
                except HeadwayError:
                    if name != CARD:
                        raise
            if f"{top}/bpe.model" in entries:
                raise HeadwayError(f"{package}: holds a bpe.model, not a sentencepiece.model")
    except HeadwayError:
        raise
    except (
        zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error,
    ) as error:  # fmt: skip
        raise HeadwayError(f"{package}: damaged, or no Argos package: {error}") from None


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
