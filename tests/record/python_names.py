"""What a program gets that imports the names of ``headway.__all__``."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from side import Side, scrub, write_tree
from texts import GLOSSARY, plain, write_lines

SCRIPT = Path(__file__).with_name("ask_names.py")


def record(side: Side, model: Path, out: Path) -> None:
    """Write what the script prints, and the files that it leaves."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        text = write_lines(folder / "lines.en", plain(model, 200))
        (folder / "terms.tsv").write_text(GLOSSARY, encoding="utf-8")
        answer = side.python(
            SCRIPT.read_text("utf-8"), model, model.with_name("both"), text, "terms.tsv", ".", cwd=folder,
        )  # fmt: skip
        (out / "answers.jsonl").write_bytes(answer.out)
        last = scrub(answer.err.decode()).splitlines()[-1:]  # of a traceback, the error itself
        write_lines(out / "errors.txt", [*last, f"exit {answer.code}"])
        for made in ("saved", "bpe", "apart"):
            write_tree(out / f"{made}.txt", folder / made)
        shutil.copyfile(folder / "table.de.csv", out / "table.de.csv")
