"""Raw text in, raw text out: a model, its tokenizer and a search, in one object."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from headway.config import Config, SearchConfig
from headway.devices import resolve_device, survive_forks
from headway.errors import HeadwayError, UsageError
from headway.extension import find_switched_off, load_all, load_first
from headway.model import Transformer
from headway.text.languages import Languages, list_pairs, name_pair
from headway.text.tokenizer import Tokenizer
from headway.translation.directory import load_model
from headway.translation.engines.protocols import add_log_p
from headway.translation.masking import Masking, Terms
from headway.translation.pipeline import Pipeline
from headway.translation.requests import run_each
from headway.translation.token_search import TokenSearch
from headway.translation.translation import Translation

if TYPE_CHECKING:
    from headway.translation.direction import KnownLanguages

# Lines that are translated together, so that lines of similar length share batches.
WINDOW = 1024
Text = TypeVar("Text", str, list[str])
NO_TERMS = "needs an extension that translates terms as it says"


class Translator:
    """Translates and scores raw text; the translation of a line never depends on other lines.

    Args:
        model: In fp32; it is put into evaluation mode. Later changes of its weights may have no effect.
        tokenizer: The tokenizer that the model was trained with.
        search: Search settings of calls that give none; `default_search` holds them.
        device: auto, cpu, cuda or cuda:N.
        languages: Codes of source and target; sentence ends depend on the source language.
        pairs: All pairs of languages that a model of several was trained on: see `to`.
        directory: Model directory, which may hold a shortlist and a model card.
        others: Models that translate together with ``model``, as an ensemble; they were trained with
            the same tokenizer.
        backward: The translator of a model of the other direction, or of several, with which `translate` and `stream`
            choose among several candidates.

    Examples:
        >>> translator = Translator.load("runs/demo")
        >>> translator.translate("Has David already painted the wall?")
        'Hat David die Wand schon gestrichen?'
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        search: SearchConfig | None = None,
        device: str = "auto",
        languages: tuple[str, str] = ("en", "en"),
        directory: Path | None = None,
        others: Sequence[Transformer] = (),
        backward: "Translator | None" = None,
        pairs: Sequence[Languages] = (),
    ) -> None:
        survive_forks()
        self.default_search = search or SearchConfig()
        is_for_cpu = device == "auto" and self.default_search.precision == "int8"
        self.device = resolve_device("cpu" if is_for_cpu else device)
        self.models = [each.to(self.device).eval() for each in (model, *others)]
        self.model = self.models[0]
        self.tokenizer = tokenizer
        self.languages = languages
        self.pairs = tuple(pairs)
        self.directory = directory
        self.backward = backward
        self.glossary: Terms | None = None
        self.config: Config | None = None  # the settings of the training, if they are known
        self._stages = load_all("stages")  # of extensions
        self._masking: Masking = (load_first("masking") or Masking)()
        self.token_search = TokenSearch(self.models, tokenizer, directory)
        if len(self.pairs) == 1:
            self._choose(self.pairs[0], self.pairs[0][1])

    @classmethod
    def load(
        cls,
        path: str | Path | Sequence[str | Path],
        device: str = "auto",
        *,
        backward: str | Path | None = None,
    ) -> "Translator":
        """Read a run directory, a model directory, or a Headway model of the Hugging Face hub.

        A local directory is preferred to a model of the same name on the hub. A download is logged.
        A model of another program must be converted first:
        ``Translator.load(headway.ext.exchange.downloading.download_and_import(name))``.

        Args:
            path: A directory, or ``[hf:]ORGANIZATION/NAME[@REVISION]``. Several are an ensemble, which
                has the settings, the shortlist and the model card of the first.
            device: auto, cpu, cuda or cuda:N. Auto is the processor for a model whose precision is int8.
            backward: A model of the other direction, with which translations are chosen. Of a model of several
                languages, `to` checks that it translates back.

        Raises:
            HeadwayError: If a file is missing or damaged, the models of an ensemble differ in their
                vocabularies or languages, or the backward model has other languages; the message names it.
        """
        if isinstance(path, str | Path):
            models = [load_model(path)]
        else:
            from headway.translation.engines.ensemble import load_ensemble

            models = load_ensemble(path)
        first = models[0]
        translator = cls(
            first.transformer, first.tokenizer, first.config.search, device, first.languages,
            first.path, [model.transformer for model in models[1:]], pairs=first.pairs,
        )  # fmt: skip
        translator.config = first.config
        if backward:
            translator.backward = cls.load(backward, str(translator.device))
            translator.check_backward()
        return translator

    from_pretrained = load

    def save_pretrained(self, directory: str | Path, licence: str = "") -> None:
        """Write a model directory, which `load` reads and the Hugging Face hub can show.

        Args:
            directory: Created if it does not exist; files of an older model in it are replaced.
            licence: For the model card, such as ``cc-by-4.0``; empty: the license of the card of the
                directory that the model was read from, else unknown.

        Raises:
            HeadwayError: If this is an ensemble.
        """
        from headway.translation.saving import save_translator

        if len(self.models) > 1:
            raise HeadwayError(
                f"{directory}: an ensemble is not one model: save each of its models"
            )
        save_translator(self, Path(directory), licence)

    def with_glossary(self, glossary: Terms | None) -> "Translator":
        """Return a translator that translates terms as a glossary says, which shares the weights."""
        if isinstance(glossary, str | Mapping):
            raise HeadwayError(
                "glossary: give what headway.read_glossary(FILE) or headway.Glossary.of({TERM: TRANSLATION}) returns"
            )
        chosen = copy(self)
        chosen.glossary = glossary
        return chosen

    def to(self, target: str, source: str = "", *, zero_shot: bool = False) -> "Translator":
        """Return a translator for one pair of languages, which shares the weights.

        A model of several pairs needs this, and a model of one pair allows its own. The source of a
        translation then begins with the symbol of the target language. A text for an imported model may
        name another target language itself (``>>deu<<``).

        Args:
            target: A code of the target language, such as "fr" or "fra".
            source: A code of the source language; empty: the only one that was trained with the target.
            zero_shot: Allow a pair that the model was not trained on.

        Raises:
            HeadwayError: If the model does not translate so; the message names what it translates.

        Examples:
            >>> Translator.load("runs/several").to("fr").translate("Good morning.")
        """
        chosen = copy(self)
        chosen.token_search = copy(self.token_search)
        chosen._choose(*self.known_languages.find(target, source, zero_shot=zero_shot))
        chosen.check_backward()
        return chosen

    def list_directions(self) -> "list[Translator]":
        """Return a translator for each pair of languages; they share the weights.

        An imported model also has the pair that its files name, for texts that name their target language.
        """
        known = self.known_languages
        if known.pairs:
            return [self.to(target, source) for source, target in known.pairs]
        found: dict[Languages, Translator] = {}
        for chosen in (*map(self.to, known.symbols), self):
            found.setdefault(chosen.languages, chosen)
        return list(found.values())

    @property
    def known_languages(self) -> "KnownLanguages":
        """What the model translates, in all directions."""
        from headway.translation.direction import KnownLanguages

        return KnownLanguages(self.languages, self.pairs, self.tokenizer.target_languages)

    def _choose(self, languages: Languages, symbol: str) -> None:
        self.languages = languages
        if symbol:
            self.tokenizer = self.tokenizer.to(symbol, may_name=not self.pairs)
            self.token_search.tokenizer = self.tokenizer

    def check_direction(self) -> None:
        """Check that the target language is known.

        Raises:
            HeadwayError: If the model translates into several languages and none was chosen.
        """
        if self.pairs and not self.tokenizer.target_language:
            raise HeadwayError(
                f"this model translates {list_pairs(self.pairs)}: choose a target language, such as"
                f" {self.known_languages.example}"
            )

    def check_backward(self) -> None:
        """Check that the backward model translates back, if there is one and the direction is chosen.

        Raises:
            UsageError: If it does not.
        """
        is_chosen = self.tokenizer.target_language or not self.tokenizer.target_languages
        if self.backward is not None and is_chosen:
            self.backward.search_back(self.languages)

    def translate(
        self, text: Text, search: SearchConfig | None = None, *, glossary: Terms | None = None
    ) -> Text:
        """Translate a text or a list of texts; a blank text stays as it is.

        Args:
            text: Raw text.
            search: Search settings; None: the default.
            glossary: How terms are translated; None: that of the translator.
        """
        if glossary is not None:
            return self.with_glossary(glossary).translate(text, search)
        if isinstance(text, str):
            return self.translate([text], search)[0]
        return [found[0].text for found in self.stream(text, search)]

    def stream(
        self,
        lines: Iterable[str],
        search: SearchConfig | None = None,
        *,
        prefix: str = "",
        align: bool = False,
        quality: bool = False,
        window: int = WINDOW,
    ) -> Iterator[list[Translation]]:
        """Translate lines as they arrive, in their order.

        Args:
            lines: Raw text, without line ends.
            search: Search settings; None: the default.
            prefix: Text with which the model starts the translation of every line that has one. Tags and protected text
                before the line's sentence stay before it, and of a line in capitals it is in capitals, too.
            align: Also align the words of source and translation.
            quality: Also rate the translations, and translate again what looks broken.
            window: Lines that are translated together.

        Raises:
            HeadwayError: If quality is asked for of a model that was not calibrated.
            UsageError: If samples are asked for of a translator with a glossary.

        Yields:
            For each line its n best translations, or its n samples.
        """
        if window < 1:
            raise HeadwayError(f"window = {window}: must be at least 1")
        pipeline = self.pipeline(search, prefix=prefix, align=align, quality=quality)
        yield from run_each(map(pipeline.translate, _require_texts(lines)), window)

    @overload
    def score(self, source: str, target: str) -> float: ...
    @overload
    def score(self, source: list[str], target: list[str]) -> list[float]: ...
    def score(self, source: str | list[str], target: str | list[str]) -> float | list[float]:
        """Return the natural log-probability of a given translation, or of each of a list.

        It is that of the texts as they are written, in fp32 and over the whole vocabulary. A search reports the same
        of what it finds, but reads capitals, placeholders and terms in another form, may divide a line, and may
        spell a text with other tokens.

        Raises:
            HeadwayError: If the lists differ in length, or only one argument is a list.
        """
        from headway.text.words import simplify_breaks

        if isinstance(source, str) and isinstance(target, str):
            return self.score([source], [target])[0]
        if isinstance(source, str) or isinstance(target, str):
            raise HeadwayError("score: source and target must both be texts, or both lists")
        self.check_direction()
        if len(source) != len(target):
            raise HeadwayError(f"score: {len(source)} sources, but {len(target)} targets")
        return self.score_tokens(
            self.tokenizer.encode_source([simplify_breaks(text.strip()) for text in source]),
            self.tokenizer.encode_target([text.strip() for text in target]),
        )

    def score_tokens(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> list[float]:
        """Return the natural log-probability of each target given its source.

        Args:
            sources: Source token ids, ``</s>`` last.
            targets: Target token ids, ``</s>`` last.
        """
        from headway.translation.given_translations import read_targets

        measures = [add_log_p] * len(sources)
        return read_targets(
            self.token_search, sources, targets, self.default_search, measures, is_exact=True
        )

    def choose_backward(self, search: SearchConfig) -> TokenSearch | None:
        """Return what chooses by translating back: the backward model, this model itself, or nothing.

        Raises:
            HeadwayError: If ``round_trip`` is asked for and this model does not translate back, or its
                target language is not known.
        """
        if self.backward is None and not search.round_trip:
            return None
        self.check_direction()
        if self.backward is not None:
            return self.backward.search_back(self.languages)
        if self.languages[::-1] not in self.pairs:
            raise UsageError(
                f"search.round_trip: this model does not translate {name_pair(self.languages[::-1])}: train it on both"
                " directions, or give a backward model"
            )
        return self.search_back(self.languages)

    def search_back(self, languages: Languages) -> TokenSearch:
        """Return the search of this model for the other direction than that of some languages.

        Raises:
            UsageError: If the model does not translate so.
        """
        source, target = languages
        known = self.pairs or [self.languages]
        if (target, source) not in known:
            raise UsageError(
                f"{self.directory}: translates {list_pairs(known)}: a backward model must translate from {target} to"
                f" {source}"
            )
        return (self.to(source, target) if self.pairs else self).token_search

    def prepare(self, search: SearchConfig) -> bool:
        """Make the engines for a search; return whether all can run several batches at once."""
        engines = [self.token_search.prepare(search)]
        if (backward := self.choose_backward(search)) is not None:
            engines.append(backward.engine(search.precision))
        return all(engine.is_parallel for engine in engines)

    def pipeline(
        self,
        search: SearchConfig | None = None,
        *,
        prefix: str = "",
        align: bool = False,
        quality: bool = False,
    ) -> Pipeline:
        """Return how lines are translated, for a driver of one's own; see `stream`, which has the same arguments.

        Raises:
            HeadwayError: If the target language is not known, or quality is asked for of a model without it.
            UsageError: If samples are asked for of a translator with a glossary, or both ways to choose.
        """
        self.check_direction()
        search = search or self.default_search
        if not isinstance(search, SearchConfig):
            raise HeadwayError(
                f"search is of type {type(search).__name__}: give a headway.SearchConfig; a glossary is another argument"
            )
        if search.split_sentences == "auto":
            search = replace(search, split_sentences=self.default_search.split_sentences)
        if self.glossary is not None and not self._masking.follows_terms:
            raise UsageError(f"a glossary {find_switched_off('names', 'Glossary') or NO_TERMS}")
        if self.glossary is not None and search.sample:
            raise UsageError("search.sample: samples cannot follow a glossary; drop one of them")
        rater = None
        if quality:
            model, module = self.quality_model, cast("Any", load_first("quality"))
            rater = module.Rater(model, self._masking, self.token_search, self.languages)
        longest = max(1, min(search.max_tokens, self.token_search.max_positions - search.max_extra))
        backward = self.choose_backward(search)
        if search.mbr and backward is not None:
            raise UsageError("search.mbr and a backward model both choose: use one of them")
        return Pipeline(
            self.token_search, self.languages, search, self._masking, longest, self.glossary,
            backward, rater, self._stages, align, prefix,
        )  # fmt: skip

    @cached_property
    def quality_model(self) -> Any:
        """What says how good translations are; see `headway.extension.Extension.quality`.

        Raises:
            HeadwayError: If the model has nothing that says it; the message says how to make it.
        """
        module = load_first("quality")
        if module is None or self.directory is None:
            why = (
                "was not read from a directory" if module else "is used without an extension for it"
            )
            raise HeadwayError(
                f"quality: this model {why}: nothing says how good its translations are"
            )
        return module.load(self.directory)


def _require_texts(lines: Iterable[str]) -> Iterator[str]:
    """Yield texts, and refuse whatever else is among them."""
    if isinstance(lines, str):  # which would be taken apart into characters
        raise HeadwayError("a text is given in the place of several: give a list of texts")
    if isinstance(lines, bytes) or not isinstance(lines, Iterable):
        raise HeadwayError(f"a text is of type {type(lines).__name__}: give a string, or several")
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise HeadwayError(f"text {number} is of type {type(line).__name__}: give strings")
        yield line
