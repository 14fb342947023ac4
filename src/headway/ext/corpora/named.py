"""Corpora by name: public corpora, fetched once into Headway's cache as plain text.

* ``hf:ORGANISATION/NAME[@REVISION][:CONFIG][:SPLIT]``: a data set of the Hugging Face hub;
* ``mtdata:DATASET_ID`` or ``mtdata:RECIPE[:PART]``: a data set or recipe of the command ``mtdata``;
* ``sacrebleu:TESTSET``: a test set of sacreBLEU.

`local_files` replaces names by files, and the rest of Headway reads files only. In the cache a corpus
is a directory with one text file for each side and a manifest with their sha256. The directory
appears whole or not at all. If its files differ from the manifest, the corpus is fetched again.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from headway.errors import HeadwayError
from headway.ext.corpora import fetching
from headway.ext.corpora.fetching import IDENTITY
from headway.files import cache_directory, hash_file, remove, write_atomically
from headway.locks import lock_file
from headway.text import Languages, Manifest

FORMAT = 1
MANIFEST = "manifest.json"
# Which split or part an option means if the name does not say.
SPLITS = {"train": "train", "valid": "validation", "test": "test"}  # of data sets on the hub
PARTS = {"train": "train", "valid": "dev", "test": "test"}  # of mtdata's recipes

_NAME = re.compile(r"(hf|mtdata|sacrebleu):.+", re.DOTALL)
# Anything else is a configuration.
_SPLIT = re.compile(r"(train|validation|valid|dev|test)([\[+].*)?")

Notify = Callable[[str], None]


def local_files(
    words: Sequence[str], languages: Languages | None, place: str, notify: Notify
) -> list[str]:
    """Return the files to read for the words of an option: names become two files.

    Args:
        words: Files, or names of corpora, which are joined in this order.
        languages: Codes of source and target, which names need.
        place: The option: train, valid or test.
        notify: Called with a message before a fetch.

    Raises:
        HeadwayError: If a corpus cannot be fetched, or there are both names and files.
    """
    names = [word for word in words if _NAME.fullmatch(word) and not Path(word).exists()]
    if not names:
        return list(words)
    if len(names) < len(words):
        file = next(word for word in words if word not in names)
        raise HeadwayError(f"{names[0]} {file}: give names of corpora or files, not both")
    if languages is None:
        raise HeadwayError(f"{names[0]}: a corpus by name needs --languages SOURCE TARGET")
    directory = _fetch_once([_complete_name(name, place) for name in names], languages, notify)
    return [str(file) for file in _files(directory, languages)]


def list_origins(paths: Iterable[str | Path]) -> list[Manifest]:
    """Return the manifests of the files that were fetched by name, each manifest once.

    A manifest has the name, the languages, the program that fetched the corpus, its revision if it is
    known, and the sha256 and number of lines of each file.
    """
    directories = dict.fromkeys(Path(path).parent for path in paths)
    found = [_manifest(path) for path in directories if path.parent == _cache()]
    return [manifest for manifest in found if manifest]


def _cache() -> Path:
    return cache_directory() / "corpora"


def _files(directory: Path, languages: Languages) -> tuple[Path, Path]:
    return directory / f"source.{languages[0]}", directory / f"target.{languages[1]}"


def _complete_name(name: str, place: str) -> str:
    """Return a name with its split or part; a name without one gets that of its option."""
    kind, whole = name.split(":", 1)
    first, _, rest = whole.partition(":")
    if kind == "hf":
        config, _, split = ("", "", rest) if _SPLIT.fullmatch(rest) else rest.partition(":")
        return f"hf:{first}:{config}:{split or SPLITS[place]}"
    if kind == "mtdata" and not IDENTITY.fullmatch(whole):
        return f"mtdata:{first}:{rest or PARTS[place]}"
    return name


def _fetch_once(names: Sequence[str], languages: Languages, notify: Notify) -> Path:
    """Return the directory of a corpus, or of several joined; fetch it unless it is in the cache."""
    name = " + ".join(names)
    digest = hashlib.sha256(json.dumps([FORMAT, list(names), languages]).encode()).hexdigest()
    slug = re.sub(r"[^\w.]+", "-", names[0])[:60]
    out = _cache() / f"{slug}-{digest[:16]}"
    if _is_whole(out, languages):
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(out.with_name(f"{out.name}.lock"), wait=True):
        if _is_whole(out, languages):  # another process has fetched it meanwhile
            return out
        again = ": its copy in the cache is damaged" if out.exists() else ""
        notify(f"{name}{again}: fetching it into {out}")
        with write_atomically(out) as temporary:
            temporary.mkdir()
            origin = _fetch(names, languages, temporary, notify)
            _write_manifest(temporary, name, languages, origin)
            remove(out)
    return out


def _fetch(names: Sequence[str], languages: Languages, out: Path, notify: Notify) -> Manifest:
    """Write the two files of a corpus, and return the origin for its manifest."""
    files = _files(out, languages)
    if len(names) == 1:
        kind, rest = names[0].split(":", 1)
        if kind == "hf":
            return fetching.from_hub(rest, languages, files)
        if kind == "sacrebleu":
            return fetching.from_sacrebleu(rest, languages, files)
        if IDENTITY.fullmatch(rest):
            return fetching.from_mtdata(rest, languages, files)
        names = [f"mtdata:{identity}" for identity in fetching.recipe(*rest.split(":", 1))]
    # Each part is also cached by itself, so that an interrupted fetch continues after the last part.
    parts = [_fetch_once([name], languages, notify) for name in names]
    for side, file in enumerate(files):
        with file.open("wb") as written:
            for part in parts:
                with _files(part, languages)[side].open("rb") as read:
                    shutil.copyfileobj(read, written)
    return {"parts": list_origins(part / MANIFEST for part in parts)}


def _write_manifest(directory: Path, name: str, languages: Languages, origin: Manifest) -> None:
    files = {file.name: _describe(file) for file in _files(directory, languages)}
    counts = [file["lines"] for file in files.values()]
    if counts[0] != counts[1] or not counts[0]:
        raise HeadwayError(
            f"{name}: has {counts[0]} lines in {languages[0]} and {counts[1]} in {languages[1]};"
            " both sides must have the same number of lines, and at least one"
        )
    manifest: Manifest = {
        "format": FORMAT, "name": name, "languages": languages, **origin, "files": files,
    }  # fmt: skip
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (directory / MANIFEST).write_text(text, encoding="utf-8")


def _describe(file: Path) -> dict[str, str | int]:
    """Return the sha256 of a file and its number of lines."""
    with file.open("rb") as read:
        lines = sum(1 for _ in read)
    return {"sha256": hash_file(file), "lines": lines}


def _manifest(directory: Path) -> Manifest | None:
    try:
        values = json.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return cast("Manifest", values) if isinstance(values, dict) else None


def _is_whole(directory: Path, languages: Languages) -> bool:
    """Return whether the files exist and match the manifest."""
    try:
        found = {file.name: _describe(file) for file in _files(directory, languages)}
    except OSError:
        return False
    return (_manifest(directory) or {}).get("files") == found
