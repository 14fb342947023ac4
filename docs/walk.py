# %% [markdown]
# # Build a Transformer
#
# This notebook builds the model of "Attention Is All You Need" (Vaswani et al., [2017](https://arxiv.org/abs/1706.03762)) in
# PyTorch, trains it, and translates with it. The training takes about two minutes where a core is free, and up to ten on a busy
# machine. PyTorch brings tensors, gradients, linear maps and the optimizer; the rest is written here. Section 8 ends with a
# check: with the same parameters, our model computes the same numbers as `headway.Transformer`.
#
# You need Python, and to have seen an array. A number in brackets in a title is the section of the paper; equations, tables and
# figures have the paper's numbers, too. Three exercises ask for code, and a check says whether it is right. Their answers are
# folded.
#
# The model reads a sentence, the **source**, and writes its translation, the **target**, one word after the other. The
# **encoder** turns the source into vectors, one for each word. The **decoder** predicts the next word of the target from these
# vectors and from the words that are already written:
#
# ```text
#       source                          target so far
#         |                                   |
#   embedding (8) + position (6)        embedding (8) + position (6)
#         |                                   |
#   encoder layers (7), each:           decoder layers (7), each:
#     self-attention (3 to 5)             self-attention, masked (4)
#     feed-forward network (7)   ----->   encoder-decoder attention (5)
#                                         feed-forward network (7)
#                                             |
#                                       probability of each next word (8)
# ```
#
# The numbers in the figure are the sections below. To run the notebook: `pip install ".[demo,pictures]"`, then open
# `docs/walk.ipynb` in Jupyter, or run `python docs/walk.py`.
# %%
import math
import re
import time

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(1)
torch.set_printoptions(precision=2, sci_mode=False)


def show(table, title, rows="", columns="", names=None):
    """Draw a table of numbers: darker is larger."""
    figure, axes = plt.subplots(figsize=(5.5, 3.6))
    image = axes.imshow(table.tolist(), cmap="Blues", aspect="auto")
    if names:
        axes.set_yticks(range(len(names[0])), names[0])
        axes.set_xticks(range(len(names[1])), names[1], rotation=60, ha="right")
    axes.set(title=title, ylabel=rows, xlabel=columns)
    figure.colorbar(image)
    plt.show()


# %% [markdown]
# ## 1. Tensors
#
# A **tensor** is an array of numbers. Its **shape** says how many numbers lie along each of its axes. We write shapes in
# brackets: `[2, 3]` has two rows of three numbers. Axes are counted from 0, and −1 is the last one.
# %%
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape", list(x.shape))
print("sums over the last axis", x.sum(-1))
print("x + 10 adds 10 everywhere:", (x + 10).tolist())
print("x * [1, 0, 2] takes the same row for both:", (x * torch.tensor([1.0, 0.0, 2.0])).tolist())
# %% [markdown]
# In the last line the shapes differ, `[2, 3]` and `[3]`. PyTorch repeats the smaller one along the axis that it lacks, or along
# an axis of length 1. This is called **broadcasting**, and masks will use it.
#
# The most important operation is the **matrix product** `a @ b`. The number in row i and column j of the result is the **dot
# product** of row i of `a` and column j of `b`: multiply the numbers in pairs, and add. If two arrows keep their lengths, their
# dot product is largest when they point in the same direction; we will use it to ask how well two words fit each other. If
# tensors have more than two axes, `@` multiplies the matrices of the last two axes, once for each index of the other axes.
#
# These calls rearrange tensors below:
#
# | call | result |
# |---|---|
# | `x[:, None]` | the same numbers, with a new axis 1 of length 1 |
# | `x.T`, `x.transpose(1, 2)` | rows and columns, or axes 1 and 2, change places |
# | `x.unflatten(-1, (4, -1))` | the last axis becomes two, the first of them of length 4; −1 is what is left |
# | `x.flatten(2)` | axis 2 and all later axes become one |
# | `torch.cat([a, b], 1)`, `torch.stack([a, b], 1)` | `b` behind `a` along axis 1, or beside it along a new axis 1 |
# | `x.expand(3, -1)` | an axis of length 1 is repeated three times; −1 leaves an axis as it is |
# | `x.tril()` | zeros above the diagonal |
# | `x.masked_fill(m, v)` | `v` where `m` is True, `x` elsewhere; `~m` exchanges True and False |
# | `x.gather(-1, i)` | from each row, the numbers at the indices `i` |
# | `x.topk(3)` | the three largest numbers, and their indices |
# | `x.sum(-1, keepdim=True)` | sums over the last axis, which stays, with length 1 |
# %%
a, b = torch.randn(2, 3), torch.randn(3, 4)
by_hand = sum(a[1, k] * b[k, 2] for k in range(3))
print("shapes", list(a.shape), "@", list(b.shape), "=", list((a @ b).shape))
print("one number of it, by hand and by @:", round(by_hand.item(), 4), round((a @ b)[1, 2].item(), 4))
# %% [markdown]
# A **linear map** is a matrix product with numbers that are learned. `nn.Linear(3, 4)` turns each vector of 3 numbers into one of
# 4, by a matrix `weight`; it also adds a vector `bias`, unless `bias=False`. Learned numbers are called **parameters**.
#
# How are they learned? PyTorch records what is computed from a tensor that has `requires_grad`. `error.backward()` then computes
# the **gradient** of the error and stores it in `weight.grad`: for each number, how fast the error grows if this number grows a
# little. A small step against the gradient makes the error smaller. The step itself is not recorded (`no_grad`). The gradient is
# removed after it, because `backward()` adds to what is there.
# %%
weight = torch.tensor([1.0, 1.0], requires_grad=True)
for step in range(4):
    error = (weight @ torch.tensor([2.0, 1.0]) - 7) ** 2  # we want 2 w1 + w2 = 7
    error.backward()
    print(f"step {step}: error {error.item():.2f}, gradient {weight.grad.tolist()}")
    with torch.no_grad():
        weight -= 0.08 * weight.grad
    weight.grad = None
