# %% [markdown]
# # The layer
#
# Each sub-layer is added to its input, and the sum is normalized.
#
# Section 3.1: the output of a sub-layer is LayerNorm(x + Sublayer(x)). The sum, a residual connection, lets the gradient
# pass around the sub-layer, so that deep stacks can be trained; the normalization keeps the numbers of each position at
# the same size. (This order is called post-norm. Many later models are pre-norm: x + Sublayer(LayerNorm(x)).)
#
# An encoder layer has two sub-layers: attention, and a network that treats each position alone, max(0, x W1 + b1) W2 + b2
# (equation 2). In training, dropout sets random numbers to zero: in what a sub-layer returns, before it is added, and in the sum of embedding and
# position (section 5.4). `eval()` switches it off.
# %%
import torch
from headway import ModelConfig, Transformer

torch.manual_seed(5)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
layer = Transformer(ModelConfig(**sizes)).eval().encoder.layers[0]
x = torch.randn(1, 5, 12)

after_attention = layer.residuals[0].norm(x + layer.mixer.attention(x, x))  # the mixer of positions is attention
inner = torch.relu(layer.feed_forward.inner(after_attention))
by_hand = layer.residuals[1].norm(after_attention + layer.feed_forward.outer(inner))
torch.testing.assert_close(layer(x), by_hand)
print("by hand and Headway's:", by_hand[0, 0, :3].tolist(), layer(x)[0, 0, :3].tolist())
# %% [markdown]
# Before training, each position leaves the layer with the mean 0 and the variance 1. LayerNorm then multiplies by learned
# numbers and adds others, which begin as 1 and 0.
# %%
out = layer(x)
torch.testing.assert_close(out.mean(-1), torch.zeros(1, 5), atol=1e-5, rtol=0)
torch.testing.assert_close(out.var(-1, unbiased=False), torch.ones(1, 5), atol=1e-3, rtol=0)
# %% [markdown]
# ## Questions
#
# 1. Which sub-layer carries information from one position to another?
# 2. What is the third sub-layer of a decoder layer?
# 3. Where is dropout applied in training, and in which order?
#
# <details><summary>Answers</summary>
#
# 1. Attention only: the network sees one position at a time.
# 2. Attention from the target to the output of the encoder, between the other two.
# 3. LayerNorm(x + Dropout(Sublayer(x))): to what the sub-layer returns, before the sum and the normalization.
#
# </details>
