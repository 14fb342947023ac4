"""The models a server speaks with, and the ways from one language to another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import SearchConfig, merge_overrides
from headway.errors import HeadwayError
from headway.inference import Translator, load_model
from headway.serving.languages import Detector, plain
from headway.serving.refusal import Refusal
from headway.text.languages import name_of

Stamp = tuple[tuple[str, int, int], ...]


class Models:
    """Translators by direction; never changed, only replaced by another.

    Args:
        translators: One for each direction.
        pivot: Code of the language that joins two others; empty: none.

    Raises:
        HeadwayError: If two have the same direction, or none speaks the pivot.
    """

    def __init__(self, translators: Sequence[Translator], pivot: str = "") -> None:
        self.pairs: dict[tuple[str, str], Translator] = {}
        for translator in translators:
            if translator.languages in self.pairs:
                other = self.pairs[translator.languages].directory
                source, target = translator.languages
                raise HeadwayError(
                    f"{translator.directory}: translates {source} to {target}, as {other} does"
                )
            self.pairs[translator.languages] = translator
        self.codes = list(dict.fromkeys(code for pair in self.pairs for code in pair))
        if pivot and pivot not in self.codes:
            raise HeadwayError(
                f"--pivot {pivot}: no model speaks it; there are {', '.join(self.codes)}"
            )
        self.pivot = pivot
        self._codes = {plain(code): code for code in self.codes}
        self.detector = Detector(self.codes)

    def route(self, source: str, target: str) -> list[Translator] | None:
        """Return the translators to go through, none if the languages are one; None: no way."""
        if source == target:
            return []
        if (source, target) in self.pairs:
            return [self.pairs[source, target]]
        first, second = (
            self.pairs.get((source, self.pivot)),
            self.pairs.get((self.pivot, target)),
        )
        return [first, second] if first and second else None

    def targets(self, source: str) -> list[str]:
        """Return the codes that a language can be translated into, itself included."""
        return [code for code in self.codes if self.route(source, code) is not None]

    def served(self, code: str) -> str:
        """Return the code, as the models write it, of a language that a client asks for.

        Raises:
            Refusal: If it is not served.
        """
        found = self._codes.get(plain(code))
        if found is None:
            raise Refusal(400, f"{code[:20]} is not supported")
        return found

    def ways(self, source: str, target: str) -> list[Translator]:
        """`route`, for what a client asks.

        Raises:
            Refusal: Naming the direction that is not served.
        """
        found = self.route(source, target)
        if found is None:
            raise Refusal(
                400,
                f"{name_of(target)} ({target}) is not available as a target language"
                f" from {name_of(source)} ({source})",
            )
        return found

    @property
    def threads(self) -> bool:
        """Whether all engines let several batches run at once."""
        return all(
            t.token_search.engine(t.search.precision).is_parallel for t in self.pairs.values()
        )


def load_models(
    paths: Sequence[str | Path],
    pivot: str = "",
    device: str = "auto",
    overrides: Mapping[str, str] | None = None,
) -> Models:
    """Read model directories and make their engines.

    Args:
        paths: Run or model directories.
        pivot: See `Models`.
        device: auto, cpu, cuda or cuda:N.
        overrides: ``{"search.beam": "2"}``, instead of the models' own settings.

    Raises:
        HeadwayError: Naming the directory or file that is missing or damaged, or a package.
    """
    found = []
    for path in paths:
        for _ in range(3):
            before = stamp([path])
            model = load_model(path)
            if stamp([path]) == before:  # else it was replaced while it was read: read it again
                break
        search = merge_overrides(model.config, overrides or {}).search
        translator = Translator(
            model.transformer,
            model.tokenizer,
            server_search(search),
            device,
            model.languages,
            model.path,
        )
        # Weights are packed and the first memory taken before a client waits.
        translator.translate("1", replace(translator.search, max_extra=20))
        found.append(translator)
    models = Models(found, pivot)
    models.detector.rank("a")  # reads its tables
    return models


def server_search(search: SearchConfig) -> SearchConfig:
    """Return the settings a request starts from: a search for one translation, never a sample."""
    return replace(search, n_best=1, sample=False)


def stamp(paths: Sequence[str | Path]) -> Stamp:
    """Return what changes when a model's files do: their names, sizes and times."""
    found = []
    for path in paths:
        for name in ("config.json", "model.safetensors", "tokenizer.model", "source.model"):
            try:
                status = (Path(path) / name).stat()
            except OSError:
                continue
            found.append((f"{path}/{name}", status.st_size, status.st_mtime_ns))
    return tuple(found)
