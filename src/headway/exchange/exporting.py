"""An export from beginning to end: refused or written, certified, with its card; then in its place."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.exchange import formats
from headway.exchange.certificate import Certificate, certify
from headway.exchange.creation import create_atomically
from headway.inference.card import completed
from headway.inference.directory import Model

CERTIFICATE, CARD = "certificate.json", "README.md"
LICENCE = re.compile(r"[\w.+-]+( (AND|OR|WITH) [\w.+-]+)*")  # an SPDX expression, or nearly


@dataclass(frozen=True)
class Exported:
    """What an export came to.

    Attributes:
        path: Where it lies.
        notes: What could not be said in the format, and what to set.
        certificate: Of the comparison; None: it was skipped.
    """

    path: Path
    notes: list[str]
    certificate: Certificate | None


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
) -> Exported:
    """Write a model in an outside format, with a certificate and a model card.

    Args:
        model: From `headway.inference.load_model`.
        to: Name of the format.
        out: Not there yet; appears whole or not at all.
        precision: Of the weights.
        lines: Translated for the certificate; none: made from the model's vocabulary.
        references: Their translations, as many; none: no BLEU.
        verify: Make a certificate.
        licence: An SPDX name for the card, such as ``cc-by-4.0``.

    Raises:
        HeadwayError: If the format cannot say this model, or has no such precision.
    """
    out, form = Path(out), formats.load_writer(to)
    if precision not in form.PRECISIONS:
        raise HeadwayError(f"--precision {precision}: {to} has {', '.join(form.PRECISIONS)}")
    if licence and not LICENCE.fullmatch(licence):
        raise HeadwayError(f"--licence {licence!r}: must be a name such as apache-2.0")
    if references and len(references) != len(lines):
        raise HeadwayError(f"{len(lines)} lines, but {len(references)} references")
    reasons = form.refusals(model.config.model)
    if reasons:
        raise HeadwayError("\n".join(f"{to} cannot say model.{reason}" for reason in reasons))
    found = None
    with create_atomically(out) as temporary:
        notes = form.write(model, temporary, precision)
        if verify:
            runner = formats.load_runner(to, temporary)
            found = certify(model, runner, to, precision, notes, lines, references)
            del runner
        files = {CARD: card(model, form, to, precision, notes, found, licence)}
        if found is not None:
            files[CERTIFICATE] = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"
        attach = getattr(form, "attach", _attach)
        attach(temporary, files)
    return Exported(out, notes, found)


def _attach(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")


def card(
    model: Model,
    form: Any,
    to: str,
    precision: str,
    notes: Sequence[str],
    found: Certificate | None,
    licence: str = "",
) -> str:
    """Return the model's own card with the licence at its head and the export's facts at its end."""
    old = model.path / CARD
    text = old.read_text(encoding="utf-8") if old.is_file() else ""
    parts = [completed(text, model.languages, licence).rstrip()]
    parts.append(
        f"## This export\n\nFormat: {to}, weights in {precision}; made by `headway export`."
    )
    how = getattr(form, "USAGE", "")
    if how:
        parts.append(how)
    parts.append("\n".join(f"- {note}" for note in notes))
    said = "Not compared with the model it was made from." if found is None else found.to_text()
    parts.append(f"### Compared with the model it was made from\n\n{said}")
    return "\n\n".join(part for part in parts if part) + "\n"
