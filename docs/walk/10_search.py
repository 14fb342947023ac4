# %% [markdown]
# # Beam search
#
# Keep the best beginnings, because the best first word may lead nowhere.
#
# The language here has two words, A and B, and an end. The word before decides how likely each of them comes
# next. A is the likeliest first word, but what follows it is unsure.
# %%
from itertools import product

import numpy as np
import torch
from headway.inference import StepDecoding, beam_search, length_penalty

END, A, B, PAD = 0, 1, 2, 3
NEXT = torch.tensor([
    [1.0, 0.0, 0.0, 0.0],  # after the end
    [0.3, 0.4, 0.3, 0.0],  # after A
    [0.9, 0.05, 0.05, 0.0],  # after B
    [0.0, 0.6, 0.4, 0.0],  # at the start, which <pad> stands for
])


class Nothing:
    def reorder(self, rows): ...
    def keep(self, sentences): ...


def search(beam):
    decoding = StepDecoding(lambda tokens, state: NEXT[tokens].log(), Nothing(), PAD, torch.device("cpu"))
    return beam_search(decoding, [3], beam=beam, alpha=0.0, eos=END, pad=PAD)[0][0]


def probability(words):
    return float(np.prod([NEXT[a, b] for a, b in zip([PAD, *words], words)]))


everything = [[*words, END] for n in (1, 2) for words in product((A, B), repeat=n)]
by_hand = max(everything, key=probability)
print(by_hand, probability(by_hand), search(1).tokens, search(2).tokens)
assert search(2).tokens == by_hand == [B, END]
assert search(1).tokens != by_hand
# %% [markdown]
# Longer texts are less probable, so the search divides each score by ((5 + length) / 6)^alpha. Section 6.1 takes this from Wu et al. (2016).
# %%
assert length_penalty(1, 0.6) == 1
assert length_penalty(7, 1.0) == 2
# %% [markdown]
# ## Questions
#
# 1. Which translation does greedy search find here?
# 2. Does a beam as large as the number of all texts always find the best one?
# 3. Which translations does a larger alpha prefer?
#
# <details><summary>Answers</summary>
#
# 1. One that begins with A, because A is the likeliest first word.
# 2. Yes: nothing is thrown away.
# 3. Longer ones.
#
# </details>
