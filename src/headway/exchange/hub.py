"""Other programs' models on the Hugging Face hub: imported once, into Headway's cache."""

from pathlib import Path

from headway.errors import HeadwayError
from headway.exchange.importing import import_model
from headway.exchange.weights_file import read_object
from headway.files import cache_directory
from headway.inference import hub

FORMAT = 1  # of the cached imports; another number, another name


def find_any(word: str | Path, say: hub.Say = hub.warn) -> Path:
    """Return a directory of a Headway model, for whatever the word names.

    What `headway.inference.hub.find_model` finds, and besides Marian and CTranslate2 models of the hub,
    which it refuses: they become Headway's, once for each commit, under ``models/`` in the cache.

    Args:
        word: A path, or ``[hf:]ORGANISATION/NAME[@REVISION]``.
        say: Told which model of the hub it is.

    Raises:
        HeadwayError: If there is neither, or nothing that can be imported.
    """
    if Path(word).is_dir():
        return Path(word)
    settings = hub.find_settings(word, say)
    if hub.is_headways(settings):
        return hub.add_weights(word, settings, hub.WEIGHTS)
    name = called(word)
    out = cache_directory() / "models" / f"{name.replace('/', '--')}-{settings.name[:16]}-{FORMAT}"
    if not out.is_dir():
        try:
            import_model(download(word, settings), out, name=name)
        except (HeadwayError, OSError):
            if not out.is_dir():  # else another process has made the same meanwhile
                raise
    return out


def download(word: str | Path, settings: Path) -> Path:
    """Return the hub's snapshot of another program's model, with its weights.

    Args:
        word: A name, of which there is no directory.
        settings: What `hub.find_settings` found.

    Raises:
        HeadwayError: If it is no model that can be imported, or has weights as a pickle only.
    """
    known = read_object(settings / "config.json", missing=True)
    kind = known.get("model_type")
    if kind is None and any(settings.glob("*_vocabulary.*")):
        weights = "model.bin"  # CTranslate2's own format
    elif kind == "marian":
        weights = "model.safetensors"
    else:
        raise HeadwayError(
            f"{word}: no model that can be imported"
            + (f" (model_type {str(kind)[:40]!r})" if kind else "")
            + "; Marian's, CTranslate2's and Headway's own can"
        )
    found = hub.add_weights(word, settings, (weights,))
    if not (found / weights).is_file():
        raise HeadwayError(
            f"{word}: no {weights} there; pickled weights (pytorch_model.bin) are not downloaded:"
            " save it with transformers, which writes safetensors, and headway import that"
        )
    return found


def called(word: str | Path) -> str:
    """Return what a name says without its prefix and revision."""
    match = hub.NAME.fullmatch(str(word))
    return match[2] if match else str(word)
