"""Stages as ``headway`` commands: how a training, a translation and a scoring are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.config import Config, SearchConfig
from headway.ext.bench import search_flop, training_flop
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.facts import TextFacts
from headway.ext.best.recipe_numbers import Choices, Scale, Settings, list_options
from headway.ext.best.resolving import change_length, resolve, with_vocabulary
from headway.ext.best.stage import Command, FileWork, Stage
from headway.ext.best.text_work import KeepShort, PairFiles

SEEDS_APART = 1000  # between models of a recipe, so that recipes of neighboring seeds share none


@dataclass(frozen=True, kw_only=True)
class StageMaker:
    """Makes the stages of a recipe in one directory.

    Attributes:
        out: The directory.
        languages: Codes of source and target.
        facts: What is known about the text.
        scale: The settings for texts of this size.
        choices: Which parts the recipe has.
        overrides: Settings of the user, which all trainings have.
    """

    out: Path
    languages: tuple[str, str]
    facts: TextFacts
    scale: Scale
    choices: Choices
    overrides: Settings

    def text(self, name: str) -> PairFiles:
        """Return the files of a text in both languages.

        They are not named after the languages: ``train.ts``, in Tsonga, would be a message file of Qt.
        """
        folder = self.out / "text"
        return PairFiles(source=folder / f"{name}.source", target=folder / f"{name}.target")

    def run(self, name: str) -> Path:
        """Return the run directory of a training."""
        return self.out / "runs" / name

    @property
    def most_tokens(self) -> int:
        """The tokens of a side of the longest pair that trainings use."""
        return self._common().text.max_tokens

    @property
    def search(self) -> SearchConfig:
        """The search of a new model, which is that of the preset."""
        return self._common().search

    def leave_out_long(self, name: str, part: str, model: Path, output: PairFiles) -> Stage:
        """Return the stage that copies the training pairs which are short enough to be translated.

        Args:
            name: Of the stage.
            part: Of the recipe.
            model: The run directory of a model from source to target, whose subwords count.
            output: The files to write.
        """
        work = KeepShort(
            pairs=self.text("train"), model=model, most=self.most_tokens, output=output
        )
        return Stage(
            name=name,
            part=part,
            purpose="leave out pairs that are too long",
            work=work,
            seconds=self.facts.kept / numbers.PAIRS_IMPORTED,
        )

    def train(
        self,
        name: str,
        part: str,
        purpose: str,
        text: PairFiles,
        own: Settings,
        *,
        lines: int | None = None,
        share: float = 1.0,
        seed: int = 1,
        is_backward: bool = False,
        work: FileWork | None = None,
        init: Path | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> Stage:
        """Return the stage that trains a model and scores it on the validation text.

        Args:
            name: Of the stage and of the run.
            part: Of the recipe.
            purpose: In a few words.
            text: The training text.
            own: Settings that differ from the preset.
            lines: About how many pairs the text has; None: those of the user.
            share: Share of its steps that the training takes.
            seed: From 1; models that differ only in it have other initial weights and another order.
            is_backward: Whether the model translates the target language.
            work: Makes the text.
            init: The model that the training goes on from; None: from random weights.
            limits: The largest values of some settings, also of the user's.
        """
        chosen = {**own, **self.overrides}
        for setting, most in (limits or {}).items():
            chosen[setting] = str(min(int(chosen.get(setting, most)), most))
        if steps := self.overrides.get("training.max-steps"):
            usual = resolve(self.scale, own)
            schedule = change_length(usual, int(steps) / usual.training.max_steps)
            chosen |= {key: value for key, value in schedule.items() if key not in self.overrides}
        if seed > 1:
            first = resolve(self.scale, chosen).training.seed
            chosen["training.seed"] = str(first + SEEDS_APART * (seed - 1))
        share *= self.choices.share
        if share != 1:
            chosen |= change_length(resolve(self.scale, chosen), share)
        chosen["text.drop-duplicates"] = (
            "false"  # the import has dropped them, and some are wanted now
        )
        resolved = resolve(self.scale, chosen)
        valid = self.text("valid")
        languages = self.languages
        if is_backward:
            valid, languages = valid.reversed, (languages[1], languages[0])
        command = Command(
            arguments=[
                "train", self.run(name), *_pair_option("--train", text), *_pair_option("--valid", valid),
                "--languages", *languages, *(("--init", init) if init else ()),
                "--preset", self.scale.preset, *list_options(chosen),
            ]
        )  # fmt: skip
        return replace(
            self.score(
                name, part, purpose, [self.run(name)], is_backward=is_backward, before=[command]
            ),
            work=work,
            run=self.run(name),
            is_compared=not is_backward,
            seconds=numbers.SECONDS_A_TRAINING
            + (lines or self.facts.kept) / numbers.PAIRS_PREPARED,
            flop=self._training_flop(resolved) + self._search_flop(resolved, self.facts.validation),
        )

    def score(
        self,
        name: str,
        part: str,
        purpose: str,
        models: Sequence[Path],
        search: Settings | None = None,
        *,
        is_backward: bool = False,
        before: Sequence[Command] = (),
    ) -> Stage:
        """Return the stage that scores a model, or an ensemble, on the validation text.

        Args:
            name: Of the stage.
            part: Of the recipe.
            purpose: In a few words.
            models: Run directories; several translate together.
            search: Search settings; None: those of the model.
            is_backward: Whether the model translates the target language.
            before: Commands that make the model.
        """
        valid = self.text("valid").reversed if is_backward else self.text("valid")
        scores = self.out / "scores" / f"{name}.json"
        command = Command(
            arguments=[
                "evaluate", *models, "--source", valid.source, "--reference", valid.target,
                "--json", *list_options(search or {}),
            ],
            output=scores,
        )  # fmt: skip
        common = self._common()
        beam = int((search or {}).get("search.beam", common.search.beam))
        flop = len(models) * self._search_flop(common, self.facts.validation, beam)
        return Stage(
            name=name,
            part=part,
            purpose=purpose,
            commands=[*before, command],
            scores=scores,
            flop=flop,
        )

    def translate(
        self,
        name: str,
        part: str,
        purpose: str,
        models: Sequence[Path],
        source: Path,
        output: Path,
        lines: int,
        search: Settings | None = None,
        *,
        backward: Path | None = None,
        times: float = 1.0,
        work: FileWork | None = None,
        seconds: float = 0.0,
    ) -> Stage:
        """Return the stage that translates a text.

        Args:
            name: Of the stage.
            part: Of the recipe.
            purpose: In a few words.
            models: Run directories; several translate together.
            source: The text.
            output: The file for the translations.
            lines: About how many lines the text has.
            search: Search settings; None: those of the model.
            backward: A model of the other direction, which helps to choose among candidates.
            times: How many times longer a line is than a side of the user's pairs.
            work: Makes the text.
            seconds: About how long the work takes.
        """
        judge = ("--backward", backward) if backward else ()
        chosen = {**(search or {}), **(numbers.CANDIDATES if backward else {})}
        command = Command(
            arguments=[
                "translate", *models, *judge, "--input", source, "--output", output,
                *list_options(chosen),
            ]
        )  # fmt: skip
        # The backward model reads the candidates, which costs less than the search for them.
        beam = max(int(chosen.get(f"search.{name}", 0)) for name in ("candidates", "beam"))
        beam = beam or SearchConfig().beam
        flop = (len(models) + bool(backward)) * self._search_flop(
            self._common(), lines, beam, times
        )
        return Stage(
            name=name, part=part, purpose=purpose, work=work, commands=[command], flop=flop,
            seconds=seconds,
        )  # fmt: skip

    def _common(self) -> Config:
        """Return the settings of a forward model."""
        return resolve(self.scale, {**self.scale.common, **self.overrides})

    def _lengths(self, times: float = 1.0) -> tuple[int, int]:
        """Return about how many tokens the two sides of a pair have, or of one that is some times longer."""
        tokens = self.facts.source_tokens, self.facts.target_tokens
        source, target = (max(2, round(times * n / self.facts.kept)) for n in tokens)
        return source, target

    def _training_flop(self, settings: Config) -> float:
        source, target = self._lengths()
        training, shape = settings.training, with_vocabulary(settings)
        pairs = numbers.FULL * training.batch_tokens / max(source, target)
        passes = 2 if training.agreement else 1  # R-Drop
        flop = training.max_steps * pairs * passes * training_flop(shape, [source], [target])
        validations = 1 + training.max_steps // training.validate_every
        lines = min(self.facts.validation, training.validation_sentences)
        return flop + validations * self._search_flop(settings, lines, beam=1)

    def _search_flop(
        self, settings: Config, lines: int, beam: int = SearchConfig().beam, times: float = 1.0
    ) -> float:
        source, target = self._lengths(times)
        return (
            numbers.SEARCH_COST
            * lines
            * search_flop(with_vocabulary(settings), [source], [target], beam)
        )


def _pair_option(option: str, text: PairFiles) -> list[str | Path]:
    return [option, text.source, text.target]
