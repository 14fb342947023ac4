# %% [markdown]
# # Heads
#
# Several small attentions side by side have as many parameters as one large one.
#
# One softmax gives one mean of the values: a word that looks for its subject and for its object would get a mixture of both. With several
# heads, one can look at the subject and another at the object, and what they find stays apart.
#
# Section 3.2.2: each head has its own maps W^Q, W^K, W^V, to queries and keys of width d_k and values of width d_v. The
# results are joined and mapped by W^O.
# %%
import torch
from headway.model import MultiHeadAttention

torch.manual_seed(3)
attention = MultiHeadAttention(d_model=12, num_heads=3, d_k=4, d_v=4).eval()
x = torch.randn(1, 5, 12)

heads, weights = [], []
for head in range(3):
    rows = slice(4 * head, 4 * head + 4)
    q, k, v = (x @ part.weight[rows].T for part in (attention.query, attention.key, attention.value))
    weights.append((q @ k.transpose(-2, -1) / 4**0.5).softmax(-1))
    heads.append(weights[-1] @ v)
by_hand = torch.cat(heads, -1) @ attention.output.weight.T
torch.testing.assert_close(attention(x, x), by_hand)  # the text that asks, and the text that is read: here the same
for number, seen in enumerate(weights, 1):
    print(f"head {number}: what the first token gives to the five tokens:", seen[0, 0].detach().round(decimals=2))
# %% [markdown]
# If h heads share the width of the model, d_model / h for each, then one head and eight have equally many parameters and
# take equally many multiplications. Only the attention weights become more: each head has its own. But heads also become narrower, and
# each compares fewer numbers: in the paper's Table 3, 1 and 32 heads are worse than 8 and 16.
# %%
for count in (1, 2, 3, 6):
    module = MultiHeadAttention(12, count, 12 // count, 12 // count)
    parameters = sum(p.numel() for p in module.parameters())
    print(f"heads: {count}, each of width {12 // count:2}: {parameters} parameters, {count * 5 * 5} weights for 5 tokens")
    assert parameters == 4 * 12 * 12
# %% [markdown]
# ## Questions
#
# 1. How many weights [query, key] does a layer of 8 heads have for 10 tokens?
# 2. What would be lost with one head of the same total width?
#
# <details><summary>Answers</summary>
#
# 1. 8 x 10 x 10 = 800.
# 2. There would be one softmax for all: a position could not attend to two places without mixing what it finds there.
#
# </details>
