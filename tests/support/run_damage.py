"""Damage of a run directory at random, as disks, programs and people leave it."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

NONSENSE: tuple[object, ...] = (
    None, [], {}, "x", -1, 0, 3, 10**9, 10**30, 1e300, float("inf"), True, [[1]], {"a": 1}, "9" * 5000,
)  # fmt: skip
EXTRA = (
    "notes.txt", "checkpoints/step-00000012/model.safetensors", "checkpoints/step-00000099/x",
    "checkpoints/step-000000013/state.json", "checkpoints/step-00000010/extra.safetensors",
    "checkpoints/damaged-step-00000010/x", "checkpoints/step-00000014", "data/train/other.ids",
    "data/labels.json", "data/source.model", "averaged/notes.txt", ".tmp-1-model/x",
)  # fmt: skip
Damage = Callable[[Path, Path, random.Random], str | None]


def damage(path: Path, others: list[Path], luck: random.Random) -> list[tuple[str, str]]:
    """Damage one place of a run, or two.

    Args:
        path: The run.
        others: Other runs, whose settings or data differ.
        luck: The source of randomness.

    Returns:
        The name of each damaged file or directory, with what was done to it.
    """
    done: list[tuple[str, str]] = []
    count = luck.choice((1, 1, 1, 2))
    while len(done) < count:
        is_file = luck.random() < 0.8
        choices = [p for p in sorted(path.rglob("*")) if p.is_file() == is_file]
        place = luck.choice(choices)
        name = str(place.relative_to(path))
        kinds = FILE_DAMAGE if is_file else DIRECTORY_DAMAGE
        kind = luck.choice(list(kinds))
        if place.is_symlink() or not os.access(place, os.R_OK) or place.is_fifo():
            continue
        if kind == "extra":
            place = path / (name := luck.choice(EXTRA))
        elif kind == "foreign":
            place = luck.choice(others) / name
            if not place.exists():
                continue
        other = luck.choice([p for p in choices if p.is_file() == is_file])
        kinds[kind](path / name, other if kind != "foreign" else place, luck)
        done.append((name, f"{kind} {other.relative_to(path)}" if kind in TWO else kind))
        if kind == "swapped":
            done.append((str(other.relative_to(path)), kind))
    return done


def put_back(path: Path, original: Path, names: list[str]) -> None:
    """Restore the damaged files and directories of a run from the original."""
    for leftover in path.rglob(".tmp-*"):  # such as a checkpoint that a resume could not delete
        remove(leftover)
    for name in sorted(names):  # a directory before the files in it
        place, source = path / name, original / name
        remove(place)
        if source.is_dir():
            shutil.copytree(source, place)
        elif source.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)


def remove(place: Path) -> None:
    """Delete a file, a link or a directory, if it exists."""
    if place.is_dir() and not place.is_symlink():
        place.chmod(0o700)
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _missing(place: Path, _: Path, luck: random.Random) -> None:
    remove(place)


def _empty(place: Path, _: Path, luck: random.Random) -> None:
    place.write_bytes(b"")


def _truncated(place: Path, _: Path, luck: random.Random) -> None:
    content = place.read_bytes()
    place.write_bytes(content[: luck.randrange(max(1, len(content)))])


def _longer(place: Path, _: Path, luck: random.Random) -> None:
    place.write_bytes(place.read_bytes() + luck.randbytes(luck.choice((1, 8, 5000))))


def _flipped(place: Path, _: Path, luck: random.Random) -> None:
    content = bytearray(place.read_bytes())
    for bit in luck.choices(range(8), k=luck.randint(1, 3)):
        if content:
            content[luck.randrange(len(content))] ^= 1 << bit
    place.write_bytes(content)


def _nonsense(place: Path, _: Path, luck: random.Random) -> None:
    """Change JSON: replace, remove or add a value somewhere; of other files, lose or repeat a line."""
    if place.suffix == ".json":
        try:
            values = json.loads(place.read_bytes())
        except ValueError:
            values = None  # damaged already
        place.write_text(json.dumps(_change_json(values, luck)))
        return
    lines = place.read_bytes().splitlines(keepends=True)
    at = luck.randrange(max(1, len(lines)))
    place.write_bytes(
        b"".join(lines[:at] + lines[at + 1 :] if luck.random() < 0.5 else lines[at:] + lines)
    )


def _change_json(values: object, luck: random.Random) -> object:
    if isinstance(values, dict | list) and values and luck.random() < 0.85:
        key = luck.choice(list(values) if isinstance(values, dict) else range(len(values)))
        what = luck.random()
        if what < 0.15:
            del values[key]
        elif what < 0.25 and isinstance(values, dict):
            values[f"{key}2"] = values[key]
        else:
            values[key] = _change_json(values[key], luck)
        return values
    if isinstance(values, int | float) and luck.random() < 0.5:
        return values + luck.choice((1, -1, 0.5))
    return luck.choice(NONSENSE)


def _swapped(place: Path, other: Path, luck: random.Random) -> None:
    kept = place.with_name(".kept")
    if place == other or place in other.parents or other in place.parents:
        return
    place.rename(kept)
    other.rename(place)
    kept.rename(other)


def _foreign(place: Path, other: Path, luck: random.Random) -> None:
    remove(place)
    (shutil.copytree if other.is_dir() else shutil.copy2)(other, place)


def _directory(place: Path, _: Path, luck: random.Random) -> None:
    remove(place)
    place.mkdir()


def _file(place: Path, _: Path, luck: random.Random) -> None:
    remove(place)
    place.write_text("x")


def _link(place: Path, other: Path, luck: random.Random) -> None:
    """Put a link in its place: to nothing, to itself, or to another file."""
    target = luck.choice((place.with_name("nowhere"), place, other))
    remove(place)
    place.symlink_to(target)


def _pipe(place: Path, _: Path, luck: random.Random) -> None:
    remove(place)
    os.mkfifo(place)


def _unreadable(place: Path, _: Path, luck: random.Random) -> None:
    place.chmod(luck.choice((0, 0o400, 0o444)))


def _extra(place: Path, _: Path, luck: random.Random) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        place.write_bytes(luck.randbytes(luck.choice((0, 40))))


FILE_DAMAGE = {
    "missing": _missing, "empty": _empty, "truncated": _truncated, "longer": _longer, "flipped": _flipped,
    "nonsense": _nonsense, "swapped": _swapped, "foreign": _foreign, "directory": _directory,
    "link": _link, "pipe": _pipe, "unreadable": _unreadable, "extra": _extra,
}  # fmt: skip
DIRECTORY_DAMAGE = {
    "missing": _missing, "swapped": _swapped, "foreign": _foreign, "file": _file, "empty": _directory,
    "link": _link, "unreadable": _unreadable, "extra": _extra,
}  # fmt: skip
TWO = ("swapped", "link")
