"""Align source and target words by encoder-decoder attention (paper: section 3.2.3).

Shapes: S source tokens, T target tokens. Words are those of `headway.text.words.find_words`.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.inference.batching import batch_by_length, pad_right
from headway.model import Transformer, watch
from headway.text.tokenizer import Tokenizer
from headway.text.words import find_words


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
    weights = [cross_attention(model, [source], [target])[0] for model in models]
    mean_TS = torch.stack(weights).mean(0)
    return link_words(weigh_words(tokenizer, text, source, target, mean_TS))


def link_words(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Link each target word to the source word that it attends to most, the strongest links first.

    A preposition often looks at the noun behind it. So attention to a source word counts for less, the more other
    target words attend to it; and a source word that has a link gets others only to neighbors of its translation, as
    long as there is another source word. A target word has several links if one token of the source has several
    words, as in scripts without spaces between words.

    Args:
        weights: From `weigh_words`.

    Returns:
        Pairs (source word, target word), in the order of the target words.
    """
    totals = [sum(column) or 1.0 for column in zip(*weights, strict=True)]
    shares = [[w * w / total for w, total in zip(row, totals, strict=True)] for row in weights]
    translations: dict[int, list[int]] = {}  # of each source word
    links = []
    for target in sorted(range(len(shares)), key=lambda target: -max(shares[target], default=0.0)):
        row = shares[target]
        free = [
            source
            for source in range(len(row))
            if source not in translations
            or {target - 1, target + 1}.intersection(translations[source])
        ]
        most = max((row[source] for source in free or range(len(row))), default=0.0)
        for source in free or range(len(row)):
            if most and row[source] == most:
                translations.setdefault(source, []).append(target)
                links.append((source, target))
    return sorted(links, key=lambda link: link[1])


@torch.inference_mode()
def cross_attention(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int = 4096,
) -> list[Tensor]:
    """Return how much each token of targets attends to each token of their sources, by forward passes.

    The weights are the mean over the heads of `alignment_layers`.

    Args:
        model: In evaluation mode.
        sources: Ids, ``</s>`` last.
        targets: Ids, ``</s>`` last.
        batch_tokens: Tokens of a batch, padding included.

    Returns:
        For each pair [T, S], on the CPU; each row sums to 1.
    """
    device = next(model.parameters()).device
    layers = alignment_layers(model.config)
    found: dict[int, Tensor] = {}
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for rows in batch_by_length(lengths, batch_tokens):
        source_BS, segments_BS = pad_right([sources[row] for row in rows], 0)
        target_BT, _ = pad_right([targets[row] for row in rows], 0)
        with ExitStack() as stack:
            seen = {layer: stack.enter_context(watch(model, layer)) for layer in layers}
            model.hidden(source_BS.to(device), target_BT.to(device), segments_BS.to(device))
        of_layers = [record.attention[layer].mean(1) for layer, record in seen.items()]
        weights_BTS = torch.stack(of_layers).mean(0).cpu()
        for row, weights_TS in zip(rows, weights_BTS, strict=True):
            found[row] = weights_TS[: len(targets[row]), : len(sources[row])]
    return [found[row] for row in range(len(sources))]


def usual_layer(layers: int) -> int:
    """Return the number, from 0, of the layer that usually aligns best; pictures show it first.

    With 6 layers or more this is the last but one (Garg et al., 2019), which the paper's figures show.
    With fewer layers it is the last, by our measurements.
    """
    return layers - 2 if layers >= 6 else layers - 1


def alignment_layer(config: ModelConfig) -> str:
    """Return the name of the attention module that aligns words best."""
    return f"decoder.layers.{usual_layer(config.num_decoder_layers)}.cross"


def alignment_layers(config: ModelConfig) -> list[str]:
    """Return the names of the attention modules that align words best together.

    With 6 layers or more this is `alignment_layer` alone. With fewer, the mean of all is better than any of them,
    by our measurements (docs/library.md).
    """
    count = config.num_decoder_layers
    if count >= 6:
        return [alignment_layer(config)]
    return [f"decoder.layers.{number}.cross" for number in range(count)]


def words_of_tokens(decode: Callable[[Sequence[int]], str], ids: Sequence[int]) -> list[range]:
    """Return the numbers of the words that each token belongs to, from 0.

    A token has several words only in scripts without spaces between them. Punctuation that touches a word has
    none: much attention rests on the mark at the end of a sentence, and the word before it has no part in that.

    Args:
        decode: Turns ids into text.
        ids: Token ids without control symbols.
    """
    texts = [decode(ids[: end + 1]) for end in range(len(ids))]
    counts = [len(find_words(text)) for text in texts]
    words = [
        # Without a new word the token goes on with the last one; there is none before the first.
        range(before if before < count else max(0, count - 1), count)
        for before, count in zip([0, *counts], counts, strict=False)
    ]
    has_letters = [
        any(character.isalnum() for character in text[len(before) :])
        for before, text in zip(["", *texts], texts, strict=False)
    ]
    cores = {word for of, is_core in zip(words, has_letters, strict=True) if is_core for word in of}
    return [
        range(0) if not is_core and cores.issuperset(of) else of
        for of, is_core in zip(words, has_letters, strict=True)
    ]


def weigh_words(
    tokenizer: Tokenizer,
    text: str,
    source: Sequence[int],
    target: Sequence[int],
    weights_TS: Tensor,
) -> list[list[float]]:
    """Return for each target word how much it attends to each source word.

    Args:
        tokenizer: Of the model.
        text: The source; see `align_words`.
        source: Ids of the text, ``</s>`` last.
        target: Ids of the translation, ``</s>`` last.
        weights_TS: From `cross_attention`.
    """
    # The symbol of a target language is one token, and no word.
    has_symbol = bool(tokenizer.target_language or tokenizer.named_language(text.strip()))
    return sum_by_words(
        weights_TS[:, has_symbol:],
        words_of_tokens(tokenizer.decode_source, source[has_symbol:-1]),
        words_of_tokens(tokenizer.decode, target[:-1]),
    )


def sum_by_words(
    weights_TS: Tensor, source_words: Sequence[range], target_words: Sequence[range]
) -> list[list[float]]:
    """Return for each target word how much its tokens attend to the tokens of each source word.

    Args:
        weights_TS: Attention weights; rows and columns after the last word, such as those of ``</s>``, do not
            count.
        source_words: The words of each source token, from `words_of_tokens`.
        target_words: The words of each target token.
    """
    count_S, count_T = (
        max((of.stop for of in words), default=0) for words in (source_words, target_words)
    )
    total = [[0.0] * count_S for _ in range(count_T)]
    for row, targets in zip(weights_TS.tolist(), target_words, strict=False):
        for weight, sources in zip(row, source_words, strict=False):
            for target in targets:
                for source in sources:
                    total[target][source] += weight
    return total
