"""Translations of lines by each kind of search and each option of the command, with scores, alignments and quality."""

import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from side import Answer, write_messages
from texts import GLOSSARY, marked, plain, read_cases, write_lines

from support.http_requests import read_texts

KEPT = ("plain.de", "few.de.gz", "few.de", "windows.de", "few.json", "evaluated.de")


def record(side, model, out):
    """Write what each case prints, as it is, and what the commands on files print and write."""
    rows = [line.split(" ", 2) for line in read_cases("lines.txt")]
    commands = read_cases("files_of_lines.txt")
    texts = make_texts(model)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, model, texts)
        cases = [["translate", *shlex.split(words)] for _, _, words in rows]
        given = [(folder / f"{text}.en").read_bytes() for _, text, _ in rows]
        answers = side.run_each([*cases, *map(shlex.split, commands)], folder, given)
        messages = {}
        for (case, _, _), answer in zip(rows, answers, strict=False):
            (out / f"{case}.txt").write_bytes(answer.out)
            messages[case] = Answer(b"", answer.err, answer.code)
        messages |= dict(zip(commands, answers[len(rows) :], strict=True))
        write_messages(out / "messages.jsonl", messages.items())
        for kept in KEPT:
            shutil.copyfile(folder / kept, out / kept)


def make_texts(model):
    """Return the texts of the cases."""
    return {
        "plain": plain(model), "few": plain(model, 200), "marked": marked(model), "messy": read_texts()["messy"],
        "german": plain(model, 200, "de"),
    }  # fmt: skip


def write_files(folder, model, texts):
    """Write the files that the commands name, and links to the models."""
    for name in ("model", "both"):
        (folder / name).symlink_to(model.with_name(name))
    for name, lines in texts.items():
        write_lines(folder / f"{name}.en", lines)
    write_lines(folder / "few.en.gz", texts["few"])
    write_lines(folder / "reference.de", texts["german"])
    text = "\ufeff" + "".join(f"{line}\r\n" for line in texts["few"][:50])
    (folder / "windows.en").write_bytes(text.encode())
    (folder / "terms.tsv").write_text(GLOSSARY, encoding="utf-8", newline="\n")
