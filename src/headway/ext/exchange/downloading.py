"""Models that are no directories of Headway's own, on disk or on the Hugging Face hub: imported once, into Headway's cache."""

import hashlib
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.exchange.hub import (
    Notify,
    download_settings,
    download_weights,
    log_notice,
    parse_name,
)
from headway.ext.exchange.recognizing import is_foreign, recognize_format, require_format
from headway.files import cache_directory, hash_file

__all__ = ["download_and_import", "download_settings", "download_weights", "fetch", "is_foreign"]

CACHE_VERSION = 2  # part of the name of a cached import; increase it if imports change


def download_and_import(word: str | Path, notify: Notify = log_notice) -> Path:
    """Return a directory of a Headway model for a path or a name, whoever made the model.

    Marian, CTranslate2 and Argos models are imported once, under ``models/`` in the cache. A model of the
    hub is imported again when its commit changes; a model on disk, when its path or a file changes.

    Args:
        word: A path, or ``[hf:]ORGANIZATION/NAME[@REVISION]``.
        notify: Called with a line that names the model of the hub, or the directory of an import.

    Raises:
        HeadwayError: If there is no such path or model, or the model cannot be imported.
    """
    path = Path(word)
    if path.exists() and is_foreign(path):
        require_format(path)  # reports what cannot be imported before the files are hashed
        name = path.resolve().name
        out = _import_directory(name, _hash_files(path))
        if not out.is_dir():
            _import(path, out, name)
        notify(f"{word}: a model of another program, imported to {out}")
        return out
    if path.is_dir():
        return path
    name, _ = parse_name(word)
    settings = download_settings(word, notify)
    if recognize_format(settings) == "headway":
        return download_weights(word, settings)
    out = _import_directory(name, settings.name)
    if not out.is_dir():
        _import(download_weights(word, settings), out, name)
    return out


fetch = download_and_import  # see `headway.hooks`


def _import_directory(name: str, version: str) -> Path:
    """Return the directory in the cache for a version of a model."""
    folder = f"{name.replace('/', '--')}-{version[:16]}-{CACHE_VERSION}"
    return cache_directory() / "models" / folder


def _import(path: Path, out: Path, name: str) -> None:
    """Import a model, which another process may import to the same directory meanwhile."""
    from headway.ext.exchange.importing import (
        import_model,  # torch, which a mistyped path need not load
    )

    try:
        import_model(path, out, name=name)
    except (HeadwayError, OSError):
        if not out.is_dir():
            raise


def _hash_files(path: Path) -> str:
    """Return a hash of a model's path and files."""
    digest = hashlib.sha256(bytes(path.resolve()))
    files = [path]
    if path.is_dir():
        # An Argos package has its weights in model/; a CTranslate2 directory may have its subwords beside it.
        patterns = ("*", "model/*", "../*.model", "../*.spm")
        files = sorted({file for pattern in patterns for file in path.glob(pattern)})
    for file in files:
        if file.is_file():
            digest.update(bytes(file) + bytes.fromhex(hash_file(file)))
    return digest.hexdigest()
