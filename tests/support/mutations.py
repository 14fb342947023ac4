"""Model directories damaged at random, from a seed; for test_mutated_models.py and outside/damaged_models.py."""

import json
import os
import shutil
import signal
import struct
from pathlib import Path
from random import Random
from typing import NamedTuple

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.translation import Translator, load_model
from support.bounds import measured
from support.file_damage import (
    CANARY,
    LARGEST,
    change_json,
    change_json_file,
    damage_bytes,
    flip,
    replace,
)

FILES = ("config.json", "model.safetensors", "tokenizer.model")
SECONDS = 60  # of the clock; one case takes far less than a second, even on a busy machine
TYPES = ["F64", "F32", "F16", "BF16", "I64", "I32", "U8", "BOOL", "F8_E4M3", "F4", "X", "", 5, None]


def change_header(data: bytes, random: Random) -> bytes:
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


def split_fields(data: bytes) -> list[bytes]:
    """Return the fields of a sentencepiece file, which is a list of a tag, a size and so many bytes."""
    fields, at = [], 0
    while at < len(data):
        start, shift, size = at, 0, 0
        at += 1
        while True:
            size |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                break
        at += size
        fields.append(data[start:at])
    return fields


def change_pieces(data: bytes, random: Random) -> bytes:
    """Change the fields of a sentencepiece file."""
    fields = split_fields(data)
    for _ in range(random.choice([1, 1, 3, 50])):
        place, other = random.randrange(len(fields)), random.randrange(len(fields))
        match random.randrange(5):
            case 0:
                del fields[place]
            case 1:
                fields[place] = fields[other]
            case 2:
                fields[place], fields[other] = fields[other], fields[place]
            case 3:
                field = bytearray(fields[place])
                flip(field, random)
                fields[place] = bytes(field)
            case _:  # the rules of normalization, which hold a table of their own
                inner = b"\x12" + bytes([40]) + random.randbytes(40)
                fields.append(b"\x1a" + bytes([len(inner)]) + inner)
    return b"".join(fields)


CHANGES = dict(zip(FILES, (change_json_file, change_header, change_pieces), strict=True))


def mutate(directory: Path, random: Random) -> str:
    """Damage one file of a directory, or two; returns what was done."""
    done = []
    for _ in range(random.choice([1, 1, 1, 2])):
        file = directory / random.choice(FILES)
        if not file.is_file() or file.is_symlink() or file.stat().st_size > LARGEST:
            continue
        data, kind = file.read_bytes(), random.randrange(12)
        try:
            if kind == 0:
                name = replace(file, directory / random.choice(FILES), random)
            elif kind < 8 and data:
                file.write_bytes(CHANGES[file.name](data, random))
                name = "fields"
            elif kind == 8 and random.random() < 0.1:
                os.truncate(file, 90_000_000)
                name = "90 MB of nothing behind it"
            else:
                changed, name = damage_bytes(data, random)
                file.write_bytes(changed)
        except (ValueError, IndexError, struct.error, KeyError, AttributeError, TypeError):
            name = "nothing"  # it was damaged before
        done.append(f"{file.name} {name}")
    return ", ".join(done)


class Outcome(NamedTuple):
    """What came of a damaged directory.

    Args:
        what: refused, translated, or the kind of an exception that should not be.
        seconds: Of the processor.
        megabytes: That the memory's peak rose above where it was, less the files' size.
    """

    what: str
    seconds: float
    megabytes: float


def try_out(directory: Path) -> Outcome:
    """Load a directory and translate with it; a hang ends this process with SIGALRM."""
    size = sum(file.stat().st_size for file in directory.iterdir() if file.is_file())
    signal.alarm(SECONDS)
    with measured() as cost:
        try:
            found = load_model(directory)
            search = SearchConfig(beam=2, max_extra=2, max_tokens=20)
            translator = Translator(found.transformer, found.tokenizer, search)
            translator.translate(["the cat <s> \u2581 \U0001f600 sees", "a"])
            what = "translated"
        except HeadwayError as error:
            what = "refused" if str(error).strip() else "refused without a word"
        except Exception as error:  # the campaign counts them
            what = f"{type(error).__name__}: {str(error)[:200]}"
    signal.alarm(0)
    return Outcome(what, cost.seconds, cost.megabytes - size / 1e6)


def damaged(model: Path, folder: Path, seed: int) -> tuple[str, Outcome]:
    """Copy a model directory, damage the copy, and try it out."""
    directory = folder / "model"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(model / name, directory / name)
    what = mutate(directory, Random(seed))
    beside = set(folder.iterdir())
    outcome = try_out(directory)
    if (directory / CANARY).exists() or set(folder.iterdir()) != beside:
        outcome = outcome._replace(what="something was written")
    return what, outcome
