"""Models of the Hugging Face hub: loaded by name, without any file that can run code."""

import shutil
import sys
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange import downloading
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, read_config
from headway.translation.front_matter import complete_card
from support.cases import own_rows
from support.toy_models import sentences, small_config, translate_words, write_random_model

huggingface_hub = pytest.importorskip("huggingface_hub")
from huggingface_hub.errors import RepositoryNotFoundError  # noqa: E402
from huggingface_hub.utils import filter_repo_objects  # noqa: E402

LINES = sentences(7, 5)
COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
UNSAFE = ("pytorch_model.bin", "training_args.pkl", "modeling.py", "model.h5", "part/config.json")


class NotFound(RepositoryNotFoundError):
    """The error of the hub's library, made without a server's response."""

    def __init__(self):
        Exception.__init__(self, "404 Client Error.\nRepository Not Found")


class Hub:
    """Repositories in a directory, downloaded as `huggingface_hub` does: by patterns, into a cache."""

    def __init__(self, place):
        self.repositories, self.cache = place / "repositories", place / "hub"
        self.asked = []

    def put(self, name, files):
        """Publish a directory, and add files that must not be downloaded."""
        out = self.repositories / name
        shutil.copytree(files, out)
        (out / "part").mkdir()
        for unsafe in UNSAFE:
            (out / unsafe).write_bytes(b"\x80\x04never")
        return out

    def snapshots(self, name):
        return self.cache / f"models--{name.replace('/', '--')}" / "snapshots" / COMMIT

    def snapshot_download(self, repo_id, *, revision, allow_patterns, ignore_patterns, **_):
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
def hub(tmp_path, monkeypatch):
    made = Hub(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return made


@pytest.mark.parametrize(
    "name", ["org/small", "hf:org/small", "hf:org/small@v1.2", "org/small@main", "hf:runs/demo"]
)
def test_a_model_is_loaded_by_its_name(hub, model_directory, translator, name, caplog, capsys):
    word, at, revision = name.removeprefix("hf:").partition("@")
    hub.put(word, model_directory)
    found = Translator.load(name, "cpu")
    assert found.translate(LINES) == translator.translate(LINES)
    assert found.languages == ("en", "de")
    assert hub.asked == [(word, revision if at else None), (word, COMMIT)]
    snapshot = hub.snapshots(word)
    there = {str(file.relative_to(snapshot)) for file in snapshot.rglob("*")}
    assert there == {file.name for file in model_directory.iterdir()}
    [record] = caplog.records
    assert COMMIT in record.getMessage()
    assert dispatch(["info", name]) == 0
    assert capsys.readouterr().err.splitlines()[0] == record.getMessage()


def test_a_local_directory_is_preferred_to_the_hub(hub, model_directory, tokenizer):
    hub.put("org/small", model_directory)
    write_random_model(Path("org/small"), tokenizer, ("en", "fr"), seed=8)
    assert Translator.load("org/small", "cpu").languages == ("en", "fr")
    assert hub.asked == []
    assert Translator.load("hf:org/small", "cpu").languages == ("en", "de")


def both_ways(word):
    """Return the messages of the library and of the command."""
    told = []
    for way in (lambda: Translator.load(word, "cpu"), lambda: dispatch(["info", word])):
        with pytest.raises(HeadwayError) as caught:
            way()
        told.append(str(caught.value))
        assert "\n" not in told[-1]
    return told


def test_a_word_that_is_no_name_gives_an_error_of_one_line(hub, model_directory, monkeypatch):
    """A path in a usual directory is none, or a stranger's model would take the place of one that is not trained yet."""
    for name in ("runs/demo", "checkpoints/x"):
        hub.put(name, model_directory)
    Path("mine").mkdir()
    Path("mine/file").touch()
    for word, said in own_rows():
        assert all(f"{word}: no such directory: give {said}" in told for told in both_ways(word))
    with pytest.raises(HeadwayError, match="mine/file is a file, not a run or model directory"):
        Translator.load("mine/file")
    assert hub.asked == []
    for told in both_ways("org/none"):
        assert told.startswith("org/none: no such directory, and no such model on the")
    assert len(hub.asked) == 2

    def fails(*_, **__):
        raise OSError("\nNo space left on device\nand much more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fails)
    for told in both_ways("org/small"):
        assert told.endswith("and the Hugging Face hub reports: No space left on device")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for told in both_ways("org/none"):
        assert 'pip install "headway[hub]"' in told


def test_offline_only_downloaded_models_are_used(
    tmp_path, monkeypatch, model_directory, translator
):
    """With the hub's own library, on a cache in its format; opening a socket fails the test."""

    def refuse(*_, **__):
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


@pytest.mark.parametrize("form", ["ctranslate2", "huggingface"])
def test_a_model_of_another_program_is_imported_once(hub, small, exports, monkeypatch, form):
    published = hub.put("org/opus-mt-sv-fi", exports[form])
    (published / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# Theirs\n")
    (published / "headway.json").unlink()
    with pytest.raises(HeadwayError, match="headway import org/opus-mt-sv-fi OUT"):
        Translator.load("org/opus-mt-sv-fi")
    directory = downloading.download_and_import("org/opus-mt-sv-fi")
    found = Translator.load(directory, "cpu")
    assert found.translate(LINES) == Translator.load(small.path, "cpu").translate(LINES)
    # The languages are those of the name, unless the files name them.
    assert found.languages == (("en", "de") if form == "huggingface" else ("sv", "fi"))
    card = (directory / "README.md").read_text()
    assert "license: cc-by-4.0" in card
    assert "`org/opus-mt-sv-fi`" in card
    there = {file.name for file in hub.snapshots("org/opus-mt-sv-fi").rglob("*")}
    assert not there & {"part", *UNSAFE}
    monkeypatch.setattr("headway.ext.exchange.importing.import_model", None)
    assert downloading.download_and_import("hf:org/opus-mt-sv-fi@main") == directory
    assert dispatch(["info", "org/opus-mt-sv-fi"]) == 0


def test_pickled_weights_are_neither_downloaded_nor_read(hub, exports):
    published = hub.put("org/old", exports["huggingface"])
    (published / "model.safetensors").unlink()
    with pytest.raises(HeadwayError, match=r"no model\.safetensors there; pickled weights"):
        downloading.download_and_import("org/old")
    snapshot = hub.snapshots("org/old")
    assert not (snapshot / "pytorch_model.bin").exists()
    # As if another program had downloaded it.
    shutil.copy(published / "pytorch_model.bin", snapshot)
    with pytest.raises(HeadwayError, match="pickled weights"):
        downloading.download_and_import("org/old")


def test_weights_that_cannot_be_imported_are_not_downloaded(hub, tmp_path):
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "llm" / "model.safetensors").write_bytes(b"many")
    hub.put("org/llm", tmp_path / "llm")
    with pytest.raises(HeadwayError, match=r"no model that can be imported .model_type 'llama'"):
        downloading.download_and_import("org/llm")
    assert {file.name for file in hub.snapshots("org/llm").iterdir()} == {"config.json"}


def test_a_model_that_is_saved_over_another_has_nothing_of_it(tmp_path):
    for name in ("quality.json", "stand_ins.json", "shortlist.safetensors"):
        (tmp_path / name).write_text("of another model")
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    for older, own in (("tokenizer.model", False), ("source.model", True)):
        (tmp_path / older).write_text("of another model")
        tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=300, joint_vocab=own))
        model = Transformer(small_config(tokenizer).model)
        translator = Translator(model, tokenizer, None, "cpu", ("sv", "fi"))
        translator.save_pretrained(tmp_path)
        again = Translator.load(tmp_path, "cpu")
        assert again.translate(LINES) == translator.translate(LINES)
        assert (again.tokenizer.models, again.languages) == (tokenizer.models, ("sv", "fi"))
        vocabularies = {"tokenizer.model"} if own else {"source.model", "target.model"}
        names = {"config.json", "model.safetensors", "README.md"}
        assert {file.name for file in tmp_path.iterdir()} == names | vocabularies
    # A model that is saved where it is keeps what it has learned.
    (tmp_path / "quality.json").write_text("its own")
    Translator.load(tmp_path, "cpu").save_pretrained(tmp_path)
    assert (tmp_path / "quality.json").read_text() == "its own"


def test_a_saved_model_equals_the_loaded_one(model_directory, tmp_path, translator):
    model, out = shutil.copytree(model_directory, tmp_path / "model"), tmp_path / "out"
    card = "---\nlanguage:\n- en\n- de\nwidget:\n- text: mine\n---\n# Mine\n"
    (model / "README.md").write_text(card)
    (model / "shortlist.safetensors").write_bytes(b"as it is")
    Translator.load(model, "cpu").save_pretrained(out)
    again = Translator.from_pretrained(out, "cpu")
    assert again.translate(LINES) == translator.translate(LINES)
    assert read_config(out) == read_config(model_directory)
    names = [sorted(file.name for file in each.iterdir()) for each in (model, out)]
    assert names[0] == names[1]
    assert (out / "shortlist.safetensors").read_bytes() == b"as it is"
    written = (out / "README.md").read_text()
    assert written == complete_card(card, ("en", "de"))
    data = huggingface_hub.ModelCard(written).data
    assert (data.license, data.pipeline_tag) == ("unknown", "translation")
    again.save_pretrained(out, licence="mit")  # also into the directory that it was read from
    assert "license: mit" in (out / "README.md").read_text()
