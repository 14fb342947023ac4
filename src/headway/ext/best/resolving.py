"""The settings of the trainings of a recipe: those of its scale, and those of the user, which win."""

import re
from dataclasses import replace
from functools import lru_cache

from headway import config
from headway.config import PRESETS, Config, ModelConfig, TextConfig, spell
from headway.errors import HeadwayError, UsageError
from headway.ext.best.recipe_numbers import Scale, Settings, list_options
from headway.training import refuse_kind


def check_settings(scale: Scale, overrides: Settings) -> None:
    """Check that settings of the user fit those that a recipe gives its trainings.

    Raises:
        UsageError: If they do not; it names those of the recipe, which the user has not written.
    """
    refuse_kind(overrides)
    for own in (scale.forward, scale.final, scale.tuning, scale.student):
        recipe = {**scale.common, **own}
        try:
            resolve(scale, {**recipe, **overrides})
        except HeadwayError as error:
            others = {
                name: value
                for name, value in {**_list_of_preset(scale.preset), **recipe}.items()
                if name not in overrides and _is_named(name, str(error))
            }
            words = " ".join(list_options(others))
            reason = (
                f"; headway best itself sets {words} for a text of this size: give your own, too"
            )
            raise UsageError(f"{error}{reason if others else ''}") from None


def list_text_settings(scale: Scale, overrides: Settings) -> list[TextConfig]:
    """Return the text settings that the trainings of a scale may have."""
    return [resolve(scale, {**scale.common, **each, **overrides}).text for each in scale.sweep]


def _list_of_preset(name: str) -> dict[str, str]:
    """Return the settings of models and trainings that a preset changes."""
    usual, preset = Config().to_dict(), PRESETS[name].to_dict()
    return {
        f"{section}.{key.replace('_', '-')}": spell(value)
        for section in ("model", "training")
        for key, value in preset[section].items()
        if value != usual[section][key]
    }


def _is_named(name: str, message: str) -> bool:
    """Return whether a message about settings has the name of one of them, such as ``model.d-model``."""
    return bool(re.search(rf"\b{name.partition('.')[2].replace('-', '_')}\b", message))


def resolve(scale: Scale, settings: Settings) -> Config:
    """Return the settings of a training: the given ones, and those of the preset of a scale for the rest."""
    return _load(scale.preset, tuple(settings.items()))


@lru_cache(maxsize=1024)  # a plan is estimated with many choices
def _load(preset: str, settings: tuple[tuple[str, str], ...]) -> Config:
    return config.load(preset, (), dict(settings))


def with_vocabulary(settings: Config) -> ModelConfig:
    """Return the shape of a model with the sizes of its vocabularies, which it has after a preparation."""
    size = settings.text.vocab_size
    return replace(settings.model, source_vocab_size=size, target_vocab_size=size)


def change_length(settings: Config, share: float) -> dict[str, str]:
    """Return the settings of a training of a share of its steps, warm-up and cooling included."""
    training = settings.training
    return {
        f"training.{name.replace('_', '-')}": str(max(1, round(share * getattr(training, name))))
        for name in (
            "max_steps",
            "warmup_steps",
            "cool_steps",
            "validate_every",
            "checkpoint_every",
        )
        if getattr(training, name)
    }
