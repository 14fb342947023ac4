"""All numbers of the recipe: settings of each training by the size of the text, and the order of the parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Settings = Mapping[str, str]  # options of headway train without dashes: {"model.dropout": "0.2"}

VERSION = 15  # raised by each change that gives an old plan other stages
MOST_HOURS = 8.0  # planned for without --hours, if the whole recipe needs more
SHORTENED = (
    0.8  # share of the steps that trainings keep at least for the sake of the first addition
)
LEAST_PAIRS = 100  # of training text
FEW_PAIRS = 10_000  # of training text, below which the plan warns
FEW_VALIDATION_PAIRS = 200  # below which the plan warns
SHORTEST = 0.02  # share of its steps that a training keeps at least, however few the hours
USEFUL = 0.25  # share of its steps from which on a training gives a model, as those of the sweep
CANDIDATES: Settings = {"search.candidates": "8"}  # among which models of both directions choose
SWEEP_SHARE = 0.25  # of the steps of a forward model that a candidate of the sweep is trained for
MONO_WEIGHT = 2.0  # the most monolingual lines of a language, for each real pair
ALPHAS = (0.0, 0.6, 1.0, 1.4, 1.8, 2.4, 3.0)  # length penalties, neighbors of which are tried
BEAMS = (8, 16)  # wider ones than the preset's
BEAM_GAIN = 0.2  # BLEU that a wider beam must gain, because it takes as many times longer
STUDENT_LAYERS = 3  # of the decoder, at most: a search spends its time there (docs/performance.md)
STUDENT_BEAMS = (1, 2, 4)  # the fastest first; the first good enough is taken
# Of its teacher's BLEU that a student should have on the validation text; on others it has a little less.
STUDENT_SHARE = 0.99

# For estimates of time alone.
FULL = 0.95  # share of a step's batch_tokens that are tokens
SEARCH_COST = 2.0  # times as long takes a FLOP of a search as one of a training
SECONDS_A_COMMAND = 4.0  # to start one
SECONDS_A_TRAINING = 15.0  # for the dry run, and to average
PAIRS_IMPORTED = 10_000  # a second, or lines: the text is read two or three times
PAIRS_PREPARED = 10_000  # a second, by a training


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How to train on texts of some size. All settings are added to those of the preset.

    Attributes:
        most_pairs: The largest text that the scale is for, in cleaned pairs.
        preset: Of all trainings.
        common: Settings of all trainings.
        sweep: The candidates of the sweep; the first is used without a sweep, and the others change it.
        forward_models: The most models of the wanted direction, which differ in the seed.
        forward: Their settings, if a training on translations follows.
        real_weight: How often the text of the last training has the real pairs. It has each translation
            of them once.
        final: Settings of the last training; they win over those of the sweep. It is the one on real and
            translated text, or, without translations, the forward model.
        tuning: The same of a last training that goes on from the best forward model; none: the one on real
            and translated text begins anew.
        student: Settings of the student that differ from those of all trainings.
        tokens: Of the longer side of a text that the steps suit. For a longer text the trainings are as many
            times longer, if the hours allow it.
        longest: At most so many times longer.
    """

    most_pairs: float
    preset: str = "quick"
    common: Settings = field(default_factory=dict)
    sweep: tuple[Settings, ...] = ({},)
    forward_models: int = 3
    forward: Settings = field(default_factory=dict)
    real_weight: int = 1
    final: Settings = field(default_factory=dict)
    tuning: Settings = field(default_factory=dict)
    student: Settings = field(default_factory=dict)
    tokens: float = float("inf")
    longest: float = 4.0

    def find_longest(self, tokens: int) -> float:
        """Return how many times longer the trainings should be for a text.

        Args:
            tokens: Of the longer side of the text.
        """
        return min(max(1.0, round(tokens / self.tokens, 2)), self.longest)


