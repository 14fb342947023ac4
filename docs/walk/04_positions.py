# %% [markdown]
# # Positions
#
# Attention does not know the order of the words; sinusoids tell it.
#
# Permute the words, and the outputs of self-attention without a mask are permuted in the same way: it has no order.
# %%
import math

import torch
from headway import ModelConfig, Transformer
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
# Each pair of numbers is the hand of a clock. Fast clocks tell neighbors apart, and slow ones tell far positions apart. In the table,
# the first pair turns once in 6.3 positions, and the last of the four once in 6,283 (in a wide model nearly 62,832). Going on by k
# positions turns each hand by an angle that depends on k alone, so one matrix leads from the encoding of any position to that of k
# positions later: a layer can learn "three words back". For the dot product of two encodings depends only on their distance, and is largest where there is
# none: if the map W^Q turns the query's encoding back by three, it fits best the key three words before.
#
# Learned vectors of positions serve nearly as well in the paper. It takes sinusoids because they exist for every position, so that a model may
# also read longer texts than those of its training.
# %%
print(table[[0, 1, 2, 3, 16, 48]].round(decimals=2))
turn = torch.zeros(8, 8)  # by five positions
for i in range(4):
    angle = torch.tensor(5 / 10000 ** (2 * i / 8))
    turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]])
torch.testing.assert_close(table[:45] @ turn.T, table[5:], atol=1e-5, rtol=0)
products = table @ table.T
torch.testing.assert_close(products[3, 8], products[30, 35])
# %% [markdown]
# The encoding of a position is added to the word's embedding, before the first layer. The numbers of an embedding begin
# with the standard deviation 1 / sqrt(d_model), because the same matrix also makes the output (notebook 6): there d_model products are
# summed, and with larger numbers the untrained model would be sure of random words. Section 3.4 multiplies embeddings by
# sqrt(d_model); so they are about as large as the numbers of the encoding.
# %%
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 8, "d_ff": 20, "num_heads": 2}
model = Transformer(ModelConfig(**sizes)).eval()
words = torch.tensor([[5, 6, 5]])
by_hand = model.source_embedding.weight[words] * 8**0.5 + table[:3]
given = model.source_positions(model.source_embedding(words))
torch.testing.assert_close(given, by_hand)
assert not torch.equal(given[0, 0], given[0, 2])  # the same word at two places
# %% [markdown]
# ## Questions
#
# 1. What is the encoding of position 0?
# 2. Why does the dot product of two encodings depend on the distance alone?
# 3. What would the encoder make of "dog bites man" and "man bites dog" without encodings?
#
# <details><summary>Answers</summary>
#
# 1. 0, 1, 0, 1, ...: sines of 0 and cosines of 0.
# 2. For each clock, sin a sin b + cos a cos b = cos(a - b).
# 3. The same three vectors, in another order.
#
# </details>
