"""`headway export` and `headway import`: certificates, atomic creation, and hostile files."""

import json
import shutil
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.exporting import export_model
from headway.ext.exchange.importing import MAX_CARD_BYTES, import_model
from headway.ext.exchange.vocabulary_order import check_pieces
from headway.text import Tokenizer
from headway.translation.directory import load_model
from support.bounds import bounded
from support.cases import each_case, own_rows
from support.exchange_models import SMALL, random_model

pytest.importorskip("ctranslate2")


def test_an_export_has_a_certificate_and_a_card(small, tmp_path, capsys):
    # Blank lines do not count.
    for name in ("lines", "reference"):
        (tmp_path / name).write_text("\n" * 1100 + "the cat sees a tree\na dog\n")
    out = tmp_path / "made" / "out"
    files = ["--lines", str(tmp_path / "lines"), "--reference", str(tmp_path / "reference")]
    arguments = [str(small.path), str(out), "--to", "ctranslate2", *files, "--licence", "mit"]
    assert dispatch(["export", *arguments]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "same greedy translation: 2 of 2" in said.err
    found = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    assert found["passed"]
    assert found["identical"] == found["lines"] == 2
    assert set(found["bleu"]) == {"headway", "exported"}
    assert {"headway", "torch", "ctranslate2"} <= set(found["versions"])
    assert any("length" in note for note in found["notes"])
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "license: mit" in card.split("---")[1]
    assert "# A model" in card
    assert "largest difference" in card
    assert sorted(path.name for path in out.parent.iterdir()) == ["out"]


def test_a_run_is_compared_on_its_validation_text(uninterrupted_run, tmp_path):
    """A run whose text is gone is compared on subwords, as is a model that is no run."""
    model = load_model(uninterrupted_run)
    found = export_model(model, "ctranslate2", tmp_path / "out").certificate
    assert found is not None
    assert found.lines == 7
    assert found.origin == "the run's validation text"
    moved = tmp_path / "moved"
    shutil.copytree(uninterrupted_run, moved)
    (moved / "data" / "valid.source").write_bytes(b"\xff\n")
    found = export_model(load_model(moved), "ctranslate2", tmp_path / "other").certificate
    assert found is not None
    assert found.origin == "made from the model's vocabulary"


@pytest.mark.parametrize(
    ("name", "is_needed"), [("ctranslate2", True), ("huggingface", True), ("argos", False)]
)
def test_an_import_of_an_export_has_its_settings_its_card_and_its_origin(
    name, is_needed, small, tmp_path
):
    search = replace(small.config.search, split_sentences=True, alpha=1.1, max_extra=7, beam=3)
    config = replace(small.config, search=search)
    folder = shutil.copytree(small.path, tmp_path / "model")
    (folder / "README.md").write_bytes("# Modell für alle\n".encode("latin-1"))  # no UTF-8
    model = replace(small, config=config, origin="Marian", path=folder)
    out, back = tmp_path / "out", tmp_path / "back"
    export = export_model(model, name, out, verify=False, licence="cc-by-4.0")
    # Argos Translate divides texts into sentences; a caller of the other programs must.
    notes = [note for note in export.notes if "one sentence at a time" in note]
    assert len(notes) == is_needed
    assert len(export.notes) > len(notes)
    import_model(out, back)
    again = load_model(back)
    assert (again.config, again.origin, again.languages) == (config, "Marian", ("en", "de"))
    for key, value in small.transformer.state_dict().items():
        assert torch.equal(again.transformer.state_dict()[key], value), key
    card = (back / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-4.0" in card.split("---")[1]
    assert "# Modell f\ufffdr alle" in card.split("## The original's card")[1]
    assert "## This export" in card
    assert "out | `" in card if out.is_file() else "config.json | `" in card
    with pytest.raises(HeadwayError, match="is a Headway model already"):
        import_model(back, tmp_path / "twice")


@pytest.mark.filterwarnings("ignore")  # of transformers
@pytest.mark.parametrize("name", ["ctranslate2", "huggingface"])
def test_the_code_in_the_card_loads_the_export(name, exports, capsys):
    if name == "huggingface":
        pytest.importorskip("transformers")
    card = (exports[name] / "README.md").read_text(encoding="utf-8")
    code = card.split("```python\n")[-1].split("```")[0]
    code = code.replace("DIR", str(exports[name])).replace('"..."', '"the cat sees a tree"')
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_a_failed_comparison_is_an_error_and_keeps_the_files(small, tmp_path, monkeypatch):
    monkeypatch.setattr("headway.ext.exchange.certificate.tolerance", lambda _: 1e-12)
    (tmp_path / "lines").write_text("the cat sees a tree\n")
    words = ["export", str(small.path), str(tmp_path / "out"), "--to", "ctranslate2"]
    with pytest.raises(HeadwayError, match=r"differs by .*certificate\.json"):
        dispatch([*words, "--lines", str(tmp_path / "lines")])
    assert not json.loads((tmp_path / "out" / "certificate.json").read_bytes())["passed"]
    assert (tmp_path / "out" / "model.bin").is_file()


def test_a_rejected_export_leaves_no_files(small, tmp_path, tokenizer):
    shape = replace(SMALL, encoder_mixer="gru", window=3, num_decoder_layers=0)
    other = random_model(tmp_path / "other", tokenizer, shape)
    before, out = set(tmp_path.iterdir()), tmp_path / "out"
    for message, *request in (
        (r"encoder_mixer.*\n.*window.*\n.*num_decoder_layers", other, "ctranslate2", out),
        ("--precision int4: ctranslate2 supports float32, int8", small, "ctranslate2", out, "int4"),
        ("did you mean 'argos'", small, "argo", out),
        ("exists already", small, "ctranslate2", tmp_path / "other"),
    ):
        with pytest.raises(HeadwayError, match=message):
            export_model(*request)
    with pytest.raises(HeadwayError, match="all lines are blank"):
        export_model(small, "ctranslate2", out, lines=["  ", "", "\t"])
    assert set(tmp_path.iterdir()) == before


@pytest.mark.filterwarnings("ignore")  # of transformers
@pytest.mark.parametrize(
    "name", ["ctranslate2", pytest.param("huggingface", marks=pytest.mark.slow)]
)
def test_a_decoder_that_starts_from_another_vector_than_zero_is_exported_exactly(
    name, tmp_path, tokenizer
):
    """A model of CTranslate2 or Marian may start from a token that has an embedding."""
    pytest.importorskip("transformers" if name == "huggingface" else name)
    model = random_model(tmp_path / "model", tokenizer, SMALL)
    with torch.no_grad():
        model.transformer.target_table.weight[-1] = torch.linspace(-1, 1, 24)
    export = export_model(model, name, tmp_path / "out", lines=["the cat sees a tree", "a dog"])
    assert export.certificate is not None
    assert not export.certificate.failures
    import_model(tmp_path / "out", tmp_path / "back")
    again = load_model(tmp_path / "back").transformer.state_dict()
    for key, value in model.transformer.state_dict().items():
        assert torch.equal(again[key], value), key


def test_a_package_has_the_layout_of_argos_translate(exports, small, tmp_path):
    with zipfile.ZipFile(exports["argos"]) as archive:
        names = archive.namelist()
        assert {name.split("/")[0] for name in names} == {TOP}
        assert len(names) == len(set(names))
        about = json.loads(archive.read(f"{TOP}/metadata.json"))
        assert archive.read(f"{TOP}/sentencepiece.model") == small.tokenizer.models[0]
    for part in ("model/model.bin", "model/config.json", "README.md"):
        assert f"{TOP}/{part}" in names
    assert (about["from_code"], about["to_name"], about["type"]) == ("en", "German", "translate")
    _, again = import_model(exports["argos"], tmp_path / "back")
    for name, value in small.transformer.state_dict().items():
        assert torch.equal(again.transformer.state_dict()[name], value), name


def _package(place, change, source):
    """Copy a package with other files in it; those of None are left out."""
    out = place / "hostile.argosmodel"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for name in {*old.namelist()} - {*change}:
            new.writestr(name, old.read(name))
        for name, data in change.items():
            if isinstance(data, tuple):
                new.writestr(*data)
            elif data is not None:
                new.writestr(name, data)
    return out


def refusal(action):
    """Return the message of an error, raised within bounds of time and memory; empty if there is none."""
    try:
        with bounded():
            action()
    except HeadwayError as error:
        return str(error)
    return ""


TOP = "translate-en_de-1_0"


@pytest.mark.parametrize("name", ["../out.txt", "ABSOLUTE/canary.txt", f"{TOP}/../../out.txt"])
def test_a_package_is_extracted_only_into_its_directory(name, exports, tmp_path):
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    name = name.replace("ABSOLUTE", str(elsewhere))
    hostile = _package(tmp_path, {name: b"canary"}, exports["argos"])
    before = set(tmp_path.rglob("*"))
    message = refusal(lambda: import_model(hostile, tmp_path / "back"))
    assert str(hostile) in message or not message
    assert not message or set(tmp_path.rglob("*")) == before
    assert not list(tmp_path.rglob("out.txt"))
    assert not list(elsewhere.iterdir())
    assert not (tmp_path.parent / "out.txt").exists()


@each_case
def test_a_sentencepiece_model_of_another_language_is_refused(form, name, small, tmp_path):
    """It has the bytes and a few signs in common with the vocabulary."""
    russian = ["Это другой текст на русском языке.", "ещё одна строка, для словаря"] * 30
    config = TextConfig(vocab_size=320, joint_vocab=True)
    other = Tokenizer.learn([(line, line) for line in russian], config)
    export_model(small, form, tmp_path / "out", verify=False)
    (tmp_path / "out" / name).write_bytes(other.models[0])
    with pytest.raises(HeadwayError) as refused:
        import_model(tmp_path / "out", tmp_path / "back")
    file = tmp_path / "out" / name
    assert str(refused.value) == f"{file}: its pieces are not those of the vocabulary"


def test_a_vocabulary_and_its_pieces_may_lack_a_part(tmp_path):
    names = ["<unk>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    for pieces, entries, is_accepted in own_rows():
        file = SimpleNamespace(path=tmp_path / "x.model", pieces=[*names, *pieces])
        refused = pytest.raises(HeadwayError, match=r"x\.model: its pieces")
        with nullcontext() if is_accepted else refused:
            check_pieces(file, [*names, *entries, "<pad>"])


def entry(name, compression=zipfile.ZIP_STORED, mode=0o100644):
    """An entry of a package, which is compressed so, or is no plain file."""
    info = zipfile.ZipInfo(f"{TOP}/{name}")
    info.compress_type, info.external_attr = compression, mode << 16
    return info


LINK = 0o120777


@pytest.mark.parametrize(
    ("info", "content", "message"),
    [
        (entry("sentencepiece.model", mode=LINK), b"/etc/passwd", ".* is a link, or no file"),
        (entry("model/model.bin"), b"\x06\0\0\0", "model/model.bin: ends too early"),
        (entry("model/model.bin", zipfile.ZIP_DEFLATED), bytes(1 << 25), ".*bytes is too large"),
        (entry("metadata.json", zipfile.ZIP_LZMA), b"{}", ".*json' is compressed in another way"),
        # A card that cannot be read is left out.
        (entry("README.md", mode=LINK), b"/etc/passwd", ""),
        (entry("README.md"), b"x" * (MAX_CARD_BYTES + 1), ""),
    ],
)
def test_an_entry_that_no_package_has_is_refused(info, content, message, exports, tmp_path):
    hostile = _package(tmp_path, {info.filename: (info, content)}, exports["argos"])
    if message:
        with pytest.raises(HeadwayError, match=f"^{hostile}: {message}"), bounded():
            import_model(hostile, tmp_path / "back")
        return
    import_model(hostile, tmp_path / "back")
    assert "The original's card" not in (tmp_path / "back" / "README.md").read_text()


def test_a_package_may_have_its_vocabularies_as_lines(exports, small, tmp_path):
    shared = f"{TOP}/model/shared_vocabulary.json"
    with zipfile.ZipFile(exports["argos"]) as archive:
        entries = json.loads(archive.read(shared))
    lines = "".join(f"{entry}\n" for entry in entries).encode()
    sides = {f"{TOP}/model/{side}_vocabulary.txt": lines for side in ("source", "target")}
    package = _package(tmp_path, {**sides, shared: None}, exports["argos"])
    _, again = import_model(package, tmp_path / "back")
    assert again.tokenizer.fingerprint == small.tokenizer.fingerprint


def test_a_failed_import_leaves_no_directories(exports, tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("new/inner/out", "there/out", "out"):
        with pytest.raises(HeadwayError, match="no such file or directory"):
            import_model(tmp_path / "nowhere", tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
    import_model(exports["ctranslate2"], tmp_path / "new" / "inner" / "out")
    assert (tmp_path / "new" / "inner" / "out" / "model.safetensors").is_file()
