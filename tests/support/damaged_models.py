"""Models of every format, damaged from a seed, and what each costs to load or import; for tests and campaigns."""

import ctypes
import gc
import json
import math
import os
import shutil
import signal
import struct
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.translation import Translator, load_model
from support.bounds import measured
from support.cases import read_rows
from support.file_damage import (
    CANARY,
    LARGEST,
    change_json,
    change_json_file,
    damage_bytes,
    replace,
)

SECONDS = 60  # of the clock; one case takes far less than a second, even on a busy machine
TYPES = ["F64", "F32", "F16", "BF16", "I64", "I32", "U8", "BOOL", "F8_E4M3", "F4", "X", "", 5, None]
NUMBERS = [math.nan, math.inf, -math.inf, -1.0, 0.0, 0.5, 7.0, 1e4, 1e9, 2147483648.0, 1e18, 1e38]
# Files that no import reads.
SKIPPED = {"certificate.json", "headway.json", "README.md"}


def write_models(model, folder):
    """Export a model directory to each format that can be imported; return them by format."""
    from headway.ext.exchange.argos.package import unpack
    from headway.ext.exchange.exporting import export_model

    loaded, formats = load_model(model), {"headway": model}
    for name in ("ctranslate2", "huggingface"):
        export_model(loaded, name, folder / name, verify=False)
        formats[name] = folder / name
    export_model(loaded, "argos", folder / "argos.argosmodel", verify=False)
    (folder / "argos").mkdir()
    unpack(folder / "argos.argosmodel", folder / "argos")
    formats["argos"] = folder / "argos"
    return formats


