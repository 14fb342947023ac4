"""Models of the Hugging Face hub: loaded by name, without any file that can run code."""

import argparse
import asyncio
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.cli.downloads import MODELS
from headway.cli.main import dispatch
from headway.cli.verbs import list_verbs, load_verb
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange import downloading
from headway.ext.exchange.ctranslate2 import writer as ctranslate2
from headway.ext.exchange.huggingface import writer as huggingface
from headway.ext.server.reload import Reloader
from headway.ext.server.server import Server
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, load_model, read_config
from headway.translation.directory import Model
from headway.translation.front_matter import complete_card
from support.command import headway
from support.exchange_models import SMALL, random_model
from support.toy_models import sentences, small_config, translate_words, write_random_model

huggingface_hub = pytest.importorskip("huggingface_hub")
from huggingface_hub.errors import RepositoryNotFoundError  # noqa: E402
from huggingface_hub.utils import filter_repo_objects  # noqa: E402

LINES = sentences(7, 5)
COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
UNSAFE = ("pytorch_model.bin", "training_args.pkl", "modeling.py", "model.h5", "part/config.json")


class NotFound(RepositoryNotFoundError):
    """The error of the hub's library, made without a server's response."""

    def __init__(self) -> None:
        Exception.__init__(self, "404 Client Error.\nRepository Not Found")


class Hub:
    """Repositories in a directory, downloaded as `huggingface_hub` does: by patterns, into a cache."""

    def __init__(self, place: Path) -> None:
        self.repositories, self.cache = place / "repositories", place / "hub"
        self.asked: list[tuple[str, str | None]] = []

    def put(self, name: str, files: Path) -> Path:
        """Publish a directory, and add files that must not be downloaded."""
        out = self.repositories / name
        shutil.copytree(files, out)
        (out / "part").mkdir()
        for unsafe in UNSAFE:
            (out / unsafe).write_bytes(b"\x80\x04never")
        return out

    def snapshots(self, name: str) -> Path:
        return self.cache / f"models--{name.replace('/', '--')}" / "snapshots" / COMMIT

    def snapshot_download(
        self,
        repo_id: str,
        *,
        revision: str | None,
        allow_patterns: Any,
        ignore_patterns: Any,
        **_: Any,
    ) -> str:
        self.asked.append((repo_id, revision))
        source = self.repositories / repo_id
        if not source.is_dir():
            raise NotFound
        out = self.snapshots(repo_id)
        names = [str(file.relative_to(source)) for file in source.rglob("*") if file.is_file()]
        for name in filter_repo_objects(
            names, allow_patterns=allow_patterns, ignore_patterns=ignore_patterns
        ):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, out / name)
        out.mkdir(parents=True, exist_ok=True)
        return str(out)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Model:
    return random_model(tmp_path_factory.mktemp("model"), tokenizer, SMALL)


