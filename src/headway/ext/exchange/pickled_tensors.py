"""Named tensors in a file that `torch.save` wrote. No code in the file is run.

The pickle is scanned before torch reads it. It may contain nothing but what lists tensors: torch's own
reader also calls functions that take any amount of memory, and would hash nested tuples for ever.
"""

import pickletools
import zipfile
from io import BytesIO
from pathlib import Path

import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.zip_archive import check_list_of_entries

MAX_PICKLE_BYTES = 1 << 19  # that of 1,000 layers has less
MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # the first of the pickles of torch before 1.6
COUNT = 5  # of the pickles of torch before 1.6; the numbers follow
TUPLES = {"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
OPERATIONS = TUPLES | {
    "PROTO", "GLOBAL", "REDUCE", "BUILD", "BINPERSID", "MARK", "STOP", "BINPUT", "LONG_BINPUT", "BINGET",
    "LONG_BINGET", "EMPTY_TUPLE", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS",
    "BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "NONE", "NEWTRUE", "NEWFALSE",
}  # fmt: skip
FUNCTIONS = {
    "collections OrderedDict",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_tensor_v2",
    *(f"torch {kind}Storage" for kind in ("Float", "Half", "BFloat16", "Double", "Long")),
}


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Read named tensors; an archive's numbers are mapped and not copied.

    Raises:
        HeadwayError: If the file holds anything else, or a tensor of more numbers than are stored.
    """
    is_archive = zipfile.is_zipfile(file)
    if is_archive:
        _check_archive(file)
    else:
        with file.open("rb") as opened:
            start = opened.read(MAX_PICKLE_BYTES)
        if not start.startswith(MAGIC):
            raise HeadwayError(f"{file}: not a file of weights alone")
        _check_pickles(file, start, COUNT)
    try:
        stored = torch.load(file, map_location="cpu", weights_only=True, mmap=is_archive)
    except Exception as error:  # a hostile file may fail in any way
        reason = f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0]
        raise HeadwayError(f"{file}: not a file of weights alone: {reason}") from None
    if not isinstance(stored, dict) or not all(
        isinstance(name, str)
        and type(part) in (Tensor, torch.nn.Parameter)
        and part.layout == torch.strided
        for name, part in stored.items()
    ):
        raise HeadwayError(f"{file}: holds other things than named tensors")
    for name, part in stored.items():
        numbers = part.untyped_storage().nbytes()
        if part.nbytes > numbers or numbers > file.stat().st_size:
            raise HeadwayError(f"{file}: {name} has more numbers than the file")
    return {name: part.detach() for name, part in stored.items()}


def _check_archive(file: Path) -> None:
    """Check that torch would have written an archive: not compressed, and nothing overlaps."""
    check_list_of_entries(file)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise HeadwayError(f"{file}: compressed, which no file of weights is")
            if sum(entry.file_size for entry in entries) > file.stat().st_size:
                raise HeadwayError(f"{file}: its parts overlap")
            for entry in entries:
                if entry.filename.lower().endswith(".pkl"):  # torch ignores the case of a name
                    with archive.open(entry) as opened:
                        _check_pickles(file, opened.read(MAX_PICKLE_BYTES), 1)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, HeadwayError):
            raise
        raise HeadwayError(f"{file}: not a whole archive: {error}") from None


def _check_pickles(file: Path, content: bytes, count: int) -> None:
    """Check the operations of the pickles at the beginning of ``content``."""
    stream = BytesIO(content)
    tuples: set[object] = set()  # numbers of stored tuples
    before = ""
    try:
        for _ in range(count):
            for operation, argument, _ in pickletools.genops(stream):
                name = operation.name
                if name not in OPERATIONS:
                    raise HeadwayError(
                        f"{file}: not a file of weights alone: its pickle has {name}"
                    )
                if name == "GLOBAL" and argument not in FUNCTIONS:
                    raise HeadwayError(
                        f"{file}: not a file of weights alone: its pickle names {argument!r:.60}"
                    )
                if name.endswith("BINPUT"):
                    (tuples.add if before in TUPLES else tuples.discard)(argument)
                elif name.endswith("BINGET") and argument in tuples:
                    raise HeadwayError(
                        f"{file}: not a file of weights alone: it uses a tuple twice"
                    )
                before = name
    except HeadwayError:
        raise
    except Exception as error:  # pickletools raises several types
        raise HeadwayError(f"{file}: not a file of weights alone: {str(error)[:80]}") from None
