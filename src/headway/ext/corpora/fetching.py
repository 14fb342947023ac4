"""Fetching a corpus by name: one function for each source, which writes one file for each side.

The programs of the sources do the work: `datasets`, mtdata and sacreBLEU. `headway.ext.corpora.named` keeps
the result.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from headway.errors import HeadwayError, require_packages, suggest
from headway.text import Languages, Manifest, one_line

Files = tuple[Path, Path]

IDENTITY = re.compile(r"[^-:]+(-[^-:]+){4}")  # of mtdata: group, name, version, two languages
_COMMIT = re.compile(r"@([0-9a-f]{40})/")


def from_hub(name: str, languages: Languages, files: Files) -> Manifest:
    """Write a split of a data set of the Hugging Face hub.

    Args:
        name: ``ORGANISATION/NAME[@REVISION]:CONFIG:SPLIT``; CONFIG may be empty.
        languages: Codes of source and target: the names of columns, or of the fields of the column
            ``translation``. Without them, the columns ``source`` and ``target`` are taken.
        files: The files to write, source and target.

    Returns:
        The origin: the program, and the commit if ``datasets`` reports it.

    Raises:
        HeadwayError: If ``datasets`` is missing or cannot load the data set, or it has other columns.
    """
    where, config, split = name.split(":", 2)
    path, _, revision = where.partition("@")
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", path):
        raise HeadwayError(
            f"hf:{name}: must be hf:ORGANISATION/NAME; to read files, give their names without hf:"
        )
    if Path(path).exists():  # datasets would read a local directory, which may change later
        raise HeadwayError(
            f"hf:{name}: there is a local directory {path}, which datasets would read in place of the"
            " hub's: give the names of its files, or run this in another directory"
        )
    require_packages("datasets")
    import datasets

    try:
        found = datasets.load_dataset(path, config or None, split=split, revision=revision or None)
    except Exception as error:  # from many libraries: no network, no such name, no such split
        raise HeadwayError(f"hf:{name}: datasets failed: {_first_line(error)}") from None
    source, target = (file.open("w", encoding="utf-8", newline="\n") for file in files)
    with source, target:
        for number, row in enumerate(found, 1):
            sides = _sides(row, languages, f"hf:{name}: row {number}")
            source.write(one_line(sides[0]) + "\n")
            target.write(one_line(sides[1]) + "\n")
    # The addresses of the downloaded files contain the commit.
    addresses: Iterable[str] = getattr(found, "download_checksums", None) or ()
    commits = [match[1] for match in map(_COMMIT.search, addresses) if match]
    revision = commits[0] if commits else revision
    return {"program": f"datasets {datasets.__version__}", "revision": revision or None}


def _sides(row: Mapping[str, object], languages: Languages, where: str) -> tuple[str, str]:
    """Return the two texts of a row; a missing text is empty, and cleaning drops the pair."""
    inner = row.get("translation")
    columns = inner if isinstance(inner, Mapping) else row
    for names in (languages, ("source", "target")):
        if all(name in columns for name in names):
            source, target = ("" if columns[name] is None else columns[name] for name in names)
            if isinstance(source, str) and isinstance(target, str):
                return source, target
            raise HeadwayError(f"{where}: {' and '.join(names)} are not both text")
    raise HeadwayError(
        f"{where}: no columns {' and '.join(languages)}, nor source and target; there are"
        f" {', '.join(columns)}"
    )


def from_sacrebleu(test_set: str, languages: Languages, files: Files) -> Manifest:
    """Write a test set of sacreBLEU: its source, and the first of its references.

    sacreBLEU checks the md5 of its downloads and keeps them in a cache of its own.

    Args:
        test_set: The name of the test set, such as ``wmt14/full``.
        languages: Codes of source and target.
        files: The files to write, source and target.

    Returns:
        The origin: the program, and the number of references.

    Raises:
        HeadwayError: If there is no such test set or language pair, or it cannot be downloaded.
    """
    import sacrebleu

    name, pair = f"sacrebleu:{test_set}", "-".join(languages)
    known = sacrebleu.get_available_testsets()
    if test_set not in known:
        raise HeadwayError(f"{name}: no such test set{suggest(test_set, known)}")
    pairs = sacrebleu.get_langpairs_for_testset(test_set)
    if pair not in pairs:
        raise HeadwayError(f"{name}: not for {pair}; there are {', '.join(sorted(pairs))}")
    try:
        source = sacrebleu.get_source_file(test_set, pair)
        references = sacrebleu.get_reference_files(test_set, pair)
    except (Exception, SystemExit) as error:  # sacreBLEU exits if a checksum is wrong
        kept = Path(sacrebleu.SACREBLEU_DIR) / test_set
        raise HeadwayError(
            f"{name}: sacrebleu failed: {_first_line(error)}; if {kept} is damaged, remove it"
        ) from None
    shutil.copyfile(source, files[0])
    shutil.copyfile(references[0], files[1])
    program = f"sacrebleu {sacrebleu.__version__}"
    return {"program": program, "revision": None, "references": len(references)}


def from_mtdata(identity: str, languages: Languages, files: Files) -> Manifest:
    """Write a data set of mtdata.

    Args:
        identity: The name of the data set, such as ``Statmt-europarl-10-deu-eng``.
        languages: Codes of source and target, which mtdata compares with those of the data set.
        files: The files to write, source and target.

    Returns:
        The origin: the program.

    Raises:
        HeadwayError: If mtdata is missing or fails.
    """
    made = files[0].parent / "mtdata"
    pair = "-".join(code.replace("-", "_") for code in languages)
    _mtdata(identity, "get", "-l", pair, "--train", identity, "--merge", "--out", str(made))
    # The signature has mtdata's codes of the languages, in the order asked for, and its version.
    about = made / "mtdata.signature.txt"
    signature = about.read_text("utf-8", "replace") if about.is_file() else ""
    codes = re.search(r"-l (\w+)-(\w+)", signature)
    sides = [made / f"train.{code}" for code in codes.groups()] if codes else []
    if not sides or not all(side.is_file() for side in sides):
        raise HeadwayError(f"mtdata:{identity}: mtdata reported success, but wrote no two texts")
    for side, file in zip(sides, files, strict=True):
        side.replace(file)
    shutil.rmtree(made)
    version = re.search(r"mtdata version (\S+)", signature)
    return {"program": f"mtdata {version[1] if version else '?'}", "revision": None}


def recipe(name: str, part: str = "") -> list[str]:
    """Return the identities of the data sets that one of mtdata's recipes names.

    Args:
        name: Of the recipe, such as ``vaswani_etal_2017_ende``.
        part: train, dev or test; empty: the name stood in a recipe, which may name no other one.

    Raises:
        HeadwayError: If mtdata is missing, or there is no such recipe or part.
    """
    recipes: dict[str, dict[str, list[str]]] = {}
    for line in _mtdata(f"{name}:{part}", "list-recipe", "-f", "json").splitlines():
        if line.startswith("{"):
            values = json.loads(line)
            recipes[values["id"]] = values
    if name not in recipes:
        raise HeadwayError(
            f"mtdata:{name}: neither a data set (GROUP-NAME-VERSION-LANGUAGE-LANGUAGE) nor a"
            f" recipe{suggest(name, recipes)}"
        )
    parts = {key: recipes[name][key] for key in ("train", "dev", "test") if recipes[name].get(key)}
    if part not in parts:
        raise HeadwayError(f"mtdata:{name}:{part}: no such part; there are {', '.join(parts)}")
    return list(parts[part])


def _mtdata(name: str, *words: str) -> str:
    """Run the command mtdata, which may be beside this Python, and return its output."""
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    command = shutil.which("mtdata", path=places)
    if command is None:
        raise HeadwayError(
            f"mtdata:{name} needs the command mtdata: pipx install mtdata, or pip in an"
            " environment of its own"
        )
    done = subprocess.run(
        [command, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False,
        text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise HeadwayError(f"mtdata:{name}: mtdata failed: {lines[-1].strip()}")
    return done.stdout


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the name of its class."""
    lines = (line.strip() for line in str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)
