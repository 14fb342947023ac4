"""Translate strings with placeholders, and text with a glossary, by a trained model; print figures.

    python tests/outside/terms.py CAMPAIGN MODEL SOURCE TARGET [--count 10000]

placeholders   strings made of pairs of lines: kept how often, and BLEU of the text around
others         the same with placeholders in the place of other words
glossary       terms from the references, random terms and none: success, BLEU and time

SOURCE and TARGET are lines that belong together, such as a test set, in the languages of the model; those of strings
are English, German or French. The strings and the terms are always the same. The exit code is 1 if a promise is broken. Nothing but headway is needed.
"""

import csv
import random
import re
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import sacrebleu
import torch

from headway.ext.protect.glossary import Glossary
from headway.text.lines import read_lines
from headway.translation import Translator
from headway.translation.requests import run, together
from support.campaign import Campaign
from support.pieces import cut

# Expressions for words that a placeholder can replace, in each of the languages; for `others`, most are no placeholder words.
TABLE = Path(__file__).with_suffix(".tsv")
PLACEHOLDERS = ["{name}", "{{user.name}}", "%1$s", "%s", "%d", "${count}", "$NAME", "{0}", "`x`"]
# What may follow any sentence, in all languages.
ADDED = [
    " (https://example.org/a?b=1)", " – joe.doe@example.org", " ({time})", " [%(id)d]", " – /etc/hosts",
    " <br/>", " (5 km/h)", " – 35 kg",
]  # fmt: skip


class Pair(NamedTuple):
    """A source and its reference."""

    source: str
    target: str


ROUNDS = 5  # of which the median time is taken


class Example(NamedTuple):
    """A pair of lines, and the same pair with placeholders."""

    plain: Pair
    held: Pair
    kept: list[str]
    words: str  # what the placeholder replaces in the target


def make_examples(pairs, replaced, count, seed=1):
    """Return the same examples for the same pairs; each has one or two placeholders."""
    chooser = random.Random(seed)
    found: list[Example] = []
    usable = [
        (pair, words)
        for pair in pairs
        for words in replaced
        if len(re.findall(words[0], pair.source)) == len(re.findall(words[1], pair.target)) == 1
    ]
    while len(found) < count:
        pair, words = usable[len(found)] if len(found) < len(usable) else chooser.choice(usable)
        placeholder = chooser.choice(PLACEHOLDERS)
        held = Pair(
            placeholder.join(re.split(words[0], pair.source)),
            placeholder.join(re.split(words[1], pair.target)),
        )
        kept = [placeholder]
        if chooser.random() < 0.3:
            added = chooser.choice(ADDED)
            held = Pair(held.source + added, held.target + added)
            kept.append(added.strip(" –()[]"))
        found.append(Example(pair, held, kept, words[1]))
    return found


def bleu(found, references):
    """Return BLEU."""
    return sacrebleu.corpus_bleu(list(found), [list(references)]).score


def remove(text):
    """Return a text without the placeholders of the examples."""
    for word in sorted([*PLACEHOLDERS, *ADDED], key=len, reverse=True):
        text = text.replace(word, " ").replace(word.strip(" –()[]"), " ")
    return " ".join(text.split())


def placeholder_campaign(translator, examples):
    """Every placeholder is kept, and the text around is as good as without."""
    count = len(examples)
    found = translator.translate([example.held.source for example in examples])
    plain = translator.translate([example.plain.source for example in examples])
    broken = [
        f"{example.held.source} -> {text}"
        for example, text in zip(examples, found, strict=True)
        if any(text.count(kept) != example.held.source.count(kept) for kept in example.kept)
    ]
    before = bleu(plain, [example.plain.target for example in examples])
    after = bleu(found, [example.held.target for example in examples])
    around = bleu(list(map(remove, found)), [remove(example.held.target) for example in examples])
    without = bleu(
        [re.sub(example.words, "", text) for text, example in zip(plain, examples, strict=True)],
        [re.sub(example.words, "", example.plain.target) for example in examples],
    )
    print(f"strings {count}, kept {100 * (1 - len(broken) / count):.2f} %")
    print(f"BLEU of the lines without placeholders {before:.2f}, with {after:.2f}")
    print(
        f"BLEU of the text around, without placeholders {without:.2f}, with {around:.2f}",
        flush=True,
    )
    return broken + ([] if around >= without - 0.2 else ["BLEU is more than 0.2 lower"])


