"""Random sentences of given words, and worse versions of them, to be scored."""

import random


def sentences(words, lines, seed):
    """Return lines of 5 to 13 random words with a full stop."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, k=draw.randint(5, 13))) + "." for _ in range(lines)]


def degrade(words, lines, share, seed):
    """Replace this share of the words of each line by random ones."""
    draw = random.Random(seed)
    return [
        " ".join(draw.choice(words) if draw.random() < share else word for word in line.split())
        for line in lines
    ]
