# %% [markdown]
# # Reading attention
#
# The weights of a trained model can be read, with care.
#
# `watch` records the weights of every head while the model runs as usual.
# %%
import torch
from headway import ModelConfig, Transformer, watch

torch.manual_seed(11)
sizes = {"source_vocab_size": 31, "target_vocab_size": 31, "d_model": 12, "d_ff": 20, "num_heads": 3}
model = Transformer(ModelConfig(num_encoder_layers=2, num_decoder_layers=2, **sizes)).eval()
source, target = torch.tensor([[5, 6, 7, 1]]), torch.tensor([[8, 9, 1]])
with watch(model) as record:
    model(source, target)
for name, weights in record.attention.items():
    print(name, tuple(weights.shape))  # batch, heads, queries, keys
# %% [markdown]
# The recorded weights are those of equation 1, from the input that the layer received.
# %%
layer = model.encoder.layers[0]
x = model.source_positions(model.source_embedding(source))
q, k, _ = layer.mixer.attention.project_self(x)
by_hand = (q @ k.transpose(-2, -1) / 4**0.5).softmax(-1)
torch.testing.assert_close(record.attention["encoder.layers.0.self"], by_hand)
# %% [markdown]
# A trained model can be drawn: `headway picture runs/demo "Has David already painted the wall?" --out page.html`.
# %% [markdown]
# ## Questions
#
# 1. What is the sum of a row?
# 2. A weight of 0.9 goes to the wrong word. Must the model be wrong?
#
# <details><summary>Answers</summary>
#
# 1. 1, in every head and layer.
# 2. No: other heads and layers read other places, and what is read is the value, not the word. Whether a head matters shows when it is switched off (`headway heads`).
#
# </details>
