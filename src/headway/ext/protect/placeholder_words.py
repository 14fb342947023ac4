"""What stands in for placeholders: the phrases that a model has learned, or the words that it copies best."""

import numpy as np
import torch

from headway.ext.protect.masked_source import PlaceholderWord
from headway.ext.protect.placeholder_word_file import LearnedPhrases
from headway.text import SPACE, Tokenizer
from headway.translation import Engine, spell_words

FOUND = 24  # placeholder words of a model
EXAMINED = 1000  # words; the most frequent are first in a vocabulary
AT_ONCE = 250
COMMON = 0.25  # how much it counts against a word that it is common


def spell_learned(learned: LearnedPhrases, tokenizer: Tokenizer) -> list[PlaceholderWord]:
    """Return the phrases that were learned, and nothing, which may fit better than any of them.

    Args:
        learned: For the pair of languages of a translation.
        tokenizer: Of the model.
    """
    phrases = [
        PlaceholderWord(phrase.text, spell_words(tokenizer, phrase.translations), phrase)
        for phrase in learned.phrases
    ]
    return [*phrases, PlaceholderWord("", (), learned.gap)]


@torch.inference_mode()
def find_copied(engine: Engine, tokenizer: Tokenizer) -> list[PlaceholderWord]:
    """Return the words that a model copies best, the best first.

    Candidates are words with a capital and numbers, because names and numbers are copied in most
    languages. They are ranked by the probability that the translation of the word alone begins with it,
    less for words that begin the translations of other words too.

    Args:
        engine: Runs the model.
        tokenizer: Of the model.
    """
    candidates: list[tuple[PlaceholderWord, list[int]]] = []
    subwords = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    words = dict.fromkeys(subword.removeprefix(SPACE) for subword in subwords)
    likely = [
        word
        for word in words
        if word.isascii()
        and word.isalnum()
        and (word.isdigit() or (word[0].isupper() and len(word) > 1))
    ]
    for word in likely[:EXAMINED]:
        [source], [target] = tokenizer.encode_source([word]), tokenizer.encode_target([word])
        is_short = len(source) <= 4 and len(target) <= 3  # two tokens, </s>, perhaps a language
        if is_short and tokenizer.unk not in (*source, *target):
            candidates.append((PlaceholderWord(word, (tuple(target[:-1]),)), source))
    own: list[float] = []  # the log-probability of each word, given itself
    usual = torch.zeros(tokenizer.target_vocab_size, dtype=torch.float64)  # given any of the words
    for start in range(0, len(candidates), AT_ONCE):
        part = candidates[start : start + AT_ONCE]
        decoding = engine.start([source for _, source in part], 1, 2)
        logits_NV = decoding.logits(np.full(len(part), tokenizer.target_pad))
        log_p_NV = logits_NV.double().log_softmax(-1).cpu()
        own += log_p_NV[range(len(part)), [each.alternatives[0][0] for each, _ in part]].tolist()
        usual += log_p_NV.exp().sum(0) / len(candidates)
    prior = usual.log().tolist()
    scores = [
        each - COMMON * prior[placeholder_word.alternatives[0][0]]
        for each, (placeholder_word, _) in zip(own, candidates, strict=True)
    ]
    best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:FOUND]
    return [candidates[i][0] for i in best]
