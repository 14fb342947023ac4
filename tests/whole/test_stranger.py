"""A package of somebody else is installed from a directory, and adds a verb, a reader, a stage and a name."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.toy_models import sentences, translate_words

STRANGER = Path(__file__).parent / "stranger"
MODEL = Path(__file__).parents[1] / "golden" / "0.1" / "model"
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
PHRASES = "Good morning.\nGuten Morgen.\nThe station?\nDer Bahnhof?\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def run(*words: str, packages: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment},
    )  # fmt: skip


@pytest.fixture
def phrases(tmp_path: Path) -> Path:
    file = tmp_path / "travel.phrases"
    file.write_text(PHRASES)
    return file


@pytest.mark.slow
def test_the_command_has_its_verb(installed: Path, phrases: Path) -> None:
    shown = run("-m", "headway", "--help", packages=installed).stdout
    assert "\n\nextensions:\n  phrases     print the pairs of a phrase book as a table\n" in shown
    done = run("-m", "headway", "phrases", str(phrases), packages=installed)
    assert done.stdout == "Good morning.\tGuten Morgen.\nThe station?\tDer Bahnhof?\n"
    missing = run(
        "-m", "headway", "phrases", str(phrases), packages=installed, HEADWAY_EXTENSIONS="pictures"
    )
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "extension 'phrasebook', which HEADWAY_EXTENSIONS leaves out" in missing.stderr


@pytest.mark.slow
def test_text_is_prepared_by_its_reader(installed: Path, tmp_path: Path) -> None:
    """The same pairs in two files of lines become the same shards."""
    sources = sentences(300, 1)
    targets = list(map(translate_words, sources))
    book, *plain = (str(tmp_path / name) for name in ("text.phrases", "text.en", "text.de"))
    Path(book).write_text("".join(f"{s}\n{t}\n" for s, t in zip(sources, targets, strict=True)))
    for file, lines in zip(plain, (sources, targets), strict=True):
        Path(file).write_text("\n".join(lines) + "\n")
    options = ["--valid", "20", "--languages", "en", "de", "--text.vocab-size", "331"]
    shards = {}
    for files in ([book], plain):
        out = tmp_path / str(len(files))
        words = ["headway", "prepare", str(out), "--train", *files, *options]
        done = run("-m", *words, packages=installed)
        assert done.returncode == 0, done.stderr
        reader = f"{book}: read by extension 'phrasebook' 1.0"
        assert (reader in (out / "report.txt").read_text()) == (files == [book])
        shards[len(files)] = [file.read_bytes() for file in sorted(out.glob("*/*.ids"))]
    assert shards[1] == shards[2] != []
    words = ["headway", "prepare", str(tmp_path / "none"), "--train", book, *options]
    missing = run("-m", *words, packages=installed, HEADWAY_EXTENSIONS="")
    assert missing.stderr == (
        f"headway: {book}: .phrases belongs to extension 'phrasebook', which HEADWAY_EXTENSIONS leaves out:"
        " add phrasebook to it; one file must be .csv, .tsv or .jsonl\n"
    )


@pytest.mark.slow
def test_python_has_its_reader_its_name_and_its_stage(installed: Path, phrases: Path) -> None:
    code = (
        "import sys, headway; from headway.text.readers import read_pairs; from headway.extension import load_all\n"
        "print([tuple(pair) for pair in read_pairs(sys.argv[1:])])\n"
        "print(list(headway.read_phrases(sys.argv[1])), load_all('stages')[0][1].__name__, hasattr(headway, 'read_nothing'))"
    )
    done = run("-c", code, str(phrases), packages=installed)
    pairs = [("Good morning.", "Guten Morgen."), ("The station?", "Der Bahnhof?")]
    numbered = [(*pair, number) for number, pair in enumerate(pairs, 1)]
    assert done.stdout == f"{numbered}\n{pairs} mark False\n", done.stderr


@pytest.mark.slow
def test_its_stage_works_from_the_command_python_and_the_server(
    installed: Path, tmp_path: Path
) -> None:
    lines = ["the cat sees a dog \u2665", "the cat sees a dog", "\u2665"]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    code = (
        "import sys, headway; from starlette.testclient import TestClient\n"
        "from headway.ext.server.app import make_app; from headway.ext.server.models import load_models\n"
        "from headway.ext.server.server import Server\n"
        "model, *lines = sys.argv[1:]; print(headway.Translator.load(model).translate(lines))\n"
        "with TestClient(make_app(Server(load_models([model])))) as client:\n"
        "    print([client.post('/translate', json={'q': line, 'source': 'en', 'target': 'de'}).json()['translatedText'] for line in lines])"
    )
    found = run("-c", code, str(MODEL), *lines[:2], packages=installed)
    plain = run("-c", code, str(MODEL), lines[1], packages=installed, HEADWAY_EXTENSIONS="")
    [text] = ast.literal_eval(plain.stdout.splitlines()[0])
    expected = [f"{text} \u2665", text]
    assert [ast.literal_eval(line) for line in found.stdout.splitlines()] == [expected] * 2, (
        found.stderr
    )
    files = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    run("-m", "headway", "translate", str(MODEL), *files, packages=installed)
    assert (tmp_path / "out").read_text().splitlines()[:2] == expected


@pytest.mark.slow
def test_a_stage_that_fails_is_named(installed: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(installed, broken)
    module = broken / "headway_phrasebook.py"
    whole = module.read_text()
    code = "import sys, headway; headway.Translator.load(sys.argv[1]).translate('the cat')"
    for old, new, error in (
        ("found = yield", "found = 1 // 0; yield", "ZeroDivisionError: integer division or modulo by zero"),
        ("return [replace", "1 // 0; return [replace", "ZeroDivisionError: integer division or modulo by zero"),
        ("    return [replace", "    [replace", "it returned None instead of translations"),
        ("    return [replace", "    return [] and [replace", "it returned no translations"),
        ("found = yield line", "found = yield 5 or line", "it yielded 5 instead of a line"),
        ("    return [replace", "    yield ''; [replace", "it yielded two lines"),
    ):  # fmt: skip
        module.write_text(whole.replace(old, new))
        done = run("-c", code, str(MODEL), packages=broken)
        [*_, last] = done.stderr.splitlines()
        assert last == f"headway.errors.HeadwayError: extension 'phrasebook': stage mark: {error}"


@pytest.mark.slow
def test_a_reader_that_yields_no_texts_is_named(
    installed: Path, phrases: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(installed, broken)
    module = broken / "headway_phrasebook.py"
    module.write_text(module.read_text().replace('next(lines, "").strip()', "len(next(lines))"))
    code = "import sys; from headway.text.readers import read_pairs; list(read_pairs(sys.argv[1:]))"
    done = run("-c", code, str(phrases), packages=broken)
    assert done.stderr.endswith(
        f"{phrases}: pair 1: extension 'phrasebook' must yield tuples of two texts, not ('Good morning.', 14)\n"
    )


@pytest.mark.slow
def test_a_broken_one_is_a_line_and_translation_goes_on(
    installed: Path, model_directory: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(installed, broken)
    (broken / "headway_phrasebook.py").write_text("import no_such_package\n")
    code = "import sys; sys.stdin = open(sys.argv[2]); from headway.cli.main import main; main(['translate', sys.argv[1]])"
    (tmp_path / "lines").write_text("a dog\n")
    shown = [
        run("-c", code, str(model_directory), str(tmp_path / "lines"), packages=each)
        for each in (installed, broken)
    ]
    assert [done.returncode for done in shown] == [0, 0], shown
    assert shown[0].stdout == shown[1].stdout
    assert set(shown[1].stderr.splitlines()) - set(shown[0].stderr.splitlines()) == {
        "extension 'phrasebook': headway_phrasebook:extension: ModuleNotFoundError: No module named 'no_such_package';"
        " it is left out: update headway-phrasebook, or uninstall it"
    }


def test_the_page_shows_the_extension() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```")
    for file in STRANGER.iterdir():
        text = file.read_text(encoding="utf-8")
        assert any(block.partition("\n")[2] == text for block in blocks), file.name
    module = (STRANGER / "headway_phrasebook.py").read_text()
    assert len(list(filter(str.strip, module.splitlines()))) <= 40
