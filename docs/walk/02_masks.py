# %% [markdown]
# # Masks
#
# A mask takes keys away before the softmax, so that the others share the weight.
#
# A row of a batch may end in padding, and a decoder must not see the words that it is to predict. Both are
# a mask: `True` means that the query may attend to the key.
# %%
import torch
from headway.model import DotProduct, Segments, Visibility

generator = torch.Generator().manual_seed(2)
q, k, v = (torch.randn(1, 1, 4, 8, generator=generator) for _ in range(3))

allowed = torch.ones(4, 4).tril().bool()
scores = (q @ k.transpose(-2, -1) / 8**0.5).masked_fill(~allowed, float("-inf"))
by_hand = scores.softmax(-1) @ v
torch.testing.assert_close(DotProduct()(q, k, v, Visibility(is_causal=True)), by_hand)
print(scores.softmax(-1)[0, 0].round(decimals=2))
# %% [markdown]
# Padding is a fact about the data. Headway writes it as segments: 0 is padding, 1 is a word.
# %%
segments = Segments(torch.tensor([[1, 1, 1, 0]]), is_packed=False)
seen = DotProduct()(q, k, v, Visibility(keys=segments))
torch.testing.assert_close(seen, DotProduct()(q, k[:, :, :3], v[:, :, :3]))
# %% [markdown]
# ## Questions
#
# 1. What is the first row of the causal weights?
# 2. Why is the mask applied before the softmax?
# 3. Does a change of the last value change the first output of the causal attention?
#
# <details><summary>Answers</summary>
#
# 1. 1, 0, 0, 0: the first position sees only itself.
# 2. If weights were set to zero after the softmax, those of a row would no longer sum to 1.
# 3. No: its weight is exactly zero.
#
# </details>
