"""Kill `headway best` at random moments, and compare its models with those of an undisturbed recipe.

    python tests/outside/best_campaign.py --kills 20

The recipe is real: each stage is a process of its own, which dies with the command. Only the text and the
models are small. After each kill the same command goes on. At the end the models must have the same bytes
as those of a recipe that nothing interrupted, and each figure must be the one that `headway evaluate`
prints when its command is given again. Prints a line of figures; exits with 1 if any promise was broken.
"""

import argparse
import json
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.recipes import MODELS, OPTIONS
from support.runs import write_corpus

TIME_LIMIT = 1800.0  # seconds; a recipe that takes longer hangs
MOST_STAGES = 2  # that are finished between two kills
LONGEST = 10.0  # seconds from then to the kill


class Campaign:
    """Recipes in one directory, all with the same text and options.

    Args:
        folder: The directory.
        luck: Chooses the moments.
    """

    def __init__(self, folder: Path, luck: random.Random) -> None:
        self.folder, self.luck = folder, luck
        self.words = [*write_corpus(folder / "corpus", train=150, valid=7), *OPTIONS]
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []

    def start(self, out: Path) -> "subprocess.Popen[bytes]":
        """Start the command, or go on with it."""
        with (self.folder / f"{out.name}.log").open("ab") as log:
            command = [sys.executable, "-m", "headway", "best", str(out), *self.words]
            return subprocess.Popen(command, stdout=log, stderr=log)

    def finish(self, out: Path) -> None:
        """Go on to the end."""
        code = self.start(out).wait(TIME_LIMIT)
        self.expect(code == 0, f"{out}: exit code {code}, see {out}.log")

    def attack(self, out: Path, kills: int) -> None:
        """Kill the command so many times, then let it finish; a recipe that finishes first is done again."""
        left = kills
        while left:
            process = self.start(out)
            goal = count_finished(out) + self.luck.randint(0, MOST_STAGES)
            while process.poll() is None and not (
                (out / "plan.json").exists() and count_finished(out) >= goal
            ):
                time.sleep(0.05)
            try:
                process.wait(self.luck.uniform(0, LONGEST))
                self.compare(out)
                shutil.rmtree(out)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                left -= 1
                self.counts["kills"] += 1
                print(
                    f"killed with {count_finished(out)} finished stages",
                    file=sys.stderr,
                    flush=True,
                )
        self.finish(out)
        self.compare(out)

    def compare(self, out: Path) -> None:
        """Compare the models with those of the undisturbed recipe."""
        for name in MODELS:
            same = (out / name).read_bytes() == (self.folder / "reference" / name).read_bytes()
            self.expect(same, f"{out / name}: not equal to the undisturbed recipe's")
        left = list(out.rglob(".tmp-*"))
        self.expect(not left, f"{out}: left behind {left}")
        self.counts["recipes compared"] += 1

    def check_figures(self, out: Path) -> None:
        """Score every model again by the command of the report, and look for the figures in the report."""
        page = (out / "report.html").read_text(encoding="utf-8")
        for file in sorted((out / "stages").glob("*.json")):
            stage = json.loads(file.read_text(encoding="utf-8"))
            if stage["scores"] is None:
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

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note a broken promise."""
        if not holds:
            self.broken.append(otherwise)
            print(otherwise, file=sys.stderr, flush=True)


def count_finished(out: Path) -> int:
    """Return how many stages are finished."""
    return sum('"is_finished": true' in file.read_text() for file in out.glob("stages/[!.]*.json"))


def run_campaign(kills: int, seed: int) -> Campaign:
    """Kill one recipe, or several one after the other, until the number is reached."""
    folder = Path(tempfile.mkdtemp(prefix="headway-best-"))
    campaign = Campaign(folder, random.Random(seed))
    started = time.monotonic()
    campaign.finish(folder / "reference")
    print(f"undisturbed: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    campaign.attack(folder / "killed", kills)
    campaign.check_figures(folder / "killed")
    if not campaign.broken:
        shutil.rmtree(folder)
    return campaign


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="kill -9")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    done = run_campaign(options.kills, options.seed)
    print(", ".join(f"{count} {what}" for what, count in sorted(done.counts.items())))
    print(f"{len(done.broken)} promises broken")
    sys.exit(bool(done.broken))
