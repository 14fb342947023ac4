"""Models written for other programs, their certificates, and the same models read back."""

import json
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from side import write_json, write_messages, write_tree
from texts import plain, read_cases, write_lines

IMPORTED = ("ctranslate2", "ctranslate2-int8", "huggingface", "argos.argosmodel")
NAMES_ONLY = ("certificate.json", "README.md")


def record(side, model, out):
    """Write each export's certificate and files, and what the imported models translate."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for link in ("model", "both"):
            (folder / link).symlink_to(model.with_name(link))
        lines = write_lines(folder / "lines.en", plain(model, 40))
        write_lines(folder / "reference.de", plain(model, 40, "de"))
        commands = [shlex.split(line) for line in read_cases("exports.txt")]
        answers = side.run_each([["export", *words] for words in commands], folder)
        cases = [name.removesuffix(".argosmodel") for _, name, *_ in commands]
        write_messages(out / "messages.jsonl", zip(cases, answers, strict=True))
        for case in cases:
            certificate = folder / case / "certificate.json"
            if certificate.exists():
                write_json(
                    out / f"{case}.certificate.jsonl", sorted(read_certificate(certificate).items())
                )
            if (folder / case).is_dir():
                write_tree(out / f"{case}.txt", folder / case, NAMES_ONLY)
        for path in folder.glob("*.argosmodel"):
            (out / f"{path.name}.zip").write_bytes(path.read_bytes())
        imports = [["import", path, f"again-{path}"] for path in IMPORTED]
        questions = [["translate", f"again-{path}", "--json"] for path in IMPORTED]
        found = side.run_each(
            [*imports, *questions],
            folder,
            [b""] * len(imports) + [lines.read_bytes()] * len(questions),
        )
        write_messages(out / "imports.jsonl", zip(IMPORTED, found, strict=False))
        for path, answer in zip(IMPORTED, found[len(imports) :], strict=True):
            (out / f"{path}.translated.jsonl").write_bytes(answer.out + answer.err)
            write_tree(out / f"{path}.imported.txt", folder / f"again-{path}")


def read_certificate(path):
    """Return the fields of a certificate, its differences to one digit: other programs add in other orders."""
    fields = json.loads(path.read_text("utf-8"))
    del fields["versions"]
    for name in ("largest_difference", "mean_difference"):
        fields[name] = fields[name] and f"{fields[name]:.0e}"
    return fields
