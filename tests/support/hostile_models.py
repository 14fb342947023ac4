"""Models of every format with one hostile value or file in them, and what each costs to load or import.

For ``tests/ext/exchange/test_hostile_models.py`` and ``tests/outside/hostile_models.py``.
"""

import ctypes
import gc
import json
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.exchange.argos.package import unpack
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.exporting import export_model
from headway.ext.exchange.importing import import_model
from headway.translation import Translator, load_model
from headway.translation.directory import load_any_model
from support.bounds import measured
from support.ctranslate2_models import write_variables
from support.mutations import Outcome

# Values for each field of each JSON file. A value of the field's own kind is among them.
VALUES: list[Any] = [
    0, 1, 2, -1, 64, 1_000, 10**6, 10**9, 2**31, 2**63, 10**18, -(10**18), 10**400, 1.5, 1e9, 1e308, -1e308,
    float("nan"), float("inf"), -float("inf"), "", "1000000000", "x" * 100_000, "../..", "\0", "auto", True, False,
    None, [], {}, [10**9], {"a": 10**9}, [[]] * 1_000,
]  # fmt: skip
# Files that no import reads, or that config.json stands for; an Argos package holds a CTranslate2 directory.
SKIPPED = {"certificate.json", "headway.json", "README.md"}
NUMBERS = [
    *map(
        float,
        ["nan", "inf", "-inf", "-1", "0", "0.5", "7", "1e4", "1e9", "2147483648", "1e18", "1e38"],
    )
]
MAX_ENTRIES = 4  # fields that are tried of an object with many, such as a vocabulary


@dataclass(frozen=True)
class Case:
    """A model with one thing in it changed.

    Attributes:
        format: The model's format.
        file: The changed file, relative to the model.
        what: What was changed.
        apply: Changes the file in a copy of the model.
    """

    format: str
    file: str
    what: str
    apply: Callable[[Path], None]

    def __str__(self) -> str:
        return f"{self.format} {self.file}: {self.what}"


def write_models(model: Path, folder: Path) -> dict[str, Path]:
    """Export a model directory to each format that can be imported; returns them by format."""
    loaded = load_model(model)
    formats = {"headway": model}
    for name in ("ctranslate2", "huggingface"):
        export_model(loaded, name, folder / name, verify=False)
        formats[name] = folder / name
    export_model(loaded, "argos", folder / "argos.argosmodel", verify=False)
    (folder / "argos").mkdir()
    unpack(folder / "argos.argosmodel", folder / "argos")
    formats["argos"] = folder / "argos"
    return formats


def list_field_cases(formats: dict[str, Path]) -> Iterator[Case]:
    """Yield a case for each field of each JSON file and each of `VALUES`."""
    for name, model in formats.items():
        for file in sorted(model.rglob("*.json")):
            if file.name in SKIPPED or (name == "argos" and file.parent != model):
                continue
            values = json.loads(file.read_bytes())
            for place in _places(values):
                for value in VALUES:
                    shown = ".".join(map(str, place)) or "the whole"
                    what, relative = f"{shown} = {str(value)[:30]}", str(file.relative_to(model))
                    yield Case(name, relative, what, partial(_replace, place=place, value=value))


def _places(values: Any) -> list[tuple[Any, ...]]:
    """Return the paths of all values of a JSON document; few of long lists and vocabularies."""
    keys: list[Any] = []
    if isinstance(values, dict):
        keys = list(values)
    elif isinstance(values, list):
        keys = list(range(len(values)))
    if len(keys) > 100:
        keys = keys[: MAX_ENTRIES // 2] + keys[-MAX_ENTRIES // 2 :]
    return [(), *((key, *rest) for key in keys for rest in _places(values[key]))]


def _replace(file: Path, place: tuple[Any, ...], value: Any) -> None:
    values = json.loads(file.read_bytes())
    if not place:
        values = value
    else:
        inner = values
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
    file.write_text(json.dumps(values), encoding="utf-8")


def _settings(values: dict[str, Any]) -> bytes:
    return json.dumps({"format": 1, "languages": ["en", "de"], "settings": values}).encode()


MB = 1 << 20
LARGE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "60 MB of zeros": lambda: bytes(60 * MB),
    "40 MB of empty pieces": lambda: b"\x0a\x00" * (20 * MB),
    "16 MB of empty pieces": lambda: b"\x0a\x00" * (8 * MB - 8),
    "299,999 pieces": lambda: b"".join(
        b"\x0a\x0d\x0a\x06%06x\x15\0\0\x80\xbf" % i for i in range(299_999)
    ),
    "1,000,000 opening brackets": lambda: b"[" * MB,
    "15 MB of opening braces": lambda: b'{"a":' * (3 * MB),
    "15 MB of numbers": lambda: b"[" + b"0," * (7 * MB) + b"0]",
    "15 MB of empty lists": lambda: b"[" + b"[]," * (5 * MB) + b"0]",
    "15 MB of lists without commas": lambda: b"[" + b"[" * 900 + b"]" * 900 + b"]",
    "400,000 names": lambda: json.dumps({f"{i:x}": i for i in range(400_000)}).encode(),
    "309,000 names": lambda: json.dumps({f"{i:x}": i for i in range(309_000)}).encode(),
    "60,000 settings": lambda: _settings({"model": {f"d_mode{i}": 1 for i in range(60_000)}}),
    "60,000 sections": lambda: _settings({f"mode{i}": 1 for i in range(60_000)}),
    "300,000 strings": lambda: json.dumps([f"{i:x}" for i in range(300_000)]).encode(),
    "a string of 15 MB": lambda: b'{"a":"' + b"x" * (15 * MB) + b'"}',
    "a string of 15 MB that grows": lambda: (
        b'["' + "\U0001f600".encode() + b"x" * (15 * MB) + b'"]'
    ),
    "a number of 15 MB": lambda: b"[" + b"1" * (15 * MB) + b"]",
    "20 million lines": lambda: b"\n" * (20 * MB),
    "15 MB of lines": lambda: b"\n" * (15 * MB),
    "a line of 15 MB": lambda: b"x" * (15 * MB),
}


