"""A hundred damaged model directories: each gives one line, executes nothing and does not hang."""

import json
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from headway.errors import HeadwayError
from headway.translation import load_model
from support.bounds import bounded
from support.trap import Trap


def cut(file: Path, random: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: random.randrange(len(data))])


def scramble(file: Path, random: Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(200):
        data[random.randrange(min(len(data), 4000))] = random.randrange(256)
    file.write_bytes(data)


def trap(file: Path, random: Random) -> None:
    file.write_bytes(pickle.dumps(Trap(file.parent / "canary"), protocol=random.randrange(6)))


def vanish(file: Path, random: Random) -> None:
    file.unlink()


def change_settings(**changes: object) -> Callable[[Path, Random], None]:
    def change(file: Path, random: Random) -> None:
        path = file.parent / "config.json"
        values = json.loads(path.read_text())
        values["settings"]["model"].update(changes)
        path.write_text(json.dumps(values))

    return change


def change_header(
    edit: Callable[[dict[str, dict[str, object]], Random], None],
) -> Callable[[Path, Random], None]:
    def change(file: Path, random: Random) -> None:
        path = file.parent / "model.safetensors"
        data = path.read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + size])
        edit(header, random)
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])

    return change


def overlap(header: dict[str, dict[str, object]], random: Random) -> None:
    a, b = random.sample([name for name in header if name != "__metadata__"], 2)
    header[a]["data_offsets"] = header[b]["data_offsets"]


def negative(header: dict[str, dict[str, object]], random: Random) -> None:
    name = random.choice([name for name in header if name != "__metadata__"])
    header[name]["data_offsets"] = [-8, 8]


def wrong_shape(header: dict[str, dict[str, object]], random: Random) -> None:
    name = random.choice(
        [n for n in header if n != "__metadata__" and len(header[n]["shape"]) == 2]
    )
    header[name]["shape"] = header[name]["shape"][::-1]
    if header[name]["shape"][0] == header[name]["shape"][1]:
        header[name]["shape"] = [1, header[name]["shape"][0] ** 2]


def renamed(header: dict[str, dict[str, object]], random: Random) -> None:
    name = random.choice([name for name in header if name != "__metadata__"])
    header[f"{name}.other"] = header.pop(name)


def huge_header(file: Path, random: Random) -> None:
    (file.parent / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 40) + b"{" * 1000)


def not_numbers(file: Path, random: Random) -> None:
    path = file.parent / "model.safetensors"
    data = bytearray(path.read_bytes())
    (size,) = struct.unpack("<Q", data[:8])
    at = 8 + size + 4 * random.randrange((len(data) - 8 - size) // 4)
    data[at : at + 4] = struct.pack("<f", random.choice([float("nan"), float("inf")]))
    path.write_bytes(data)


def deep(file: Path, random: Random) -> None:
    (file.parent / "config.json").write_text("[" * 100_000)


def long_config(file: Path, random: Random) -> None:
    (file.parent / "config.json").write_text('{"a": "' + "x" * (2 << 20) + '"}')


def foreign(file: Path, random: Random) -> None:
    (file.parent / "config.json").write_text(
        random.choice(
            ['{"model_type": "marian"}', "[]", "3", "null", '{"format": 99, "settings": {}}']
        )
    )


def no_languages(file: Path, random: Random) -> None:
    path = file.parent / "config.json"
    values = json.loads(path.read_text()) | {
        "languages": random.choice([None, "en", ["en"], [1, 2]])
    }
    path.write_text(json.dumps(values))


def directory_instead(file: Path, random: Random) -> None:
    file.unlink()
    file.mkdir()


FILES = ("config.json", "model.safetensors", "tokenizer.model")
DAMAGE: dict[str, tuple[Callable[[Path, Random], None], tuple[str, ...]]] = {
    "cut": (cut, FILES),
    "trap": (trap, FILES),
    "gone": (vanish, FILES),
    "directory": (directory_instead, FILES),
    "scrambled": (scramble, ("config.json", "model.safetensors")),
    "10^9 layers": (change_settings(num_encoder_layers=10**9), ("config.json",)),
    "10^9 wide": (change_settings(d_model=10**9, num_heads=1), ("config.json",)),
    "10^9 words": (
        change_settings(source_vocab_size=10**9, target_vocab_size=10**9),
        ("config.json",),
    ),
    "10^12 positions": (change_settings(max_positions=10**12), ("config.json",)),
    "10^9 heads": (change_settings(num_heads=10**9, d_k=10**9, d_v=1), ("config.json",)),
    "unknown setting": (change_settings(d_modle=3), ("config.json",)),
    "wrong type": (change_settings(d_model="wide"), ("config.json",)),
    "overlap": (change_header(overlap), ("model.safetensors",)),
    "negative": (change_header(negative), ("model.safetensors",)),
    "wrong shape": (change_header(wrong_shape), ("model.safetensors",)),
    "renamed": (change_header(renamed), ("model.safetensors",)),
    "huge header": (huge_header, ("model.safetensors",)),
    "not finite": (not_numbers, ("model.safetensors",)),
    "deep": (deep, ("config.json",)),
    "long": (long_config, ("config.json",)),
    "foreign": (foreign, ("config.json",)),
    "no languages": (no_languages, ("config.json",)),
}
CASES = [(kind, seed) for kind in DAMAGE for seed in range(5)]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_a_damaged_model_gives_an_error_of_one_line(
    kind: str, seed: int, model_directory: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "model"
    shutil.copytree(model_directory, directory)
    damage, files = DAMAGE[kind]
    damage(directory / files[seed % len(files)], Random(seed))
    with pytest.raises(HeadwayError) as error, bounded():
        load_model(directory)
    assert all(str(directory) in line for line in str(error.value).split("\n"))
    assert not (directory / "canary").exists()


def test_pickles_are_not_opened(model_directory: Path, tmp_path: Path) -> None:
    directory = tmp_path / "model"
    shutil.copytree(model_directory, directory)
    for name in ("pytorch_model.bin", "model.pt", "checkpoint.pt", "optimizer.pt"):
        trap(directory / name, Random(1))
    load_model(directory)
    assert not (directory / "canary").exists()


@pytest.mark.parametrize("where", ["nowhere", "config.json"])
def test_a_path_that_is_no_model_directory_gives_an_error_of_one_line(
    where: str, model_directory: Path
) -> None:
    with pytest.raises(HeadwayError, match="a run or model directory"):
        load_model(model_directory / where)