# %% [markdown]
# All training below is this loop, with more parameters and a better rule for the step.
#
# ## 2. Text becomes numbers
#
# Our text is a part of Headway's built-in corpus: English sentences and their German translations, made by rules, without digits.
# German often puts the verb at the end, so that a translation needs another order of the words.
# %%
from headway.ext.demo import generate, split

sentences = [pair for pair in generate("en", "de", 40_000) if pair.kind == "sentence"]
sentences = [pair for pair in sentences if not re.search(r"\d", pair.source + pair.target)]
training, validation, test = split(sentences)
print(len(training), "sentences to learn from,", len(validation), "to watch the training,", len(test), "to test with; for example")
for pair in training[:3]:
    print("   ", pair.source, "->", pair.target)
# %% [markdown]
# A model reads numbers, not letters: each **token** of a text gets an **id**. Here a token is a word or a punctuation mark. (Real
# systems divide rare words into several tokens, called subwords, so that every word can be written; the paper has about 37,000
# subwords.) Three tokens are not words: `<unk>` stands for an unknown word, `</s>` for the end of a text, and `<pad>` fills up
# short rows. Both languages share one **vocabulary**, the list of all tokens, as in section 5.1.
# %%


def tokens_of(text):
    return re.findall(r"\w+|[^\w\s]", text)


words = sorted({word for pair in training for text in (pair.source, pair.target) for word in tokens_of(text)})
vocabulary = ["<unk>", "</s>", *words, "<pad>"]
UNKNOWN, END, PAD = 0, 1, len(vocabulary) - 1
id_of = {token: number for number, token in enumerate(vocabulary)}


def ids_of(text):
    """The ids of a text's tokens, and the end."""
    return [id_of.get(word, UNKNOWN) for word in tokens_of(text)] + [END]


def batch_of(texts):
    """The ids of several texts in one tensor, [texts, longest]; short rows end in <pad>."""
    rows = [ids_of(text) for text in texts]
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


print(len(vocabulary), "ids;", "two texts as a batch:")
print(batch_of(["Max speaks Thai.", "Will Nina pay the bill on Saturday?"]))
# %% [markdown]
# An id is only a name: the words with the ids 7 and 8 have nothing in common. So the model has a table with a vector of d_model
# numbers for each id, the word's **embedding**. Its numbers are parameters (section 8). From here on, B texts of T tokens are a
# tensor `[B, T, d_model]`: a vector at each **position** of each text. Layers change these vectors and keep the shape.
#
# ## 3. Attention (section 3.2.1)
#
# A word alone says little: in "the man who painted the wall comes from Spain", the verb "comes" needs "man". **Attention** lets
# each position fetch what it needs from other positions.
#
# Each position has a **query** (what do I look for?), a **key** (what do I offer to those who look?) and a **value** (what do I
# give?). All three are vectors, which linear maps make from the vector of the position (section 5); in this section they are
# random. Attention compares a query with every key by their dot product, turns these scores into **weights** that sum to 1, and
# returns the sum of the values, each multiplied by its weight:
#
# Equation 1: Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
#
# The rows of Q are the queries, those of K the keys, and those of V the values. Kᵀ is K with rows and columns exchanged, so that
# row t of Q Kᵀ has the scores of query t, one for each key. A query, a key and a value have d_k, d_k and d_v numbers. **softmax**
# turns the scores of a row into weights: e to the power of each, divided by the sum of these powers. The largest score gets the
# largest weight. `mask` says which keys each query may read, here all of them; section 4 explains it.
# %%


def attention(queries, keys, values, mask):
    """Return the results [..., T, d_v] and the weights [..., T, S], for T queries and S keys; ... are axes before them.

    queries [..., T, d_k], keys [..., S, d_k], values [..., S, d_v]; mask broadcasts to [..., T, S].
    """
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    return weights @ values, weights


queries, keys = torch.randn(3, 8), torch.randn(5, 8)
values = torch.randn(5, 2)
everything = torch.ones(3, 5).bool()
result, weights = attention(queries, keys, values, everything)
print("weights of 3 queries for 5 keys:")
print(weights)
print("each row sums to", weights.sum(-1))
torch.testing.assert_close(result[0], sum(weights[0, s] * values[s] for s in range(5)))
# %% [markdown]
# Why divide by √d_k? If the numbers of two vectors are random and independent, with mean 0 and variance 1, their dot product has
# a standard deviation of √d_k. Without the division, the scores of wide vectors lie far apart: one weight is almost 1 and the
# others are almost 0. A small change of most queries then changes nothing: their gradient is almost zero, and they teach little.
# The authors suspect this reason. In the right plot, the gradient of a middling query is even larger without the division up to
# d_k = 64, and collapses from 256 on. Not so for all: a query between two keys with nearly the same score has a very large
# gradient, so that the mean grows while the median vanishes. Vectors of a trained model are not random with variance 1, so the
# plot shows what happens, and not from where on: with keys of 64 numbers, too, models learn less without the division
# ([measured](evidence/paper.md)).
# %%
widths = [1, 4, 16, 64, 256, 1024]
largest, gradients, means = {}, {}, {}
for divided in (False, True):
    largest[divided], gradients[divided], means[divided] = [], [], []
    for width in widths:
        query, key = torch.randn(500, 1, width, requires_grad=True), torch.randn(500, 10, width)
        scores = (query * key).sum(-1) / (math.sqrt(width) if divided else 1)
        top = scores.softmax(-1).max(-1).values
        top.sum().backward()
        largest[divided].append(top.mean().item())
        gradients[divided].append(query.grad.norm(dim=-1).median().item())
        means[divided].append(query.grad.norm(dim=-1).mean().item())
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for divided, name in ((False, "not divided"), (True, "divided by √d_k")):
    axes[0].semilogx(widths, largest[divided], "o-", label=name)
    line = axes[1].loglog(widths, gradients[divided], "o-", label=name)
    axes[1].loglog(widths, means[divided], "--", color=line[0].get_color())
