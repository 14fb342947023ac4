"""Lists of cases, and text that is made of a few words."""

import gzip
import random
from pathlib import Path

CASES = Path(__file__).with_name("cases")
WORDS = {
    "dog": "Hund", "cat": "Kater", "horse": "Esel", "bird": "Vogel", "king": "König", "teacher": "Lehrer",
    "sees": "sieht", "hears": "hört", "finds": "findet", "paints": "malt", "asks": "fragt",
    "today": "heute", "often": "oft", "there": "dort", "slowly": "langsam", "again": "wieder",
    "big": "großen", "old": "alten", "green": "grünen", "small": "kleinen",
}  # fmt: skip


def read_cases(name):
    """Return the cases of a file, one on each line; lines that begin with # are comments."""
    lines = (CASES / name).read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def pairs(count, seed=1):
    """Return pairs of sentences in English and German that are made of a few words."""
    chosen = random.Random(seed)
    nouns, verbs, adverbs, adjectives = (list(WORDS)[slice(*ends)] for ends in ((0, 6), (6, 11), (11, 16), (16, 20)))  # fmt: skip
    found = []
    for number in range(count):
        a, b = chosen.sample(nouns, 2)
        verb, adverb, adjective = (chosen.choice(group) for group in (verbs, adverbs, adjectives))
        source = f"The {a} {verb} the {adjective} {b} {adverb}, number {number}."
        target = f"Der {WORDS[a]} {WORDS[verb]} den {WORDS[adjective]} {WORDS[b]} {WORDS[adverb]}, Nummer {number}."
        found.append((source, target))
    return found


def write_lines(path, lines):
    """Write lines to a file, compressed if its name says so, and return the path."""
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


def write_pairs(folder, name, rows):
    """Write ``NAME.en`` and ``NAME.de``, and return the two paths."""
    return [
        write_lines(folder / f"{name}.{language}", [row[side] for row in rows])
        for side, language in enumerate(("en", "de"))
    ]
