"""Align source and target words by encoder-decoder attention (paper: section 3.2.3).

Shapes: S source tokens, T target tokens. Words are those of `headway.text.words.find_words`.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from torch import Tensor

from headway.config import ModelConfig
from headway.text.tokenizer import Tokenizer
from headway.text.words import find_words, simplify_breaks


def link_words(
    weights: Sequence[Sequence[float]], known: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Link each target word to the source word that it attends to most, the strongest links first.

    A preposition often looks at the noun behind it. So attention to a source word counts for less, the more other
    target words attend to it; and a source word that has a link gets others only to neighbors of its translation, as
    long as there is another source word. A target word has several links if one token of the source has several
    words, as in scripts without spaces between words.

    Args:
        weights: From `weigh_words`.
        known: Links that are certain, as those of a term of a glossary: their words have no others.

    Returns:
        Pairs (source word, target word), in the order of the target words.
    """
    sources, targets = ({pair[side] for pair in known} for side in (0, 1))
    totals = [sum(column) or 1.0 for column in zip(*weights, strict=True)]
    shares = [[w * w / total for w, total in zip(row, totals, strict=True)] for row in weights]
    translations: dict[int, list[int]] = {}  # of each source word
    links = [*known]
    for target in sorted(range(len(shares)), key=lambda target: -max(shares[target], default=0.0)):
        if target in targets:
            continue
        row = shares[target]
        others = [source for source in range(len(row)) if source not in sources]
        free = [
            source
            for source in others
            if source not in translations
            or {target - 1, target + 1}.intersection(translations[source])
        ]
        most = max((row[source] for source in free or others), default=0.0)
        for source in free or others:
            if most and row[source] == most:
                translations.setdefault(source, []).append(target)
                links.append((source, target))
    return sorted(links, key=lambda link: link[1])


def usual_layer(layers: int) -> int:
    """Return the number, from 0, of the layer that usually aligns best; pictures show it first.

    With 6 layers or more this is the last but one (Garg et al., 2019), which the paper's figures show.
    With fewer layers it is the last, by our measurements.
    """
    return layers - 2 if layers >= 6 else layers - 1


def single_layer(config: ModelConfig) -> range:
    """Return the number of the decoder's layer that aligns words best alone, if there is one."""
    layer = usual_layer(config.num_decoder_layers)
    return range(max(0, layer), layer + 1)


def alignment_layers(config: ModelConfig) -> range:
    """Return the numbers of the decoder's layers that align words best together.

    With 6 layers or more this is the one of `single_layer`. With fewer, the mean of all is better than any of
    them, by our measurements (docs/library.md).
    """
    count = config.num_decoder_layers
    first = usual_layer(count) if count >= 6 else 0
    return range(first, usual_layer(count) + 1)


def words_of_tokens(texts: Sequence[str]) -> list[range]:
    """Return the numbers of the words that each token belongs to, from 0.

    A token has several words only in scripts without spaces between them. Punctuation that touches a word has
    none: much attention rests on the mark at the end of a sentence, and the word before it has no part in that.

    Args:
        texts: Of each token; joined they are the text.
    """
    starts = [start for start, _ in find_words("".join(texts))]
    counts = [bisect_left(starts, end) for end in accumulate(map(len, texts))]
    words = [
        # Without a new word the token goes on with the last one; there is none before the first.
        range(before if before < count else max(0, count - 1), count)
        for before, count in pairwise([0, *counts])
    ]
    has_letters = [any(map(str.isalnum, text)) for text in texts]
    cores = {word for of, is_core in zip(words, has_letters, strict=True) if is_core for word in of}
    return [
        range(0) if not is_core and cores.issuperset(of) else of
        for of, is_core in zip(words, has_letters, strict=True)
    ]


def weigh_words(
    tokenizer: Tokenizer, text: str, target: Sequence[int], weights_TS: Tensor
) -> list[list[float]]:
    """Return for each target word how much it attends to each source word.

    The words are those of the text as it is written, and not as the vocabulary normalizes it.

    Args:
        tokenizer: Of the model.
        text: The source. If it starts with the name of a target language, that name is not a word.
        target: Ids of the translation, ``</s>`` last.
        weights_TS: From `given_translations.attend`.
    """
    return sum_by_words(
        weights_TS,
        words_of_tokens(tokenizer.divide_source(simplify_breaks(text.strip()))),
        words_of_tokens(tokenizer.decode_each(target[:-1])),
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
