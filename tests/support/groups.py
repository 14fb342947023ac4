"""A small corpus of three languages, line by line: digits, German number words and French ones."""

import random
from collections.abc import Callable

from support.runs import WORDS

FRENCH = ["zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"]
LANGUAGES: dict[str, Callable[[int], str]] = {
    "en": str,
    "de": WORDS.__getitem__,
    "fr": FRENCH.__getitem__,
}


def write_languages(folder, *, train=300, valid=11):
    """Write ``train.en``, ``train.de``, ``train.fr`` and the validation text alike; return the folder."""
    folder.mkdir(exist_ok=True)
    source = random.Random(5)
    for name, count in (("train", train), ("valid", valid)):
        rows = [[source.randrange(10) for _ in range(source.randint(2, 9))] for _ in range(count)]
        for language, word in LANGUAGES.items():
            lines = [" ".join(word(digit) for digit in row) for row in rows]
            (folder / f"{name}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def files(folder, name, *pairs):
    """Return the text of pairs of languages, such as "en-de", for `headway.text.preparation`."""
    return {pair: [str(folder / f"{name}.{code}") for code in pair.split("-")] for pair in pairs}


def options(folder, *pairs):
    """Return the options of `headway train` for the text of pairs of languages."""
    return [
        word
        for name in ("train", "valid")
        for pair, paths in files(folder, name, *pairs).items()
        for word in (f"--{name}", pair, *paths)
    ]