axes[0].set(title="mean of the largest of ten weights", xlabel="d_k", ylim=(0, 1))
axes[1].set(title="gradient of a query (median; dashed: mean)", xlabel="d_k")
axes[0].legend()
plt.show()
assert largest[False][-1] > 0.9 > 0.5 > largest[True][-1]
assert gradients[False][-1] < gradients[True][-1] / 100
assert means[False][-1] > 2 * means[True][-1]
# %% [markdown]
# ## 4. Masks (section 3.2.3)
#
# A **mask** hides some keys from a query: their score is replaced by −∞, so that their weight is 0. There are two reasons:
#
# - **Padding** means nothing. If it got a part of the weight, the translation of a sentence would depend on the length of the
#   longest sentence in its batch.
# - **Later words.** The translation is written word by word, so the model must predict each word from those before it. In
#   training the whole translation is known and all its words are predicted at once; a mask hides from each position what comes
#   later. Without it, the model would learn to copy the word that it is to predict, and have nothing to copy when it translates.
#
# A row in which all keys are hidden would have nothing to divide by: 0 / 0 is no number. It does not occur here, because every
# sentence has its end. (Headway takes the smallest number in place of −∞, which gives such a row equal weights.)
#
# Setting weights to zero after the softmax would not do: the rest would no longer sum to 1, and the hidden keys would still have
# a share in it.
#
# `True` means: may be read. The second mask is a triangle: row t has `True` up to column t. The masks hide keys only. Queries of
# padding compute something, too, but no other position reads it, and the loss leaves it out.
# %%


def not_padding(ids):
    """[B, S] -> [B, 1, 1, S]: the same for each head and each query; broadcasting repeats it."""
    return (ids != PAD)[:, None, None, :]


def not_later(length):
    """[T, T]: position t may read the positions 0 to t."""
    return torch.ones(length, length).tril().bool()


_, weights = attention(torch.randn(6, 8), torch.randn(6, 8), torch.randn(6, 8), not_later(6))
show(weights, "weights with the mask of later words", "query", "key")
# %% [markdown]
# **Exercise 1.** Restricted self-attention (section 4 of the paper) reads only positions nearby. Write the mask of a decoder that
# does so: position t may read the positions t − n + 1 to t, as far as they exist. One way begins with
# `torch.arange(length)[:, None] - torch.arange(length)`: what stands in row t and column s?
# %%


def check(name, *cases):
    """Say whether an exercise is solved: each case is what was asked, how to compute it, and what is right."""
    try:
        for asked, compute, right in cases:
            if (found := compute()) != right:
                print(f"{name}: wrong: {asked} is {found}, and should be {right}")
                return
        print(f"{name}: right")
    except NotImplementedError:
        print(f"{name}: not written yet")
    except Exception as error:
        print(f"{name}: wrong: {type(error).__name__}: {error}")


def last_positions(length, n):
    """[length, length], True and False"""
    raise NotImplementedError  # your code


