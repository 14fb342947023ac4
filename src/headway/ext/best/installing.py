"""Make the model of a run the product of a recipe, with the search settings that were chosen for it."""

from dataclasses import dataclass
from pathlib import Path

from headway.config import merge_overrides
from headway.ext.best.recipe_numbers import Settings, list_options
from headway.ext.best.stage import FileWork, Stage, name_path
from headway.translation import Translator


@dataclass(frozen=True)
class InstallModel(FileWork):
    """Write a model directory.

    Attributes:
        model: The run directory that has the model.
        out: The directory to write to; other files in it stay.
        search: The search settings that the model gets.
    """

    model: Path
    out: Path
    search: Settings

    def run(self) -> None:
        """Write the files, each of them atomically."""
        translator = Translator.load(self.model, "cpu")
        assert translator.config is not None, "a model directory has settings"
        translator.config = merge_overrides(translator.config, self.search)
        translator.default_search = translator.config.search
        translator.save_pretrained(self.out)

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done, with a directory written as OUT."""
        search = " ".join(list_options(self.search))
        model, product = name_path(self.model, out), name_path(self.out, out)
        return f"copy the model of {model} to {product}/" + (f", with {search}" if search else "")


def install(name: str, part: str, what: str, work: InstallModel, bleu: float) -> Stage:
    """Return the stage that installs a model.

    Args:
        name: Of the stage.
        part: Of the recipe.
        what: What the model is, for the purpose of the stage.
        work: Copies the model.
        bleu: Of the model, on the validation text.
    """
    purpose = f"copy {what} to {work.out}"
    return Stage(name=name, part=part, purpose=purpose, work=work, product=bleu)
