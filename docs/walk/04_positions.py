# %% [markdown]
# # Positions
#
# Attention does not know the order of the words; sinusoids tell it.
#
# Permute the words, and the outputs of self-attention are permuted in the same way: it has no order.
# %%
import math

import torch
from headway.model import MultiHeadAttention, sinusoids

torch.manual_seed(4)
attention = MultiHeadAttention(8, 2, 4, 4).eval()
x, order = torch.randn(1, 5, 8), torch.tensor([3, 1, 4, 0, 2])
torch.testing.assert_close(attention(x, x)[:, order], attention(x[:, order], x[:, order]))
# %% [markdown]
# Section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), and PE(pos, 2i + 1) is the cosine.
# %%
table = sinusoids(50, 8)
for position in (0, 7, 49):
    for i in range(4):
        angle = position / 10000 ** (2 * i / 8)
        assert abs(table[position, 2 * i] - math.sin(angle)) < 1e-6
        assert abs(table[position, 2 * i + 1] - math.cos(angle)) < 1e-6
# %% [markdown]
# The product of two encodings depends only on their distance.
# %%
products = table @ table.T
torch.testing.assert_close(products[3, 8], products[30, 35])
# %% [markdown]
# ## Questions
#
# 1. What is the encoding of position 0?
# 2. Why does the product of two encodings depend on the distance alone?
#
# <details><summary>Answers</summary>
#
# 1. 0, 1, 0, 1, ...: sines of 0 and cosines of 0.
# 2. sin a sin b + cos a cos b = cos(a - b).
#
# </details>
