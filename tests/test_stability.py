"""What docs/stability.md promises: versions of files and interfaces, and changes that are deliberate."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headway import __version__
from headway.cli.main import main
from headway.file_format import NewerFileError
from headway.inference.directory import load_model, read_config
from headway.inference.quality import QualityModel
from headway.text.prepared import PreparedData
from headway.training.run_directory import RunDirectory
from support.interface import RECORDED, list_interfaces

GOLDEN = Path(__file__).parent / "golden" / "0.2"
CHECKPOINT = Path("run/checkpoints/step-00000004")
# Each file with a format, and what reads it.
READERS: dict[str, Callable[[Path], object]] = {
    "model/config.json": lambda golden: load_model(golden / "model"),
    "model/quality.json": lambda golden: QualityModel.load(golden / "model"),
    "run/run.json": lambda golden: RunDirectory(golden / "run").record(),
    "run/data/data.json": lambda golden: PreparedData.open(golden / "run" / "data"),
    "run/data/train/corpus.json": lambda golden: PreparedData.open(golden / "run" / "data"),
    str(CHECKPOINT / "state.json"): lambda golden: RunDirectory(golden / "run").load(4, ""),
}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    return shutil.copytree(GOLDEN, tmp_path / "golden")


def edit(file: Path, **changes: object) -> None:
    """Change a file as a newer version would have written it: digests are right."""
    file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))
    sums = file.with_name("SHA256SUMS")
    if sums.is_file():
        lines = [line for line in sums.read_text().splitlines() if not line.endswith(file.name)]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        sums.write_text("".join(f"{line}\n" for line in [*lines, f"{digest}  {file.name}"]))


@pytest.mark.parametrize("name", READERS)
def test_a_newer_format_gives_one_line_that_names_the_version(name: str, golden: Path) -> None:
    for writer, remedy in (
        ("9.8.0", "install Headway 9.8.0 or newer"),
        ("x\x1b[2J", "a newer Headway"),
    ):
        edit(golden / name, format=99, headway=writer)
        with pytest.raises(NewerFileError) as caught:
            READERS[name](golden)
        message = str(caught.value)
        assert message.startswith(f"{golden / name}: format 99")
        assert message.endswith(remedy)
        assert f"Headway {__version__}" in message
        assert len(message.splitlines()) == 1
        assert "\x1b" not in message


def test_values_of_a_newer_version_are_named_by_it(golden: Path) -> None:
    settings = json.loads((golden / "model" / "config.json").read_bytes())["settings"]
    settings["model"]["depth_scale"] = 2.0
    edit(golden / "model" / "config.json", settings=settings, headway="0.10.0")
    with pytest.raises(NewerFileError, match=r"install Headway 0\.10\.0 or newer"):
        read_config(golden / "model")
    edit(golden / "model" / "config.json", headway=__version__)
    with pytest.raises(ValueError, match="depth_scale is not a setting"):
        read_config(golden / "model")
    edit(golden / "run" / "run.json", region="north", headway="1.0")
    with pytest.raises(NewerFileError, match=r"install Headway 1\.0 or newer"):
        RunDirectory(golden / "run").record()


def test_a_checkpoint_of_a_newer_version_is_not_damage(
    golden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(golden / CHECKPOINT / "state.json", format=99, headway="9.8.0")
    with pytest.raises(SystemExit) as ended:
        main(["train", str(golden / "run"), "--ranks", "1"])
    assert ended.value.code == 1
    [line] = [line for line in capsys.readouterr().err.splitlines() if "9.8.0" in line]
    assert line.startswith("headway: ")
    assert (golden / CHECKPOINT).is_dir()


def test_the_public_interfaces_are_those_that_were_recorded() -> None:
    for file, lines in list_interfaces().items():
        recorded = (RECORDED / file).read_text(encoding="utf-8").splitlines()
        hint = "if meant: see docs/stability.md, then python tests/support/interface.py"
        assert sorted({*lines} - {*recorded}) == [], f"new in {file}; {hint}"
        assert sorted({*recorded} - {*lines}) == [], f"gone from {file}; {hint}"
