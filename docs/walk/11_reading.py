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

SEED = 11
generator = torch.Generator().manual_seed(SEED)


def draw(count):
    words = torch.randint(2, 10, (count, 5), generator=generator)
    return torch.cat([words, torch.ones(count, 1, dtype=torch.long)], 1)  # </s> is 1


torch.manual_seed(SEED)
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
q, k, _ = layer.mixer.attention.project_self(x)  # queries, keys and values of both heads
by_hand = (q @ k.transpose(-2, -1) / 16**0.5).softmax(-1)  # d_k = 32 / 2
torch.testing.assert_close(record.attention["encoder.layers.0.self"], by_hand)
# %% [markdown]
# To copy a word, the decoder must find it in the source. So we ask how often the largest weight of a target position is at the same
# position of the source, in each head and in the mean of both: first before training, where one of six would be by chance. Row t
# is the position that predicts word t.
# %%


def share_found():
    with watch(model) as record, torch.no_grad():
        model(text, text)
    weights = record.attention["decoder.layers.0.cross"]
    both = torch.cat([weights, weights.mean(1, keepdim=True)], 1)
    return (both.argmax(-1) == torch.arange(6)).float().mean((0, 2)).tolist()


before = share_found()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98))
for step in range(300):
    batch = draw(64)
    loss = F.cross_entropy(model(batch, batch)[..., :-1].flatten(0, 1), batch.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
after = share_found()
copied = (model(text, text)[..., :-1].argmax(-1) == text).float().mean()
for name, shares in (("before training", before), ("after it", after)):
    print(name, "the heads find {:.0%} and {:.0%}, their mean {:.0%}".format(*shares))
print(f"{copied:.0%} of the words are right")
assert max(before) < 0.4 and copied > 0.9
assert max(after) > 0.8
# %% [markdown]
# Now one line, the six weights of each position in the head that finds more. A row is the position that predicts a word, a column a word of the
# source. Read along a row: where is most of the weight? Here it is on the diagonal: the model reads the words in their order. Pictures of
# attention are such tables, with a darker cell for a larger weight. In a translation the diagonal bends where the languages order their words in different ways.
# It printed here (the last digits depend on the processor):
#
# ```text
#            3     9     2     5     3     1
#   3     0.93  0.07  0.00  0.00  0.00  0.00
#   9     0.13  0.86  0.01  0.00  0.00  0.00
#   2     0.04  0.08  0.85  0.02  0.00  0.00
#   5     0.00  0.00  0.03  0.95  0.02  0.00
#   3     0.00  0.00  0.00  0.03  0.96  0.01
#   1     0.00  0.00  0.00  0.00  0.04  0.96
# ```
# %%
with watch(model) as record, torch.no_grad():
    model(text[:1], text[:1])
clearest = max((0, 1), key=lambda head: after[head])
table = record.attention["decoder.layers.0.cross"][0, clearest]
print("      " + "".join(f"{word:6}" for word in text[0].tolist()))
for word, row in zip(text[0].tolist(), table.tolist()):
    print(f"{word:3}   " + "".join(f"{weight:6.2f}" for weight in row))
# %% [markdown]
# With care: a model may copy as well and show less of it. Set `SEED` to 13 and run this again: one head finds most words, but the other looks
# elsewhere, and the mean of both finds only about half of them. And with several layers, one must know which to ask: of the paper's six,
# mostly the last but one shows which words belong together (Garg et al., "Jointly Learning to Align and Translate with Transformer Models", 2019).
#
# A translator that you have trained can be drawn. `headway demo` trains one, and then
# `headway picture runs/demo "Has David already painted the wall?" --out page.html` draws it.
# %% [markdown]
# ## Questions
#
# 1. What is the sum of a row?
# 2. A weight of 0.9 goes to the wrong word. Must the model be wrong?
#
# <details><summary>Answers</summary>
#
# 1. 1, in every head and layer.
# 2. No: other heads and layers read other places. And a position of the source holds a vector into which the encoder has mixed other words, so that what is read there need not be the word itself. Whether a head matters shows when it is switched off (`headway heads`).
#
# </details>
