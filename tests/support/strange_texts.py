"""Texts that programs trip over, made from a seed; for test_hostile_text.py and outside/text_campaigns.py."""

from random import Random

CONTROL = ["</s>", "<pad>", "<unk>", "<s>", "<0x41>", "<0xFF>", "▁", "▁</s>", "<2de>", "__de__"]
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
SINGLE = "\ufffe\uffff\ufdd0\U0010ffffﷺİẞﬁ①Ǆ"
SEVERAL = "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇩🇪🇫🇷 👍🏿 क्षि 각 e\u0301"
JOINED = [*SINGLE, *SEVERAL.split()]
ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"]
SPACES = " \t\u00a0\u1680\u2003\u200b\u202f\u205f\u3000\u2060\ufeff\u180e"
WRITTEN = "the a cat Hund sees läuft 日本 дом 3.14 don't e-mail http://x.y/?q=1&r=2 … «so» C++ #1 50% A. B."
WORDS = WRITTEN.split()
BLOCK = 0x80  # code points taken together: no block of Unicode is smaller than 16, few smaller than this


def character(random, block=None):
    """Draw any code point, half of a surrogate pair included, or one of a block."""
    start = random.randrange(0x110000 // BLOCK) if block is None else block
    return chr(start * BLOCK + random.randrange(BLOCK))


def strange_texts(count, seed, longest=100_000):
    """Yield texts, first one of every kind.

    Args:
        count: How many.
        seed: The same texts for the same number.
        longest: Characters of the longest, of which there is one in a thousand.
    """
    random = Random(seed)
    for number in range(count):
        size = random.randrange(1, 40)
        if number % 1_000 == 999:
            yield long_text(random, longest)
            continue
        match number % 12:
            case 0:  # every block in turn
                block = number // 12 % (0x110000 // BLOCK)
                yield "".join(character(random, block) for _ in range(size))
            case 1:
                yield "".join(character(random) for _ in range(size))
            case 2:  # halves of characters, alone and in the wrong order
                yield "".join(random.choice("a\ud800\udc00\udbff\udfff b") for _ in range(size))
            case 3:
                yield "".join(
                    chr(random.choice((0, 0, random.randrange(0xA0)))) for _ in range(size)
                )
            case 4:
                yield "".join(random.choice([*BIDI, *WORDS, " "]) for _ in range(size))
            case 5:
                yield random.choice("aक각") + "".join(
                    chr(random.randrange(0x300, 0x370)) for _ in range(random.randrange(300))
                )
            case 6:
                yield "".join(random.choice([*CONTROL, *WORDS, " "]) for _ in range(size))
            case 7:
                yield "".join(random.choice([*JOINED, *SPACES]) for _ in range(size))
            case 8:
                yield "".join(random.choice([*ENDS, *WORDS, *SPACES]) for _ in range(size))
            case 9:  # no space anywhere
                yield random.choice(WORDS) * random.randrange(200)
            case 10:
                yield " " * random.randrange(5) + " ".join(random.choices(WORDS, k=size)) + " "
            case _:
                yield "".join(random.choices([*CONTROL, *JOINED, *ENDS, *WORDS, *SPACES], k=size))


def long_text(random, length):
    """Return a long text, of one character, of words or of anything."""
    match random.randrange(5):
        case 0:
            return "a" + chr(random.randrange(0x300, 0x370)) * min(length, 10_000)
        case 1:
            return random.choice("a日.< \u2581🎉") * length
        case 2:
            return " ".join(random.choices(WORDS, k=length // 5))[:length]
        case 3:
            return "".join(random.choices([*CONTROL, *WORDS], k=length // 5))[:length]
        case _:
            return "".join(character(random) for _ in range(length // 10))


def shapes(length):
    """Return texts of about the same length that may take more than linear time; each repeats one unit."""
    made = {
        "one letter": "a", "one ideograph": "日", "spaces": " ", "U+2581": "\u2581", "marks": "\u0301",
        "words": "the cat sees a dog ", "sentences": "The cat sees. ", "dots": ".", "tags": "<b>", "opened": "<",
        "quotes": '<a b="', "entities": "&amp", "control": "</s>", "no space": "dieKatzesiehtdenHund", "faces": "🎉",
        "line ends": "\n", "halves": "\ud800", "commas": "a,", "bidi": "\u202e",
    }  # fmt: skip
    # A unit that is cut in two would be other work: half a tag is text.
    return {name: unit * max(1, length // len(unit)) for name, unit in made.items()}