check(
    "exercise 1",
    ("the type of last_positions(4, 2)", lambda: last_positions(4, 2).dtype, torch.bool),
    ("the last row of last_positions(4, 2)", lambda: last_positions(4, 2)[3].tolist(), [False, False, True, True]),
    ("how many True each row of last_positions(5, 2) has", lambda: last_positions(5, 2).sum(-1).tolist(), [1, 2, 2, 2, 2]),
    ("last_positions(5, 9)", lambda: last_positions(5, 9).tolist(), not_later(5).tolist()),
)
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# def last_positions(length, n):
#     distance = torch.arange(length)[:, None] - torch.arange(length)
#     return (distance >= 0) & (distance < n)
# ```
#
# Row t and column s hold t − s, how far position s lies before t.
#
# </details>
#
# ## 5. Heads (section 3.2.2)
#
# One softmax gives one weighted mean. A verb that needs its subject and its object would get a mixture of both. So the model has
# several **heads**. Each head is an attention of its own, with queries, keys and values from linear maps of its own:
#
# head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V), and MultiHead(Q, K, V) = Concat(head_1, …, head_h) W^O
#
# Here Q, K and V are the vectors before the maps: in the code, Q is `x`, and K and V are `memory`. W_i^Q, W_i^K and W_i^V are the
# matrices of head i, and h is the number of heads. Concat puts the results of the heads side by side, and the matrix W^O mixes
# them. The heads divide the width among them: with d_model = 512 and h = 8, the queries, keys and values of a head have 512 / 8 =
# 64 numbers. So eight heads take as many multiplications as one head of width 512. In code, one linear map makes the queries of
# all heads, and `split` divides them.
#
# A part of a model is a class that inherits from `nn.Module`. `__init__` makes its parameters and smaller parts, and `forward`
# computes; `part(x)` calls `part.forward(x)`. `nn.Parameter` marks a tensor as a parameter, and `nn.ModuleList` is a list of
# parts. `parameters()` collects all parameters, those of the smaller parts included.
# %%


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        """[B, T, d_model] -> [B, heads, T, d_model / heads]"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory, mask):
        """x [B, T, d_model] makes the queries, memory [B, S, d_model] the keys and values -> [B, T, d_model]"""
        queries, keys, values = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        heads, self.weights = attention(queries, keys, values, mask)  # the weights are kept to look at
        return self.output(heads.transpose(1, 2).flatten(2))


# %% [markdown]
# The model has this attention in three places. In **self-attention**, queries, keys and values come from the same text (`memory`
# is `x`). In **encoder-decoder attention**, the target asks the source:
#
# | attention | queries `x` | keys and values `memory` | mask |
# |---|---|---|---|
# | the encoder's self-attention | source | source | `not_padding` of the source |
# | the decoder's self-attention | target | target | `not_later` |
# | encoder-decoder attention | target | the encoder's output | `not_padding` of the source |
#
# The target's padding stands at its end, so `not_later` hides it from every word of the target.
#
# ## 6. Positions (section 3.5)
#
# Without the mask of later words, attention knows no order: change the order of the words, and the results are the same, in the
# new order.
# %%
layer, x = MultiHeadAttention(16, 2), torch.randn(1, 5, 16)
order = torch.tensor([3, 1, 4, 0, 2])
all_five = torch.ones(5, 5).bool()
torch.testing.assert_close(layer(x, x, all_five)[:, order], layer(x[:, order], x[:, order], all_five))
# %% [markdown]
# So each position gets a vector of its own, which is added to the embedding of the word. pos is the position, and i counts
# pairs of numbers:
#
# PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))
#
# Each pair is the hand of a clock, which turns by the same angle from each position to the next. The first clock (i = 0) turns
# once in 2π = 6.3 positions and tells neighbors apart. It shows nearly the same at the positions 0, 6 and 13, as a minute hand
# does each hour; so each clock is slower than the one before. With d_model = 512, the last one
# turns once in about 60,600 positions.
# %%


def sinusoids(length, d_model):
    """[length, d_model]: the sine and the cosine of each clock alternate."""
    positions = torch.arange(length, dtype=torch.float64)[:, None]
    angles = positions * 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


table = sinusoids(60, 64)
show(table, "position encodings", "position", "number")
figure, axes = plt.subplots(figsize=(5.5, 2.8))
axes.plot((table @ table[30]).tolist())
axes.set(title="dot product of each position with position 30", xlabel="position")
plt.show()
# %% [markdown]
# The dot product of two encodings depends on their distance alone, and is largest at distance 0. To go on by k positions is to
# turn each hand by an angle that depends only on k. So one matrix leads from the encoding of any position to that of the position
# k later. The authors expected that a head can therefore easily learn "the word three before". Vectors that are learned, one for
# each position, do as well in the paper's Table 3. Sinusoids exist for every position, also beyond the longest text of the
# training.
#
# ## 7. The layer (sections 3.1, 3.3 and 5.4)
#
# Besides attention, each layer has a small network that treats each position alone: equation 2, FFN(x) = max(0, x W1 + b1) W2 +
# b2. Attention carries information from one position to another, and this **feed-forward network** works on it. Its inner width
# d_ff is four times d_model in the paper.
# %%


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.outer(self.inner(x).relu())  # relu is max(0, ·)


# %% [markdown]
# Attention and the feed-forward network are called **sub-layers**. Three more parts help training, the last two
# above all in a stack of many layers:
#
# - **Dropout** sets each number to zero with probability p, in training only (`self.training`, which `train()` and `eval()`
#   switch), so that the model cannot rely on single numbers and learn the training text by heart. The other numbers are divided
#   by 1 − p, so that sums keep their size on average.
# - A **residual connection** adds the input of a sub-layer to its output. So each sub-layer needs to learn only a change, and
#   the gradient has a way around the sub-layer.
# - **Layer normalization** shifts and scales the numbers of each position to the mean 0 and the variance 1, so that each
#   sub-layer gets numbers of about the same size, however many layers come before. Then it multiplies them by parameters
#   (`weight`, which has nothing to do with the weights of attention) and adds parameters (`bias`).
#
# Together: LayerNorm(x + Dropout(Sublayer(x))). The paper normalizes after the sum ("post-norm"). Many later models normalize the
# input of the sub-layer instead, x + Dropout(Sublayer(LayerNorm(x))) ("pre-norm"), and then normalize the output of the
# last layer once more, because no sub-layer has.
# %%


def drop(x, p, is_training):
    if not is_training or not p:
        return x
    return x * (torch.rand_like(x) >= p) / (1 - p)


class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)  # divided by d_model
        return self.weight * (x - mean) / (variance + 1e-5).sqrt() + self.bias  # 1e-5: never divide by zero


class Residual(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm, self.dropout = LayerNorm(d_model), dropout

    def forward(self, x, result):
        """x [B, T, d_model] is the input of a sub-layer, and result its output."""
        return self.norm(x + drop(result, self.dropout, self.training))


# %% [markdown]
# An **encoder** layer has two sub-layers: self-attention and the feed-forward network. A **decoder** layer has
# encoder-decoder attention between them. Its `memory` is the output of the last encoder layer, for every decoder layer. These are
# the two columns of the paper's Figure 1.
# %%


class EncoderLayer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList(Residual(d_model, dropout) for _ in range(2))

    def forward(self, x, mask):
        x = self.residuals[0](x, self.self_attention(x, x, mask))
        return self.residuals[1](x, self.feed_forward(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList(Residual(d_model, dropout) for _ in range(3))

    def forward(self, x, memory, mask, memory_mask):
        x = self.residuals[0](x, self.self_attention(x, x, mask))
        x = self.residuals[1](x, self.cross(x, memory, memory_mask))
        return self.residuals[2](x, self.feed_forward(x))


# %% [markdown]
# ## 8. The model (sections 3.1 and 3.4)
#
# A few things remain:
#
# - The **embedding** is multiplied by √d_model before the position encoding is added. The paper gives no reason. Here the table
#   begins with numbers of the size 1 / √d_model, and the product makes them about as large as the encoding.
# - The score of a next word, its **logit**, is the dot product of the decoder's output with the word's vector in the same table.
#   This is called **tying**: one table serves the source, the target and the logits. Logits are not multiplied by √d_model.
#   Softmax turns the logits of all words into probabilities.
# - The decoder's input is the target **shifted by one**: the input at position t is word t − 1. So position t reads words 0 to t
#   − 1 and predicts word t. At position 0 stands `<pad>`. Its vector is zero, so that the input there is the position encoding
#   alone. No mask hides it: the decoder's self-attention has only the mask of later words. The authors' code does so; many other
#   models have a token for this place.
# - Dropout is also applied to the sum of embedding and position encoding.
# - The paper does not say with which numbers the parameters begin. The authors' code, and this one, draws matrices by Glorot's
#   rule ("xavier"): at random, smaller for larger matrices.
#
# The paper's base model has d_model = 512, d_ff = 2048, 8 heads, 6 layers in the encoder and 6 in the decoder, and p = 0.1.
# Ours is smaller.
# %%


class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, d_ff, heads, layers, dropout):
        super().__init__()
        self.d_model, self.dropout = d_model, dropout
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=vocab_size - 1)  # <pad>: not trained
        sizes = d_model, d_ff, heads, dropout
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(layers))
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        nn.init.zeros_(self.embedding.weight[-1].detach())  # <pad>

    def embed(self, ids):
        """[B, T] -> [B, T, d_model]"""
        x = self.embedding(ids) * math.sqrt(self.d_model)
        return drop(x + sinusoids(ids.size(1), self.d_model).to(x), self.dropout, self.training)

    def encode(self, source):
        """[B, S] -> [B, S, d_model]"""
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, not_padding(source))
        return x

    def decode(self, target, memory, source):
        """target [B, T], memory [B, S, d_model], source [B, S] -> logits [B, T, words]; those at t read only the target before t."""
        start = torch.full_like(target[:, :1], PAD)
        x = self.embed(torch.cat([start, target[:, :-1]], 1))
        for layer in self.decoder:
            x = layer(x, memory, not_later(target.size(1)), not_padding(source))
        return x @ self.embedding.weight[:-1].T  # <pad> is no word

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


model = Transformer(len(vocabulary), d_model=96, d_ff=384, heads=4, layers=2, dropout=0.1)
count = sum(parameter.numel() for parameter in model.parameters())
print(f"{count:,} parameters, {model.embedding.weight.numel():,} of them in the table of words")
# %% [markdown]
# This is the whole model. Is it right? First, a test of the mask: change word 3 of each target, counted from 0, and see which
# predictions change, in any of the texts. Predictions 0 to 3 must stay, because they read only the words before word 3. `eval()`
# turns dropout off, and `train()` turns it on.
# %%
model.eval()
source, target = batch_of([pair.source for pair in test[:4]]), batch_of([pair.target for pair in test[:4]])
other = target.clone()
other[:, 3] = id_of["Nina"]
change = (model(source, other) - model(source, target)).abs().amax((0, -1))
print("largest change of the logits at each position:", change.detach())
assert change[:4].max() < 1e-5 < 0.01 < change[4]
# %% [markdown]
# And does it compute what Headway computes? `headway.Transformer` has the same parts, some with other names. We give it our
# parameters. Headway has a logit for `<pad>`, too, which is always zero; it is left out of the comparison. Both compute in
# float64 here, so that rounding does not hide a mistake.
# %%
import headway

NAMES = {"embedding.weight": "source_embedding.weight", "encoder.": "encoder.layers.", "decoder.": "decoder.layers."}
NAMES["self_attention"] = "mixer.attention"


def in_headway(model):
    """Return Headway's model with the parameters of ours."""
    first = model.encoder[0]
    config = headway.ModelConfig(
        source_vocab_size=len(vocabulary), target_vocab_size=len(vocabulary),
        d_model=model.d_model, d_ff=first.feed_forward.inner.out_features, num_heads=first.self_attention.heads,
        num_encoder_layers=len(model.encoder), num_decoder_layers=len(model.decoder),
    )
    weights = {}
    for name, value in model.state_dict().items():
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        weights[name] = value
    theirs = headway.Transformer(config).eval()
    theirs.load_state_dict(weights)
    return theirs


