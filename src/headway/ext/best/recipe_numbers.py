"""All numbers of the recipe: the plans, and the settings of each training by the size of the text."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headway import config
from headway.config import Config
from headway.errors import HeadwayError, UsageError

Settings = Mapping[str, str]  # options of headway train without dashes: {"model.dropout": "0.2"}

VERSION = 16  # raised by each change that gives an old plan other stages
PARTS = {
    "back-translation": "a model of the other direction translates the targets, for one more training",
    "forward-translation": "the models translate the sources, for one more training",
    "student": "a small fast model learns from the best one",
    "longer-trainings": "a long text is trained on for more steps",
    "sweep": "short trainings compare dropout and vocabulary",
    "seeds": "models with other seeds, of which the best goes on",
}
# The parts of each plan, from the shortest to the longest: first what is worth most for its time.
PLANS: Mapping[str, tuple[str, ...]] = {
    "model": (),
    "translations": (*PARTS,)[:2],
    "student": (*PARTS,)[:4],
    "everything": (*PARTS,),
}
MOST_HOURS = 8.0  # without --hours
LEAST_PAIRS = 100  # of training text
FEW_PAIRS = 10_000  # of training text, below which the plan warns
FEW_VALIDATION_PAIRS = 200  # below which the plan warns
CANDIDATES: Settings = {"search.candidates": "8"}  # among which models of both directions choose
SWEEP_SHARE = 0.25  # of the steps of a forward model that a candidate of the sweep is trained for
MONO_WEIGHT = 2.0  # the most monolingual lines of a language, for each real pair
ALPHAS = (0.0, 0.6, 1.0, 1.4, 1.8, 2.4, 3.0)  # length penalties, neighbors of which are tried
BEAMS = (8, 16)  # wider ones than the preset's
BEAM_GAIN = 0.2  # BLEU that a wider beam must gain, because it takes as many times longer
# Of the decoder, at most: a search spends its time there (docs/evidence/performance.md).
STUDENT_LAYERS = 3
STUDENT_BEAMS = (1, 2, 4)  # the fastest first; the first good enough is taken
# Of its teacher's BLEU that a student should have on the validation text; on others it has a little less.
STUDENT_SHARE = 0.99

# For estimates of time alone.
FULL = 0.95  # share of a step's batch_tokens that are tokens
SEARCH_COST = 2.0  # times as long takes a FLOP of a search as one of a training
SECONDS_A_COMMAND = 4.0  # to start one
SECONDS_A_TRAINING = 15.0  # for the dry run, and to average
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
        tokens: Of the longer side of a text that the steps suit. For a longer text the trainings may be as many
            times longer.
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

    def resolve(self, settings: Settings) -> Config:
        """Return the settings of a training: the given ones, and those of the preset for the rest."""
        return config.load(self.preset, (), settings)

    def resolve_usual(self, overrides: Settings) -> Config:
        """Return the settings of the first forward model without a sweep, of which those of the user win."""
        return self.resolve({**self.common, **self.forward, **self.sweep[0], **overrides})

    def check(self, overrides: Settings) -> None:
        """Check that settings of the user fit those that the recipe gives its trainings.

        Raises:
            UsageError: If they do not; it names those of the recipe, which the user has not written.
        """
        for own in (self.forward, self.final, self.tuning, self.student):
            recipe = {**self.common, **own}
            try:
                self.resolve({**recipe, **overrides})
            except HeadwayError as error:
                words = " ".join(f"--{name} {each}" for name, each in recipe.items())
                raise UsageError(
                    f"{error}; headway best itself sets --preset {self.preset} {words} for a text of this size:"
                    " give your own, too"
                ) from None


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


# 192 learns more in the same time than 128, from 29,000 pairs (docs/evidence/performance.md).
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


def choose_scale(pairs: int) -> Scale:
    """Return the scale for so many cleaned pairs."""
    return next(scale for scale in SCALES if pairs <= scale.most_pairs)
