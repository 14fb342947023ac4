"""A translation that is read while it grows: greedy search, a token at a time (paper: section 6.1)."""

from collections.abc import Iterator

import numpy as np
import torch

from headway.inference.joining import LINE_ENDS
from headway.inference.search import check_finite
from headway.inference.translator import Translator

_BROKEN = "\N{REPLACEMENT CHARACTER}"  # what the bytes of an unfinished character decode to


@torch.inference_mode()
def grow(translator: Translator, part: str) -> Iterator[str]:
    """Yield a translation bit by bit; together the bits are what a beam of 1 finds.

    No bit is taken back: what may still change, such as half of a character, waits for what follows.

    Args:
        translator: Its precision and limits are used.
        part: A text that the model can take at once, as `Translator.cut` gives them.
    """
    search, tokenizer = translator.search, translator.tokenizer
    source = tokenizer.encode_source([part.strip()])[0]
    limit = translator.finder.limit(source, search)
    decoding = translator.finder.engine(search.precision).start([source], 1, limit)
    last = np.array([tokenizer.target_pad])
    tokens: list[int] = []
    sent = ""
    for length in range(1, limit + 1):
        forced = np.array([tokenizer.eos]) if length == limit else None
        found = decoding.candidates(last, 2, forced)
        check_finite(found.log_z)
        token = int(found.tokens[0, 0])
        if token == tokenizer.eos:
            break
        tokens.append(token)
        last = np.array([token])
        decoding.reorder(np.array([0]))
        text = _line(tokenizer.decode(tokens))
        steady = text.rstrip(_BROKEN).rstrip()  # white space at the end may be the end
        if steady.startswith(sent) and len(steady) > len(sent):
            yield steady[len(sent) :]
            sent = steady
    text = _line(tokenizer.decode(tokens)).rstrip()
    if text.startswith(sent) and len(text) > len(sent):
        yield text[len(sent) :]


def _line(text: str) -> str:
    return " ".join(LINE_ENDS.split(text)).lstrip()
