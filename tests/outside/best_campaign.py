"""Kill `headway best` at random moments, and compare its models with those of an undisturbed recipe.

    python tests/outside/best_campaign.py --kills 20

The recipe is real: each stage is a process of its own, which dies with the command. Only the text and the
models are small. After each kill the same command goes on. At the end the models must have the same bytes
as those of a recipe that nothing interrupted, and each figure must be the one that `headway evaluate`
prints when its command is given again.
"""

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign, note
from support.recipes import MODELS, OPTIONS
from support.runs import write_corpus

MOST_STAGES = 2  # that are finished between two kills
LONGEST = 10.0  # seconds from then to the kill


class Recipes(Campaign):
    """Recipes in one directory, all with the same text and options."""

    def work(self):
        """Kill one recipe, or several one after the other, until the number is reached."""
        self.words = [*write_corpus(self.folder / "corpus", train=150, valid=7), *OPTIONS]
        self.log, out = self.folder / "log", self.folder / "killed"
        started = time.monotonic()
        self.finish(self.start_recipe(self.folder / "reference"), self.log)
        note(f"undisturbed: {time.monotonic() - started:.0f} s")
        self.attack(out)
        self.check_figures(out)

    def start_recipe(self, out):
        """Start the command, or go on with it."""
        return self.start("best", out, *self.words, log=self.log)

    def attack(self, out):
        """Kill the command, then let it finish; a recipe that finishes first is done again."""
        while self.counts["kills"] < self.options.kills:
            process = self.start_recipe(out)
            goal = count_finished(out) + self.luck.randint(0, MOST_STAGES)

            while process.poll() is None and not (
                (out / "plan").exists() and count_finished(out) >= goal
            ):
                time.sleep(0.05)
            try:
                process.wait(self.luck.uniform(0, LONGEST))
                self.compare(out, self.folder / "reference", MODELS)
                shutil.rmtree(out)
            except subprocess.TimeoutExpired:
                self.kill(process.pid)
                process.wait()
                self.counts["kills"] += 1
                note(f"killed with {count_finished(out)} finished stages")
        self.finish(self.start_recipe(out), self.log)
        self.compare(out, self.folder / "reference", MODELS)

    def check_figures(self, out):
        """Score every model again by the command of the report, and look for the figures in the report."""
        page = (out / "report.html").read_text(encoding="utf-8")
        for file in sorted((out / "stages").glob("*.json")):
            stage = json.loads(file.read_text(encoding="utf-8"))
            if not stage["scores"]:
                continue
            words = shlex.split(stage["commands"][-1].replace("OUT/", f"{out}/"))
            words = words[1 : words.index(">")]
            printed = subprocess.run(
                [sys.executable, "-m", "headway", *words],
                capture_output=True,
                text=True,
                check=True,
            )
            scores = json.loads(printed.stdout)["scores"]
            for key in ("bleu", "chrf"):
                figure = scores[key]["score"]
                self.expect(figure == stage["scores"][key], f"{file}: {key} is {figure} now")
                self.expect(f">{figure:.2f}<" in page, f"{out}: {figure:.2f} is not in the report")
            self.counts["figures checked"] += 2


def count_finished(out):
    """Return how many stages are finished."""
    return sum('"is_finished": true' in file.read_text() for file in out.glob("stages/[!.]*.json"))


if __name__ == "__main__":
    Recipes.run(__doc__, {"--kills": 20, "--seed": 1})
