"""How well the quality of translations ranks them, and what translating broken ones again gains.

python tests/outside/quality.py MODEL SOURCE REFERENCE [--numbers] [--damage]

MODEL has a quality.json, made with other text. Spearman's correlation and the area under the curve for the worst
tenth are by chrF2 of each sentence. With --numbers only those lines are taken in which both texts have the
numbers two to nine as words (English and German), and random numbers take their places. With --damage the references,
with placeholders or names in them, are rated as if a search had found them, and so are the same with these damaged.
"""

import argparse
import random
import re
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from headway import Translator
from headway.evaluation.metrics import chrf_by_line
from headway.ext.protect.numbers import count_different_numbers
from headway.ext.quality.quality_model import rank_correlation
from headway.translation.translation import Translation
from support.damaged_translations import damage_names, damage_placeholders
from support.extended_pieces import rate_text

CASES = 400  # of damaged translations
WORDS = (
    ["two", "three", "four", "five", "six", "seven", "eight", "nine"],
    ["zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"],
)


def put_numbers(source, reference, chooser):
    """Put random numbers in the places of small ones; None: the two texts have others, or none."""
    found = [
        [words.index(word.lower()) for word in re.findall(r"\w+", text) if word.lower() in words]
        for text, words in zip((source, reference), WORDS, strict=True)
    ]
    if not found[0] or sorted(found[0]) != sorted(found[1]) or len({*found[0]}) < len(found[0]):
        return None
    texts = [source, reference]
    for number in found[0]:
        digits = str(chooser.randrange(13, 2000))
        for side, words in enumerate(WORDS):
            texts[side] = re.sub(rf"\b{words[number]}\b", digits, texts[side], flags=re.I)
    return texts[0], texts[1]


def area_under_curve(quality, is_bad):
    """Return how often a bad translation has a lower quality than another one."""
    good, bad = quality[~is_bad], quality[is_bad]
    return float(((bad[:, None] < good).mean() + (bad[:, None] <= good).mean()) / 2)


def report(name, quality, scores):
    """Print how well a number ranks the translations."""
    area = area_under_curve(quality, scores <= np.quantile(scores, 0.1))
    print(f"{name}: Spearman {rank_correlation(quality, scores):.3f}, area {area:.3f}")


def report_damage(translator, pairs):
    """Print how many damaged translations, and how many good ones, are flagged and rated below 0.5."""
    for damage, flag in ((damage_placeholders, "placeholders"), (damage_names, "names")):
        cases = [*damage(pairs, CASES, 5)]
        for name, texts in (
            ("good", [case.good for case in cases]),
            ("damaged", [case.damaged for case in cases]),
        ):
            rated = [
                rate_text(translator, case.source, text, keep=False)
                for case, text in zip(cases, texts, strict=True)
            ]
            below = sum(each.quality < 0.5 for each in rated)
            flagged = sum(flag in each.defects for each in rated)
            print(f"{flag}, {name}: of {CASES} {below} below 0.5, {flagged} flagged")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--damage", action="store_true")
    args = parser.parse_args()
    pairs = list(
        zip(
            *(p.read_text("utf-8").splitlines() for p in (args.source, args.reference)), strict=True
        )
    )
    if args.numbers:
        chooser = random.Random(1)
        pairs = [p for pair in pairs if (p := put_numbers(pair[0], pair[1], chooser)) is not None]
    sources, references = ([*side] for side in zip(*pairs, strict=True))
    translator = Translator.load(args.model)
    if args.damage:
        report_damage(translator, pairs)
        return
    translator.translate(sources[:1])
    found: list[list[Translation]] = []
    for is_rated in (False, True):
        start = time.process_time()
        found.append([best for best, *_ in translator.stream(sources, quality=is_rated)])
        print(f"quality {is_rated}: {time.process_time() - start:.1f} s of processor time")
    plain, rated = found
    before, after = (np.array(chrf_by_line([t.text for t in each], references)) for each in found)
    quality = np.array([t.quality for t in rated])
    print(f"{len(sources)} lines, mean chrF2 {after.mean():.1f}, mean quality {quality.mean():.3f}")
    report("quality", quality, after)
    report("score (length-normalized log-probability)", np.array([t.score for t in rated]), after)
    order = np.argsort(quality)
    for part in np.array_split(order, 5):
        print(f"  quality {quality[part].mean():.3f}: chrF2 {after[part].mean():.1f}")
    for defect in ("loop", "numbers", "untranslated", "length", "placeholders", "names"):
        chosen = [i for i, t in enumerate(rated) if defect in t.repaired]
        left = sum(defect in t.defects for t in rated)
        gain = (after - before)[chosen]
        print(
            f"{defect}: {len(chosen)} repaired, {left} left; chrF2 of the repaired"
            f" {before[chosen].mean() if chosen else 0:.1f} -> {after[chosen].mean() if chosen else 0:.1f},"
            f" {int((gain > 0).sum())} better, {int((gain < 0).sum())} worse"
        )
    for name, each in (("before", plain), ("after", rated)):
        right = sum(
            not count_different_numbers(s, t.text) for s, t in zip(sources, each, strict=True)
        )
        print(f"numbers right {name}: {right} of {len(sources)}")


if __name__ == "__main__":
    main()