def make_glossaries(pairs, kind, seed=1):
    """Return a glossary for each line: one word of the source, and a word of its or any reference.

    The word of the source does not matter: a glossary applies where it occurs.
    """
    chooser = random.Random(seed)

    def words(text):
        return [word for word in re.findall(r"\w+", text) if len(word) > 3]

    usual = sorted({word for pair in pairs for word in words(pair.target)})
    found: list[Glossary | None] = []
    for pair in pairs:
        sources = [
            w for w in words(pair.source) if len(re.findall(rf"\b{w}\b", pair.source, re.I)) == 1
        ]
        targets = words(pair.target) if kind == "right" else usual
        if kind == "none" or not sources or not targets:
            found.append(None)
        else:
            found.append(Glossary.of({chooser.choice(sources): [chooser.choice(targets)]}))
    return found


def glossary_campaign(translator, pairs):
    """Terms are in the translations, which take little longer and stay as good without terms."""
    broken = []
    sources, references = ([pair[side] for pair in pairs] for side in (0, 1))
    least = {"right": 0.98, "random": 0.95, "none": 1.0}
    glossaries = {kind: make_glossaries(pairs, kind) for kind in least}
    texts: dict[str, list[str]] = {}
    seconds: dict[str, list[float]] = {"free": [], **{kind: [] for kind in least}}
    for _ in range(ROUNDS):
        for kind, taken in seconds.items():
            started = time.process_time()
            pieces = [
                piece
                for source, glossary in zip(
                    sources, glossaries.get(kind, [None] * len(sources)), strict=True
                )
                for piece in cut(translator.with_glossary(glossary), source)
            ]
            texts[kind] = translate_pieces(translator, pieces)
            taken.append(time.process_time() - started)
    usual = statistics.median(seconds["free"])
    print(f"no glossary: BLEU {bleu(texts['free'], references):.2f}, {usual:.1f} s")
    for kind, found in texts.items():
        if kind == "free":
            continue
        wanted = [
            (text, glossary.terms[0].renderings[0])
            for text, glossary in zip(found, glossaries[kind], strict=True)
            if glossary is not None
        ]
        success = sum(bool(re.search(rf"\b{word}\b", text)) for text, word in wanted)
        late = sum(bool(re.search(rf"[.!?]\W*{word}\b", text)) for text, word in wanted)
        share = success / max(1, len(wanted)) if wanted else 1.0
        ratio = statistics.median(seconds[kind]) / usual
        print(
            f"{kind}: {len(wanted)} terms, {100 * share:.1f} % in the translation, BLEU"
            f" {bleu(found, references):.2f}, time {ratio:.2f}, after the end of a sentence {late}",
            flush=True,
        )
        if share < least[kind]:
            broken.append(f"{kind}: less than {100 * least[kind]:.0f} %")
        if ratio > 1.3:
            broken.append(f"{kind}: more than 1.3 times the time")
    if texts["none"] != texts["free"]:
        broken.append("none: other translations than without a glossary")
    return broken


def translate_pieces(translator, pieces):
    """Translate each piece as a line, in the batches that `Translator.stream` makes."""
    pipeline = translator.pipeline()
    found = run(together(map(pipeline.find, pieces)))
    return [
        pipeline.join([piece], [each])[0].text for piece, each in zip(pieces, found, strict=True)
    ]


class Terms(Campaign):
    """The campaign that the arguments name."""

    def work(self):
        """Translate, and print what was found."""
        options = self.options
        torch.set_num_threads(1)
        translator = Translator.load(options.model)
        if options.beam:
            translator.default_search = replace(translator.default_search, beam=options.beam)
        files = map(read_lines, (options.source, options.target))
        pairs = [Pair(*pair) for pair in zip(*files, strict=True)]
        if options.campaign == "glossary":
            broken = glossary_campaign(translator, pairs[: options.count])
        else:
            with TABLE.open(encoding="utf-8", newline="") as file:
                rows = [*csv.DictReader(file, delimiter="\t")]
            source, target = translator.languages
            words = [(r[source], r[target]) for r in rows if r["campaign"] == options.campaign]
            broken = placeholder_campaign(translator, make_examples(pairs, words, options.count))
        for line in broken:
            self.expect(False, line)


if __name__ == "__main__":
    campaigns = {"choices": ["placeholders", "others", "glossary"]}
    files = {"source": Path, "target": Path}
    # Strings, or lines of the text; and hypotheses of the search, by default those of the model.
    numbers = {"--count": 10_000, "--beam": 0}
    Terms.run(__doc__, {"campaign": campaigns, "model": str, **files, **numbers})
