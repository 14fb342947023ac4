"""Kill long work (kill -9) at random moments, go on with the same command, and compare with undisturbed work.

    python tests/outside/kills.py prepare SOURCE TARGET [--copies 10] [--workers 1 2 4]
    python tests/outside/kills.py translate LINES --model MODEL [--lines 1000000] [--workers 2]
    python tests/outside/kills.py best

With each number of workers the work is done undisturbed; then it is done again while the command or one of its
workers is killed, ``--kills 20`` times. The bytes of all must be equal, no worker may outlive its command, and no file
may be left. It prints the times, the largest memory of a process (VmHWM), the bytes on disk, and the time from each
kill until all work again.

prepare    plain or compressed text, of which each copy has a marker of its own at the end of every line
translate  a text file, repeated to so many lines: 20 kills may cost 3 % of the undisturbed time of a million lines
best       a small recipe; each figure of its report must be what `headway evaluate` prints now
"""

import json
import shlex
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.text.lines import open_bytes
from support.campaign import Campaign, list_files, note, wait_until
from support.processes import children, is_running, read_memory
from support.recipes import MODELS
from support.recipes import OPTIONS as RECIPE
from support.runs import write_corpus

OPTIONS = ("--valid", 1000, "--text.vocab-size", 32000)
LIMIT = 0.6e9  # bytes of memory of a process that prepares text
ALLOWED = 0.03 / 20  # for each kill, of the undisturbed time of a million translated lines
TIME_LIMIT = 60.0  # seconds until all workers work again


def write_copies(texts, folder, copies):
    """Write the text several times, each time with another marker at the end of each line."""
    files = []
    for text, language in zip(texts, ("xx", "yy"), strict=True):
        file = folder / f"train.{language}"
        with file.open("wb") as written:
            for copy in range(copies):
                marker = f" #{copy}\n".encode()
                with open_bytes(text) as lines:
                    written.writelines(line.rstrip(b"\r\n") + marker for line in lines)
        files.append(file)
    return files


