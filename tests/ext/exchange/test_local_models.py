"""Models of other programs on disk, given where a model of Headway is expected."""

import shutil
import zipfile
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.ext.exchange import downloading
from headway.ext.exchange.named_languages import find_named_languages
from headway.ext.exchange.recognizing import is_foreign
from headway.translation import Translator
from support.cases import own_rows
from support.exchange_models import change_json

pytest.importorskip("ctranslate2")
LINES = ["the cat sees a tree", "a dog"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))


def copied(exports, form, folder):
    """Return a copy of an export: a directory, or a file for Argos."""
    out = folder / ("en_de.argosmodel" if form == "argos" else "theirs")
    copy = shutil.copy if form == "argos" else shutil.copytree
    return Path(copy(exports[form], out))


@pytest.mark.parametrize("form", ["ctranslate2", "huggingface", "argos"])
def test_a_model_of_another_program_is_imported_once(
    form, small, exports, tmp_path, monkeypatch, capsys
):
    theirs = copied(exports, form, tmp_path)
    expected = Translator.load(small.path, "cpu").translate(LINES)
    (tmp_path / "text").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    words = ["translate", str(theirs), "--input", str(tmp_path / "text"), "--output"]
    assert dispatch([*words, str(tmp_path / "first")]) == 0
    assert (tmp_path / "first").read_text(encoding="utf-8").splitlines() == expected
    said = capsys.readouterr().err.splitlines()
    assert sum("imported to" in line and str(theirs) in line for line in said) == 1
    monkeypatch.setattr(
        "headway.ext.exchange.importing.import_model", None
    )  # a second import would fail
    assert dispatch([*words, str(tmp_path / "second")]) == 0
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert dispatch(["info", str(theirs)]) == 0
    if form == "argos":
        assert dispatch(["check", str(theirs), "--source", str(tmp_path / "text")]) == 0


def test_changed_files_are_imported_again(exports, tmp_path):
    theirs = copied(exports, "huggingface", tmp_path)
    first = downloading.download_and_import(theirs)
    assert downloading.download_and_import(theirs) == first
    change_json(theirs / "headway.json", languages=["en", "nl"])
    second = downloading.download_and_import(theirs)
    assert second != first
    assert Translator.load(second, "cpu").languages == ("en", "nl")
    shutil.copytree(theirs, tmp_path / "opus-mt-en-nl")
    assert downloading.download_and_import(tmp_path / "opus-mt-en-nl") not in (first, second)


def test_which_codes_at_the_end_of_a_name_are_languages():
    for name, languages in own_rows():
        found = find_named_languages(name), find_named_languages(f"marian/{name}")
        assert [*map(list, found)] == [languages, languages], name


@pytest.mark.parametrize("form", ["ctranslate2", "huggingface"])
def test_an_import_takes_the_languages_from_the_name_of_the_directory(form, exports, tmp_path):
    theirs = copied(exports, form, tmp_path)
    (theirs / "headway.json").unlink()
    if form == "huggingface":
        change_json(theirs / "tokenizer_config.json", source_lang=None, target_lang=None)
    wrong, right = theirs.rename(tmp_path / "nmt-new-big"), tmp_path / "nmt-en-nl"
    for verb in (["info", str(wrong)], ["import", str(wrong), str(tmp_path / "out")]):
        with pytest.raises(HeadwayError, match="nmt-new-big: names no languages"):
            dispatch(verb)
    wrong.rename(right)
    assert dispatch(["info", str(right)]) == 0
    assert dispatch(["import", str(right), str(tmp_path / "out")]) == 0
    assert Translator.load(tmp_path / "out", "cpu").languages == ("en", "nl")


def test_what_cannot_be_imported_is_refused_in_one_line(tmp_path):
    for number, (name, content, message) in own_rows():
        theirs = tmp_path / f"theirs{number}"
        theirs.mkdir()
        (theirs / name).write_text(content)
        with pytest.raises(HeadwayError, match=message) as refused:
            dispatch(["info", str(theirs)])
        assert "\n" not in str(refused.value)
        assert str(theirs) in str(refused.value)


def test_a_file_that_is_no_package_is_refused_in_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("a text")
    with pytest.raises(HeadwayError, match="is a file, not a model"):
        dispatch(["info", str(tmp_path / "notes.txt")])
    file = tmp_path / "files.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("a.txt", "b.txt"):
            archive.writestr(name, "a text")
    held = "it holds 2 files and directories instead of one directory"
    with pytest.raises(HeadwayError, match=f"^{file}: no Argos package: {held}$"):
        dispatch(["info", str(file)])


def test_a_model_of_headway_is_not_foreign(small, tmp_path):
    shutil.copytree(small.path, tmp_path / "ours")
    (tmp_path / "ours" / "model.bin").write_bytes(b"of another program")
    assert not is_foreign(tmp_path / "ours")
    assert downloading.download_and_import(tmp_path / "ours") == tmp_path / "ours"