@pytest.mark.slow
def test_a_server_that_reads_its_models_again_does_not_ask_the_hub(
    hub: Hub, model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.put("org/small", model_directory)
    found = []

    def reload(
        server: Server, reserved: socket.socket, reloader: Reloader, *_: Any, **__: Any
    ) -> None:
        reserved.close()
        asked = [*hub.asked]
        before = server.models
        assert asyncio.run(reloader.reload_models())
        assert server.models is not before
        found.append(hub.asked == asked != [])
        assert reloader.loaded  # the files that are watched for changes

    monkeypatch.setattr("headway.ext.server.process.configure_server_process", lambda config: None)
    monkeypatch.setattr("headway.ext.server.process.run_server", reload)
    assert dispatch(["serve", "org/small", "--port=0", "--device=cpu"]) == 0
    assert found == [True]


@pytest.mark.parametrize(
    "name", ["org/small", "hf:org/small", "hf:org/small@v1.2", "org/small@main"]
)
def test_a_model_is_loaded_by_its_name(
    hub: Hub, model_directory: Path, translator: Translator, name: str
) -> None:
    hub.put("org/small", model_directory)
    found = Translator.load(name, "cpu")
    assert found.translate(LINES) == translator.translate(LINES)
    assert found.languages == ("en", "de")
    _, at, revision = name.partition("@")
    assert hub.asked == [("org/small", revision if at else None), ("org/small", COMMIT)]
    there = {
        str(f.relative_to(hub.snapshots("org/small")))
        for f in hub.snapshots("org/small").rglob("*")
    }
    assert there == {file.name for file in model_directory.iterdir()}


def test_config_json_is_read_once(
    hub: Hub, model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.put("org/small", model_directory)
    read: list[str] = []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    for word in (model_directory, "org/small"):
        read.clear()
        load_model(word)
        assert read.count("config.json") == 1


def test_a_local_directory_is_preferred_to_the_hub(
    hub: Hub, model_directory: Path, tokenizer: Tokenizer
) -> None:
    hub.put("org/small", model_directory)
    write_random_model(Path("org/small"), tokenizer, ("en", "fr"), seed=8)
    assert Translator.load("org/small", "cpu").languages == ("en", "fr")
    assert hub.asked == []
    assert Translator.load("hf:org/small", "cpu").languages == ("en", "de")


def both_ways(word: str) -> list[str]:
    """Return the messages of the library and of the command."""
    told = []
    for way in (lambda: Translator.load(word, "cpu"), lambda: dispatch(["info", word])):
        with pytest.raises(HeadwayError) as caught:
            way()
        told.append(str(caught.value))
        assert "\n" not in told[-1]
    return told


@pytest.mark.parametrize("word", ["runs/demo", "models/x", "checkpoints/x@main", "data/x", "out/x"])
def test_a_path_in_a_usual_model_directory_is_never_a_name(
    hub: Hub, model_directory: Path, word: str
) -> None:
    """Otherwise a stranger's model would take the place of one that is not trained yet."""
    hub.put(word.partition("@")[0], model_directory)
    for told in both_ways(word):
        assert told == (
            f"{word}: no such directory: give a run or model directory,"
            f" or hf:{word} for a model on the Hugging Face hub"
        )
    assert hub.asked == []
    assert Translator.load(f"hf:{word}", "cpu").languages == ("en", "de")


def test_a_download_is_reported(
    hub: Hub, model_directory: Path, capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    hub.put("org/small", model_directory)
    snapshot = hub.snapshots("org/small")
    line = f"org/small: from the Hugging Face hub, revision {COMMIT}, downloaded to {snapshot}"
    Translator.load("hf:org/small@v1", "cpu")
    (record,) = caplog.records
    assert (record.name.partition(".")[0], record.levelname) == ("headway", "WARNING")
    assert record.getMessage() == line
    assert dispatch(["info", "org/small"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == line
    assert len(caplog.records) == 1
    Translator.load(model_directory, "cpu")
    assert len(caplog.records) == 1


def test_a_mistyped_path_gives_an_error_of_one_line(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("runs").mkdir()
    Path("runs/file").touch()
    for told in both_ways("runs/mien"):
        assert told.startswith(
            "runs/mien: no such directory: give a run or model directory, or hf:runs/mien"
        )
    with pytest.raises(HeadwayError, match="runs/file is a file, not a run or model directory"):
        Translator.load("runs/file")
    for word in ("mien", "/runs/mien", "a/b/c", "../runs/mien", "runs/"):
        with pytest.raises(HeadwayError):
            Translator.load(word)
    assert hub.asked == []
    for told in both_ways("org/none"):
        assert told.startswith("org/none: no such directory, and no such model on the")
    assert len(hub.asked) == 2
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for told in both_ways("org/none"):
        assert 'pip install "headway[hub]"' in told
        assert told.startswith("org/none: no such directory: give a run or model directory")


def test_offline_only_downloaded_models_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_directory: Path, translator: Translator
) -> None:
    """With the hub's own library, on a cache in its format; opening a socket fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was tried")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    for told in both_ways("org/small"):
        assert "HF_HUB_OFFLINE is set" in told
    repository = tmp_path / "models--org--small"
    shutil.copytree(model_directory, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    assert Translator.load("org/small", "cpu").translate(LINES) == translator.translate(LINES)


@pytest.mark.slow
def test_the_command_reports_a_model_that_is_not_downloaded(
    model_directory: Path, tmp_path: Path
) -> None:
    """In a new process, in which the hub's library is not yet imported."""
    done = headway("info", "org/small", HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("headway: org/small: no such directory, and no downloaded model")
    assert done.stderr.count("\n") == 1


def test_an_error_of_the_hub_is_reported_in_one_line(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> str:
        raise OSError("\nNo space left on device\nand much more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fails)
    for told in both_ways("org/small"):
        assert told.endswith("and the Hugging Face hub reports: No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize("form", [ctranslate2, huggingface])
def test_a_model_of_another_program_is_imported_once(
    hub: Hub, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any
) -> None:
    form.write(model, tmp_path / "export", "float32")
    published = hub.put("org/opus-mt-sv-fi", tmp_path / "export")
    (published / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# Theirs\n")
    (published / "headway.json").unlink(missing_ok=True)
    with pytest.raises(HeadwayError, match="headway import org/opus-mt-sv-fi OUT"):
        Translator.load("org/opus-mt-sv-fi")
    directory = downloading.download_and_import("org/opus-mt-sv-fi")
    found = Translator.load(directory, "cpu")
    assert found.translate(LINES) == Translator.load(model.path, "cpu").translate(LINES)
    assert found.languages in (
        ("sv", "fi"),
        ("en", "de"),
    )  # from the name, unless the files name them
    card = (directory / "README.md").read_text()
    assert "license: cc-by-4.0" in card
    assert "`org/opus-mt-sv-fi`" in card
    there = {file.name for file in hub.snapshots("org/opus-mt-sv-fi").rglob("*")}
    assert not there & {"part", *UNSAFE}
    monkeypatch.setattr(downloading, "import_model", None)
    assert downloading.download_and_import("hf:org/opus-mt-sv-fi@main") == directory
    assert dispatch(["info", "org/opus-mt-sv-fi"]) == 0


@pytest.mark.slow
def test_headway_import_takes_a_name(
    hub: Hub, model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    huggingface.write(model, tmp_path / "export", "float32")
    hub.put("org/theirs", tmp_path / "export")
    words = ["import", "org/theirs", "mine", "--languages", "sv", "fi"]
    assert dispatch(words) == 0
    assert f"org/theirs: from the Hugging Face hub, revision {COMMIT}" in capsys.readouterr().err
    assert load_model("mine").languages == ("sv", "fi")


def test_pickled_weights_are_neither_downloaded_nor_read(
    hub: Hub, model: Model, tmp_path: Path
) -> None:
    huggingface.write(model, tmp_path / "export", "float32")
    published = hub.put("org/old", tmp_path / "export")
    (published / "model.safetensors").unlink()
    with pytest.raises(HeadwayError, match=r"no model\.safetensors there; pickled weights"):
        downloading.download_and_import("org/old")
    snapshot = hub.snapshots("org/old")
    assert not (snapshot / "pytorch_model.bin").exists()
    shutil.copy(
        published / "pytorch_model.bin", snapshot
    )  # as if another program had downloaded it
    with pytest.raises(HeadwayError, match="pickled weights"):
        downloading.download_and_import("org/old")


def test_weights_that_cannot_be_imported_are_not_downloaded(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "llm" / "model.safetensors").write_bytes(b"many")
    hub.put("org/llm", tmp_path / "llm")
    with pytest.raises(HeadwayError, match=r"no model that can be imported .model_type 'llama'"):
        downloading.download_and_import("org/llm")
    assert {file.name for file in hub.snapshots("org/llm").iterdir()} == {"config.json"}


@pytest.mark.parametrize("verb", list_verbs())
def test_every_argument_MODEL_may_be_a_name(verb: str) -> None:
    parser = argparse.ArgumentParser()
    load_verb(verb).configure(parser)
    for action in parser._actions:
        assert (action.metavar == "MODEL") == (action.dest in MODELS), action.dest


def saved(translator: Translator, out: Path, **options: str) -> Translator:
    translator.save_pretrained(out, **options)
    return Translator.from_pretrained(out, "cpu")


def test_a_model_that_is_saved_over_another_has_nothing_of_it(
    model_directory: Path, tmp_path: Path, translator: Translator
) -> None:
    for name in ("quality.json", "stand_ins.json", "shortlist.safetensors"):
        (tmp_path / name).write_text("of another model")
    for older, own in (("tokenizer.model", False), ("source.model", True)):
        (tmp_path / older).write_text("of another model")
        pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
        tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=300, joint_vocab=own))
        model = Transformer(small_config(tokenizer).model)
        again = saved(Translator(model, tokenizer), tmp_path)
        assert again.tokenizer.models == tokenizer.models
        vocabularies = {"tokenizer.model"} if own else {"source.model", "target.model"}
        names = {"config.json", "model.safetensors", "README.md"}
        assert {file.name for file in tmp_path.iterdir()} == names | vocabularies
    # A model that is saved where it is keeps what it has learned.
    (tmp_path / "quality.json").write_text("its own")
    saved(Translator.load(tmp_path, "cpu"), tmp_path)
    assert (tmp_path / "quality.json").read_text() == "its own"


@pytest.mark.slow
def test_a_saved_model_equals_the_loaded_one(
    model_directory: Path, tmp_path: Path, translator: Translator
) -> None:
    shutil.copytree(model_directory, tmp_path / "model")
    card = "---\nlanguage:\n- en\n- de\nwidget:\n- text: mine\n---\n# Mine\n"
    (tmp_path / "model" / "README.md").write_text(card)
    (tmp_path / "model" / "shortlist.safetensors").write_bytes(b"as it is")
    again = saved(Translator.load(tmp_path / "model", "cpu"), tmp_path / "out")
    assert again.translate(LINES) == translator.translate(LINES)
    assert read_config(tmp_path / "out") == read_config(model_directory)
    names = [sorted(f.name for f in (tmp_path / n).iterdir()) for n in ("model", "out")]
    assert names[0] == names[1]
    assert (tmp_path / "out" / "shortlist.safetensors").read_bytes() == b"as it is"
    written = (tmp_path / "out" / "README.md").read_text()
    assert written == complete_card(card, ("en", "de"))
    data = huggingface_hub.ModelCard(written).data
    assert (data.license, data.pipeline_tag) == ("unknown", "translation")
    saved(again, tmp_path / "out", licence="mit")  # also into the directory that it was read from
    assert "license: mit" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_translator_without_a_directory_is_saved(
    tokenizer: Tokenizer, tmp_path: Path, positions: Any
) -> None:
    found = random_model(tmp_path / "model", tokenizer, replace(SMALL, positions=positions))
    translator = Translator(found.transformer, found.tokenizer, None, "cpu", ("sv", "fi"))
    again = saved(translator, tmp_path / "out")
    assert again.languages == ("sv", "fi")
    assert again.translate(LINES) == translator.translate(LINES)
