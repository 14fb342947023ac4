"""What the command prints without a model: help, settings, presets, and a line for each mistake of a user."""

import re
import shlex
import shutil
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import run_each, scrub, write_messages
from texts import read_cases, write_lines, write_pairs

GOLDEN = Path(__file__).parents[1] / "golden" / "0.2" / "model"
PRESETS = ("quick", "thorough", "tiny", "small", "medium", "base", "big")


def record(out):
    """Write the help of each verb, the settings and presets, and the answers to mistakes."""
    [overview] = run_each([["--help"]], Path.cwd())
    verbs = re.findall(r"^  (\w+)  ", overview.out.decode(), re.MULTILINE)
    pages = {
        "overview.txt": ["--help"], "settings.txt": ["config"], "server-settings.txt": ["config", "--only", "server"],
        **{f"verbs/{verb}.txt": [verb, "--help"] for verb in verbs},
        **{f"presets/{preset}.toml": ["config", "--preset", preset] for preset in PRESETS},
        **{f"presets/{preset}.txt": ["info", preset] for preset in PRESETS},
    }  # fmt: skip
    mistakes = read_cases("mistakes.txt")
    with TemporaryDirectory() as folder:
        files = write_files(Path(folder) / "files")
        answers = run_each([*pages.values(), *map(shlex.split, mistakes)], cwd=files)
    for name, answer in zip(pages, answers, strict=False):
        path = out / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(scrub((answer.out + answer.err).decode()), encoding="utf-8", newline="\n")
    rows = zip(mistakes, answers[len(pages) :], strict=True)
    write_messages(out / "mistakes.jsonl", rows)


def write_files(folder):
    """Write the files that the mistakes name, and return their directory."""
    folder.mkdir()
    shutil.copytree(GOLDEN, folder / "model")
    for name, old, new in (
        ("damaged", '"num_heads": 2', '"num_heads": 3'), ("newer", '"format": 1', '"format": 99'),
    ):  # fmt: skip
        shutil.copytree(GOLDEN, folder / name)
        path = folder / name / "config.json"
        text = path.read_text("utf-8")
        assert old in text, (path, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    write_pairs(folder, "a", [("a dog runs", "ein Hund läuft"), ("a cat", "eine Katze")])
    tables = {
        "short.de": "ein Hund läuft", "corpus-en": "a", "corpus-de": "b", "a.xyz": "a dog", "wrong.toml": "[model]\nd_modle = 3\n[text]\nvocab_size = 'x'",
        "one-column.tsv": "dog", "flags.tsv": "dog\tHund\tcases", "regex.tsv": "(dog\tHund\tregex",
        "languages.tsv": "English\tFrench\ndog\tchien", "terms.tsv": "dog\tHund",
        "page.md": "a dog", "table.csv": "id,text\n1,a dog", "a.pdf": "%PDF",
    }  # fmt: skip
    for name, text in tables.items():
        write_lines(folder / name, [text])
    with zipfile.ZipFile(
        folder / "report.docx", "w"
    ) as archive:  # as a model of another program is, too
        archive.writestr("word/document.xml", "")
    (folder / "latin.en").write_bytes("caf\xe9\n".encode("latin-1"))
    return folder
