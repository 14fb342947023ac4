"""A package of somebody else is installed from a directory, and adds a verb, a reader, a stage and a name."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headway
from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.extension import CHOICE, load_all
from headway.text import Pair, read_pairs
from headway.translation import Translator
from support.cases import each_case
from support.extensions import forget_extensions
from support.toy_models import sentences, translate_words, write_pairs

STRANGER = Path(__file__).parent / "stranger"
MODULE = "headway_phrasebook"
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
PHRASES = "Good morning.\nGuten Morgen.\nThe station?\nDer Bahnhof?\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder of packages that has the extension."""
    source = tmp_path_factory.mktemp("source") / "stranger"
    shutil.copytree(STRANGER, source)  # where setuptools leaves files
    folder = tmp_path_factory.mktemp("packages")
    words = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--target", folder, source],
        check=True, timeout=120,
    )  # fmt: skip
    return folder


@pytest.fixture
def packages(installed, tmp_path, monkeypatch):
    """Return a copy of that folder, from which this process imports."""
    folder = tmp_path / "packages"
    shutil.copytree(installed, folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # tests change the module at once
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delenv(CHOICE, raising=False)
    forget_extensions()
    yield folder
    sys.modules.pop(MODULE, None)
    forget_extensions()


def change(packages, old, new):
    """Install the extension with a change of its module."""
    text = (STRANGER / f"{MODULE}.py").read_text()
    assert old in text
    (packages / f"{MODULE}.py").write_text(text.replace(old, new))
    sys.modules.pop(MODULE, None)
    forget_extensions()


def leave_out(monkeypatch):
    monkeypatch.setenv(CHOICE, "")
    forget_extensions()


@pytest.fixture
def phrases(tmp_path):
    file = tmp_path / "travel.phrases"
    file.write_text(PHRASES)
    return file


def test_the_command_has_its_verb(installed, phrases):
    def run(*words, **environment):
        path = f"{installed}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        used = {name: value for name, value in os.environ.items() if name != CHOICE}
        return subprocess.run(
            [sys.executable, "-m", "headway", *words], env={**used, "PYTHONPATH": path, **environment},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    shown = run("--help").stdout
    assert "\n\nextensions:\n  phrases     print the pairs of a phrase book as a table\n" in shown
    done = run("phrases", str(phrases))
    assert done.stdout == "Good morning.\tGuten Morgen.\nThe station?\tDer Bahnhof?\n"
    missing = run("phrases", str(phrases), **{CHOICE: "pictures"})
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "extension 'phrasebook', which HEADWAY_EXTENSIONS leaves out" in missing.stderr


def test_text_is_prepared_by_its_reader(packages, tmp_path, monkeypatch):
    """The same pairs in two files of lines become the same shards."""
    sources, book = sentences(300, 1), str(tmp_path / "text.phrases")
    plain = [str(path) for path in write_pairs(tmp_path, "text", sources)]
    Path(book).write_text("".join(f"{line}\n{translate_words(line)}\n" for line in sources))
    options = ["--valid", "20", "--languages", "en", "de", "--text.vocab-size", "331"]
    shards = {}
    for files in ([book], plain):
        out = tmp_path / str(len(files))
        assert dispatch(["prepare", str(out), "--train", *files, *options]) == 0
        reader = f"{book}: read by extension 'phrasebook' 1.0"
        assert (reader in (out / "report.txt").read_text()) == (files == [book])
        shards[len(files)] = [file.read_bytes() for file in sorted(out.glob("*/*.ids"))]
    assert shards[1] == shards[2] != []
    leave_out(monkeypatch)
    with pytest.raises(HeadwayError) as missing:
        dispatch(["prepare", str(tmp_path / "none"), "--train", book, *options])
    assert str(missing.value) == (
        f"{book}: .phrases belongs to extension 'phrasebook', which HEADWAY_EXTENSIONS leaves out:"
        " add phrasebook to it; one file must be .csv, .tsv or .jsonl"
    )


def test_python_has_its_reader_its_name_and_its_stage(packages, phrases):
    pairs = [("Good morning.", "Guten Morgen."), ("The station?", "Der Bahnhof?")]
    read = list(read_pairs([phrases]))
    assert read == [Pair(*pair, number) for number, pair in enumerate(pairs, 1)]
    assert list(headway.read_phrases(phrases)) == pairs
    assert not hasattr(headway, "read_nothing")
    [(name, stage)] = load_all("stages")
    assert (name, stage.__name__) == ("phrasebook", "mark")


def test_its_stage_works_from_the_command_python_and_the_server(
    packages, model_directory, translator, tmp_path
):
    from starlette.testclient import TestClient

    from headway.ext.server.app import App
    from headway.ext.server.models import load_models
    from headway.ext.server.server import Server

    lines = ["the cat sees a dog \u2665", "the cat sees a dog"]
    text = translator.translate(lines[1])  # it was loaded without the extension
    expected = [f"{text} \u2665", text]
    assert Translator.load(model_directory).translate(lines) == expected
    with TestClient(App(Server(load_models([model_directory])))) as client:
        asked = {"source": "en", "target": "de"}
        answers = [client.post("/translate", json={"q": line, **asked}).json() for line in lines]
        assert [answer["translatedText"] for answer in answers] == expected
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    files = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    assert dispatch(["translate", str(model_directory), *files]) == 0
    assert (tmp_path / "out").read_text().splitlines() == expected


@each_case
def test_a_stage_that_fails_is_named(old, new, error, packages, model_directory):
    change(packages, old, new)
    with pytest.raises(HeadwayError) as failed:
        Translator.load(model_directory).translate("the cat")
    assert str(failed.value) == f"extension 'phrasebook': stage mark: {error}"


def test_a_reader_that_yields_no_texts_is_named(packages, phrases):
    change(packages, 'next(lines, "").strip()', "len(next(lines))")
    with pytest.raises(HeadwayError) as failed:
        list(read_pairs([phrases]))
    assert str(failed.value) == (
        f"{phrases}: pair 1: extension 'phrasebook' must yield tuples of two texts, not ('Good morning.', 14)"
    )


def test_the_page_shows_the_extension():
    blocks = PAGE.read_text(encoding="utf-8").split("```")
    for file in STRANGER.iterdir():
        text = file.read_text(encoding="utf-8")
        assert any(block.partition("\n")[2] == text for block in blocks), file.name
    module = (STRANGER / "headway_phrasebook.py").read_text()
    assert len(list(filter(str.strip, module.splitlines()))) <= 40
