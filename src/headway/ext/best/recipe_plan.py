"""The plan of a recipe: what its decisions depend on besides the results of its stages, and how long each stage takes."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headway import __version__
from headway.cli import format_duration
from headway.errors import HeadwayError, UsageError
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe import best_model
from headway.ext.best.recipe_numbers import PLANS, VERSION, Scale, choose_scale
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_text import TextFacts
from headway.ext.best.stage import UNKNOWN, Recipe, Stage, replay
from headway.ext.best.stage_maker import PLAN, StageMaker
from headway.files import hash_file, read_small_file

FILE = "plan.json"
MOST_BYTES = 1 << 26  # of plan.json


@dataclass(frozen=True)
class RecipePlan:
    """What ``plan/plan.json`` holds.

    Attributes:
        name: A key of `PLANS`.
        options: What the user asked for.
        sha256: Name -> digest of each of the user's files.
        facts: What was found in the text.
        speed: FLOP a second of a training, as measured on this machine.
    """

    name: str
    options: Options
    sha256: dict[str, str]
    facts: TextFacts
    speed: float

    @classmethod
    def read(cls, out: Path) -> "RecipePlan | None":
        """Read the plan of a directory; None: there is none.

        Raises:
            HeadwayError: If it is damaged, or of another version of the recipe.
        """
        path = out / PLAN / FILE
        if not path.exists():
            return None
        values = read_small_file(path, VERSION, MOST_BYTES, oldest=VERSION)
        try:
            options, facts = Options(**values["options"]), TextFacts(**values["facts"])
            return cls(values["name"], options, values["sha256"], facts, float(values["speed"]))
        except (KeyError, TypeError, ValueError) as error:
            raise HeadwayError(
                f"{path}: damaged ({error}): restore it, or give another OUT"
            ) from None

    def write(self, folder: Path) -> None:
        """Write ``plan.json`` to a folder that is about to become the plan."""
        values = {"format": VERSION, "headway": __version__, **asdict(self)}
        text = json.dumps(values, indent=2, ensure_ascii=False)
        (folder / FILE).write_text(f"{text}\n", encoding="utf-8")

    def check(self, out: Path, options: Options) -> None:
        """Check that a command asks for what was planned.

        Raises:
            UsageError: If it does not, or a file has changed; the message names what differs.
        """
        own, other = (json.loads(json.dumps(asdict(each))) for each in (self.options, options))
        for name in own:
            if own[name] != other[name]:
                option = name.replace("_", "-")
                raise UsageError(
                    f"{out}: planned with {option} {own[name] or 'none'}, and this command has"
                    f" {other[name] or 'none'}: give the same options (or none but OUT), or another OUT"
                )
        for file, digest in self.sha256.items():
            if hash_file(Path(file)) != digest:
                raise UsageError(
                    f"{file}: has changed since {out} was planned: restore it, or give another OUT"
                )

    @property
    def scale(self) -> Scale:
        """The settings for a text of this size."""
        return choose_scale(self.facts.cleaned)

    @property
    def hours(self) -> float:
        """The hours that the recipe may take."""
        return self.options.hours or numbers.MOST_HOURS

    def choose(self) -> str:
        """Return the longest plan that fits into the hours, or else the shortest."""
        fitting = [name for name in PLANS if self.estimate(name) <= 3600 * self.hours]
        return fitting[-1] if fitting else next(iter(PLANS))

    def list_parts(self, name: str) -> list[str]:
        """Return the parts that a plan adds to a single model."""
        less = {*self.options.without, *(["longer-trainings"] if self.find_length() == 1 else ())}
        less |= {"seeds"} if self.scale.forward_models == 1 else set()
        return [part for part in PLANS[name] if part not in less]

    def find_length(self) -> float:
        """Return how many times the usual steps the trainings of a long text take."""
        if "training.max-steps" in self.options.settings:  # the user knows best
            return 1.0
        times = max(self.facts.source_tokens, self.facts.target_tokens) / self.scale.tokens
        return min(max(1.0, round(times, 2)), self.scale.longest)

    def begin(self, out: Path, name: str = "") -> Recipe:
        """Return the recipe at its beginning.

        Args:
            out: The directory for all files.
            name: Of the plan; "": `name`.
        """
        parts = self.list_parts(name or self.name)
        make = StageMaker(
            out=out, options=self.options, facts=self.facts, scale=self.scale,
            length=self.find_length() if "longer-trainings" in parts else 1.0,
        )  # fmt: skip
        return best_model(make, parts)

    def estimate(self, name: str) -> float:
        """Return about how many seconds all stages of a plan take."""
        stages, _ = replay(self.begin(Path("OUT"), name), None, guesses=True)
        return sum(self.estimate_stage(stage) for stage, _ in stages)

    def estimate_stage(self, stage: Stage) -> float:
        """Return about how many seconds a stage takes."""
        commands = numbers.SECONDS_A_COMMAND * len(stage.commands)
        return stage.seconds + commands + stage.flop / self.speed

    def describe(self, out: Path) -> str:
        """Return the plans and the stages of the chosen one, with their estimated times, and warnings."""
        played, _ = replay(self.begin(out), out, guesses=True)
        stages = [stage for stage, _ in played]
        times = [self.estimate_stage(stage) for stage in stages]
        finished = sum(result is not UNKNOWN for _, result in played)
        rate = f"{self.speed / 1e9:,.0f} GFLOP/s in a training"
        lines = [f"plans for {self.facts.kept:,} pairs on this machine ({rate}):"]
        lines += self._list_plans()
        done = f", {finished} of them done" if finished else ""
        # Searches end when BLEU no longer rises.
        at_most = "at most " if finished < len(stages) else ""
        left = format_duration(sum(times[finished:]))
        lines += ["", f"{at_most}{len(stages)} stages{done}, about {left}:"]
        width = max(len(stage.name) for stage in stages)
        for number, (stage, seconds) in enumerate(zip(stages, times, strict=True), 1):
            duration = "done" if number <= finished else format_duration(seconds)
            lines.append(f"  {stage.name:<{width}}  {duration:>11}  {stage.purpose}")
        for warning in self._list_warnings(sum(times)):
            lines += ["", warning]
        return "\n".join(lines)

    def _list_plans(self) -> list[str]:
        """Return a line for each plan: its time, and what it adds to the one before it."""
        lines, before = list[str](), list[str]()
        for name in PLANS:
            parts = self.list_parts(name)
            if lines and parts == before:
                continue
            mark = "*" if parts == self.list_parts(self.name) else " "
            added = ", ".join(part for part in parts if part not in before) or "one model"
            duration = format_duration(self.estimate(name))
            lines.append(f"{mark} {name:<12}  {duration:>11}  {'+ ' * bool(lines)}{added}")
            before = parts
        return lines

    def _list_warnings(self, seconds: float) -> list[str]:
        warnings = []
        if seconds > 3600 * self.hours:
            warnings.append(
                f"warning: the shortest plan takes more than {self.hours:g} hours: --training.max-steps makes each"
                " training shorter"
            )
        if self.facts.kept < numbers.FEW_PAIRS:
            warnings.append(
                f"warning: a model of {self.facts.kept:,} pairs translates little beyond its own text: tens of"
                " thousands give a useful one"
            )
        if self.facts.validation < numbers.FEW_VALIDATION_PAIRS:
            warnings.append(
                f"warning: {self.facts.validation:,} validation pairs decide, whose BLEU depends much on chance: give"
                " 500 or more"
            )
        for side, part in (("source", "forward-translation"), ("target", "back-translation")):
            if side in self.facts.mono_lines and part not in self.list_parts(self.name):
                warnings.append(
                    f"warning: --mono-{side} has no effect without {part}, which this plan has not"
                )
        return warnings
