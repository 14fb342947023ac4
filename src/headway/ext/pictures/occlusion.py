"""Word alignment by occlusion: the source word without which a target word is least likely.

The alignment does not use attention, so that attention can be compared with it. Li et al. (2019), "On
the Word Alignment from Neural Machine Translation", call the method prediction difference.

Shapes: B versions of the source, T target tokens, V vocabulary.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from headway.ext.pictures.labels import CONTROL, word_groups
from headway.ext.pictures.sentences import SentencePair

if TYPE_CHECKING:
    from headway.translation import Translator

# A target word is aligned if its probability falls by half or more without the source word.
LEAST_FALL = math.log(2)  # nats
MOST_LOGITS = 1 << 24  # in memory at once


@torch.inference_mode()
def occlusion_links(translator: "Translator", sentence: SentencePair) -> list[tuple[int, int]]:
    """Return pairs (source word, target word), counted from 0; at most one for each target word.

    The source words are removed one at a time: their tokens become ``<pad>``, whose embedding is
    zero. A target word that never becomes half as likely is not aligned.

    Args:
        translator: The model, in evaluation mode, and its tokenizer.
        sentence: A pair from `read_sentence`.
    """
    queries, keys = sentence.labels["cross"]
    sources, targets = (
        [group for group in word_groups(labels) if labels[group[0]] not in CONTROL]
        for labels in (keys, queries)
    )
    if translator.tokenizer.target_language:
        del sources[0]  # its symbol, which is no word of the source
    if not sources or not targets:
        return []
    whole = sentence.batch.source
    versions = whole.repeat(len(sources), 1)
    for row, group in enumerate(sources):
        versions[row, group] = translator.tokenizer.source_pad
    target = sentence.batch.target
    rows = max(1, MOST_LOGITS // (target.size(1) * translator.tokenizer.target_vocab_size))
    known = torch.cat([_log_p(translator, part, target) for part in versions.split(rows)])
    fall_BT = _log_p(translator, whole, target) - known
    links = []
    for number, group in enumerate(targets):
        falls = fall_BT[:, group].sum(1)
        word = int(falls.argmax())
        if falls[word] >= LEAST_FALL:
            links.append((word, number))
    return links


def _log_p(translator: "Translator", source_BS: Tensor, target_1T: Tensor) -> Tensor:
    """Return the log-probability of every target token, [B, T]."""
    target_BT = target_1T.expand(len(source_BS), -1)
    log_p_BTV = translator.model(source_BS, target_BT).float().log_softmax(-1)
    return log_p_BTV.gather(2, target_BT[..., None]).squeeze(2)
