# %% [markdown]
# # Attention by hand
#
# Equation 1 is a softmax over dot products, and then a mean of the values.
#
# Each token of a text is a vector. Three linear maps make three vectors of it: a query, a key and a value. A query
# asks, keys answer how well they fit, and values are what is read. In self-attention all three come from the same
# text; in the attention from a translation to its source, the queries come from the translation, and keys and
# values from the source. That is why this example has 3 queries, and 5 keys with their values. Random numbers stand
# for all of them here; notebook 3 has the maps.
#
# Equation 1: Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, where d_k is the width of a key. By hand it has
# three lines.
# %%
import torch
from headway.model import DotProduct

generator = torch.Generator().manual_seed(1)
q, k = torch.randn(1, 1, 3, 8, generator=generator), torch.randn(1, 1, 5, 8, generator=generator)
v = torch.randn(1, 1, 5, 8, generator=generator)  # batch, heads (one here), positions, width

scores = q @ k.transpose(-2, -1) / 8**0.5
weights = scores.softmax(-1)
by_hand = weights @ v
# %% [markdown]
# Headway's `DotProduct` computes the same.
# %%
core = DotProduct()
torch.testing.assert_close(core.weights(q, k), weights)
torch.testing.assert_close(core(q, k, v), by_hand)
print(weights[0, 0].round(decimals=2))
# %% [markdown]
# Without the division the dot products grow with d_k. Then the softmax gives nearly all weight to one key, and is saturated: a small change of
# a query changes no weight, so its gradient is almost zero. Only a query whose two largest scores are nearly equal gets a
# gradient, and that one is large. So the weights can hardly change, and where they can, they leap. The same holds for the keys, and for the
# maps that make both; the values still get gradients, since the output is a mean of them. Here each query is to raise its largest weight.
# The cell prints
#
# ```text
# deviation of the scores 23.1, largest weight 0.96, gradient 0.0016 (median) to 8.1
# deviation of the scores 1.0, largest weight 0.33, gradient 0.2284 (median) to 0.3
# ```
# %%
wide, keys = torch.randn(200, 1, 512, generator=generator), torch.randn(200, 10, 512, generator=generator)
found = {}
for divisor in (1, 512**0.5):
    queries = wide.clone().requires_grad_()
    scores = (queries * keys).sum(-1) / divisor
    weights = scores.softmax(-1)
    largest = weights.max(-1).values
    largest.sum().backward()
    gradients = queries.grad.norm(dim=-1)
    found[divisor] = tuple(x.item() for x in (scores.std(), largest.mean(), gradients.median(), gradients.max()))
    print("deviation of the scores {:.1f}, largest weight {:.2f}, gradient {:.4f} (median) to {:.1f}".format(*found[divisor]))
undivided, divided = found.values()
assert 20 < undivided[0] < 26  # about sqrt(512)
assert undivided[1] > 0.9 and undivided[2] < divided[2] / 20 and undivided[3] > 5 * divided[3]
# %% [markdown]
# ## Questions
#
# 1. The rows of `weights` sum to what?
# 2. Which of the three inputs may have another width than the others?
# 3. Why sqrt(d_k), and not d_k?
#
# <details><summary>Answers</summary>
#
# 1. 1: each query divides its attention among the keys.
# 2. The values: only queries and keys are multiplied with each other.
# 3. The sum of d_k products of independent numbers of mean 0 and variance 1 has the variance d_k, so its standard deviation is sqrt(d_k).
#    Divided by d_k, the scores of a wide key would all be near zero, and the weights nearly equal.
#
# </details>
