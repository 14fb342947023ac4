"""Argos Translate packages, which LibreTranslate serves: a CTranslate2 model, zipped with its pieces.

A package is a zip file of one directory: ``metadata.json``, ``model/``, ``sentencepiece.model``,
``README.md``, and a sentence splitter in ``minisbd/``, without which a download would be tried.
"""

import json
import tempfile
import zipfile
from pathlib import Path

from headway import __version__
from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.exchange.argos.splitter import write_splitter
from headway.exchange.creation import create_atomically
from headway.exchange.ctranslate2 import writer as ctranslate2
from headway.inference.directory import Model
from headway.text.languages import name_of

PRECISIONS = ctranslate2.PRECISIONS
VERSION = "1.0"  # of the package, which Argos Translate wants to be one
USAGE = """```python
import argostranslate.package, argostranslate.translate
argostranslate.package.install_from_path("FILE.argosmodel")
print(argostranslate.translate.translate("...", "FROM", "TO"))
```

LibreTranslate serves what is installed: `libretranslate --load-only FROM,TO`."""
# A date that does not change: the same model makes the same package.
STAMP = (1980, 1, 1, 0, 0, 0)


def refusals(config: ModelConfig) -> list[str]:
    """Return why a package cannot hold such a model; nothing: it can, exactly."""
    return ctranslate2.refusals(config)


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write a package, as `formats.Format` says.

    Raises:
        HeadwayError: If the model has two vocabularies.
    """
    if not model.tokenizer.joint:
        raise HeadwayError(
            "argos cannot say two vocabularies: a package has one sentencepiece model"
        )
    with create_atomically(out) as temporary, tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "package"
        folder.mkdir()
        notes = ctranslate2.write(model, folder / "model", precision)
        (folder / "model" / "tokenizer.model").rename(folder / "sentencepiece.model")
        (folder / "metadata.json").write_text(json.dumps(_metadata(model), indent=2) + "\n")
        source = model.languages[0]
        (folder / "minisbd").mkdir()
        write_splitter(folder / "minisbd" / f"{source}.onnx", source)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    name = f"{_top(model)}/{file.relative_to(folder).as_posix()}"
                    _add(archive, name, file.read_bytes())
    return [
        "Argos Translate cuts text into sentences and searches with a beam of 4 and length_penalty ="
        " 0.2, which divides by |Y|^0.2: the paper's penalty cannot be set there. ARGOS_BEAM_SIZE = 1"
        " and one hypothesis is greedy search",
        "Argos Translate puts a space for every underscore of a translation",
        *notes[2:],
    ]


def _metadata(model: Model) -> dict[str, object]:
    source, target = model.languages
    return {
        "package_version": VERSION,
        "argos_version": "1.0",
        "from_code": source,
        "from_name": name_of(source),
        "to_code": target,
        "to_name": name_of(target),
        "links": [],
        "type": "translate",
        "made_by": f"Headway {__version__}",
    }


def _top(model: Model) -> str:
    return f"translate-{'_'.join(model.languages)}-{VERSION.replace('.', '_')}"


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def attach(package: Path, files: dict[str, str]) -> None:
    """Add text files to a package, beside ``metadata.json``."""
    with zipfile.ZipFile(package, "a") as archive:
        top = archive.namelist()[0].split("/")[0]
        for name, text in files.items():
            _add(archive, f"{top}/{name}", text.encode())
