"""Texts that both sides are asked about: lines of the built-in corpus, and what is made of them."""

import gzip
import random
from pathlib import Path

CASES = Path(__file__).with_name("cases")
GLOSSARY = """source\ttarget\tflags
piano\tFlügel|Klavier
house\tGebäude
flower*\tRosen|Nelken
Vienna\tVindobona\tcase
Martha\t\tkeep
kitchen\tKüche
book\tWerk|Buch|Band
\\d+ years?\tJährchen\tregex
"""

# Words of which pairs of sentences are made where no model, and so no corpus, is at hand.
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


def plain(model, count=1000, language="en"):
    """Return the first lines of the corpus's test text, which the model has not seen."""
    path = model.with_name("model-text") / f"test.{language}"
    return path.read_text("utf-8").splitlines()[:count]


def marked(model, count=300):
    """Return lines with placeholders, tags, addresses, codes, labels, symbols and capitals, all kinds equally often."""
    chosen = random.Random(56)
    sentences = [line for line in plain(model) if len(line.split()) > 4]
    return [
        mark(sentences[number % len(sentences)], number % 14, chosen) for number in range(count)
    ]


def mark(line, kind, chosen):
    """Put text of a kind that must stay into a line, at a random word."""
    words = line.split()
    place = chosen.randrange(1, len(words) - 1)
    placeholder = chosen.choice(
        ("{name}", "%s", "%1$s", "{{user.name}}", "${count}", "%(n)d", "__NAME__")
    )
    word = words[place]
    if kind < 7:
        words[place] = (
            placeholder, f"{placeholder} {word}", f"<b>{word}</b>", f"`{word}`", f"{word} (https://example.org/a?b={place})",
            f"{word} DE-2301", f"<x id=\"1\"/>{word}",
        )[kind]  # fmt: skip
        return " ".join(words)
    return (
        line.upper(), f"{placeholder}: {line}", f"{line} {placeholder}", f"{place}) {line}", f"• {line} 😀",
        f"{line}<br>{line}", f"{line.rstrip('.')} at {place + 13} km/h.",
    )[kind - 7]  # fmt: skip


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
