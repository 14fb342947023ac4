"""Model directories damaged at random, from a seed; for test_mutated_models.py and outside/damaged_models.py."""

import json
import os
import pickle
import resource
import shutil
import signal
import struct
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.translation import Translator, load_model
from support.trap import Trap

FILES = ("config.json", "model.safetensors", "tokenizer.model")
CANARY = "canary"
RESET = Path("/proc/self/clear_refs")
SECONDS = 60  # of the clock; one case takes far less than a second, even on a busy machine
ODD: list[Any] = [
    None, True, False, -1, 0, 1, 3, 2**31, 2**63, -(2**64), 1e308, -1.5, 0.0, "", "x", "x" * 5_000, "auto", [], {},
    [1], ["en", "de"], {"a": 1}, [[[[]]]], "nan", "../..", "\0", "\ud800",
]  # fmt: skip
TYPES = ["F64", "F32", "F16", "BF16", "I64", "I32", "U8", "BOOL", "F8_E4M3", "F4", "X", "", 5, None]


def somewhere(data: bytearray, random: Random) -> int:
    """Pick a place, half of the time near the beginning, where headers are."""
    return random.randrange(
        max(1, min(len(data), random.choice([64, 4_096, len(data), len(data)])))
    )


def flip(data: bytearray, random: Random) -> None:
    for _ in range(random.choice([1, 1, 2, 5, 100])):
        data[somewhere(data, random)] ^= 1 << random.randrange(8)


def overwrite(data: bytearray, random: Random) -> None:
    at, size = somewhere(data, random), random.choice([1, 4, 8, 300])
    data[at : at + size] = random.choice([bytes(size), b"\xff" * size, random.randbytes(size)])


def insert(data: bytearray, random: Random) -> None:
    at = somewhere(data, random)
    data[at:at] = random.choice(
        [random.randbytes(7), b"\x80" * 9, data[at : at + 900], b"[" * 3_000]
    )


def remove(data: bytearray, random: Random) -> None:
    at = somewhere(data, random)
    del data[at : at + random.choice([1, 8, 1_000, len(data)])]


def number(data: bytearray, random: Random) -> None:
    at = somewhere(data, random)
    value = random.choice(
        [0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, len(data), len(data) * 2]
    )
    data[at : at + 8] = struct.pack("<Q", value)


def exchange(data: bytearray, random: Random) -> None:
    a, b, size = somewhere(data, random), somewhere(data, random), random.choice([4, 64, 1_000])
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


BYTES = [flip, flip, overwrite, insert, remove, number, exchange]


def change_json(value: Any, random: Random) -> Any:
    """Return a JSON value with one thing in it changed."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        name = random.choice(list(value))
        match random.randrange(8):
            case 0:
                return {k: v for k, v in value.items() if k != name}
            case 1:
                return {k + "x" * (k == name): v for k, v in value.items()}
            case 2:
                return {
                    **value,
                    random.choice(["x", "", "d_model", "__class__"]): random.choice(ODD),
                }
            case _:
                return {**value, name: change_json(value[name], random)}
    if type(value) is int and random.random() < 0.3:
        return random.choice([value + 1, value - 1, -value, value * 2, value * 10**9])
    return random.choice(ODD)


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


def change_pieces(data: bytes, random: Random) -> bytes:
    """Change the fields of a sentencepiece file, which is a list of (tag, bytes)."""
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


def mutate(directory: Path, random: Random) -> str:
    """Damage one file of a directory, or two; returns what was done."""
    done = []
    for _ in range(random.choice([1, 1, 1, 2])):
        file = directory / random.choice(FILES)
        # A file that was made large before would take the mutation's memory, not the loader's.
        if not file.is_file() or file.is_symlink() or file.stat().st_size > 5_000_000:
            continue
        data = file.read_bytes()
        kind = random.randrange(12)
        try:
            if kind == 0:
                name = trick(file, random)
            elif kind < 8 and data:
                change = {
                    "config.json": change_config,
                    FILES[1]: change_header,
                    FILES[2]: change_pieces,
                }[file.name]
                file.write_bytes(change(data, random))
                name = "fields"
            else:
                changed, work = bytearray(data), random.choice(BYTES)
                work(changed, random)
                file.write_bytes(changed)
                name = work.__name__
        except (ValueError, IndexError, struct.error, KeyError, AttributeError, TypeError):
            name = "nothing"  # it was damaged before
        done.append(f"{file.name} {name}")
    return ", ".join(done)


def change_config(data: bytes, random: Random) -> bytes:
    values = json.loads(data)
    for _ in range(random.choice([1, 1, 3])):
        values = change_json(values, random)
    return json.dumps(values).encode()


def trick(file: Path, random: Random) -> str:
    """Put something else where a file should be."""
    match random.randrange(8):
        case 0:
            file.write_bytes(pickle.dumps(Trap(file.parent / CANARY), random.randrange(6)))
            return "pickle"
        case 1:
            other = file.parent / random.choice(FILES)
            file.write_bytes(other.read_bytes() if other.is_file() else b"")
            return "another file"
        case 2:
            file.write_bytes(b"")
            return "empty"
        case 3:
            file.unlink()
            file.symlink_to(
                random.choice(["/dev/zero", "/etc", "/nowhere", file.name, "/proc/self/mem"])
            )
            return "link"
        case 4:
            file.unlink()
            os.mkfifo(file)
            return "pipe"
        case 5:
            file.write_bytes(random.randbytes(5_000))
            return "noise"
        case 6:
            os.truncate(file, 90_000_000)
            return "90 MB of nothing behind it"
        case _:
            file.write_bytes(b"PK\x03\x04" + file.read_bytes())
            return "zip"


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
    RESET.write_text("5")  # the peak of memory starts anew
    before, started = memory("VmRSS"), time.process_time()
    signal.alarm(SECONDS)
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
    return Outcome(what, time.process_time() - started, memory("VmHWM") - before - size / 1e6)


def memory(name: str) -> float:
    """Return a figure of this process's memory in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


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
