"""Training that starts from a model's weights instead of random ones: fine-tuning.

The weights mean nothing in another shape or vocabulary, so both are kept, but layers may be left out. Dropout,
cleaning and the training regime belong to the new run. Without a preset, the regime is the model's own, shortened.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from torch import Tensor

from headway.config import Changes, Config, ModelConfig, TextConfig, TrainingConfig
from headway.config.declaration import Role, with_role
from headway.errors import HeadwayError
from headway.text.languages import Languages, base_code, list_pairs, name_pair
from headway.text.prepared import PreparedData
from headway.training.run import Run
from headway.training.steps.optimizers import learning_rate
from headway.training.storage.record import InitialModel, flatten, list_differences
from headway.translation.directory import Model, load_model

DEPTHS = {"encoder": "num_encoder_layers", "decoder": "num_decoder_layers"}

EPOCHS = 20  # passes over the text, if the model's own training was long enough
PEAK = 0.5  # of the highest learning rate of the model's own training
FEWEST_STEPS = 200  # of fine-tuning with little text, again if it was long enough


def fine_tuning_steps(own: TrainingConfig, epoch_tokens: int) -> int:
    """Return for how many steps to fine-tune: 20 passes over the text, at most half of the model's own.

    Args:
        own: The regime that the model was trained with.
        epoch_tokens: The tokens of the longer side of the training text.
    """
    passes = -(-EPOCHS * epoch_tokens // own.batch_tokens)
    return max(1, min(own.max_steps // 2, max(FEWEST_STEPS, passes)))


def fine_tuning_regime(own: TrainingConfig, steps: int) -> TrainingConfig:
    """Return a model's training regime, shortened and cooled.

    The learning rate rises in a tenth of the steps to half of the highest rate of the model's own
    schedule. Then it falls to 0. Settings that each run chooses anew have their defaults.

    Args:
        own: The regime that the model was trained with.
        steps: The steps of the new run.
    """
    default = TrainingConfig()
    warmup = max(1, steps // 10)
    peak = PEAK * learning_rate(
        own.warmup_steps, d_model=1, warmup_steps=own.warmup_steps, scale=own.rate_scale
    )
    return replace(
        own,
        max_steps=steps,
        warmup_steps=warmup,
        cool_steps=steps - warmup,
        rate_scale=float(f"{peak * math.sqrt(warmup):.3g}"),
        validate_every=max(1, steps // 8),
        checkpoint_every=max(1, steps // 40),
        **{name: getattr(default, name) for name in with_role(default, Role.MACHINE, Role.ANEW)},
    )


def inherit(
    initial: Config, changes: Changes, text: TextConfig | None = None, steps: int | None = None
) -> Config:
    """Return the settings of a run that fine-tunes a model by its own regime, shortened.

    Args:
        initial: The settings of the model.
        changes: Settings that the user changes; the warm-up follows a number of steps that is among them.
        text: The settings of text that is prepared already; None: those of the model, with the changes.
        steps: Of the run; None: as many as the model's own.
    """
    own = initial.training
    # The text of this run decides anew whether lines are split.
    initial = replace(
        initial, text=text or initial.text, search=replace(initial.search, split_sentences="auto")
    )

    def of(steps: int) -> Config:
        return changes.apply(replace(initial, training=fine_tuning_regime(own, steps)))

    settings = of(steps or own.max_steps)
    return of(settings.training.max_steps)


def check_text(
    model: Model, text: str, languages: Iterable[Languages], *, has_symbols: bool, may_differ: bool
) -> None:
    """Check that text has the languages of a model, and symbols of its target languages if the model has several pairs.

    Args:
        model: The model.
        text: The text or the data, for the message.
        languages: The languages of each group of the text.
        has_symbols: Whether the text is given in groups.
        may_differ: Whether other languages are allowed.

    Raises:
        HeadwayError: If it has not, with the option that allows it.
    """
    if model.pairs and not has_symbols:
        raise HeadwayError(
            f"--init {model.path}: translates {list_pairs(model.pairs)}: say which of them {text} is:"
            f" --train {name_pair(model.pairs[0])} FILE FILE"
        )
    own = [[base_code(code) for code in pair] for pair in (model.languages, *model.pairs)]
    for pair in () if may_differ else languages:
        if [base_code(code) for code in pair] not in own:  # en and en-GB are one language
            raise HeadwayError(
                f"--init {model.path}: translates from {model.languages[0]} to {model.languages[1]}, and the"
                f" text is from {pair[0]} to {pair[1]}: give a model of these languages, or"
                " --other-languages to use its weights all the same"
            )


def check_shape(wanted: Config, model: Model, *, is_prepared: bool = False) -> None:
    """Check that settings allow a model's weights and vocabulary.

    Args:
        wanted: The settings of the run.
        model: The model that it starts from.
        is_prepared: Whether the text is prepared already, so that `check_vocabulary` compares the vocabularies themselves.

    Raises:
        HeadwayError: If they do not, with the settings that differ.
    """
    own = model.config.model
    # The dilation of a dilated layer is a power of its number.
    fewer = [
        depth
        for stack, depth in DEPTHS.items()
        if 0 < getattr(wanted.model, depth) < getattr(own, depth)
        and getattr(own, f"{stack}_mixer") != "dilated"
    ]
    free = {f"model.{name}" for name in {*fewer, *with_role(own, Role.DROPOUT)}}
    learned = set() if is_prepared else with_role(wanted.text, Role.VOCABULARY)
    changes = list_differences(flatten(model.config), flatten(wanted))
    differing = {change.split()[0]: change for change in changes}
    conflicts = [
        change
        for setting, change in differing.items()
        if setting.removeprefix("text.") in learned
        or (setting.startswith("model.") and setting not in free)
    ]
    if conflicts:
        raise HeadwayError(f"fixed by --init {model.path}: {'; '.join(conflicts)}")


def check_vocabulary(data: PreparedData, model: Model) -> None:
    """Check that data was prepared with a model's vocabulary.

    Raises:
        HeadwayError: If it was not, with the option that prepares it so.
    """
    if data.tokenizer.fingerprint != model.tokenizer.fingerprint:
        raise HeadwayError(
            f"{data.directory}: prepared with another vocabulary than {model.path} has:"
            f" prepare it with --vocabulary {model.path}"
        )


def load_initial_weights(run: Run, initial: InitialModel) -> None:
    """Begin a run with the weights of a model, of which it may leave out layers.

    Args:
        run: At step 0.
        initial: The model, as the run records it.

    Raises:
        HeadwayError: If the model has changed since it was recorded.
    """
    if InitialModel.describe(initial.path) != initial:
        raise HeadwayError(
            f"{initial.path}: has changed since this run started from its weights: put it back"
        )
    model = load_model(initial.path)
    weights = model.transformer.state_dict()
    run.trainer.load({"model": choose_layers(weights, model.config.model, run.config.model)})


def choose_layers(
    weights: Mapping[str, Tensor], own: ModelConfig, wanted: ModelConfig
) -> dict[str, Tensor]:
    """Return the weights of a model that may have fewer layers: the first, the last, and those evenly between them.

    A single layer is the first. Source: Shleifer and Rush (2020), "Pre-trained Summarization Distillation", section 3.

    Args:
        weights: Of the model with all layers, by name.
        own: Its shape.
        wanted: The shape that may have fewer layers.
    """
    kept = {
        stack: _spread(getattr(own, depth), getattr(wanted, depth))
        for stack, depth in DEPTHS.items()
    }
    chosen: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        stack, _, of_layer = name.partition(".layers.")
        number, _, part = of_layer.partition(".")
        if not part:
            chosen[name] = tensor
        elif int(number) in kept[stack]:
            chosen[f"{stack}.layers.{kept[stack].index(int(number))}.{part}"] = tensor
    return chosen


def _spread(count: int, wanted: int) -> list[int]:
    """Return the numbers of some of the layers, evenly spread."""
    return [round(number * (count - 1) / max(1, wanted - 1)) for number in range(wanted)]