def change_header(data, random):
    """Change the names, shapes, types and places in a safetensors file, which stay well formed."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    name = random.choice(list(header))
    entry = header[name]
    match random.randrange(6) if "shape" in entry else 0:
        case 0:
            header = change_json(header, random)
        case 1:
            entry["dtype"] = random.choice(TYPES)
        case 2:
            entry["shape"] = random.choice(
                [[], [0], [2**62, 2], [-1, 1], entry["shape"][::-1], [1] * 40, 5]
            )
        case 3:
            entry["data_offsets"][random.randrange(2)] = random.choice(
                [0, -1, 2**63, len(data), 4, 1.5]
            )
        case 4:
            entry["data_offsets"] = header[random.choice(list(header))].get("data_offsets", [0, 0])
        case _:
            header[random.choice(["x", "output.bias", "encoder", ""])] = header.pop(name)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) + random.choice([0, 0, 0, 1, -1])) + text + data[8 + size :]


def change_pieces(data, random):
    """Change the pieces of a sentencepiece file, and sometimes the table of its normalization."""
    from google.protobuf.message import DecodeError
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    try:
        proto = ModelProto.FromString(data)
    except DecodeError as error:
        raise ValueError from error
    pieces = list(proto.pieces)
    for _ in range(random.choice([1, 1, 3, 50])):
        place, other = random.randrange(len(pieces)), random.randrange(len(pieces))
        match random.randrange(4):
            case 0:
                del pieces[place]
            case 1:
                pieces[place] = pieces[other]
            case 2:
                pieces[place], pieces[other] = pieces[other], pieces[place]
            case _:
                proto.normalizer_spec.precompiled_charsmap = random.randbytes(40)
    del proto.pieces[:]
    proto.pieces.extend(pieces)
    return bytes(proto.SerializeToString())


def change_number(file, random):
    """Change one of the single numbers of a ``model.bin``, such as the number of heads."""
    from headway.ext.exchange.ctranslate2.binary import read_variables
    from support.ctranslate2_models import write_variables

    variables = read_variables(file)
    name = random.choice([name for name, tensor in variables.items() if tensor.numel() == 1])
    write_variables(file, {**variables, name: torch.tensor(random.choice(NUMBERS))})


def write_large(begin, unit, count, end):
    """Return what a row of the tables stands for."""
    each = [unit % {"i": i} for i in range(count)] if "%" in unit else [unit * count]
    return "".join([begin, *each, end]).encode("latin-1")


def write_header(*row):
    """Return a safetensors file without numbers."""
    header = write_large(*row)
    return struct.pack("<Q", len(header)) + header


LARGE, HEADERS, BINARIES = (read_rows(__file__, name) for name in ("LARGE", "HEADERS", "BINARIES"))
LARGE_WEIGHTS = LARGE | HEADERS | BINARIES
CHANGES: dict[str, Callable[[bytes, Random], bytes]] = {
    ".json": change_json_file, ".safetensors": change_header, ".model": change_pieces, ".spm": change_pieces,
}  # fmt: skip


def damage(model, random):
    """Damage one file of a model, or two; return what was done."""
    files = sorted(f for f in model.rglob("*") if f.is_file() and f.name not in SKIPPED)
    done = []
    for _ in range(random.choice([1, 1, 1, 2])):
        file, kind = random.choice(files), random.randrange(12)
        if not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
            continue
        data = file.read_bytes()
        try:
            if kind == 0:
                name = replace(file, random.choice(files), random)
            elif kind == 1:
                rows = LARGE_WEIGHTS if file.suffix in (".safetensors", ".bin") else LARGE
                name = random.choice([*rows])
                file.write_bytes((write_header if name in HEADERS else write_large)(*rows[name]))
            elif kind < 8 and file.name == "model.bin":
                name = "a number"
                change_number(file, random)
            elif kind < 8 and data and file.suffix in CHANGES:
                name = "fields"
                file.write_bytes(CHANGES[file.suffix](data, random))
            elif kind == 8 and random.random() < 0.1:
                name = "90 MB of nothing behind it"
                os.truncate(file, 90_000_000)
            else:
                changed, name = damage_bytes(data, random)
                file.write_bytes(changed)
        except (
            ValueError,
            IndexError,
            struct.error,
            KeyError,
            AttributeError,
            TypeError,
            HeadwayError,
        ):
            name = "nothing"  # it was damaged before
        done.append(f"{file.name} {name}")
    return ", ".join(done)


class Outcome(NamedTuple):
    """What came of a damaged model.

    Args:
        what: refused, accepted, or the kind of an exception that should not be.
        seconds: Of the processor.
        megabytes: That the memory's peak rose above where it was, less the files' size.
    """

    what: str
    seconds: float
    megabytes: float

    @property
    def is_right(self):
        """Whether the model was refused or works, within the bounds that are promised."""
        is_known = self.what in ("refused", "accepted")
        return is_known and self.seconds <= 5 and self.megabytes <= 200


def try_out(model, format_name="headway"):
    """Load or import a model and translate with it; a hang ends this process with SIGALRM."""
    size = sum(file.stat().st_size for file in model.rglob("*") if file.is_file())
    imported = model.with_name("imported")
    shutil.rmtree(imported, ignore_errors=True)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or freed memory would hide what this case takes
    signal.alarm(SECONDS)
    with measured() as cost:
        try:
            if format_name == "headway":
                found = load_model(model)
            else:
                from headway.ext.exchange.importing import import_model

                _, found = import_model(model, imported)
            search = SearchConfig(beam=2, max_extra=2, max_tokens=20)
            translator = Translator(found.transformer, found.tokenizer, search)
            translator.translate(["the cat <s> \u2581 \U0001f600 sees", "a"])
            what = "accepted"
        except HeadwayError as error:
            lines = str(error).splitlines()
            what = "refused" if lines and all(lines) else "refused without a word"
        except Exception as error:  # the campaign counts them
            what = f"{type(error).__name__}: {str(error)[:200]}"
    signal.alarm(0)
    return Outcome(what, cost.seconds, cost.megabytes - size / 1e6)


def damaged(formats, folder, seed):
    """Copy a model of one of the formats, damage the copy, and try it out."""
    random, directory = Random(seed), folder / "model"
    name = random.choice([*formats])
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(formats[name], directory)
    what = damage(directory, random)
    beside = {*folder.iterdir(), folder / "imported"}
    outcome = try_out(directory, name)
    if (directory / CANARY).exists() or {*folder.iterdir()} - beside:
        outcome = outcome._replace(what="something was written")
    return f"{name}: {what}", outcome
