"""Align source and target words by encoder-decoder attention (paper: section 3.2.3).

Shapes: S source tokens, T target tokens. Words are separated by white space.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.model import Transformer, watch
from headway.text.tokenizer import Tokenizer


def align_words(
    models: Sequence[Transformer],
    tokenizer: Tokenizer,
    text: str,
    source: Sequence[int],
    target: Sequence[int],
) -> list[tuple[int, int]]:
    """Link the words of a text to the words of its translation.

    Args:
        models: In evaluation mode; the attention of several is averaged.
        tokenizer: Of the models.
        text: If it starts with the name of a target language, that name is not a word.
        source: Ids of the text, ``</s>`` last.
        target: Ids of the translation, ``</s>`` last.

    Returns:
        Pairs (source word, target word), from 0, in the order of the target words.
    """
    # The symbol of a target language is one token, and no word.
    has_symbol = bool(tokenizer.target_language or tokenizer.named_language(text.strip()))
    weights_TS = torch.stack([cross_attention(model, source, target) for model in models]).mean(0)
    return link_words(
        weights_TS[:, has_symbol:],
        word_numbers(tokenizer.decode_source, source[has_symbol:-1]),
        word_numbers(tokenizer.decode, target[:-1]),
    )


@torch.inference_mode()
def cross_attention(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """Return how much each target token attends to each source token, by one forward pass.

    The weights are the mean over the heads of `alignment_layer`.

    Args:
        model: In evaluation mode.
        source: Ids, ``</s>`` last.
        target: Ids, ``</s>`` last.

    Returns:
        [T, S], on the CPU; each row sums to 1.
    """
    device = next(model.parameters()).device
    with watch(model) as seen:
        model(torch.tensor([source], device=device), torch.tensor([target], device=device))
    return seen.attention[alignment_layer(model.config)][0].mean(0).cpu()


def usual_layer(layers: int) -> int:
    """Return the number, from 0, of the layer that usually aligns best; pictures show it first.

    With 6 layers or more this is the last but one (Garg et al., 2019), which the paper's figures show.
    With fewer layers it is the last, by our measurements.
    """
    return layers - 2 if layers >= 6 else layers - 1


def alignment_layer(config: ModelConfig) -> str:
    """Return the name of the attention module that aligns words best."""
    return f"decoder.layers.{usual_layer(config.num_decoder_layers)}.cross"


def word_numbers(decode: Callable[[Sequence[int]], str], ids: Sequence[int]) -> list[int]:
    """Return the number of the word that each token belongs to, from 0; -1 before the first word.

    Args:
        decode: Turns ids into text.
        ids: Token ids without control symbols.
    """
    return [len(decode(ids[: end + 1]).split()) - 1 for end in range(len(ids))]


def link_words(
    weights_TS: Tensor, source_words: Sequence[int], target_words: Sequence[int]
) -> list[tuple[int, int]]:
    """Link each target word to the source word that its tokens attend to most.

    Args:
        weights_TS: Attention weights; rows and columns after the last word, such as those of ``</s>``, do not
            count.
        source_words: The word of each source token, from `word_numbers`.
        target_words: The word of each target token.

    Returns:
        Pairs (source word, target word), in the order of the target words.
    """
    count_S, count_T = max(source_words, default=-1) + 1, max(target_words, default=-1) + 1
    total = [[0.0] * count_S for _ in range(count_T)]
    for row, target in zip(weights_TS.tolist(), target_words, strict=False):
        for weight, source in zip(row, source_words, strict=False):
            if target >= 0 and source >= 0:
                total[target][source] += weight
    return [(row.index(max(row)), target) for target, row in enumerate(total) if row]
