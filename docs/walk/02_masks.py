# %% [markdown]
# # Masks
#
# A mask takes keys away before the softmax, so that the others share the weight.
#
# A row of a batch may end in padding. It has no meaning, but would take a share of the weights, so that a sentence would come out
# differently beside a longer one. So the encoder hides the padding of the source from itself, and the decoder's
# attention to the source hides it, too. The words of the source are never hidden, because all of them are known from the start.
# Padding at the end of a target needs no mask in the decoder, since it comes after all words, and the loss leaves it out. And a model that writes a text word by word, a decoder, must not see the words
# that it is to predict. Hiding padding and hiding later words are both done by a mask: `True` means that the query may attend to the key.
#
# The mask of a decoder is a triangle with its diagonal: a position sees itself and those before it. Its input is shifted by one:
# position t holds word t - 1, and predicts word t (notebook 6). Without the shift, position t would hold the very word that it is to
# predict. Training would only teach it to copy its input, and when it translates, there is nothing to copy yet. Without the mask it would
# be the same: position t would read word t one place to its right.
#
# The first cell prints the weights of four queries. Each row sums to 1, and right of the diagonal is nothing:
#
# ```text
# tensor([[1.0000, 0.0000, 0.0000, 0.0000],
#         [0.5600, 0.4400, 0.0000, 0.0000],
#         [0.1500, 0.0800, 0.7700, 0.0000],
#         [0.0200, 0.0200, 0.9100, 0.0500]])
# ```
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
# Padding is a fact about the data. Headway gives each position the number of its text: 1 here, and 0 where there is padding.
# (A packed row has several texts, which do not see each other; this one is not packed.)
# %%
segments = Segments(torch.tensor([[1, 1, 1, 0]]), is_packed=False)
seen = DotProduct()(q, k, v, Visibility(keys=segments))
torch.testing.assert_close(seen, DotProduct()(q, k[:, :, :3], v[:, :, :3]))
scores = (q @ k.transpose(-2, -1) / 8**0.5).masked_fill(torch.tensor([False, False, False, True]), float("-inf"))
torch.testing.assert_close(seen, scores.softmax(-1) @ v)
print(scores.softmax(-1)[0, 0].round(decimals=2))  # nobody reads the last column, which is padding
# %% [markdown]
# ## Questions
#
# 1. What is the first row of the causal weights?
# 2. Why is the mask applied before the softmax?
# 3. Does a change of the last value change the first output of the causal attention?
#
# <details><summary>Answers</summary>
#
# 1. 1, 0, 0, 0: the first position sees only itself. It holds a sign that the text begins (notebook 6), and predicts the first word.
# 2. If weights were set to zero after the softmax, those of a row would no longer sum to 1, and the
#    mean of the values would shrink, the more the more padding there is. And that sum would still contain the later words, so that
#    the outputs of a decoder would depend on them.
# 3. No: its weight is exactly zero.
#
# </details>
