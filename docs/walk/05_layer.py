# %% [markdown]
# # The layer
#
# Each sub-layer is added to its input, and the sum is normalized.
#
# Section 3.1: the output of a sub-layer is LayerNorm(x + Sublayer(x)). The sum lets the gradient pass around the
# sub-layer, so that deep stacks can be trained; the normalization keeps the numbers of each position at the same
# size. An encoder layer has two sub-layers: attention, and a network that treats each position alone (equation 2).
# %%
import torch
from headway import ModelConfig, Transformer

torch.manual_seed(5)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
layer = Transformer(ModelConfig(**sizes)).eval().encoder.layers[0]
x = torch.randn(1, 5, 12)

after_attention = layer.residuals[0].norm(x + layer.mixer.attention(x, x))
inner = torch.relu(layer.feed_forward.inner(after_attention))
by_hand = layer.residuals[1].norm(after_attention + layer.feed_forward.outer(inner))
torch.testing.assert_close(layer(x), by_hand)
# %% [markdown]
# Before training, each position leaves the layer with the mean 0 and the variance 1. The last step multiplies them by learned
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
#
# <details><summary>Answers</summary>
#
# 1. Attention only: the network sees one position at a time.
# 2. Attention from the target to the output of the encoder, between the other two.
#
# </details>
