"""A translation that is shown while it is made: greedy search, a token at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from headway.config import SearchConfig
from headway.translation.requests import run
from headway.translation.search.beam_search import Hypothesis, Ids, check_finite
from headway.translation.splitting import Piece
from headway.translation.token_search import TokenSearch
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
    if piece.masked_source or piece.is_capital:  # what is written depends on the whole
        pipeline = translator.pipeline(replace(search, beam=1, n_best=1, sample=False))
        yield pipeline.join([piece], [run(pipeline.find(piece))])[0].text
        return
    if piece.before:
        yield piece.before
    forward = translator.token_search
    choices = forward.choices([piece.ids], [[]], search)
    sent = text = ""
    for _ in range(2):
        tokens: list[int] = []
        for token in _choose_tokens(forward, piece.ids, search, choices):
            tokens.append(token)
            text = _one_line(tokenizer.decode(tokens))
            # White space at the end of a translation is dropped.
            final = text.rstrip(_INCOMPLETE).rstrip()
            if final.startswith(sent) and len(final) > len(sent):
                yield final[len(sent) :]
                sent = final
        if not forward.is_blank(piece.ids, [Hypothesis(tokens, 0.0, 0.0)]):
            break
        choices = forward.drop_blanks(choices, 1)  # as in `TokenSearch.search_rows`
    text = text.rstrip()
    if text.startswith(sent) and len(text) > len(sent):
        yield text[len(sent) :]
    if after := piece.after.rstrip():
        yield after


def _choose_tokens(
    forward: TokenSearch, source: list[int], search: SearchConfig, choices: Sequence[Ids] | None
) -> Iterator[int]:
    """Yield the tokens of greedy search but ``</s>``.

    Args:
        forward: The model.
        source: Token ids, ``</s>`` last.
        search: Search settings.
        choices: See `TokenSearch.choices`; of one sentence.
    """
    limit = forward.max_target_length(source, search)
    decoding = forward.prepare(search).start([source], 1, limit, choices)
    eos = forward.tokenizer.eos
    last = np.array([forward.tokenizer.target_pad])
    for length in range(1, limit + 1):
        forced = np.array([eos]) if length == limit else None
        found = decoding.candidates(last, 2, forced)
        check_finite(found.log_z)
        token, other = found.tokens[0].tolist()
        if length == 1 and token == eos and limit > 1:
            token = other  # an empty translation is an error of the model, however likely
        if token == eos:
            return
        yield token
        last = np.array([token])
        decoding.reorder(np.array([0]))


def _one_line(text: str) -> str:
    return " ".join(LINE_ENDS.split(text)).lstrip()
