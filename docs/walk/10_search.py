# %% [markdown]
# # Beam search
#
# Keep the best beginnings, because the best first word may lead nowhere.
#
# A model gives a probability to each next word, and a text has the product of them; the search adds logarithms instead.
# Greedy search takes the likeliest word at each step. A beam of n keeps the n best beginnings, goes on with each
# of them, and keeps the n best of all that come out; it costs about n times as much. A text that ends is put aside, and n
# beginnings go on beside it; at a limit of the length (in the paper 50 more words than the source), each must end.
#
# A table of a language stands for the model here. It has two words, A and B, and an end. The word before decides how likely
# each of them comes next. A is the likeliest first word, but what follows it is unsure.
# %%
import math
from itertools import product

import numpy as np
import torch
from headway.translation import StepDecoding, beam_search, length_penalty

END, A, B, PAD = 0, 1, 2, 3
NEXT = torch.tensor([
    [1.0, 0.0, 0.0, 0.0],  # after the end
    [0.4, 0.35, 0.25, 0.0],  # after A
    [0.95, 0.03, 0.02, 0.0],  # after B
    [0.0, 0.6, 0.4, 0.0],  # at the start, which <pad> stands for
])


class Nothing:
    """What a model remembers of the words so far, row by row. The table needs the last word only."""

    def reorder(self, rows): ...
    def keep(self, sentences): ...


def search(beam, alpha=0.0, table=NEXT):
    decoding = StepDecoding(lambda tokens, state: table[tokens].log(), Nothing(), PAD, torch.device("cpu"))
    # One sentence of at most 3 tokens, the end included; of its translations the best one.
    return beam_search(decoding, [3], beam=beam, alpha=alpha, eos=END, pad=PAD)[0][0]


def probability(words):
    """The product over the words, each with the one before it."""
    return float(np.prod([NEXT[a, b] for a, b in zip([PAD, *words], words)]))


everything = [[*words, END] for n in (1, 2) for words in product((A, B), repeat=n)]
by_hand = max(everything, key=probability)
print(f"the best of all {by_hand}, probability {probability(by_hand):.2f}; greedy {search(1).tokens}, beam of 2 {search(2).tokens}")
assert search(2).tokens == by_hand == [B, END]
assert search(1).tokens == [A, END] != by_hand
# %% [markdown]
# Each word makes a text less probable, so short texts win. Therefore the logarithm of a text that has ended, which is negative, is divided by
# ((5 + length) / 6)^alpha, where the length counts the end: that of a longer text comes nearer to zero. The result is the text's score. Beginnings
# are compared with each other without it, since all of them have the same length. Section 6.1 takes this from Wu et al. ("Google's Neural Machine
# Translation System", 2016), with a beam of 4 and alpha 0.6.
#
# The search stops when no beginning can get a better score than the best text that has ended: its sum of logarithms can only fall, and is
# divided by no more than at the limit of the length. Once n texts have ended, it also stops when no beginning has a better score with its sum and
# length as they stand; that saves time, and may miss a better text. So a beam of one is greedy search: what goes on beside a text that has
# ended has the same length and a smaller sum.
#
# In this second language, A ends, and B leads to A. The short text A has the probability 0.42 x 0.95 = 0.40, and B A has
# 0.58 x 0.7 x 0.95 = 0.39. The scores change their order:
#
# ```text
# alpha 0.0: A -0.919, B A -0.953; the search finds [1, 0]
# alpha 0.6: A -0.838, B A -0.802; the search finds [2, 1, 0]
# ```
# %%
assert length_penalty(1, 0.6) == 1
assert length_penalty(7, 1.0) == 2
OTHER = torch.tensor([
    [1.0, 0.0, 0.0, 0.0],
    [0.95, 0.03, 0.02, 0.0],  # after A
    [0.0, 0.7, 0.3, 0.0],  # after B
    [0.0, 0.42, 0.58, 0.0],  # at the start
])
for alpha in (0.0, 0.6):
    scores = {"A": math.log(0.42 * 0.95) / length_penalty(2, alpha), "B A": math.log(0.58 * 0.7 * 0.95) / length_penalty(3, alpha)}
    found = search(2, alpha, OTHER)
    print(f"alpha {alpha}: A {scores['A']:.3f}, B A {scores['B A']:.3f}; the search finds {found.tokens}")
    assert abs(found.score - max(scores.values())) < 1e-6
assert search(2, 0.0, OTHER).tokens == [A, END]
assert search(2, 0.6, OTHER).tokens == [B, A, END]
# %% [markdown]
# ## Questions
#
# 1. Which translation does greedy search find in the first language?
# 2. Does a beam as large as the number of all texts up to the limit always find the best of them?
# 3. Which translations does a larger alpha prefer?
#
# <details><summary>Answers</summary>
#
# 1. A alone, because A is the likeliest first word, and the end the likeliest after it.
# 2. Yes: nothing is thrown away.
# 3. Longer ones.
#
# </details>
