# %% [markdown]
# # The model
#
# Two stacks: the encoder reads the source, the decoder predicts the target.
#
# A text is a list of ids: each stands for a word or a part of one, and 1 is `</s>`, the end of the text. The source
# ends with it too. The decoder reads the target shifted by one: position t sees the words before t and predicts word t.
# %%
import torch
from headway import ModelConfig, Transformer

torch.manual_seed(6)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
model = Transformer(ModelConfig(num_encoder_layers=2, num_decoder_layers=2, **sizes)).eval()
source, target = torch.tensor([[5, 6, 7, 1]]), torch.tensor([[8, 9, 1]])

memory = model.encode(source)
hidden = model.decode(target, memory)
by_hand = hidden @ model.source_embedding.weight.T  # one matrix for both embeddings and the output
logits = model(source, target)  # [1, 3, 31]: a number for each id at each position
torch.testing.assert_close(logits[..., :-1], by_hand[..., :-1])  # <pad>, the last id, is never predicted
# %% [markdown]
# A change of the last target word changes no prediction: nothing after it is predicted, and it does not see
# itself.
# %%
other = torch.tensor([[8, 9, 4]])
torch.testing.assert_close(model(source, other), logits)
# %% [markdown]
# ## Questions
#
# 1. What does the decoder read at the first position?
# 2. Why may all positions be trained at once?
#
# <details><summary>Answers</summary>
#
# 1. A zero vector, plus the position: no word comes before the first.
# 2. The mask hides the later words, and the right words before a position are known in training.
#
# </details>
