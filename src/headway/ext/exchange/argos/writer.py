"""Writing an Argos Translate package: a CTranslate2 model, zipped with its sentencepiece model."""

import json
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.exchange.argos.package import pack as write_package
from headway.ext.exchange.ctranslate2 import writer as ctranslate2
from headway.ext.exchange.ctranslate2.runner import CTranslate2Runner
from headway.ext.exchange.ctranslate2.writer import PRECISIONS, find_refusals
from headway.text import list_pairs, name_of
from headway.translation import Model

__all__ = ["PRECISIONS", "USAGE", "find_refusals", "pack", "run", "write"]

PACKAGE_VERSION = "1.0"  # Argos Translate requires one
USAGE = """```python
import argostranslate.package, argostranslate.translate
argostranslate.package.install_from_path("FILE.argosmodel")
print(argostranslate.translate.translate("...", "FROM", "TO"))
```

LibreTranslate serves installed packages: `libretranslate --load-only FROM,TO`."""


def write(model: Model, out: Path, precision: str = "float32") -> list[str]:
    """Write the directory of a package; see `headway.ext.exchange.formats.ExportWriter`.

    Raises:
        HeadwayError: If the model has two vocabularies, or a program is not installed.
    """
    if not model.tokenizer.joint:
        raise HeadwayError(
            "argos cannot express two vocabularies: a package has one sentencepiece model"
        )
    if len(model.targets) > 1:
        raise HeadwayError(
            f"a package of argos translates one pair of languages: give --pair, one of"
            f" {list_pairs(model.pairs)}"
        )
    out.mkdir()
    ctranslate2.write(model, out / "model", precision)
    (out / "model" / "tokenizer.model").rename(out / "sentencepiece.model")
    (out / "metadata.json").write_text(json.dumps(_metadata(model), indent=2) + "\n")
    return [
        "Argos Translate splits text into sentences with a model of MiniSBD, which it downloads once for"
        " each source language",
        "Argos Translate searches with a beam of 4 and length_penalty = 0.2, which divides by |Y|^0.2: the"
        " paper's penalty cannot be set there. ARGOS_BEAM_SIZE = 1 and one hypothesis is greedy search",
        "Argos Translate replaces each underscore of a translation by a space",
        *ctranslate2.note_model(model, precision),
    ]


def run(out: Path) -> CTranslate2Runner:
    """Run the model of a package's directory by CTranslate2."""
    return CTranslate2Runner(out / "model")


def pack(model: Model, directory: Path, out: Path) -> None:
    """Write the package, a file, from its directory."""
    source, target = model.languages
    version = PACKAGE_VERSION.replace(".", "_")
    write_package(directory, out, f"translate-{source}_{target}-{version}")


def _metadata(model: Model) -> dict[str, object]:
    source, target = model.languages
    return {
        "package_version": PACKAGE_VERSION,
        "argos_version": "1.0",
        "from_code": source,
        "from_name": name_of(source),
        "to_code": target,
        "to_name": name_of(target),
        "links": [],
        "type": "translate",
        "made_by": f"Headway {__version__}",
    }
