"""What docs/stability.md promises: versions of files and interfaces, and changes that are deliberate."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import headway
from headway import __version__
from headway.cli.main import main
from headway.errors import HeadwayError
from headway.ext.protect.placeholder_words import load_placeholder_words, save_placeholder_words
from headway.ext.quality.quality_model import QualityModel
from headway.files import OtherVersionError
from headway.text.prepared import PreparedData, write_ids, write_prepared
from headway.training.storage.checkpoint import write_checkpoint
from headway.training.storage.run_directory import RunDirectory
from headway.translation.directory import load_model, read_config, write_config
from support.cases import each_case
from support.interface import RECORDED, check_version, list_interfaces

SOURCES = Path(headway.__file__).parent
GOLDEN = Path(__file__).parent / "golden" / "0.2"
CHECKPOINT = Path("run/checkpoints/step-00000004")
IDENTITY = RunDirectory(GOLDEN / "run").record().identity


class Stored(NamedTuple):
    """A file with a format.

    Attributes:
        file: Its path in a golden directory.
        read: Reads it, in a golden directory.
        unknown: Values that this version does not understand.
    """

    file: str
    read: Callable[[Path], object]
    unknown: dict[str, object]


# The module that has the format -> the file.
STORED = {
    "translation/directory.py": Stored(
        "model/config.json",
        lambda golden: load_model(golden / "model"),
        {"settings": {"model": {"depth_scale": 2.0}}},
    ),
    "ext/quality/quality_model.py": Stored(
        "model/quality.json", lambda golden: QualityModel.load(golden / "model"), {"weights": {}}
    ),
    "ext/protect/placeholder_words.py": Stored(
        "model/stand_ins.json",
        lambda golden: load_placeholder_words(golden / "model"),
        {"pairs": {"en-de": {"phrase": "a cat"}}},
    ),
    "training/storage/run_directory.py": Stored(
        "run/run.json", lambda golden: RunDirectory(golden / "run").record(), {"region": "north"}
    ),
    "training/storage/checkpoint.py": Stored(
        str(CHECKPOINT / "state.json"),
        lambda golden: RunDirectory(golden / "run").load(4, IDENTITY),
        {"run": ["of", "ranks"]},
    ),
    "text/prepared.py": Stored(
        "run/data/data.json",
        lambda golden: PreparedData.open(golden / "run" / "data"),
        {"kind": "painter"},
    ),
    "text/shards.py": Stored(
        "run/data/train/corpus.json",
        lambda golden: PreparedData.open(golden / "run" / "data"),
        {"region": "north"},
    ),
}
# Formats of files that docs/stability.md promises nothing of: the cache, and results of experiments.
UNPROMISED = {"ext/corpora/named.py", "ext/paper/results.py"}


@pytest.fixture
def golden(tmp_path):
    copy = shutil.copytree(GOLDEN, tmp_path / "golden")
    save_placeholder_words(
        copy / "model", {}
    )  # which 0.2 writes, but only for text with such phrases
    return copy


def test_each_format_is_checked_here_and_is_in_the_docs():
    found = {
        module.relative_to(SOURCES).as_posix()
        for module in SOURCES.rglob("*.py")
        if re.search(r"^FORMAT\b.*=", module.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == STORED.keys() | UNPROMISED
    page = Path(__file__).parents[1] / "docs" / "stability.md"
    named = set(re.findall(r"`(\w+\.json)`", page.read_text(encoding="utf-8")))
    assert {Path(stored.file).name for stored in STORED.values()} <= named


def test_each_file_names_the_version_that_wrote_it(golden, tmp_path):
    out = tmp_path / "out"
    data = PreparedData.open(golden / "run" / "data")
    stored = read_config(golden / "model")
    for folder in ("model", "run/data", "run/checkpoints"):
        (out / folder).mkdir(parents=True)
    write_config(out / "model", stored.config, stored.languages)
    QualityModel.load(golden / "model").save(out / "model")
    save_placeholder_words(out / "model", {})
    pairs = [(s.tolist(), t.tolist()) for s, t in map(data.train.pair, range(len(data.train)))]
    write_ids(out / "run" / "data" / "train", pairs, data.tokenizer)
    write_prepared(
        out / "run" / "data", data.tokenizer, pairs[:1], (["a"], ["b"]),
        config=stored.config.text, languages=data.languages, text_files={},
    )  # fmt: skip
    write_checkpoint(out / CHECKPOINT, {}, {})
    record = RunDirectory(golden / "run").record()
    RunDirectory(out / "run").write_record(replace(record, headway=__version__))
    for name in (stored.file for stored in STORED.values()):
        assert json.loads((out / name).read_bytes())["headway"] == __version__, name
    assert PreparedData.open(out / "run" / "data").train.fingerprint == data.train.fingerprint


def edit(file, **changes):
    """Change a file as a newer version would have written it: digests are right."""
    file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))
    sums = file.with_name("SHA256SUMS")
    if sums.is_file():
        lines = [line for line in sums.read_text().splitlines() if not line.endswith(file.name)]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        sums.write_text("".join(f"{line}\n" for line in [*lines, f"{digest}  {file.name}"]))


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_a_newer_format_gives_one_line_that_names_the_version(stored, golden):
    for writer, remedy in (
        ("9.8.0", "install Headway 9.8.0 or newer"),
        ("x\x1b[2J", "a newer Headway"),
    ):
        edit(golden / stored.file, format=99, headway=writer)
        with pytest.raises(OtherVersionError) as caught:
            stored.read(golden)
        message = str(caught.value)
        assert message.startswith(f"{golden / stored.file}: format 99")
        assert message.endswith(remedy)
        assert f"Headway {__version__}" in message
        assert len(message.splitlines()) == 1
        assert "\x1b" not in message


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_values_of_a_newer_version_are_named_by_it(stored, golden):
    stored.read(golden)
    edit(golden / stored.file, headway="0.10.0", **stored.unknown)
    with pytest.raises(OtherVersionError, match=r"install Headway 0\.10\.0 or newer") as caught:
        stored.read(golden)
    assert str(caught.value).startswith(f"{golden / stored.file}: has content of Headway 0.10.0")
    for own in (__version__, "0.1.0", ""):
        edit(golden / stored.file, headway=own)
        with pytest.raises(HeadwayError) as caught_own:
            stored.read(golden)
        is_of_another = stored.file == "run/run.json" and own == "0.1.0"
        assert isinstance(caught_own.value, OtherVersionError) == is_of_another


@pytest.mark.parametrize("change", [{"format": 99}, {"epoch": "third"}])
def test_a_checkpoint_of_a_newer_version_is_not_damage(golden, capsys, change):
    edit(golden / CHECKPOINT / "state.json", headway="9.8.0", **change)
    with pytest.raises(SystemExit) as ended:
        main(["train", str(golden / "run"), "--ranks", "1"])
    assert ended.value.code == 1
    [line] = [line for line in capsys.readouterr().err.splitlines() if "9.8.0" in line]
    assert line.startswith("headway: ")
    assert (golden / CHECKPOINT).is_dir()


def test_the_public_interfaces_are_those_that_were_recorded():
    for file, lines in list_interfaces().items():
        recorded = (RECORDED / file).read_text(encoding="utf-8").splitlines()
        if file == "http.txt":
            assert check_version(recorded, lines) == ""
        hint = "if meant: see docs/stability.md, then python tests/support/interface.py"
        assert sorted({*lines} - {*recorded}) == [], f"new in {file}; {hint}"
        assert sorted({*recorded} - {*lines}) == [], f"gone from {file}; {hint}"


@each_case
def test_another_http_interface_needs_a_higher_version(gone, added, needed):
    recorded = ["version 1.4", "POST /old", "POST /old request q"]
    lines = [line for line in [*recorded[1:], added] if line and line != gone]
    for version in ("1.4", "1.5", "2.0", "10.0"):
        message = check_version(recorded, [f"version {version}", *lines])
        if float(version) >= float(needed):
            assert message == ""
        else:
            assert message.endswith(f'set API_VERSION in ext/server/openapi.py to "{needed}"')
    assert check_version(recorded, ["version 1.3", *recorded[1:]])
