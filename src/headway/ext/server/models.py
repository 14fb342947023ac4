"""The models of a server, and the routes from one language to another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from headway.config import merge_overrides
from headway.errors import HeadwayError, UsageError
from headway.ext.server.quality import load_quality
from headway.ext.server.rejection import Rejection
from headway.ext.server.served_languages import LanguageDetector
from headway.files import hash_file
from headway.text import NAMES, find_code, name_of
from headway.translation import Translator, load_model

# The files of a model that a translation depends on.
FILES = (
    "config.json", "model.safetensors", "tokenizer.model", "source.model", "target.model",
    "shortlist.safetensors", "quality.json", "stand_ins.json",
)  # fmt: skip
OLD_CODES = ("pb", "zt")  # of LibreTranslate
FileVersions = tuple[tuple[str, int, int], ...]


class Models:
    """Translators by direction. A reload makes a new object, so that a request sees one state.

    Args:
        translators: One for each direction.
        pivot: Code of the language that joins two directions; empty: none.

    Raises:
        HeadwayError: If two models have the same direction, or no model knows the pivot.
    """

    def __init__(self, translators: Sequence[Translator], pivot: str = "") -> None:
        self.pairs: dict[tuple[str, str], Translator] = {}
        for translator in translators:
            if translator.languages in self.pairs:
                other = self.pairs[translator.languages].directory
                source, target = translator.languages
                raise HeadwayError(
                    f"{translator.directory}: translates {source} to {target}, as {other} does:"
                    " give one model for each direction"
                )
            self.pairs[translator.languages] = translator
        places = {translator.directory for translator in translators}
        versions = {directory: _version(directory) for directory in places}
        self.versions = {pair: versions[t.directory] for pair, t in self.pairs.items()}
        self.codes = list(dict.fromkeys(code for pair in self.pairs for code in pair))
        if pivot and pivot not in self.codes:
            known = ", ".join(self.codes)
            raise HeadwayError(
                f"--pivot {pivot}: no model translates this language; there are {known}"
            )
        self.pivot = pivot
        self.detector = LanguageDetector(self.codes)

    def find_route(self, source: str, target: str) -> list[Translator] | None:
        """Return the models from source to target: none if they are equal; None: no route."""
        if source == target:
            return []
        if (source, target) in self.pairs:
            return [self.pairs[source, target]]
        first = self.pairs.get((source, self.pivot))
        second = self.pairs.get((self.pivot, target))
        return [first, second] if first and second else None

    def targets(self, source: str) -> list[str]:
        """Return the codes that a language can be translated into, itself included."""
        return [code for code in self.codes if self.find_route(source, code) is not None]

    @cached_property
    def aliases(self) -> dict[str, list[str]]:
        """For each code, the other ones by which clients may name the language."""
        found: dict[str, list[str]] = {code: [] for code in self.codes}
        for name in (*NAMES, *OLD_CODES):
            code = find_code(name, self.codes)
            if code is not None and code != name:
                found[code].append(name)
        return found

    def served_code(self, code: str, field: str) -> str:
        """Return the code that the models use for a language that a client names in a field.

        Raises:
            Rejection: 400 if the language is not served; the message begins as LibreTranslate's.
        """
        found = find_code(code, self.codes)
        if found is None:
            known = ", ".join(self.codes)
            raise Rejection(400, f"{code[:20]} is not supported: {field} must be one of {known}")
        return found

    def require_route(self, source: str, target: str) -> list[Translator]:
        """Return the models from source to target.

        Raises:
            Rejection: 400 if there is no route; the message names the direction.
        """
        found = self.find_route(source, target)
        if found is None:
            raise Rejection(
                400,
                f"{name_of(target)} ({target}) is not available as a target language"
                f" from {name_of(source)} ({source})",
            )
        return found

    @property
    def is_parallel(self) -> bool:
        """Whether all engines can run several batches at once."""
        return all(each.prepare(each.default_search) for each in self.pairs.values())


def load_models(
    paths: Sequence[str | Path],
    pivot: str = "",
    device: str = "auto",
    overrides: Mapping[str, str] | None = None,
    backward: str | Path | None = None,
) -> Models:
    """Read model directories and make their engines.

    Args:
        paths: Run or model directories.
        pivot: As for `Models`.
        device: auto, cpu, cuda or cuda:N.
        overrides: ``{"search.beam": "2"}``: search settings instead of the models' own.
        backward: A model with which the translations of the models of the other direction are chosen; None: there is none.

    Raises:
        HeadwayError: If a file or package is missing or damaged, or no model has the other direction of the backward
            model; the message names it.
    """
    translators: list[Translator] = []
    for path in paths:
        for _ in range(3):
            before = file_versions([path])
            model = load_model(path)
            if file_versions([path]) == before:
                break  # otherwise the model was replaced while it was read
        search = merge_overrides(model.config, overrides or {}).search
        # A request starts from one translation, and never samples.
        search = replace(search, n_best=1, sample=False)
        translator = Translator(
            model.transformer, model.tokenizer, search, device, model.languages, model.path,
            pairs=model.pairs,
        )  # fmt: skip
        load_quality(translator)
        directions = translator.list_directions()
        # The first translation packs the weights, may compile native code, and finds what an imported model
        # reads in the place of a placeholder: none of them must delay a client. The text has a word, because
        # others are not translated.
        list(directions[0].stream(["a {name}"], replace(search, max_extra=20), align=True))
        translators += directions
    if backward is not None:
        _add_backward(translators, backward)
    return Models(translators, pivot)


def _add_backward(translators: Sequence[Translator], path: str | Path) -> None:
    """Give a backward model to each model that translates in the other direction, so that it helps to choose."""
    backward = Translator.load(path, str(translators[0].device))
    reversed_pairs = {languages[::-1] for languages in backward.pairs or [backward.languages]}
    fitting = [each for each in translators if each.languages in reversed_pairs]
    if not fitting:
        raise UsageError(f"--backward {path}: no model translates the other way round")
    for translator in fitting:
        translator.backward = backward
        list(translator.stream(["a"], replace(translator.default_search, max_extra=20)))


def _version(directory: Path | None) -> str:
    """Return the first digits of the SHA-256 of a model's weights; empty without a file."""
    weights = directory / "model.safetensors" if directory is not None else None
    return hash_file(weights)[:12] if weights is not None and weights.is_file() else ""


def file_versions(paths: Sequence[str | Path]) -> FileVersions:
    """Return the names, sizes and times of models' files, which change when a model does."""
    found = []
    for path in paths:
        for name in FILES:
            try:
                status = (Path(path) / name).stat()
            except OSError:
                continue
            found.append((f"{path}/{name}", status.st_size, status.st_mtime_ns))
    return tuple(found)
