"""Pairs of sentences that carry their number on both sides, so that a shifted side is seen in the text itself."""

import random

Text = tuple[str, str]
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
WORDS = (
    ["a", "fair", "day", "in", "May", "&", "the", "naïve", "“cat”", "😀", "<", "dog"],
    ["ein", "schöner", "Tag", "im", "März", "&", "die", "Straße", "„Übung“", "<", "日本", "𝔊"],
)


def number_pairs(count):
    """Return pairs of random words, the same ones each time."""
    draw = random.Random(11)
    return [
        (
            f"<{number}> {' '.join(draw.choices(WORDS[0], k=7))} .",
            f"<{number}> {' '.join(draw.choices(WORDS[1], k=6))} .",
        )
        for number in range(1, count + 1)
    ]


def escape(text):
    """Return a text as XML has it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def units(pairs, english="en", german="de"):
    """Return a line of TMX for each pair."""
    return [
        f'<tu><tuv xml:lang="{english}"><seg>{escape(source)}</seg></tuv>'
        f'<tuv xml:lang="{german}"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target in pairs
    ]


def make_tmx(lines, head=HEAD + DOCTYPE):
    """Return a TMX file whose units begin on the line after the head's, and one more."""
    return f"{head}<tmx version='1.4'><header/><body>\n{''.join(lines)}</body></tmx>\n"


def write_tmx(folder, lines, head=HEAD + DOCTYPE):
    """Write a TMX file."""
    path = folder / "corpus.tmx"
    path.write_text(make_tmx(lines, head), encoding="utf-8", newline="\n")
    return path
