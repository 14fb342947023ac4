"""Count how often a model links words to the words that they translate, by a small lexicon; print the share.

    python tests/outside/word_links.py MODEL SOURCE [--lines 400]

MODEL translates from English to German or the other way round, and SOURCE is a text of its source language, such as
validation text of Multi30k. A word of the lexicon counts if it stands once in the German text, and its English word once
in the English text. Nothing but headway is needed.
"""

import argparse
import re
from pathlib import Path

from headway.text.lines import read_lines
from headway.translation import Translator

# German words, and expressions for the English words that translate them.
LEXICON = {
    "hund": "dog", "mann": "man", "frau": "woman", "junge": "boy", "mädchen": "girl", "straße": "street",
    "wasser": "water", "roten": "red", "blauen": "blue", "weißen": "white", "schwarzen": "black", "hemd": "shirt",
    "sitzt": "sit.*", "zwei": "two", "drei": "three", "personen": "people", "ball": "ball", "grünen": "green",
    "gruppe": "group", "kind": "child", "spielt": "play.*",
}  # fmt: skip


def main():
    """Translate and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("--lines", type=int, default=400)
    args = parser.parse_args()
    translator = Translator.load(args.model, "cpu")
    is_german = translator.languages[0] == "de"
    lines = [line for line in list(read_lines(args.source))[: args.lines] if line.strip()]
    right = count = 0
    for line, [best] in zip(lines, translator.stream(lines, align=True), strict=True):
        texts = [list_words(line), list_words(best.text)]
        german, english = texts if is_german else texts[::-1]
        links = {target: source for source, target in best.alignment or []}
        for number, word in enumerate(german):
            if word not in LEXICON or german.count(word) > 1:
                continue
            found = [n for n, each in enumerate(english) if re.fullmatch(LEXICON[word], each)]
            if len(found) == 1:
                source, target = (number, found[0]) if is_german else (found[0], number)
                count += 1
                right += links.get(target) == source
    print(f"{args.model}: {right} of {count} words are linked right, {100 * right / count:.1f} %")


def list_words(text):
    """Return the words of a text without capitals and punctuation."""
    return [re.sub(r"\W", "", word).lower() for word in text.split()]


if __name__ == "__main__":
    main()
