# %% [markdown]
# # The model
#
# Two stacks: the encoder reads the source, the decoder predicts the target.
#
# A text is a list of ids: each stands for a word or a part of one, and 1 is `</s>`, the end of the text. The source
# ends with it too. The decoder reads the target shifted by one: position t holds word t - 1, sees the words up to it and
# predicts word t. In front of the first word stands `<pad>`, whose embedding is zero: there it is the sign that a text begins, and is not
# hidden, as padding at the end of a row is. `model.decode` shifts by itself.
#
# Source and target share one vocabulary here, so one matrix serves for both embeddings and for the output (section 3.4): the
# logit of a word is the dot product of its row with what the decoder returns. That saves two matrices of the size of the vocabulary, and
# what is learned of a word where it is read serves where it is written.
# %%
import torch
from headway import ModelConfig, Transformer

torch.manual_seed(6)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
model = Transformer(ModelConfig(num_encoder_layers=2, num_decoder_layers=2, **sizes)).eval()
source, target = torch.tensor([[5, 6, 7, 1]]), torch.tensor([[8, 9, 1]])

encoded = model.encode(source)
hidden = model.decode(target, encoded)
by_hand = hidden @ model.source_embedding.weight.T
logits = model(source, target)  # [1, 3, 31]: a number for each id at each position
torch.testing.assert_close(logits, by_hand)
print("the first logits by hand:  ", by_hand[0, 0, :3].detach())
print("the first logits, Headway's:", logits[0, 0, :3].detach())
assert sum(tuple(p.shape) == (31, 12) for p in model.parameters()) == 1  # one matrix of the vocabulary
# %% [markdown]
# `<pad>` is the last id. Its row is zero, so its logit is always 0; it is no word, and is left out before a softmax.
# %%
assert not model.source_embedding.weight[-1].any() and not logits[..., -1].any()
# %% [markdown]
# Change the second of the three target words: its own prediction and that of the first stay, because they read only the words before
# them. That of the third changes, because it reads the second. So one can test a mask:
# change a word, and see which predictions change.
# %%
changes = (model(source, torch.tensor([[8, 4, 1]])) - logits).abs().amax(-1)[0]
print("largest change of the logits at the three positions:", changes.detach().round(decimals=2))
assert changes[:2].max() < 1e-5 and changes[2] > 0.1
# %% [markdown]
# ## Questions
#
# 1. What does the decoder read at the first position?
# 2. Why may all positions be trained at once?
#
# <details><summary>Answers</summary>
#
# 1. The embedding of `<pad>`, which is zero, plus the encoding of the position: no word comes before the first.
# 2. The mask hides the later words, and the right words before a position are known in training.
#
# </details>