def compare(model):
    """Return the largest difference of the logits of the first four test sentences."""
    ours, theirs = model.eval().double(), in_headway(model).double()
    difference = (theirs(source, target, source != PAD)[..., :-1] - ours(source, target))[target != PAD].abs().max()
    model.float()
    return difference.item()


difference = compare(model)
print(f"largest difference to Headway's logits: {difference:.0e}")
assert difference < 1e-6
# %% [markdown]
# **Exercise 2.** Write a function that says how many parameters such a model has, with `layers` layers in the encoder and as many
# in the decoder; the maps of attention have no bias. Count those of the paper's base model: d_model 512, d_ff 2048, 6 layers, a
# vocabulary of 37,000. The row of `<pad>` counts, too. (The paper's Table 3 says 65 million, for "about 37000 tokens", and does
# not list the parts.)
# %%


def count_learned(vocab_size, d_model, d_ff, layers):
    """The number of heads does not matter. Why?"""
    raise NotImplementedError  # your code


def count_in(**sizes):
    return sum(parameter.numel() for parameter in Transformer(100, heads=4, dropout=0.1, **sizes).parameters())


check(
    "exercise 2",
    *(
        (f"count_learned(100, {sizes})", lambda sizes=sizes: count_learned(100, **sizes), count_in(**sizes))
        for sizes in ({"d_model": 64, "d_ff": 256, "layers": 2}, {"d_model": 32, "d_ff": 48, "layers": 3})
    ),
    ("the count of the base model", lambda: f"{count_learned(37_000, 512, 2048, 6):,}", "63,045,632"),
)
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# def count_learned(vocab_size, d_model, d_ff, layers):
#     attention = 4 * d_model**2
#     feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
#     norm = 2 * d_model
#     encoder = attention + feed_forward + 2 * norm
#     decoder = 2 * attention + feed_forward + 3 * norm
#     return vocab_size * d_model + layers * (encoder + decoder)
# ```
#
# The base model has 63,045,632. More heads are narrower, so that their maps have as many parameters together.
#
# </details>
#
# ## 9. The loss (section 5.4)
#
# Training makes the right word more probable. The **cross entropy** of a prediction is −log p, where p is the probability that
# the model gives to the right word: 0 if p is 1, and 2.3 if p is 0.1.
#
# With **label smoothing** the model is asked to be a little unsure. A share ε = 0.1 of the probability is spread evenly over all
# V words, the right one included. So the right word is to get 1 − ε + ε/V, and each other word ε/V. The loss is the mean of −log
# p over all words, weighted by these numbers: (1 − ε) · (−log p of the right word) + ε · (the mean of −log p over all words). It
# is smallest where the model's probabilities are these numbers. A model that is surer is pushed back.
# %%
SMOOTHING = 0.1


