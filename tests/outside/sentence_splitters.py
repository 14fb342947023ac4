"""Compare Headway's ends of sentences with those that other libraries find, on the texts of the tests.

    pip install sentencex yasbd-lib sentence-splitter pysbd
    python tests/outside/sentence_splitters.py

A library that does not know a language is asked as for English.
"""

from functools import cache
from pathlib import Path

TEXTS = Path(__file__).parents[1] / "core" / "translation" / "sentence_ends.tsv"


def splitters():
    """Return the libraries: name -> function of a text and the code of its language."""
    import pysbd
    import sentencex
    from sentence_splitter import SentenceSplitter
    from yasbd import BoundaryDetector

    from headway.translation import split_sentences

    @cache
    def make(kind, language):
        try:
            return kind(language)
        except Exception:  # each library has errors of its own
            return kind("en")

    return {
        "Headway": split_sentences,
        "sentencex": lambda text, language: list(sentencex.segment(language, text)),
        "yasbd": lambda text, language: list(make(BoundaryDetector, language).segment(text)),
        "Moses": lambda text, language: make(SentenceSplitter, language).split(text),
        "pysbd": lambda text, language: make(pysbd.Segmenter, language).segment(text),
    }


def measure(split, count):
    """Return the share of texts of so many sentences that are split as a reader would, in percent."""
    right = []
    for row in TEXTS.read_text(encoding="utf-8").splitlines():
        language, *sentences = row.split("\t")
        if len(sentences) == count:
            found = [part.strip() for part in split(" ".join(sentences), language)]
            right.append([part for part in found if part] == sentences)
    return 100 * sum(right) / len(right)


if __name__ == "__main__":
    for name, split in splitters().items():
        whole, divided = (measure(split, count) for count in (1, 2))
        print(f"{name}: {whole:.1f} % of single sentences whole, {divided:.1f} % of pairs divided")
