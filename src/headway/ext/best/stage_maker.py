"""Stages as ``headway`` commands: how a training, a translation and a scoring are written, and about how long they take."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.config import Config, SearchConfig
from headway.ext.bench import search_flop, training_flop
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe_numbers import Scale, Settings
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_text import PairFiles, TextFacts
from headway.ext.best.stage import InstalledModel, JoinedText, Stage, Words, list_options

SEEDS_APART = 1000  # between models of a recipe, so that recipes of neighboring seeds share none
SCHEDULE = ("max_steps", "warmup_steps", "cool_steps", "validate_every", "checkpoint_every")
PLAN = "plan"  # the folder of the plan and of the prepared text


@dataclass(frozen=True, kw_only=True)
class StageMaker:
    """Makes the stages of a recipe in one directory.

    Attributes:
        out: The directory.
        options: What the user asks for; their settings win over those of the recipe.
        facts: What is known about the text.
        scale: The settings for texts of this size.
        length: How many times the usual steps each training takes.
    """

    out: Path
    options: Options
    facts: TextFacts
    scale: Scale
    length: float

    def given(self, name: str) -> PairFiles:
        """Return a text that the user gave, prepared."""
        return PairFiles.named(self.out / PLAN, name)

    def made(self, name: str) -> PairFiles:
        """Return a text that a stage makes."""
        return PairFiles.named(self.out / "text", name)

    def run(self, name: str) -> Path:
        """Return the run directory of a training."""
        return self.out / "runs" / name

    @property
    def search(self) -> SearchConfig:
        """The search of a new model, which is that of the preset."""
        return self._usual.search

    def train(
        self,
        name: str,
        purpose: str,
        own: Settings,
        *,
        parts: Sequence[tuple[PairFiles, int]] = (),
        share: float = 1.0,
        seed: int = 1,
        is_backward: bool = False,
        init: Path | None = None,
        most_layers: int | None = None,
    ) -> Stage:
        """Return the stage that trains a model and scores it on the validation text.

        Args:
            name: Of the stage and of the run.
            purpose: In a few words.
            own: Settings that differ from the preset.
            parts: The texts that are joined to the training text, and how often each is taken; none: the user's pairs.
            share: Share of its steps that the training takes.
            seed: From 1; models that differ only in it have other initial weights and another order.
            is_backward: Whether the model translates the target language.
            init: The model that the training goes on from; None: from random weights.
            most_layers: Of the decoder, whatever the user says.
        """
        chosen = self._choose_settings(own, share, seed, most_layers)
        resolved = self.scale.resolve(chosen)
        text, valid, languages = self.given("train"), self._valid, self.options.pair
        if is_backward:
            text, valid, languages = text.reversed, valid.reversed, (languages[1], languages[0])
        joined = None
        if parts:
            text = self.made(name)
            has_test = self.options.test and resolved.text.drop_leaks
            joined = JoinedText(parts, text, self.given("test") if has_test else None)
        if parts or is_backward or resolved.text != self._usual.text:
            # The preparation has dropped duplicates, and some are wanted now.
            chosen["text.drop-duplicates"] = "false"
            words: list[str | Path] = ["--train", text.source, text.target]
            words += ["--valid", valid.source, valid.target, "--languages", *languages]
        else:
            words = ["--data", self.out / PLAN / "data"]
            chosen = {name: v for name, v in chosen.items() if not name.startswith("text.")}
        words += ["--init", init] if init else []
        words += ["--preset", self.scale.preset, *list_options(chosen)]
        pairs = sum(times for _, times in parts) if parts else 1
        return replace(
            self.score(name, purpose, [self.run(name)], is_backward=is_backward,
                       before=["train", self.run(name), *words]),
            work=joined,
            run=self.run(name),
            is_compared=not is_backward,
            seconds=numbers.SECONDS_A_TRAINING + pairs * self.facts.kept / numbers.PAIRS_PREPARED,
            flop=self._training_flop(resolved) + self._search_flop(resolved, self.facts.validation),
        )  # fmt: skip

    def score(
        self,
        name: str,
        purpose: str,
        models: Sequence[Path],
        search: Settings | None = None,
        *,
        is_backward: bool = False,
        before: Words = (),
    ) -> Stage:
        """Return the stage that scores a model, or an ensemble, on the validation text.

        Args:
            name: Of the stage.
            purpose: In a few words.
            models: Run directories; several translate together.
            search: Search settings; None: those of the model.
            is_backward: Whether the model translates the target language.
            before: The command that makes the model, if it is to be made.
        """
        valid = self._valid.reversed if is_backward else self._valid
        options = list_options(search or {})
        command: Words = [
            "evaluate", *models, "--source", valid.source, "--reference", valid.target, "--json", *options,
        ]  # fmt: skip
        beam = int((search or {}).get("search.beam", self.search.beam))
        flop = len(models) * self._search_flop(self._usual, self.facts.validation, beam)
        return Stage(
            name=name, purpose=purpose, flop=flop,
            commands=[*filter(None, [before]), command], scores=self.out / "scores" / f"{name}.json",
        )  # fmt: skip

    def translate(
        self,
        name: str,
        purpose: str,
        models: Sequence[Path],
        text: PairFiles,
        search: Settings | None = None,
        *,
        judge: Path | None = None,
        is_backward: bool = False,
        mono: str = "",
    ) -> Stage:
        """Return the stage that translates a side of the training text, or monolingual text.

        Args:
            name: Of the stage.
            purpose: In a few words.
            models: Run directories; several translate together.
            text: Of which one side is translated, and the other is written.
            search: Search settings; None: those of the model.
            judge: A model of the other direction than that of the models, which helps to choose among candidates.
            is_backward: Whether the targets are translated.
            mono: The side of monolingual text; "": it is the training text.
        """
        text = text.reversed if is_backward else text
        chosen = {**(search or {}), **(numbers.CANDIDATES if judge else {})}
        words: list[str | Path] = ["translate", *models]
        words += ["--backward", judge] if judge else []
        words += ["--input", text.source, "--output", text.target, *list_options(chosen)]
        # The backward model reads the candidates, which costs less than the search for them.
        wide = [int(chosen.get(f"search.{each}", 0)) for each in ("candidates", "beam")]
        lines = self.facts.mono_lines[mono] if mono else self.facts.kept
        length = self.facts.mono_tokens[mono] / lines if mono else None
        flop = self._search_flop(self._usual, lines, max(wide) or self.search.beam, length)
        return Stage(
            name=name, purpose=purpose, commands=[words],
            flop=(len(models) + bool(judge)) * flop,
        )  # fmt: skip

    def install(self, name: str, run: Path, product: Path, search: Settings) -> Stage:
        """Return the stage that makes the model of a run, with a search, the product."""
        work = InstalledModel(run, product, search)
        return Stage(name=name, purpose=f"copy the model to {product}", work=work)

    @property
    def _valid(self) -> PairFiles:
        return PairFiles.named(self.out / PLAN / "data", "valid")

    @property
    def _usual(self) -> Config:
        """The settings of a forward model, with which the text is prepared."""
        return self.scale.resolve_usual(self.options.settings)

    def _choose_settings(
        self, own: Settings, share: float, seed: int, most_layers: int | None
    ) -> dict[str, str]:
        """Return the settings of a training; see `train`."""
        overrides = self.options.settings
        chosen = {**own, **overrides}
        if most_layers:
            asked = int(overrides.get("model.num-decoder-layers", most_layers))
            chosen["model.num-decoder-layers"] = str(min(asked, most_layers))
        if steps := overrides.get("training.max-steps"):
            usual = self.scale.resolve(own)
            schedule = _change_length(usual, int(steps) / usual.training.max_steps)
            chosen |= {key: value for key, value in schedule.items() if key not in overrides}
        if seed > 1:
            first = self.scale.resolve(chosen).training.seed
            chosen["training.seed"] = str(first + SEEDS_APART * (seed - 1))
        if (times := share * self.length) != 1:
            chosen |= _change_length(self.scale.resolve(chosen), times)
        return chosen

    def _training_flop(self, settings: Config) -> float:
        source, target = self._lengths
        training, shape = settings.training, settings.largest_model()
        pairs = numbers.FULL * training.batch_tokens / max(source, target)
        passes = 2 if training.agreement else 1  # R-Drop
        flop = training.max_steps * pairs * passes * training_flop(shape, [source], [target])
        validations = 1 + training.max_steps // training.validate_every
        lines = min(self.facts.validation, training.validation_sentences)
        return flop + validations * self._search_flop(settings, lines, beam=1)

    def _search_flop(
        self,
        settings: Config,
        lines: int,
        beam: int = SearchConfig().beam,
        length: float | None = None,
    ) -> float:
        """Count the operations of a search for lines that are as long as those of the user's pairs, or so many tokens."""
        source, target = (max(2, round(length or own)) for own in self._lengths)
        flop = search_flop(settings.largest_model(), [source], [target], beam)
        return numbers.SEARCH_COST * lines * flop

    @property
    def _lengths(self) -> tuple[int, int]:
        """The mean numbers of tokens of the two sides of a pair."""
        tokens = self.facts.source_tokens, self.facts.target_tokens
        source, target = (max(2, round(count / self.facts.kept)) for count in tokens)
        return source, target


def _change_length(settings: Config, share: float) -> dict[str, str]:
    """Return the settings of a training of a share of its steps, warm-up and cooling included."""
    usual = {name: getattr(settings.training, name) for name in SCHEDULE}
    return {
        f"training.{name.replace('_', '-')}": str(max(1, round(share * steps)))
        for name, steps in usual.items()
        if steps
    }
