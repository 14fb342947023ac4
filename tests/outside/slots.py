"""Do aligning heads point to the right words? On the built-in corpus the right ones are known.

Both languages' frames have slots of the same names: what fills one in the target stems from what fills
it in the source. A slot is right if the source word that its target words give most weight to stands
in the source's slot.

    python tests/outside/slots.py runs/demo        (a model of headway demo; exit 1 below 80 %)
"""

import argparse
import sys
from collections.abc import Iterator
from random import Random

from headway.demo.fillers import FILLERS
from headway.demo.sentences import FRAMES, SLOT, TABLES, slots
from headway.demo.speaker import Speaker, clean
from headway.demo.stock import Stock
from headway.inference import Translator
from headway.pictures import sentence_maps
from headway.pictures.labels import CONTROL
from headway.pictures.roles import head_roles

OPEN, CLOSE = "\ue000", "\ue001"  # around what fills a slot, until words are counted
Slots = dict[str, set[int]]  # the words of each


def draw(rng: Random, speakers: list[Speaker], stock: Stock) -> list[tuple[str, Slots]]:
    """Draw a sentence: in each language its text and the words of its slots."""
    name = rng.choice(sorted(FRAMES["en"]))
    filled, keys = {}, {}
    for slot in slots(FRAMES["en"][name]):
        base = slot.removesuffix("2")
        if base in FILLERS:
            filled[slot] = FILLERS[base](rng, stock)
        else:
            keys[slot] = rng.choice(sorted(TABLES["en"][base].rows))
    found = []
    for speaker in speakers:
        frame, code = FRAMES[speaker.language_code][name], speaker.language_code
        order: list[str] = []
        text = ""
        end = 0
        for match in SLOT.finditer(frame):
            slot = match["name"] + match["count"]
            order.append(slot)
            what = (
                filled[slot](speaker)
                if slot in filled
                else TABLES[code][match["name"]].form(keys[slot], match["column"])
            )
            text += f"{frame[end : match.start()]}{OPEN}{clean(what)}{CLOSE}"
            end = match.end()
        text = clean(text + frame[end:])
        found.append(words_of(text, order))
    return found


def words_of(text: str, order: list[str]) -> tuple[str, Slots]:
    """Take the marks out; returns the text and the words of the slots that occur once."""
    inside: Slots = {}
    number, at, within = 0, -1, False
    for character in text:
        if character == OPEN:
            at, within = at + 1, True
        elif character == CLOSE:
            within = False
        elif character == " ":
            number += 1
        elif within:
            inside.setdefault(f"{at}", set()).add(number)
    once = {order[int(i)]: words for i, words in inside.items() if order.count(order[int(i)]) == 1}
    plain = text.replace(OPEN, "").replace(CLOSE, "")
    return plain[0].upper() + plain[1:], once


def pairs(count: int, languages: tuple[str, str], seed: int) -> Iterator[list[tuple[str, Slots]]]:
    """Draw so many sentence pairs; sentences that a locale cannot say are left out."""
    speakers = [Speaker(language) for language in languages]
    stock, rng = Stock.of(*speakers), Random(seed)
    while count:
        try:
            yield draw(rng, speakers, stock)
            count -= 1
        except (LookupError, NotImplementedError):
            continue


def main() -> int:
    """Name the head that aligns most often and count the slots it gets right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    translator = Translator.load(args.model)
    drawn = list(pairs(args.pairs, translator.languages, args.seed))
    heads = head_roles(translator, *zip(*((s, t) for (s, _), (t, _) in drawn), strict=True))
    able = sorted((h for h in heads if h.aligns is not None), key=lambda h: -(h.aligns or 0.0))
    right: dict[tuple[str, int, int], int] = {head.place: 0 for head in able}
    seen = 0
    for (source, source_slots), (target, target_slots) in drawn:
        words = sentence_maps(translator, source, target).maps["cross"].words()
        keys = [i for i, label in enumerate(words.keys) if label not in CONTROL]
        assert len(keys) == len(source.split())
        assert len(words.queries) == len(target.split()) + 1
        for slot in source_slots.keys() & target_slots.keys():
            seen += 1
            rows = sorted(target_slots[slot])
            picked = words.weights[:, :, rows][..., keys].mean(2).argmax(-1)
            for _, layer, head in right:
                right["cross", layer, head] += int(picked[layer, head]) in source_slots[slot]
    for head in able:
        share = right[head.place] / seen
        print(
            f"layer {head.layer + 1} head {head.head + 1}: aligns {head.aligns:.1%} {head.role:<8}"
            f" right in {share:.1%} of {seen} slots"
        )
    return 0 if right[able[0].place] >= 0.8 * seen else 1


if __name__ == "__main__":
    sys.exit(main())
