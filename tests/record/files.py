"""Section ``files``: files of every format, and what comes out when they are translated."""

import io
import json
import shlex
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from documents import read_damaged, read_inputs
from side import scrub, write_json, write_messages
from texts import read_cases

TERMS = "lamp\tLeuchte\nNora\t\tkeep\nhouse*\tHaus|Gebäude\n"
# Translates the rows of standard input: an input, an output, columns and a kind, which is one of KINDS.
SCRIPT = """\
import json, sys
from headway import HeadwayError, Translator, read_glossary, translate_file
plain = Translator.load(sys.argv[1], device="cpu")
with_terms = plain.with_glossary(read_glossary(sys.argv[2], plain.languages))
for row in sys.stdin:
    source, output, columns, kind = json.loads(row)
    translator = with_terms if kind == "terms" else plain
    more = {"is_complete": True} if kind == "complete" else {}
    if kind == "quality":
        more["report"] = output + ".quality.tsv"
    try:
        translate_file(translator, source, output, columns=columns, **more)
        print("written", flush=True)
    except HeadwayError as error:
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
"""
KINDS = ("plain", "quality", "terms", "complete")
# Inputs that are also translated with the quality of each sentence, or with the glossary, or although they have translations.
QUALITY = ("sentences.md", "page 0.html", "cues.srt", "entries.po", "nested.json", "commas.csv", "lines.txt", "runs.docx", "strings.xlsx", "book.epub")  # fmt: skip
WITH_TERMS = ("paragraphs.md", "page 0.html", "page 1.html", "cues.srt", "entries.po", "plurals.po", "first.xlf", "nested.json", "runs.docx", "tables.docx", "slides.pptx", "table.xlsx", "paragraphs.odt")  # fmt: skip
COMPLETE = ("entries.po", "plurals.po", "first.xlf", "second.xliff")


def record(side, model, out):
    """Record what the library and the command write, and what they say."""
    inputs, damaged = read_inputs(), read_damaged()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in (*inputs, *damaged):
            (folder / each.name).write_bytes(each.content)
        (folder / "numbers only.html").write_text("<p>5</p>")
        (folder / "page.html.gz").write_bytes(b"\x1f\x8bx")
        (folder / "folder.md").mkdir()
        for terms, text in (("terms", TERMS), ("rare", "zebra\tZebra\n"), ("wrong", "lamp\tLeuchte\n\tHaus\n")):  # fmt: skip
            (folder / f"{terms}.tsv").write_text(text, encoding="utf-8")
        _record_library(side, model, folder, out, inputs, damaged)
        _record_commands(side, model, folder, out)
    write_json(out / "packages.jsonl", _list_packages(out))


def _record_library(side, model, folder, out, inputs, damaged):
    rows: list[tuple[str, str, str, str]] = []
    for kind, names in zip(KINDS, (None, QUALITY, WITH_TERMS, COMPLETE), strict=True):
        (out / kind).mkdir()
        chosen = [each for each in inputs if names is None or each.name in names]
        assert names is None or len(chosen) == len(names), (kind, names)
        rows += [(each.name, str(out / kind / each.name), each.columns, kind) for each in chosen]
    rows += [(each.name, str(out / each.name), each.columns, "plain") for each in damaged]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    answer = side.python(SCRIPT, model, "terms.tsv", stdin=lines.encode(), cwd=folder)
    said = answer.out.decode().splitlines()
    assert len(said) == len(rows), answer.err.decode()
    write_json(out / "library.jsonl", ({"case": f"{kind}: {source}", "answer": scrub(line)} for (source, _, _, kind), line in zip(rows, said, strict=True)))  # fmt: skip
    (out / "library.err").write_text(scrub(answer.err.decode()), encoding="utf-8")


def _record_commands(side, model, folder, out):
    written = out / "command"
    written.mkdir()
    cases = [shlex.split(line) for line in read_cases("files.txt")]
    commands: list[Sequence[str | Path]] = []
    for case, name, *options in cases:
        output = [] if "--output" in options else ["--output", f"out {case}{Path(name).suffix}"]
        commands.append(["translate", model, "--input", name, *output, *options, "--device", "cpu"])
    answers = zip(cases, side.run_each(commands, folder), strict=True)
    write_messages(out / "commands.jsonl", ((case, answer) for (case, *_), answer in answers))
    for path in folder.glob("out *"):
        path.rename(written / path.name)


def _list_packages(out):
    """Yield how the members of each written package are packed."""
    for path in sorted(out.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [
                    [
                        info.filename,
                        list(info.date_time),
                        info.compress_type,
                        info.flag_bits,
                        info.external_attr,
                    ]
                    for info in archive.infolist()
                ]
            yield {"file": path.relative_to(out).as_posix(), "members": members}