class Kills(Campaign):
    """The same work, undisturbed and under attack."""

    def work(self):
        """Do the work that the arguments name."""
        self.log, kind = self.folder / "log", self.options.work
        self.words = getattr(self, f"make_{kind}")()
        compared, done, longest = MODELS if kind == "best" else (), [], 0.0
        for workers in (
            self.options.workers or {"prepare": [1, 2, 4], "translate": [2], "best": [0]}[kind]
        ):
            out = self.folder / f"undisturbed-{workers}" / self.name
            longest = max(longest, self.measure(out, workers))
            done.append(out)
        out = self.folder / "killed" / self.name
        lost = self.attack(out, workers, longest / (self.options.kills + 1))
        left = [path.name for path in out.parent.iterdir() if path != out]
        self.expect(not left, f"left behind: {left}")
        for other in (*done[1:], out):
            self.compare(other, done[0], compared or list_files(other, done[0]))
        if kind == "translate":
            share = lost / (longest * 1_000_000 / self.options.lines)
            self.figure(
                "time lost, % of a million lines",
                100 * share,
                share <= ALLOWED * self.options.kills,
            )
        if kind == "best":
            self.check_figures(out)

    def make_prepare(self):
        """Make the text of a preparation, and return the words of its command."""
        self.name, files = "out", write_copies(self.options.text, self.folder, self.options.copies)
        return lambda out, workers: [
            "prepare",
            out,
            "--train",
            *files,
            "--workers",
            workers,
            *OPTIONS,
        ]

    def make_translate(self):
        """Make the lines of a translation, and return the words of its command."""
        self.name, source = "out.gz", self.folder / "source"
        lines = self.options.text[0].read_text().splitlines(keepends=True)
        source.write_text("".join(islice(chain.from_iterable(repeat(lines)), self.options.lines)))
        files = ["translate", self.options.model, "--input", source, "--search.beam", 1, "--output"]
        return lambda out, workers: [*files, out, "--workers", workers, "--threads", workers]

    def make_best(self):
        """Make the text of a recipe, and return the words of its command."""
        self.name, corpus = "out", write_corpus(self.folder / "corpus", train=150, valid=7)
        return lambda out, workers: ["best", out, *corpus, *RECIPE]

    def begin(self, out, workers):
        """Start the work, or go on with it."""
        out.parent.mkdir(exist_ok=True)
        return self.start(*self.words(out, workers), log=self.log)

    def measure(self, out, workers):
        """Do the work undisturbed, print what it takes, and return the seconds."""
        began, process, memory, disk = time.monotonic(), self.begin(out, workers), 0, 0
        while process.poll() is None:
            running = (process.pid, *children(process.pid))
            memory = max(memory, *(read_memory("VmHWM", each) for each in running))
            with suppress(OSError):  # files that vanish meanwhile
                disk = max(disk, sum(each.stat().st_size for each in out.parent.rglob("*")))
            time.sleep(0.2)
        self.finish(process, self.log)
        seconds = time.monotonic() - began
        print(
            f"{workers} workers: {seconds:.1f} s, {memory / 1e6:.0f} MB at most in a process, {disk / 1e6:,.0f} MB on disk",
            flush=True,
        )
        self.expect(
            self.options.work != "prepare" or memory <= LIMIT, f"{memory:,} bytes of memory"
        )
        return seconds

    def attack(self, out, workers, pause):
        """Do the work while processes are killed, with so many seconds between two; return the seconds that this cost."""
        process, lost = self.begin(out, workers), {"command": [0.0], "worker": [0.0]}
        needed = workers if self.options.work == "translate" else 0  # others have them at times
        for _ in range(self.options.kills):
            time.sleep(self.luck.uniform(0.2, 1.8) * pause)
            before = children(process.pid) if workers else []
            victim = self.luck.choice([process.pid, *before])
            if process.poll() is not None:
                break
            began, kind = time.monotonic(), "command" if victim == process.pid else "worker"
            self.kill(victim)
            if kind == "command":
                process.wait()
                wait_until(partial(have_ended, before), 2.0, "the end of workers")
                process = self.begin(out, workers)
            wait_until(partial(works, process, needed, victim), TIME_LIMIT, "all workers")
            lost[kind].append(time.monotonic() - began)
            self.counts[f"{kind}s killed"] += 1
        self.finish(process, self.log)
        for kind, times in lost.items():
            note(
                f"{kind} killed: back after {statistics.median(times[1:] or times):.2f} s (median)"
            )
        return sum(lost["command"]) + sum(lost["worker"]) / max(
            1, workers
        )  # the others work meanwhile

    def check_figures(self, out):
        """Score every model again by the command of the report, and look for the figures in the report."""
        page = (out / "report.html").read_text(encoding="utf-8")
        for file in sorted((out / "stages").glob("*.json")):
            stage = json.loads(file.read_text(encoding="utf-8"))
            words = (
                shlex.split(stage["commands"][-1].replace("OUT/", f"{out}/"))
                if stage["scores"]
                else []
            )
            if words:
                command = [sys.executable, "-m", "headway", *words[1 : words.index(">")]]
                scores = json.loads(
                    subprocess.run(command, capture_output=True, check=True).stdout
                )["scores"]
            for key in ("bleu", "chrf") if words else ():
                figure = scores[key]["score"]
                self.expect(figure == stage["scores"][key], f"{file}: {key} is {figure} now")
                self.expect(f">{figure:.2f}<" in page, f"{out}: {figure:.2f} is not in the report")
                self.counts["figures checked"] += 1


def works(process, workers, victim):
    """Return whether a command has so many workers, without the one that was killed, or has ended."""
    found = children(process.pid)
    return process.poll() is not None or (len(found) >= workers and victim not in found)


def have_ended(processes):
    """Return whether none of the processes runs."""
    return not any(map(is_running, processes))


if __name__ == "__main__":
    work, text = {"choices": ["prepare", "translate", "best"]}, {"nargs": "*", "type": Path}
    sizes = {"--copies": 10, "--lines": 1_000_000, "--kills": 20, "--seed": 1}
    workers = {"nargs": "+", "type": int}
    Kills.run(__doc__, {"work": work, "text": text, "--model": "", "--workers": workers, **sizes})
