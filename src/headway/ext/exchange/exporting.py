"""Exporting a model: check it, write it, compare it with the original, and add a model card."""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError, UsageError
from headway.ext.exchange.certificate import Certificate, certify
from headway.ext.exchange.formats import ExportWriter, load_writer
from headway.ext.exchange.output import check_absent, create_atomically
from headway.text import list_codes
from headway.translation import CARD, Model, complete_card

CERTIFICATE = "certificate.json"
LICENSE = re.compile(r"[\w.+-]+( (AND|OR|WITH) [\w.+-]+)*")  # roughly an SPDX expression


@dataclass(frozen=True)
class Export:
    """The result of an export.

    Attributes:
        path: The file or directory.
        notes: What differs in the other program, and what to set there.
        certificate: The comparison with the original; None if it was skipped.
    """

    path: Path
    notes: list[str]
    certificate: Certificate | None


def check_request(to: str, out: str | Path, precision: str, licence: str = "") -> ExportWriter:
    """Return the writer of a format, for a request whose mistakes need no model to be found.

    Raises:
        HeadwayError: If there is no such format or precision, the license is no name, or ``out`` exists.
    """
    writer = load_writer(to)
    if precision not in writer.PRECISIONS:
        raise UsageError(f"--precision {precision}: {to} supports {', '.join(writer.PRECISIONS)}")
    if licence and not LICENSE.fullmatch(licence):
        raise UsageError(f"--licence {licence!r}: must be a name such as apache-2.0")
    check_absent(Path(out))
    return writer


def export_model(
    model: Model,
    to: str,
    out: str | Path,
    precision: str = "float32",
    *,
    lines: Sequence[str] = (),
    references: Sequence[str] = (),
    verify: bool = True,
    licence: str = "",
) -> Export:
    """Write a model in an outside format, with a certificate and a model card.

    Args:
        model: The result of `headway.translation.load_model`.
        to: Name of the format.
        out: A path that does not exist yet; the export appears complete or not at all.
        precision: Of the stored weights.
        lines: Text to translate for the certificate; by default that of the run's validation, or random subwords.
        references: Translations of ``lines``; with them the certificate has BLEU scores.
        verify: Whether to compare the export with the model.
        licence: An SPDX name for the card, such as ``cc-by-4.0``.

    Raises:
        HeadwayError: If the format cannot express the model or has no such precision, or if all lines
            are blank.
    """
    out, writer = Path(out), check_request(to, out, precision, licence)
    if references and len(references) != len(lines):
        raise HeadwayError(f"{len(lines)} lines, but {len(references)} references")
    if lines and not any(map(str.strip, lines)):
        raise HeadwayError("no text to compare on: all lines are blank")
    reasons = writer.find_refusals(model.config.model)
    if reasons:
        raise HeadwayError("\n".join(f"{to} cannot express model.{reason}" for reason in reasons))
    certificate = None
    with create_atomically(out) as temporary, tempfile.TemporaryDirectory() as other:
        directory = Path(other) / "package" if writer.pack else temporary
        notes = writer.write(model, directory, precision)
        if verify:
            runner = writer.run(directory)
            certificate = certify(model, runner, to, precision, notes, lines, references)
            del runner  # it may hold the files open
            text = json.dumps(certificate.to_dict(), indent=2, ensure_ascii=False)
            (directory / CERTIFICATE).write_bytes(f"{text}\n".encode())
        facts = export_facts(to, precision, writer.USAGE, notes, certificate)
        (directory / CARD).write_bytes(make_card(model, licence, facts).encode())
        if writer.pack:
            writer.pack(model, directory, temporary)
    return Export(out, notes, certificate)


def make_card(model: Model, licence: str, facts: str) -> str:
    """Return the model's own card, with a license in its head and the facts of an export at its end."""
    own = model.path / CARD
    text = own.read_text("utf-8", "replace") if own.is_file() else ""
    return f"{complete_card(text, list_codes(model.pairs) or model.languages, licence).rstrip()}\n\n{facts}\n"


def export_facts(
    to: str, precision: str, usage: str, notes: Sequence[str], certificate: Certificate | None
) -> str:
    """Return the facts of an export in Markdown: how to load it, notes, and the comparison."""
    listed = "\n".join(f"- {note}" for note in notes)
    result = (
        certificate.to_text() if certificate else "Not compared with the model it was made from."
    )
    return f"""## This export

Format: {to}, weights in {precision}; made by `headway export`.

{usage}

{listed}

### Compared with the model it was made from

{result}"""