def safetensors(header: bytes, body: bytes = b"") -> bytes:
    """Return a safetensors file."""
    return struct.pack("<Q", len(header)) + header + body


def _tensors(name: str, count: int) -> bytes:
    entry = '"' + name + '":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
    return safetensors(("{" + ",".join(entry.format(i) for i in range(count)) + "}").encode())


def _binary(count: int, tensors: bytes, aliases: bytes = bytes(4)) -> bytes:
    spec = b"TransformerSpec\0"
    head = struct.pack("<IH", 6, len(spec)) + spec + struct.pack("<II", 7, count)
    return head + tensors + aliases


def _small_variables(count: int) -> bytes:
    one = b"".join(
        b"\x08\0%07x\0\0\x01\x01\0\0\0a" % i for i in range(count)
    )  # a name, rank 0, int8, one byte
    return _binary(count, one)


def _many_aliases(count: int) -> bytes:
    one = b"\x02\0a\0\0\x01\x01\0\0\0a"
    pairs = b"".join(b"\x08\0%07x\0\x02\0a\0" % i for i in range(count))
    return _binary(1, one, struct.pack("<I", count) + pairs)


WEIGHTS: dict[str, Callable[[], bytes]] = {
    "a header of 90 MB": lambda: safetensors(b"{" + b" " * (90 * MB) + b"}"),
    "300,000 tensors": lambda: _tensors("{:x}", 300_000),
    "140,000 tensors": lambda: _tensors("{:x}", 140_000),
    "100,000 layers": lambda: _tensors("encoder.layers.{}.x", 100_000),
    "a million values of metadata": lambda: safetensors(
        b'{"__metadata__":{' + b",".join(b'"%x":""' % i for i in range(1_000_000)) + b"}}"
    ),
    "300,000 variables": lambda: _small_variables(300_000),
    "50,000 variables": lambda: _small_variables(50_000),
    "300,000 aliases": lambda: _many_aliases(300_000),
    "2^32 variables": lambda: _binary(2**32 - 1, b""),
}
WEIGHT_FILES = ("model.safetensors", "model.bin")


def list_file_cases(formats: dict[str, Path]) -> Iterator[Case]:
    """Yield a case for each file of each format and each hostile content."""
    for name, model in formats.items():
        for file in sorted(model.rglob("*")):
            relative = str(file.relative_to(model))
            if (
                not file.is_file()
                or file.name in SKIPPED
                or (name == "argos" and file.parent != model)
            ):
                continue
            contents = LARGE | (WEIGHTS if file.name in WEIGHT_FILES else {})
            for what, content in contents.items():
                yield Case(name, relative, what, partial(_write, content=content))


def _write(path: Path, content: Callable[[], bytes]) -> None:
    path.write_bytes(content())


def list_number_cases(formats: dict[str, Path]) -> Iterator[Case]:
    """Yield a case for each single number in a ``model.bin`` and each of `NUMBERS`."""
    variables = read_variables(formats["ctranslate2"] / "model.bin")
    for name, tensor in variables.items():
        if tensor.numel() == 1:
            for number in NUMBERS:
                change = partial(_set_number, name=name, number=number)
                yield Case("ctranslate2", "model.bin", f"{name} = {number}", change)


def _set_number(path: Path, name: str, number: float) -> None:
    variables = read_variables(path)
    write_variables(path, {**variables, name: torch.tensor(number)})


def list_cases(formats: dict[str, Path]) -> list[Case]:
    """Return all cases, in an order that does not depend on the machine."""
    return [
        *list_file_cases(formats),
        *list_number_cases(formats),
        *list_field_cases(formats),
    ]


def try_case(case: Case, formats: dict[str, Path], folder: Path) -> Outcome:
    """Change a copy of a model, and load or import it; a model that loads translates a line."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(formats[case.format], copy)
    case.apply(copy / case.file)
    return measure(copy, case.format, folder)


def measure(path: Path, format_name: str, folder: Path) -> Outcome:
    """Load or import a model and translate a line; returns what came of it and what it cost."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    out = folder / "imported"
    shutil.rmtree(out, ignore_errors=True)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # or freed memory would hide what this case takes
    with measured() as cost:
        try:
            if format_name == "headway":
                load_any_model(path)
                found = load_model(path)
            else:
                _, found = import_model(path, out)
            search = SearchConfig(beam=2, max_extra=2, max_tokens=20)
            Translator(found.transformer, found.tokenizer, search).translate(["the cat sees"])
            what = "accepted"
        except HeadwayError as error:
            lines = str(error).splitlines()
            what = "refused" if lines and all(lines) else "refused without a word"
        except Exception as error:  # the campaign counts them
            what = f"{type(error).__name__}: {str(error)[:200]}"
    return Outcome(what, cost.seconds, cost.megabytes - size / 1e6)