def loss_of(logits, target, smoothing=SMOOTHING):
    """logits [B, T, words], target [B, T] -> the mean over the words that are not padding."""
    log_p = logits.log_softmax(-1)
    # <pad> has no logit; clamp puts another id in its place, and the last line leaves it out.
    right = log_p.gather(-1, target.clamp(max=PAD - 1)[..., None]).squeeze(-1)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(-1)
    return losses[target != PAD].mean()


probabilities = torch.linspace(0.5, 0.9999, 200)
figure, axes = plt.subplots(figsize=(5.5, 3))
for smoothing in (0.0, 0.1):
    others = (1 - probabilities) / 999  # of 1,000 words
    curve = -(1 - smoothing) * probabilities.log() - smoothing * (probabilities.log() + 999 * others.log()) / 1000
    axes.plot(probabilities.tolist(), curve.tolist(), label=f"smoothing {smoothing}")
    print(f"smoothing {smoothing}: the smallest loss is at the probability {probabilities[curve.argmin()]:.3f} (of 200)")
axes.set(title="loss by the probability of the right word", xlabel="probability")
axes.legend()
plt.show()
# %% [markdown]
# The loss with smoothing is never zero: with our 1,300 words it cannot fall below 1.04. So models are compared by their
# **perplexity**, e to the mean cross entropy without smoothing. A perplexity of 5 is that of a choice among five words that are
# equally probable. The paper reports that smoothing (Szegedy et al., 2016) makes the perplexity worse, because the model learns
# to be more unsure, and makes accuracy and BLEU (section 12) better.
#
# ## 10. The learning rate (section 5.3)
#
# How long is a step against the gradient? The paper takes the optimizer **Adam**. For each parameter, Adam keeps a mean of the
# recent gradients (β1 = 0.9) and a mean of their squares (β2 = 0.98), both corrected for the few gradients of the first steps,
# and divides the first by the root of the second. The result is multiplied by the **learning rate**, which rises first (the
# **warm-up**) and then falls:
#
# Equation 3: rate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)
#
# The two terms are equal at step = warmup, where the rate is highest. The paper gives no reason for the warm-up. Later work found
# two: a post-norm model has large gradients near its output at the beginning (Xiong et al., 2020), and Adam's means are of few
# gradients then (Liu et al., 2020). Without a warm-up, Headway's models learn almost nothing, also if the highest rate is the
# same ([measured](evidence/paper.md#on-multi30k)). Later the rate falls, because smaller steps lead nearer to the goal at the
# end. A wider model has a lower rate.
# %%