# Settings of a student, which goes on from the final model. It learns translations that are more regular than the real
# ones, so it needs no R-Drop.
_STUDENT = {
    "training.rate-scale": "0.45",
    "model.dropout": "0.1",
    "search.precision": "int8",
    "training.agreement": "0",
}


def _steps(count: int, cool: int) -> Settings:
    """Return the settings of a training of so many steps, in the last of which the rate falls."""
    return {
        "training.max-steps": str(count),
        "training.cool-steps": str(cool),
        "training.validate-every": str(max(100, count // 8)),
    }


# 192 learns more in the same time than 128, from 29,000 pairs (docs/performance.md).
_MIDDLE = {"model.d-model": "192", "model.d-ff": "768", "model.num-heads": "6"}

# A large vocabulary cannot be learned from little text.
_SMALL = Scale(
    most_pairs=10_000,
    common={"text.vocab-size": "2000"},
    sweep=({"model.dropout": "0.3"}, {"model.dropout": "0.2"}, {"text.vocab-size": "1000"}),
    forward_models=3,
    real_weight=3,
    student={**_STUDENT, **_steps(2000, 1300)},
)
_SMALLEST = replace(
    _SMALL,
    most_pairs=300,
    common={"text.vocab-size": "500"},
    sweep=({"model.dropout": "0.3"}, {"model.dropout": "0.2"}),
)

SCALES = (
    _SMALLEST,
    _SMALL,
    Scale(
        most_pairs=100_000,
        common=_MIDDLE,
        sweep=({"model.dropout": "0.2"}, {"model.dropout": "0.3"}, {"text.vocab-size": "4000"}),
        forward_models=3,
        forward=_steps(5000, 3300),
        real_weight=3,
        final=_steps(8000, 5300),
        tuning={"training.rate-scale": "0.45", **_steps(5000, 3300)},
        student={**_STUDENT, **_steps(4000, 2700)},
        tokens=5e5,
    ),
    Scale(
        most_pairs=400_000,
        preset="small",
        sweep=({"model.dropout": "0.1"}, {"model.dropout": "0.2"}, {"text.vocab-size": "16000"}),
        forward_models=2,
        real_weight=2,
        student={**_STUDENT, **_steps(2400, 1600)},
        tokens=6e5,
    ),
    Scale(
        most_pairs=float("inf"),
        preset="small",
        common={"text.vocab-size": "16000", **_steps(9600, 6400)},
        sweep=({"model.dropout": "0.1"}, {"model.dropout": "0"}),
        forward_models=1,
        real_weight=1,
        student={**_STUDENT, **_steps(4800, 3200)},
        tokens=2.4e6,
    ),
)


def list_options(settings: Settings) -> list[str]:
    """Return settings as the options of a command."""
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def choose_scale(pairs: int) -> Scale:
    """Return the scale for so many cleaned pairs."""
    return next(scale for scale in SCALES if pairs <= scale.most_pairs)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Which parts of the recipe a plan has.

    Attributes:
        share: Share of its steps that each training takes; below 1 if the hours are few, and above 1 if the text
            is long.
        sweep: Whether dropout and vocabulary are compared by short trainings.
        forward_models: How many models of the wanted direction are trained.
        back_translation: Whether models translate the text, targets (back-translation) and sources (distillation), and
            one more is trained on that.
        student: Whether a small fast model learns from the final one.
    """

    share: float = 1.0
    sweep: bool = False
    forward_models: int = 1
    back_translation: bool = False
    student: bool = False


LONGER = "longer trainings"

# Parts that a plan has if the hours are enough: what each changes in the choices. They are in the order of what
# they are expected to be worth for their time.
ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "training on translations": {"back_translation": True},
    "a small fast student": {"student": True},
    LONGER: {},  # as much longer as the text is, or as the hours allow
    "the sweep": {"sweep": True},
    "a second forward model": {"forward_models": 2},
    "a third forward model": {"forward_models": 3},
}
