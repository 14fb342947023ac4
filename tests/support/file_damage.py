"""Damage of files at random, as disks, programs and people leave it; for models and for runs."""

import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from support.trap import Trap

CANARY = "canary"  # a file that a pickle would write
LARGEST = 5_000_000  # bytes; damage of a larger file would take more memory than reading it
ODD: list[Any] = [
    None, True, False, -1, 0, 1, 3, 2**31, 2**63, -(2**64), 10**30, 1e308, -1.5, 0.0, float("inf"), "", "x", "9" * 5_000,
    "auto", [], {}, [1], [[1]], ["en", "de"], {"a": 1}, [[[[]]]], "nan", "../..", "\0", "\ud800",
]  # fmt: skip


def somewhere(data, random):
    """Pick a place, half of the time near the beginning, where headers are."""
    return random.randrange(
        max(1, min(len(data), random.choice([64, 4_096, len(data), len(data)])))
    )


def flip(data, random):
    for _ in range(random.choice([1, 1, 2, 5, 100])):
        data[somewhere(data, random)] ^= 1 << random.randrange(8)


def overwrite(data, random):
    at, size = somewhere(data, random), random.choice([1, 4, 8, 300])
    data[at : at + size] = random.choice([bytes(size), b"\xff" * size, random.randbytes(size)])


def insert(data, random):
    at = somewhere(data, random)
    data[at:at] = random.choice(
        [random.randbytes(7), b"\x80" * 9, data[at : at + 900], b"[" * 3_000, b"\r\n", b"%ff"]
    )


def remove(data, random):
    at = somewhere(data, random)
    del data[at : at + random.choice([1, 8, 1_000, len(data)])]


def number(data, random):
    at = somewhere(data, random)
    value = random.choice(
        [0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, len(data), len(data) * 2]
    )
    data[at : at + 8] = struct.pack("<Q", value)


def exchange(data, random):
    a, b, size = somewhere(data, random), somewhere(data, random), random.choice([4, 64, 1_000])
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]


def lengthen(data, random):
    data += random.randbytes(random.choice([1, 8, 5_000]))


BYTES = [flip, flip, overwrite, insert, remove, number, exchange, lengthen]


def damage_bytes(data, random):
    """Return damaged bytes, and what was done to them."""
    changed, work = bytearray(data or b"\0"), random.choice(BYTES)
    work(changed, random)
    return bytes(changed), work.__name__


def change_json(value, random):
    """Return a JSON value with one thing in it changed."""
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        return [
            *value[:at],
            *[change_json(value[at], random)] * random.choice([0, 1, 1, 2]),
            *value[at + 1 :],
        ]
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
    if type(value) in (int, float) and random.random() < 0.4:
        return random.choice([value + 1, value - 1, -value, value * 2, value * 10**9])
    return random.choice(ODD)


def change_json_file(data, random):
    """Return JSON text with a few things in it changed."""
    values = json.loads(data)
    for _ in range(random.choice([1, 1, 3])):
        values = change_json(values, random)
    return json.dumps(values).encode()


def delete(place):
    """Delete a file, a link or a directory, if it exists."""
    if place.is_dir() and not place.is_symlink():
        for folder in (
            place,
            *(each for each in place.rglob("*") if each.is_dir() and not each.is_symlink()),
        ):
            folder.chmod(0o700)
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _copy(place, other, _):
    if other.exists() and place not in (other, *other.parents) and other not in place.parents:
        delete(place)
        (shutil.copytree if other.is_dir() else shutil.copy2)(other, place)


def _swap(place, other, _):
    if place != other and place not in other.parents and other not in place.parents:
        kept = place.with_name(".kept")
        place.rename(kept)
        other.rename(place)
        kept.rename(other)


def _link(place, other, random):
    targets = ["/dev/zero", "/etc", "/nowhere", "/proc/self/mem", place.name, str(other)]
    delete(place)
    place.symlink_to(random.choice(targets))


def _write(place, content):
    delete(place)
    place.write_bytes(content)


def _make(place, make):
    delete(place)
    make(place)


# What may take the place of a file or directory; the second path is that of another one.
REPLACEMENTS: dict[str, Callable[[Path, Path, Random], object]] = {
    "missing": lambda place, *_: delete(place),
    "empty": lambda place, *_: _write(place, b""),
    "noise": lambda place, _, random: _write(place, random.randbytes(random.choice([1, 40, 5_000]))),
    "pickle": lambda place, _, random: _write(place, pickle.dumps(Trap(place.parent / CANARY), random.randrange(6))),
    "zip": lambda place, *_: _write(place, b"PK\x03\x04" + (place.read_bytes() if place.is_file() else b"")),
    "directory": lambda place, *_: _make(place, Path.mkdir),
    "pipe": lambda place, *_: _make(place, os.mkfifo),
    "link": _link,
    "another": _copy,
    "swapped": _swap,
}  # fmt: skip


def replace(place, other, random):
    """Put something else in the place of a file or directory; return what."""
    name = random.choice(list(REPLACEMENTS))
    REPLACEMENTS[name](place, other, random)
    return f"{name} {other.name}" if name in ("another", "swapped") else name
