"""Check whether aligning heads attend to the right words; the built-in corpus tells which are right.

A frame has the same slots in both languages, and the words in a target slot translate the words in the
source slot. A slot counts as right if its target words give the largest attention weight to a word of
the same slot in the source.

    python tests/outside/slots.py runs/demo        (a model of headway demo; exit 1 below 80 %)
"""

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.demo.catalog import shared_codes
from headway.ext.demo.fillers import FILLERS
from headway.ext.demo.formatter import Formatter, clean
from headway.ext.demo.frames import SLOT, built_in_frames, slot_names, word_form
from headway.ext.pictures import sentence_maps
from headway.ext.pictures.labels import CONTROL
from headway.ext.pictures.roles import head_roles
from headway.translation import Translator
from support.campaign import Campaign

OPEN, CLOSE = "\ue000", "\ue001"  # around the filling of a slot, until words are counted
Slots = dict[str, set[int]]  # slot name to the positions of its words


def draw(rng, formatters, catalog):
    """Draw a sentence; return its text and the words of its slots in each language."""
    data = built_in_frames()
    frame = rng.choice(list(data.sentences.values()))
    fillings, keys = {}, {}
    for slot in sorted(slot_names(frame["en"])):
        base = slot.removesuffix("2")
        if base in FILLERS:
            fillings[slot] = FILLERS[base](rng, catalog)
        else:
            keys[slot] = rng.choice(list(data.tables[base]))
    sentences = []
    for formatter in formatters:
        language = formatter.language_code
        sentence = frame[language]
        order: list[str] = []
        text = ""
        end = 0
        for match in SLOT.finditer(sentence):
            slot = match["name"] + match["count"]
            order.append(slot)
            if slot in fillings:
                filling = fillings[slot](formatter)
            else:
                word = data.tables[match["name"]][keys[slot]]
                filling = word_form(word[language], match["form"])
            text += f"{sentence[end : match.start()]}{OPEN}{clean(filling)}{CLOSE}"
            end = match.end()
        sentences.append(words_of(clean(text + sentence[end:]), order))
    return sentences


def words_of(text, order):
    """Remove the marks; return the text and the words of the slots that occur once."""
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


def pairs(count, languages, seed):
    """Draw sentence pairs; a sentence that a locale cannot write is drawn again."""
    formatters = [Formatter(language) for language in languages]
    catalog, rng = shared_codes(*formatters), Random(seed)
    while count:
        try:
            yield draw(rng, formatters, catalog)
            count -= 1
        except (LookupError, NotImplementedError):
            continue


class Alignment(Campaign):
    """Sentence pairs, and the heads of a model that align them."""

    def work(self):
        """Print the aligning heads and the share of slots that each gets right."""
        translator = Translator.load(self.options.model)
        drawn = list(pairs(self.options.pairs, translator.languages, self.options.seed))
        heads = head_roles(translator, *zip(*((s, t) for (s, _), (t, _) in drawn), strict=True))
        able = sorted((h for h in heads if "aligns" in h.shares), key=lambda h: -h.shares["aligns"])
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
                for kind, layer, number in right:
                    right[kind, layer, number] += int(picked[layer, number]) in source_slots[slot]
        for head in able:
            name = f"layer {head.layer + 1} head {head.head + 1}, {head.shares['aligns']:.1%} {head.role}"
            is_best = head is able[0]
            share = right[head.place] / seen
            self.figure(f"{name}: right, %", 100 * share, share >= 0.8 if is_best else None)


if __name__ == "__main__":
    Alignment.run(__doc__, {"model": str, "--pairs": 300, "--seed": 7})