def rate_of(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


figure, axes = plt.subplots(figsize=(5.5, 3))
steps = range(1, 20_001, 10)
for d_model, warmup in ((512, 4000), (512, 8000), (256, 4000)):
    axes.plot(steps, [rate_of(step, d_model, warmup) for step in steps], label=f"d_model {d_model}, warm-up {warmup:,}")
axes.set(title="learning rate (equation 3)", xlabel="step")
axes.legend()
plt.show()
assert max(steps, key=lambda step: rate_of(step, 512, 4000)) in range(3991, 4010)
# %% [markdown]
# ## 11. Training
#
# Now the loop of the first section: a batch of sentences, its loss, the gradient, a step. Sentences of similar length share a
# batch, so that there is little padding. The decoder gets the right words before each word, not its own predictions; this is
# called **teacher forcing**, and it is why all words of a target can be predicted at once.
#
# The paper trains its base model for 100,000 steps of about 25,000 tokens of each language, with a warm-up of 4,000 steps, and
# translates with the mean of the last five checkpoints, which are stored parameters. We take 1,200 steps of 64 sentences. The
# sentences that measure the result are not in the training text, but have the same patterns with other words: an easy test.
# %%
STEPS, WARMUP, BATCH = 1200, 400, 64


def draw_batches():
    """Yield batches of source and target, in random order, again and again."""
    by_length = sorted(training, key=lambda pair: (len(tokens_of(pair.source)), len(tokens_of(pair.target))))
    starts = range(0, len(by_length), BATCH)
    while True:
        for number in torch.randperm(len(starts)).tolist():
            pairs = by_length[starts[number] : starts[number] + BATCH]
            yield batch_of([pair.source for pair in pairs]), batch_of([pair.target for pair in pairs])


def train(model, steps):
    """Train for so many steps; return the loss of each step."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    model.train()
    losses, started, batches = [], time.time(), draw_batches()
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = rate_of(step, model.d_model, WARMUP)
        source, target = next(batches)
        loss = loss_of(model(source, target), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % (steps // 5) == 0:
            print(f"step {step:5,}: mean loss of 50 steps {sum(losses[-50:]) / 50:.3f} ({time.time() - started:.0f} s)")
    model.eval()
    return losses


losses = train(model, STEPS)
figure, axes = plt.subplots(figsize=(5.5, 3))
axes.plot(losses)
axes.set(title="loss of each step", xlabel="step")
plt.show()
with torch.no_grad():
    held_out = batch_of([pair.source for pair in validation]), batch_of([pair.target for pair in validation])
    logits = model(*held_out)
    real = held_out[1] != PAD
    perplexity = loss_of(logits, held_out[1], 0.0).exp().item()
    accuracy = (logits.argmax(-1) == held_out[1])[real].float().mean().item()
print(f"on the {len(validation)} sentences of the validation: perplexity {perplexity:.2f}, {accuracy:.1%} of the words are right")
assert accuracy > 0.9
# %% [markdown]
# ## 12. Translating (section 6.1)
#
# In training the decoder got the right words before each word. Now there are only those that it has written itself. The simplest
# way, **greedy search**, adds the likeliest word again and again. But the likeliest first word may lead nowhere. So **beam
# search** keeps the n best **hypotheses**, which are beginnings of translations. At each step it adds the likeliest next words to
# each of them, and looks at the n best of all results. Those that end in `</s>` are put aside, and the next best take their
# places. The search is over when n have ended.
#
# The probability of a text is the product of the probabilities of its words. Its logarithm is a sum of negative numbers, so short
# texts would win. Therefore the sum is divided by the **length penalty** of Wu et al. (2016), ((5 + length) / 6)^α, where length
# counts `</s>`. The paper has a beam of n = 4 and α = 0.6, and writes at most 50 words more than the source has.
# %%


@torch.no_grad()
def search(model, text, beam=4, alpha=0.6, most=50):
    """Return the ids of the best translation that is found, without its end."""
    source = torch.tensor([ids_of(text)])
    memory = model.encode(source)
    hypotheses, finished = [(0.0, [])], []
    for length in range(1, source.size(1) + most + 1):
        # decode drops the last column and puts <pad> first. To have a prediction after the last word, we append any id.
        target = torch.tensor([ids + [END] for _, ids in hypotheses])
        logits = model.decode(target, memory.expand(len(target), -1, -1), source.expand(len(target), -1))
        log_p = logits[:, -1].log_softmax(-1)
        longer = []
        for (score, ids), row in zip(hypotheses, log_p):
            best = row.topk(beam)
            longer += [(score + more, ids + [word]) for more, word in zip(best.values.tolist(), best.indices.tolist())]
        longer.sort(reverse=True)
        penalty = ((5 + length) / 6) ** alpha
        finished += [(score / penalty, ids[:-1]) for score, ids in longer[:beam] if ids[-1] == END]
        hypotheses = [(score, ids) for score, ids in longer if ids[-1] != END][:beam]
        if len(finished) >= beam:
            break
    return max(finished or hypotheses)[1]  # if none has ended, the best hypothesis


def text_of(ids):
    """Join words; no space before a mark, nor between quotation marks and what they enclose."""
    text = " ".join(vocabulary[number] for number in ids)
    return re.sub(r" ([.,?!“])", r"\1", text).replace("„ ", "„")


def translate(text, **options):
    return text_of(search(model, text, **options))


for pair in test[:6]:
    print(f"{pair.source}\n    {translate(pair.source)}\n    {'right' if translate(pair.source) == pair.target else 'expected: ' + pair.target}")
# %%
asked = test[:100]
right = {beam: sum(translate(pair.source, beam=beam) == pair.target for pair in asked) for beam in (1, 4)}
print("of", len(asked), "new sentences, word for word as expected:", right[1], "with a beam of 1,", right[4], "with a beam of 4")
assert right[4] > 0.7 * len(asked)
# %% [markdown]
# A translation that differs from the expected one, the **reference**, need not be wrong. The usual measure, **BLEU**, counts over
# a whole text which groups of one to four words are in the references, too, and lowers the score of a text that is too short.
# Fewer sentences than words are right, because one wrong word spoils a sentence. A hundred sentences are too few to tell
# whether the larger beam is better: it changes a few of them in either direction.
#
# The model still equals Headway's, now that it is trained:
# %%
difference = compare(model)
print(f"largest difference to Headway's logits: {difference:.0e}")
assert difference < 1e-6
# %% [markdown]
# **Exercise 3.** `search` translates one sentence after the other, and reads the whole hypothesis again for each word. Write a
# greedy search that translates a batch at once: encode once, and add the likeliest word to every row until all rows have an
# `END`. Rows that have ended go on, and what follows their `END` is cut off at last. Return a list of ids for each text, without
# its `END`. Begin with `torch.empty(len(texts), 0, dtype=torch.long)`; as in `search`, `decode` needs one more column, which it
# does not read.
# %%


def search_many(model, texts, most=50):
    """`batch_of(texts)` makes the sources."""
    raise NotImplementedError  # your code


texts = [pair.source for pair in test[:40]]


def first_other():
    """The first translation that is not that of search; one that never ends may be longer in a batch."""
    for text, found in zip(texts, search_many(model, texts), strict=True):
        alone = search(model, text, beam=1)
        if list(found) != alone and len(alone) < len(ids_of(text)) + 50:
            return f"{text_of(found)!r} for {text!r}"


check("exercise 3", ("the first translation that is not that of search", first_other, None))
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# @torch.no_grad()
# def search_many(model, texts, most=50):
#     source = batch_of(texts)
#     memory = model.encode(source)
#     target = torch.empty(len(texts), 0, dtype=torch.long)
#     for _ in range(source.size(1) + most):
#         unread = torch.full((len(texts), 1), END)
#         logits = model.decode(torch.cat([target, unread], 1), memory, source)
#         target = torch.cat([target, logits[:, -1].argmax(-1, keepdim=True)], 1)
#         if (target == END).any(1).all():
#             break
#     return [row[: row.index(END)] if END in row else row for row in target.tolist()]
# ```
#
# The padding of short sources changes nothing, because of the mask. Headway also keeps the keys and values of earlier words, so
# that each step computes one position only.
#
# </details>
#
# ## 13. What it attends to
#
# The weights of encoder-decoder attention say which source positions each position of the target has read. Row t is the position
# that predicts word t, so it has not read word t itself.
# %%
def cross_attention(pair):
    """[target positions, source positions]: the last layer, mean of its heads."""
    with torch.no_grad():
        model(torch.tensor([ids_of(pair.source)]), torch.tensor([ids_of(pair.target)]))
    return model.decoder[-1].cross.weights[0].mean(0)


# A sentence with the verb "hat" that is translated right, if there is one.
pair = max(test[:100], key=lambda pair: ("hat" in pair.target.split()) + (translate(pair.source) == pair.target))
words = [[vocabulary[number] for number in ids_of(text)] for text in (pair.target, pair.source)]
show(cross_attention(pair), "the last layer, mean of its heads", names=words)

copied = found = 0  # words that are the same in both languages, mostly names, and how many are read most where they stand
for pair in test[:100]:
    source, target = ids_of(pair.source)[:-1], ids_of(pair.target)[:-1]
    most = cross_attention(pair).argmax(-1)
    for row, number in enumerate(target):
        if source.count(number) == 1 and vocabulary[number].isalpha():
            copied, found = copied + 1, found + (source.index(number) == most[row])
print(f"of {copied} words that are the same in both languages, {found} get most of the weight where they stand in the source")
assert found > 0.5 * copied
# %% [markdown]
# The sentence has "hat", so that German puts a verb at its end, far from the English one. Look for names, which stand in both
# languages: most of their rows are darkest at themselves. Other rows are less clear, above all those of the verb at the end and
# of small words.
#
# Read such pictures with care. A position of the source holds a vector into which the encoder has mixed other words, and other
# heads and layers read other places.
#
# ## 14. Why self-attention (section 4)
#
# What else could carry information from one position to another? The paper compares attention with recurrent layers, which pass a
# state from word to word, and with convolutions, which read k neighbors (Table 1). n is the number of positions and d the width.
# The columns in the middle are orders of growth, without constant factors. The last one counts multiplications:
#
# | layer | operations of a layer | steps that wait for each other | longest path between two words | counted in Headway's layers |
# |---|---|---|---|---|
# | self-attention | n² · d | 1 | 1 | 2 n² d |
# | recurrent | n · d² | n | n | 2 n d² + 3 n d (LSTM, two directions of width d / 2) |
# | convolution | k · n · d² | 1 | log_k(n) if dilated, otherwise n / k | k n d² |
# | self-attention to r neighbors | r · n · d | 1 | n / r | 190 n d for r = 32: 64 queries together read 64 + 31 keys, 2 · 95 |
#
# The table leaves out the linear maps before and after, 4 n d² for attention as well as for the LSTM. In sentences, n is mostly
# smaller than d, so self-attention takes fewer operations than a recurrent layer. All positions are computed at once, which suits
# GPUs. And any two words are one step apart, which makes it easier to learn how they belong together. [Table 1,
# counted](evidence/paper-layers.md) has every measurement.
#
# Whether self-attention translates better is another question. In Headway's trainings on small texts it does not: on Multi30k,
# translators with recurrent layers or most convolutions in its place reach one to two BLEU more at the same number of steps ([the
# paper](evidence/paper.md#on-multi30k) has the table with seeds and settings). The paper's claim is about large models and texts,
# and about the time that training takes. Here is how the time of our own layer grows, its linear maps included, beside that of an
# LSTM in one direction:
# %%


def seconds(function):
    """The shortest of five calls."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


lengths, measured = [64, 128, 256, 512, 1024], {"self-attention": [], "recurrent (LSTM)": []}
with torch.no_grad():
    attending, recurrent = MultiHeadAttention(256, 4), nn.LSTM(256, 256, batch_first=True)
    for n in lengths:
        x, mask = torch.randn(1, n, 256), torch.ones(n, n).bool()
        measured["self-attention"].append(seconds(lambda: attending(x, x, mask)))
        measured["recurrent (LSTM)"].append(seconds(lambda: recurrent(x)))
figure, axes = plt.subplots(figsize=(5.5, 3))
for name, times in measured.items():
    axes.loglog(lengths, times, "o-", label=name)
axes.set(title="seconds of one layer, d = 256", xlabel="positions")
axes.legend()
plt.show()
# %% [markdown]
# Where the two lines cross depends on the machine: attention is faster for sentences, and grows with n² for long texts.
#
# ## 15. Twelve questions
#
# 1. Which three vectors does each position make for attention, and what does each of them do?
# 2. Why are the scores divided by √d_k?
# 3. Which positions may a decoder's query read in self-attention, and why does training need this?
# 4. Which two masks does this model have, and where is each used?
# 5. Eight heads cost about what one costs: why?
# 6. What would the encoder make of "dog bites man" and "man bites dog" without position encodings?
# 7. Which part of a layer carries information between positions, and which does not?
# 8. Write the output of a sub-layer with dropout, residual connection and layer normalization, in the paper's order.
# 9. Where is the embedding table used, and what is multiplied by √d_model?
# 10. What does the decoder read at the first position, and what does it predict there?
# 11. What does a model with label smoothing 0.1 and 1,000 words give to the right word when its loss is smallest?
# 12. Why does beam search divide by a length penalty, and why can training predict all words at once and translating cannot?
#
# <details><summary>Answers</summary>
#
# 1. The query is compared with keys; the key decides how much its position is read; the value is what is read.
# 2. Dot products of random vectors have a standard deviation of √d_k. With large scores one key gets almost all the weight, and
#    the gradient of the softmax is almost zero.
# 3. Its own and the earlier ones of the shifted target, which are the words before the one that it predicts. Otherwise the model
#   would learn to copy that word, which is not there when it translates.
# 4. The mask of padding, in the encoder's self-attention and in encoder-decoder attention; and the mask of later words, in the
#    decoder's self-attention.
# 5. Each head has a width of d_model / 8, an eighth of that of a single head.
# 6. The same vectors, in another order.
# 7. Attention does. The feed-forward network sees one position at a time, and so do normalization, dropout and the residual
#   connection.
# 8. LayerNorm(x + Dropout(Sublayer(x))).
# 9. At the inputs of the encoder and the decoder, and for the logits. It is multiplied at the two inputs.
# 10. The vector of `<pad>`, which is zero, plus the encoding of position 0. It predicts the first word.
# 11. 0.9 + 0.1 / 1000 = 0.9001.
# 12. Each word makes a text less probable, so that short texts would win. In training the right words before each position are
#   known; in translating they are not written yet.
#
# </details>
#
# ## Where to go on
#
# - Headway's training differs in one thing: `<pad>`, with its logit of zero, takes part in the softmax and in the smoothing as
#   one more word.
# - `headway demo` trains the same kind of model with subwords, faster code, later methods of training and the whole corpus;
#   `headway picture` draws its attention.
# - [Section by section](evidence/paper.md) says where each part of the paper is in Headway, and what was measured.
# - [A layer of your own](own-layer.md) puts something else in the place of self-attention.
# - The code of `headway/model/` is this notebook with caches, packed rows (several sentences in one row) and the settings of
#   Table 3: begin with `layers.py`.
