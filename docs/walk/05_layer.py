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
# (equation 2); d_ff is the width of x W1. In training, dropout sets a tenth of the numbers to zero, chosen at random, so that the model
# does not rely on single ones: in what a sub-layer returns, before it is added, and in the sum of embedding and position (section 5.4). `eval()` switches it
# off, as here. The paper's base has six layers on each side, d_model 512, d_ff 2048 and 8 heads.
# %%
import torch
from headway import ModelConfig, Transformer
from headway.model import Visibility

torch.manual_seed(5)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
model = Transformer(ModelConfig(**sizes)).eval()
layer = model.encoder.layers[0]
x = torch.randn(1, 5, 12)

after_attention = layer.residuals[0].norm(x + layer.mixer.attention(x, x))  # the mixer of positions is attention
inner = torch.relu(layer.feed_forward.inner(after_attention))
by_hand = layer.residuals[1].norm(after_attention + layer.feed_forward.outer(inner))
torch.testing.assert_close(layer(x), by_hand)
print("by hand:  ", by_hand[0, 0, :3].detach())
print("Headway's:", layer(x)[0, 0, :3].detach())
# %% [markdown]
# Before training, each position leaves the layer with the mean 0 and the variance 1. LayerNorm then multiplies by learned
# numbers and adds others, which begin as 1 and 0.
# %%
out = layer(x)
torch.testing.assert_close(out.mean(-1), torch.zeros(1, 5), atol=1e-5, rtol=0)
torch.testing.assert_close(out.var(-1, unbiased=False), torch.ones(1, 5), atol=1e-3, rtol=0)
# %% [markdown]
# A decoder layer has three sub-layers: attention to the target with the mask of notebook 2, attention to what the encoder returns, and
# the network. In the second, queries come from the target, and keys and values from the source.
# %%
layer = model.decoder.layers[0]
source, target = torch.randn(1, 7, 12), torch.randn(1, 5, 12)

after_self = layer.residuals[0].norm(target + layer.mixer.attention(target, target, Visibility(is_causal=True)))
after_cross = layer.residuals[1].norm(after_self + layer.cross(after_self, source))
by_hand = layer.residuals[2].norm(after_cross + layer.feed_forward(after_cross))
torch.testing.assert_close(layer(target, memory_BSD=source), by_hand)  # the memory is what the encoder returns
# %% [markdown]
# ## Questions
#
# 1. Which sub-layer carries information from one position to another?
# 2. Which sub-layer of a decoder layer does an encoder layer not have?
# 3. Where is dropout applied in training, and in which order?
#
# <details><summary>Answers</summary>
#
# 1. Attention only: the network sees one position at a time.
# 2. The second: attention from the target to what the encoder returns.
# 3. LayerNorm(x + Dropout(Sublayer(x))): to what the sub-layer returns, before the sum and the normalization.
#
# </details>
