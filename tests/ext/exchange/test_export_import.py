"""`headway export` and `headway import`: certificates, atomic creation, and hostile files."""

import json
import shutil
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.argos import reader as argos
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.reader import read
from headway.ext.exchange.ctranslate2.writer import write
from headway.ext.exchange.exporting import export_model
from headway.ext.exchange.importing import MAX_CARD_BYTES, import_model
from headway.ext.exchange.optional_package import import_package
from headway.ext.exchange.order import check_pieces
from headway.text.sentencepiece_file import SentencePieceFile
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator
from headway.translation.directory import Model, load_model
from support.bounds import bounded
from support.exchange_models import SMALL, random_model

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Model:
    return random_model(tmp_path_factory.mktemp("model"), tokenizer, SMALL)


@pytest.fixture(scope="module")
def exported(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exports") / "out"
    write(model, out)
    return out


@pytest.fixture(scope="module")
def package(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("packages") / "en_de.argosmodel"
    export_model(model, "argos", out, verify=False)
    return out


@pytest.mark.slow
def test_an_export_has_a_certificate_and_a_card(
    model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("lines", "reference"):
        (tmp_path / name).write_text("the cat sees a tree\na dog\n", encoding="utf-8")
    out = tmp_path / "made" / "out"
    files = ["--lines", str(tmp_path / "lines"), "--reference", str(tmp_path / "reference")]
    arguments = [str(model.path), str(out), "--to", "ctranslate2", *files, "--licence", "mit"]
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


@pytest.mark.parametrize(
    ("name", "is_needed"),
    [("ctranslate2", True), ("huggingface", True), ("argos", False)],
)
def test_a_model_of_single_sentences_needs_a_program_that_divides_texts(
    name: str, is_needed: bool, model: Model, tmp_path: Path
) -> None:
    """Argos Translate divides them; a caller of the other programs must."""
    search = replace(model.config.search, split_sentences=True)
    whole, divided = model, replace(model, config=replace(model.config, search=search))
    for each, place, expected in ((whole, "whole", False), (divided, "divided", is_needed)):
        export = export_model(each, name, tmp_path / place, verify=False)
        notes = [note for note in export.notes if "one sentence at a time" in note]
        assert len(notes) == expected, place
        assert len(export.notes) > len(notes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of transformers
@pytest.mark.parametrize("name", ["ctranslate2", "huggingface"])
def test_the_code_in_the_card_loads_the_export(
    name: str, model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "huggingface":
        pytest.importorskip("transformers")
    export_model(model, name, tmp_path / "out", verify=False)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    code = card.split("```python\n")[-1].split("```")[0]
    code = code.replace("DIR", str(tmp_path / "out")).replace('"..."', '"the cat sees a tree"')
    capsys.readouterr()
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
def test_a_failed_comparison_is_an_error_and_keeps_the_files(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.ext.exchange.certificate.tolerance", lambda _: 1e-12)
    with pytest.raises(HeadwayError, match=r"differs by .*certificate\.json"):
        dispatch(["export", str(model.path), str(tmp_path / "out"), "--to", "ctranslate2"])
    assert not json.loads((tmp_path / "out" / "certificate.json").read_bytes())["passed"]
    assert (tmp_path / "out" / "model.bin").is_file()


def test_a_rejected_export_leaves_no_files(
    model: Model, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    shape = replace(SMALL, encoder_mixer="gru", window=3)
    other = random_model(tmp_path / "other", tokenizer, shape)
    before = set(tmp_path.iterdir())
    with pytest.raises(HeadwayError, match=r"encoder_mixer.*\n.*window"):
        export_model(other, "ctranslate2", tmp_path / "out")
    with pytest.raises(HeadwayError, match="--precision int4: ctranslate2 supports float32, int8"):
        export_model(model, "ctranslate2", tmp_path / "out", "int4")
    with pytest.raises(HeadwayError, match="did you mean 'argos'"):
        export_model(model, "argo", tmp_path / "out")
    with pytest.raises(HeadwayError, match="exists already"):
        export_model(model, "ctranslate2", tmp_path / "other", verify=False)
    assert set(tmp_path.iterdir()) == before


def test_an_export_is_not_compared_on_blank_lines_alone(model: Model, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="all lines are blank"):
        export_model(model, "ctranslate2", tmp_path / "out", lines=["  ", "", "\t"])
    assert not list(tmp_path.iterdir())


def test_blank_lines_before_the_text_do_not_count(model: Model, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n" * 1100 + "two mirrors\n")
    arguments = [str(model.path), str(tmp_path / "out"), "--to", "ctranslate2"]
    assert dispatch(["export", *arguments, "--lines", str(tmp_path / "text")]) == 0
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["lines"] == 1


def test_a_card_that_is_not_utf_8_goes_into_an_export(model: Model, tmp_path: Path) -> None:
    other = shutil.copytree(model.path, tmp_path / "model")
    (other / "README.md").write_bytes("# Modell für alle\n".encode("latin-1"))
    export_model(replace(model, path=other), "ctranslate2", tmp_path / "out", verify=False)
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "# Modell f\ufffdr alle" in card
    assert "## This export" in card


@pytest.mark.parametrize(
    ("code", "reason"),
    [("import absent_package", r"cannot be imported \(No module named 'absent_package'\)"),
     ("raise ImportError('initialization failed')", r"cannot be imported \(initialization failed\)"),
     (None, "is not installed")],
)  # fmt: skip
def test_a_package_that_is_missing_or_broken_is_named(
    code: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if code:
        (tmp_path / "some_package.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HeadwayError, match=f"this needs some_package, which {reason}: pip install"):
        import_package("some_package")


@pytest.mark.slow
def test_an_import_is_a_model_directory_whose_card_names_the_original(
    model: Model, exported: Path, tmp_path: Path
) -> None:
    form, _ = import_model(exported, tmp_path / "back")
    again = load_model(tmp_path / "back")
    assert form == "ctranslate2"
    assert again.languages == ("en", "de")
    for name, value in model.transformer.state_dict().items():
        assert torch.equal(again.transformer.state_dict()[name], value), name
    card = (tmp_path / "back" / "README.md").read_text(encoding="utf-8")
    assert "ctranslate2" in card
    assert "model.bin | `" in card
    with pytest.raises(HeadwayError, match="is a Headway model already"):
        import_model(tmp_path / "back", tmp_path / "twice")


@pytest.mark.parametrize("name", ["ctranslate2", "argos"])
def test_an_import_has_the_license_and_the_card_of_the_original(
    name: str, model: Model, tmp_path: Path
) -> None:
    export_model(model, name, tmp_path / "out", verify=False, licence="cc-by-4.0")
    import_model(tmp_path / "out", tmp_path / "back")
    card = (tmp_path / "back" / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-4.0" in card.split("---")[1]
    assert "# A model" in card.split("## The original's card")[1]


@pytest.mark.parametrize("content", ["x" * (MAX_CARD_BYTES + 1), None])
def test_a_package_without_a_card_that_can_be_read_is_imported(
    content: str | None, package: Path, tmp_path: Path
) -> None:
    card = zipfile.ZipInfo(f"{TOP}/README.md")
    card.external_attr = 0o120777 << 16  # a link
    other = _package(tmp_path, {card.filename: content.encode() if content else card}, package)
    import_model(other, tmp_path / "back")
    assert "The original's card" not in (tmp_path / "back" / "README.md").read_text()


def test_a_failed_import_leaves_no_directories(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("new/inner/out", "there/out", "out"):
        with pytest.raises(HeadwayError, match="no such file or directory"):
            import_model(tmp_path / "nowhere", tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
    import_model(exported, tmp_path / "new" / "inner" / "out")
    assert (tmp_path / "new" / "inner" / "out" / "model.safetensors").is_file()


def test_an_import_without_languages_asks_for_them(exported: Path, tmp_path: Path) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    for file in exported.iterdir():
        if file.name != "headway.json":
            (folder / file.name).write_bytes(file.read_bytes())
    with pytest.raises(HeadwayError, match="--languages"):
        import_model(folder, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    import_model(folder, tmp_path / "back", ("fr", "it"))
    assert load_model(tmp_path / "back").languages == ("fr", "it")


@pytest.mark.slow
def test_the_training_of_another_programs_model_is_not_known(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def departures(path: Path) -> str | dict[str, object]:
        assert dispatch(["info", str(path), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["departures from its search"] != {}
        assert type(found["departures from its text"]) is type(
            found["departures from its training"]
        )
        return found["departures from its training"]

    import_model(exported, tmp_path / "own")  # its settings are with it
    assert isinstance(departures(tmp_path / "own"), dict)
    foreign = tmp_path / "foreign"
    shutil.copytree(exported, foreign)
    (foreign / "headway.json").unlink()
    import_model(foreign, tmp_path / "back", ("fr", "it"))
    Translator.load(tmp_path / "back").save_pretrained(tmp_path / "saved")
    write(load_model(tmp_path / "saved"), tmp_path / "again")
    import_model(tmp_path / "again", tmp_path / "returned")
    for name in ("back", "saved", "returned"):
        assert departures(tmp_path / name) == "not known: it was trained by another program", name


@pytest.mark.filterwarnings("ignore")  # of transformers
@pytest.mark.parametrize(
    "name",
    ["ctranslate2", pytest.param("huggingface", marks=pytest.mark.slow)],
)
def test_a_decoder_that_starts_from_another_vector_than_zero_is_exported_exactly(
    name: str, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    """A model of CTranslate2 or Marian may start from a token that has an embedding."""
    pytest.importorskip("transformers" if name == "huggingface" else name)
    model = random_model(tmp_path / "model", tokenizer, SMALL)
    with torch.no_grad():
        model.transformer.target_table.weight[-1] = torch.linspace(-1, 1, 24)
    export = export_model(model, name, tmp_path / "out")
    assert export.certificate is not None
    assert not export.certificate.failures
    import_model(tmp_path / "out", tmp_path / "back")
    again = load_model(tmp_path / "back").transformer.state_dict()
    for key, value in model.transformer.state_dict().items():
        assert torch.equal(again[key], value), key


@pytest.mark.parametrize("origin", ["", "Marian"])
@pytest.mark.parametrize("name", ["ctranslate2", "huggingface", "argos"])
def test_an_import_of_an_export_has_its_settings_and_its_origin(
    name: str, origin: str, model: Model, tmp_path: Path
) -> None:
    search = replace(model.config.search, split_sentences=True, alpha=1.1, max_extra=7, beam=3)
    config = replace(model.config, search=search)
    export_model(replace(model, config=config, origin=origin), name, tmp_path / "out", verify=False)
    import_model(tmp_path / "out", tmp_path / "back")
    again = load_model(tmp_path / "back")
    assert again.config == config
    assert again.origin == origin


def test_a_package_has_the_layout_of_argos_translate(package: Path, model: Model) -> None:
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        top = "translate-en_de-1_0"
        assert {name.split("/")[0] for name in names} == {top}
        assert len(names) == len(set(names))
        about = json.loads(archive.read(f"{top}/metadata.json"))
        assert archive.read(f"{top}/sentencepiece.model") == model.tokenizer.models[0]
    for part in ("model/model.bin", "model/config.json", "README.md"):
        assert f"{top}/{part}" in names
    assert (about["from_code"], about["to_name"], about["type"]) == ("en", "German", "translate")
    again = argos.read(package)
    for name, value in model.transformer.state_dict().items():
        assert torch.equal(again.transformer.state_dict()[name], value), name


def _package(place: Path, change: dict[str, bytes | zipfile.ZipInfo], source: Path) -> Path:
    out = place / "hostile.argosmodel"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name not in change:
                new.writestr(name, old.read(name))
        for name, data in change.items():
            if isinstance(data, zipfile.ZipInfo):
                new.writestr(data, b"/etc/passwd")
            else:
                new.writestr(name, data)
    return out


def refusal(action: Callable[[], object]) -> str:
    """Return the message of an error, raised within bounds of time and memory; empty if there is none."""
    try:
        with bounded():
            action()
    except HeadwayError as error:
        return str(error)
    return ""


TOP = "translate-en_de-1_0"


@pytest.mark.parametrize("name", ["../out.txt", "ABSOLUTE/canary.txt", f"{TOP}/../../out.txt"])
def test_a_package_is_extracted_only_into_its_directory(
    name: str, package: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    name = name.replace("ABSOLUTE", str(elsewhere))
    hostile = _package(tmp_path, {name: b"canary"}, package)
    before = set(tmp_path.rglob("*"))
    message = refusal(lambda: import_model(hostile, tmp_path / "back"))
    assert str(hostile) in message or not message
    assert not message or set(tmp_path.rglob("*")) == before
    assert not list(tmp_path.rglob("out.txt"))
    assert not list(elsewhere.iterdir())
    assert not (tmp_path.parent / "out.txt").exists()


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("ctranslate2", "tokenizer.model"),
        ("huggingface", "source.spm"),
        ("huggingface", "target.spm"),
    ],
)
def test_a_sentencepiece_model_of_another_language_is_refused(
    form: str, name: str, model: Model, tmp_path: Path
) -> None:
    """It has the bytes and a few signs in common with the vocabulary."""
    russian = ["Это другой текст на русском языке.", "ещё одна строка, для словаря"] * 30
    config = TextConfig(vocab_size=320, joint_vocab=True)
    other = Tokenizer.learn([(line, line) for line in russian], config)
    export_model(model, form, tmp_path / "out", verify=False)
    (tmp_path / "out" / name).write_bytes(other.models[0])
    with pytest.raises(HeadwayError) as refused:
        import_model(tmp_path / "out", tmp_path / "back")
    file = tmp_path / "out" / name
    assert str(refused.value) == f"{file}: its pieces are not those of the vocabulary"


@pytest.mark.parametrize(
    ("pieces", "entries", "is_accepted"),
    [
        ("abcd", "abcdefghijkl", True),  # the vocabulary of several models
        ("abcdefghijkl", "abcd", True),  # a vocabulary without most pieces
        ("abcd", "abxy", True),
        ("abcd", "axyz", False),
        ("abcd", "avwxyz", False),
        ("abcdef", "avwx", False),
    ],
)
def test_a_vocabulary_and_its_pieces_may_lack_a_part(
    pieces: str, entries: str, is_accepted: bool, tmp_path: Path
) -> None:
    names = ["<unk>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    file = cast(
        "SentencePieceFile",
        SimpleNamespace(path=tmp_path / "x.model", pieces=[*names, *pieces]),
    )
    with (
        nullcontext() if is_accepted else pytest.raises(HeadwayError, match=r"x\.model: its pieces")
    ):
        check_pieces(file, [*names, *entries, "<pad>"])


def test_a_link_in_a_package_is_rejected(package: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo(f"{TOP}/sentencepiece.model")
    link.external_attr = 0o120777 << 16
    hostile = _package(tmp_path, {link.filename: link}, package)
    with pytest.raises(HeadwayError, match="link"), bounded():
        import_model(hostile, tmp_path / "back")


def test_a_compression_bomb_in_a_package_is_rejected(package: Path, tmp_path: Path) -> None:
    out = tmp_path / "bomb.argosmodel"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(f"{TOP}/metadata.json", b" " * (1 << 24))
    with pytest.raises(HeadwayError, match=r"metadata\.json"), bounded():
        import_model(out, tmp_path / "back")


def test_a_damaged_package_is_named_and_not_where_it_was_unpacked(
    package: Path, tmp_path: Path
) -> None:
    hostile = _package(tmp_path, {f"{TOP}/model/model.bin": b"\x06\0\0\0"}, package)
    with pytest.raises(HeadwayError) as refused:
        import_model(hostile, tmp_path / "back")
    assert str(refused.value) == f"{hostile}: model/model.bin: ends too early"


def test_a_package_may_have_its_vocabularies_as_lines(
    package: Path, model: Model, tmp_path: Path
) -> None:
    with zipfile.ZipFile(package) as archive:
        entries = json.loads(archive.read(f"{TOP}/model/shared_vocabulary.json"))
    lines = "".join(f"{entry}\n" for entry in entries).encode()
    sides = {f"{TOP}/model/{side}_vocabulary.txt": lines for side in ("source", "target")}
    other = _package(tmp_path, sides, package)
    with zipfile.ZipFile(other) as old, zipfile.ZipFile(tmp_path / "lines.argosmodel", "w") as new:
        for name in old.namelist():
            if "shared" not in name:
                new.writestr(name, old.read(name))
    again = argos.read(tmp_path / "lines.argosmodel")
    assert again.tokenizer.fingerprint == model.tokenizer.fingerprint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x06\0\0\0",
        b"\x06\0\0\0\xff\xff",
        b"\x05\0\0\0\x10\0TransformerSpec\0",
        # A count of four billion variables, and one of a terabyte.
        b"\x06\0\0\0\x10\0TransformerSpec\0\x07\0\0\0\xff\xff\xff\xff",
        b"\x06\0\0\0\x10\0TransformerSpec\0\x07\0\0\0\x01\0\0\0\x02\0a\0\x02"
        + b"\xff\xff\xff\x7f" * 2
        + b"\0\xff\xff\xff\xff",
        b"\x80\x04\x95cos\nsystem\n(S'touch canary'\ntR.",
    ],
)
def test_a_damaged_file_gives_a_message_of_one_line(
    data: bytes, exported: Path, tmp_path: Path
) -> None:
    (tmp_path / "model.bin").write_bytes(data)
    with pytest.raises(HeadwayError) as refused, bounded():
        read_variables(tmp_path / "model.bin")
    assert str(tmp_path / "model.bin") in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_mutated_files_are_rejected_or_read(exported: Path, tmp_path: Path) -> None:
    """A file with a changed byte or a missing end gives a HeadwayError or a model."""
    chooser = torch.Generator().manual_seed(7)
    folder = tmp_path / "mutated"
    folder.mkdir()
    files = {file.name: file.read_bytes() for file in exported.iterdir()}
    names = ["model.bin", "config.json", "shared_vocabulary.json", "tokenizer.model"]
    outcomes = set()
    for number in range(60):
        name = names[number % len(names)]
        data = bytearray(files[name])
        # The start of model.bin has the structure; the rest is numbers.
        reach = min(len(data), 700) if number % 8 else len(data)
        at = int(torch.randint(reach, (1,), generator=chooser))
        if number % 3:
            data[at] = int(torch.randint(256, (1,), generator=chooser))
        else:
            del data[at:]
        for other, content in (files | {name: bytes(data)}).items():
            (folder / other).write_bytes(content)
        message = refusal(lambda: read(folder))
        assert str(folder) in message or not message
        outcomes.add("refused" if message else "read")
    assert outcomes == {"read", "refused"}
