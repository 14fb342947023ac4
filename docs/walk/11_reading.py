# %% [markdown]
# # Reading attention
#
# The weights of a trained model can be read, with care.
#
# `watch` records the weights of every head while the model runs as usual. We look at a model that learns to copy, as in notebook 7.
# %%
import torch
from torch.nn import functional as F
from headway import ModelConfig, Transformer, watch

generator = torch.Generator().manual_seed(11)


def draw(count):
    words = torch.randint(2, 10, (count, 5), generator=generator)
    return torch.cat([words, torch.ones(count, 1, dtype=torch.long)], 1)  # </s> is 1


torch.manual_seed(11)
sizes = {"source_vocab_size": 11, "target_vocab_size": 11, "d_model": 32, "d_ff": 64, "num_heads": 2}
model = Transformer(ModelConfig(num_encoder_layers=1, num_decoder_layers=1, dropout=0.0, **sizes))
text = draw(200)
with watch(model) as record, torch.no_grad():
    model(text, text)
for name, weights in record.attention.items():
    print(name, tuple(weights.shape))  # batch, heads, queries, keys
# %% [markdown]
# The recorded weights are those of equation 1, from the input that the layer received.
# %%
layer = model.encoder.layers[0]
x = model.source_positions(model.source_embedding(text))
q, k, _ = layer.mixer.attention.project_self(x)
by_hand = (q @ k.transpose(-2, -1) / 16**0.5).softmax(-1)
torch.testing.assert_close(record.attention["encoder.layers.0.self"], by_hand)
# %% [markdown]
# To copy a word, the decoder must find it in the source. So we ask how often the largest weight of a target position, the mean
# of both heads, is at the same position of the source: first before training, where one of six would be by chance.
# %%


def share_found():
    with watch(model) as record, torch.no_grad():
        model(text, text)
    largest = record.attention["decoder.layers.0.cross"].mean(1).argmax(-1)
    return (largest == torch.arange(6)).float().mean().item()


before = share_found()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
for step in range(300):
    batch = draw(64)
    loss = F.cross_entropy(model(batch, batch)[..., :-1].flatten(0, 1), batch.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
after = share_found()
print(f"before training {before:.0%}, after it {after:.0%}")
assert before < 0.4
assert after > 0.8
# %% [markdown]
# With care: another model may copy as well and show less of it, because one of its heads looks elsewhere. Try the seeds 12 and 13
# instead of 11.
#
# A trained translator can be drawn: `headway picture runs/demo "Has David already painted the wall?" --out page.html`.
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
