"""A translation that is shown while it is made: greedy search, a token at a time."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from headway.translation.requests import run
from headway.translation.search.beam_search import check_finite
from headway.translation.splitting import Piece
from headway.translation.translation import LINE_ENDS
from headway.translation.translator import Translator

_INCOMPLETE = "\N{REPLACEMENT CHARACTER}"  # the bytes of an unfinished character decode to this


@torch.inference_mode()
def stream_tokens(translator: Translator, piece: Piece) -> Iterator[str]:
    """Yield the greedy translation of a piece as it is made.

    The texts joined are what a search with a beam of 1 finds. A piece in capitals, and one that keeps
    placeholders or has terms of a glossary, is yielded as a whole. A text that was yielded is final: text
    that later tokens may still change, such as half of a character, is held back.

    Args:
        translator: Its search settings give the precision and the length limit.
        piece: From `Pipeline.cut`.
    """
    search, tokenizer = translator.default_search, translator.tokenizer
    if piece.masked_sources or piece.is_capital:  # what is written depends on the whole
        pipeline = translator.pipeline(replace(search, beam=1, n_best=1, sample=False))
        yield pipeline.join([piece], [run(pipeline.find(piece))])[0].text
        return
    if piece.before:
        yield piece.before
    forward = translator.token_search
    limit = forward.max_target_length(piece.ids, search)
    choices = forward.choices([piece.ids], [[]], search)
    decoding = forward.prepare(search).start([piece.ids], 1, limit, choices)
    last = np.array([tokenizer.target_pad])
    tokens: list[int] = []
    sent = ""
    for length in range(1, limit + 1):
        forced = np.array([tokenizer.eos]) if length == limit else None
        found = decoding.candidates(last, 2, forced)
        check_finite(found.log_z)
        token, other = found.tokens[0].tolist()
        if length == 1 and token == tokenizer.eos and limit > 1:
            token = other  # an empty translation is an error of the model, however likely
        if token == tokenizer.eos:
            break
        tokens.append(token)
        last = np.array([token])
        decoding.reorder(np.array([0]))
        text = _one_line(tokenizer.decode(tokens))
        final = text.rstrip(
            _INCOMPLETE
        ).rstrip()  # white space at the end of a translation is dropped
        if final.startswith(sent) and len(final) > len(sent):
            yield final[len(sent) :]
            sent = final
    text = _one_line(tokenizer.decode(tokens)).rstrip()
    if text.startswith(sent) and len(text) > len(sent):
        yield text[len(sent) :]
    if after := piece.after.rstrip():
        yield after


def _one_line(text: str) -> str:
    return " ".join(LINE_ENDS.split(text)).lstrip()
