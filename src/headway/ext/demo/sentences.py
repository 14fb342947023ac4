"""Draw sentences: frames whose slots are filled with words and with values."""

import re
from random import Random

from headway.ext.demo.catalog import Catalog
from headway.ext.demo.fillers import FILLERS
from headway.ext.demo.formatter import Formatter
from headway.ext.demo.frames import SLOT, built_in_frames
from headway.ext.demo.kinds import Wording, Wordings


def has_frames(formatter: Formatter) -> bool:
    """Tell whether the sentence frames have a locale's language."""
    return formatter.language_code in built_in_frames().languages


def sentence(rng: Random, catalog: Catalog) -> Wordings:
    """Draw a frame and the fillings of its slots, the same in every language."""
    data = built_in_frames()
    frame = rng.choice(data.frames)
    fillings: dict[str, Wording] = {}
    keys: dict[str, str] = {}
    for slot in frame.slots:
        base = slot.removesuffix("2")
        if base in FILLERS:
            fillings[slot] = FILLERS[base](rng, catalog)
        else:
            keys[slot] = rng.choice([key for key in data.tables[base] if key != keys.get(base)])

    def write(fmt: Formatter) -> str:
        language = fmt.language_code
        texts = {slot: filling(fmt) for slot, filling in fillings.items()}
        if any(texts.get(slot + "2") == text for slot, text in texts.items()):
            raise LookupError(f"frame {frame.name} would repeat a text")

        def fill(match: re.Match[str]) -> str:
            slot = match["name"] + match["count"]
            if slot in texts:
                return texts[slot]
            return data.tables[match["name"]][keys[slot]].form(language, match["form"])

        text = SLOT.sub(fill, frame.sentences[language])
        return text[0].upper() + text[1:]

    return (write,)
