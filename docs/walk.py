# %% [markdown]
# # Build a Transformer
#
# This notebook builds the model of "Attention Is All You Need" (Vaswani et al., [2017](https://arxiv.org/abs/1706.03762))
# from nothing but PyTorch's tensors and linear maps, trains it in about two minutes, and translates with it. Nothing is imported that
# hides a step. At the end of the model stands a check: given the same weights, it computes the same numbers as
# `headway.Transformer`.
#
# You need Python, and to have seen an array. Sections, equations and figures have the paper's numbers. Three exercises ask you to
# write code, and a check says whether it is right; the answers are folded away below them.
#
# To run it: `pip install "headway[demo,pictures]"`, then open `docs/walk.ipynb` in Jupyter, or run `python docs/walk.py`.
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
# brackets: `[2, 3]` has two rows of three numbers.
# %%
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape", list(x.shape))
print("sums over the last axis", x.sum(-1))
print("x + 10 adds 10 everywhere:", (x + 10).tolist())
print("x * [1, 0, 2] takes the same row for both:", (x * torch.tensor([1.0, 0.0, 2.0])).tolist())
# %% [markdown]
# In the last line the shapes differ, `[2, 3]` and `[3]`. PyTorch repeats the smaller one along the axis that it lacks; this is
# called **broadcasting**, and masks will use it.
#
# The most important operation is the **matrix product** `a @ b`. The number in row i and column j of the result is the **dot product** of row i of
# `a` and column j of `b`: multiply the numbers in pairs, and add. The dot product of two vectors is large if they point in the same direction; we
# will use it to ask how well two words fit each other. With more axes than two, `@` multiplies the last two, and does so for each place of the
# others.
# %%
a, b = torch.randn(2, 3), torch.randn(3, 4)
by_hand = sum(a[1, k] * b[k, 2] for k in range(3))
print("shapes", list(a.shape), "@", list(b.shape), "=", list((a @ b).shape))
print("one number of it, by hand and by @:", round(by_hand.item(), 4), round((a @ b)[1, 2].item(), 4))
# %% [markdown]
# A **linear map** is a matrix product with numbers that are learned: `nn.Linear(3, 4)` turns each vector of 3 numbers into one of 4, with a matrix
# `weight` and, if it is asked for, a vector `bias` that is added.
#
# How are they learned? PyTorch records what is computed with a tensor of `requires_grad`, and `backward()` then returns the **gradient** of the result: for each
# number, how much the result would grow if that number grew. A step against the gradient makes the result smaller. If the result is an error, the
# map has learned.
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
# All training below is this loop, with more numbers and a better rule for the step.
#
# ## 2. Text becomes numbers
#
# Our text is a part of Headway's built-in corpus: German sentences and their English originals, made by rules, without digits. German often puts
# the verb at the end, so that a translation needs another order of the words.
# %%
from headway.ext.demo import generate, split

sentences = [pair for pair in generate("en", "de", 40_000) if pair.kind == "sentence"]
sentences = [pair for pair in sentences if not re.search(r"\d", pair.source + pair.target)]
training, validation, test = split(sentences)
print(len(training), "sentences to learn from,", len(test), "others to test with; for example")
for pair in training[:3]:
    print("   ", pair.source, "->", pair.target)
# %% [markdown]
# A model reads no letters, but numbers: each **token** of a text gets an **id**. Here a token is a word or a mark. (Real systems divide rare words into parts, so that
# every word can be written; the paper has 37,000 of them for both languages.) Three ids are not words: `<unk>` stands for an unknown word,
# `</s>` for the end of a text, and `<pad>` fills up short rows. Both languages share one list, as in section 5.1.
# %%


def tokens_of(text):
    return re.findall(r"\w+|[^\w\s]", text)


words = sorted({word for pair in training for text in (pair.source, pair.target) for word in tokens_of(text)})
vocabulary = ["<unk>", "</s>", *words, "<pad>"]
UNKNOWN, END, PAD = 0, 1, len(vocabulary) - 1
number_of = {word: number for number, word in enumerate(vocabulary)}


def ids_of(text):
    """The ids of a text's tokens, and the end."""
    return [number_of.get(word, UNKNOWN) for word in tokens_of(text)] + [END]


def batch_of(texts):
    """The ids of several texts in one tensor, [texts, longest]; short rows end in <pad>."""
    rows = [ids_of(text) for text in texts]
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


print(len(vocabulary), "ids;", "two texts as a batch:")
print(batch_of(["Max speaks Thai.", "Will Nina pay the bill on Saturday?"]))
# %% [markdown]
# ## 3. Attention (section 3.2.1)
#
# A word alone says little: in "the man who painted the wall comes from Spain", the verb "comes" needs "man". **Attention** lets each
# token fetch what it needs from other tokens.
#
# Each token sends out a **query** (what do I look for?), a **key** (what do I offer to those who look?) and a **value** (what do I give?). All three are vectors. Attention
# compares a query with every key by their dot product, turns these scores into weights that sum to 1, and returns the mean of the values with these weights:
#
# Equation 1: Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V
#
# **softmax** makes weights of any numbers: e to the power of each, divided by their sum. The largest score gets the largest weight. d_k is the width of a
# key. `may_see` will be explained in the next section.
# %%


def attention(queries, keys, values, may_see):
    """Shapes: queries [..., T, d_k], keys [..., S, d_k], values [..., S, d_v]; may_see broadcasts to [..., T, S]."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    weights = scores.masked_fill(~may_see, -math.inf).softmax(-1)
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
# Why divide by √d_k? The dot product of two random vectors of d_k numbers has a standard deviation of √d_k. Without the division, wide keys have large scores, one weight is
# almost 1 and the others almost 0, and then a small change of a query changes nothing: the gradient vanishes, and nothing is learned.
# %%
widths = [1, 4, 16, 64, 256, 1024]
largest, gradients = {}, {}
for divided in (False, True):
    largest[divided], gradients[divided] = [], []
    for width in widths:
        query, key = torch.randn(500, 1, width, requires_grad=True), torch.randn(500, 10, width)
        scores = (query * key).sum(-1) / (math.sqrt(width) if divided else 1)
        top = scores.softmax(-1).max(-1).values
        top.sum().backward()
        largest[divided].append(top.mean().item())
        gradients[divided].append(query.grad.norm(dim=-1).median().item())
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for divided, name in ((False, "not divided"), (True, "divided by √d_k")):
    axes[0].semilogx(widths, largest[divided], "o-", label=name)
    axes[1].loglog(widths, gradients[divided], "o-", label=name)
axes[0].set(title="mean of the largest of ten weights", xlabel="d_k", ylim=(0, 1))
axes[1].set(title="gradient of a query (median)", xlabel="d_k")
axes[0].legend()
plt.show()
assert largest[False][-1] > 0.9 > 0.5 > largest[True][-1]
assert gradients[False][-1] < gradients[True][-1] / 100
# %% [markdown]
# ## 4. Masks (section 3.2.3)
#
# Not every key may be read. A key that may not be read gets the score −∞, whose softmax is 0. There are two reasons:
#
# - **Padding** means nothing. If it took a share of the weight, a sentence would be translated differently beside a longer one.
# - **Later words.** The translation is written word by word, so the model must predict each word from those before it. In training the whole
#   translation is known and all its words are predicted at once; a mask hides from each position what comes later. Without it, the model
#   would learn to copy the word that it is to predict, and would have nothing to copy when it translates.
#
# `True` means: may be read. The second mask is a triangle: row t has `True` up to column t.
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
# **Exercise 1.** Some models read only the last n positions ("restricted self-attention", section 4). Write the mask: position t may read the positions t − n + 1 to t.
# %%


def check(is_right, name):
    """Say whether an exercise is solved."""
    try:
        print(f"{name}: {'right' if is_right() else 'wrong'}")
    except NotImplementedError:
        print(f"{name}: not written yet")


def last_positions(length, n):
    """[length, length], True and False"""
    raise NotImplementedError  # your code


check(
    lambda: (last_positions(5, 2).int() @ torch.ones(5, 1).int()).flatten().tolist() == [1, 2, 2, 2, 2]
    and torch.equal(last_positions(5, 9), not_later(5))
    and last_positions(4, 2)[3].tolist() == [False, False, True, True],
    "exercise 1",
)
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# def last_positions(length, n):
#     return torch.ones(length, length).tril().triu(1 - n).bool()
# ```
#
# `tril` keeps what is on the diagonal and below, `triu(1 - n)` what is at most n − 1 below it.
#
# </details>
#
# ## 5. Heads (section 3.2.2)
#
# One softmax gives one mean. A verb that needs its subject and its object would get a mixture of both. So the model has several **heads**, each an attention of its own, with
# queries, keys and values of its own, made by linear maps:
#
# head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V), and MultiHead = Concat(head_1, …, head_h) W^O
#
# The heads divide the width among them: with d_model = 512 and 8 heads, each has keys of width 64. So eight heads cost what one would. In code, one linear map makes the
# queries of all heads at once, and the result is cut into heads.
# %%


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def cut(self, x):
        """[B, T, d_model] -> [B, heads, T, d_model / heads]"""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, asking, read, may_see):
        """asking [B, T, d_model] sends queries, read [B, S, d_model] has keys and values -> [B, T, d_model]"""
        queries, keys, values = self.cut(self.query(asking)), self.cut(self.key(read)), self.cut(self.value(read))
        heads, self.weights = attention(queries, keys, values, may_see)  # the weights are kept to look at
        return self.output(heads.transpose(1, 2).flatten(2))


# %% [markdown]
# If a text asks itself (`asking` is `read`), this is **self-attention**. If a translation asks the source, it is **encoder-decoder attention**.
#
# ## 6. Positions (section 3.5)
#
# Attention knows no order: change the order of the words, and the results are the same, in the new order.
# %%
layer, x = MultiHeadAttention(16, 2), torch.randn(1, 5, 16)
order = torch.tensor([3, 1, 4, 0, 2])
all_five = torch.ones(5, 5).bool()
torch.testing.assert_close(layer(x, x, all_five)[:, order], layer(x[:, order], x[:, order], all_five))
# %% [markdown]
# So each position gets a vector of its own, which is added to that of the word: PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), and PE(pos, 2i + 1) is the
# cosine of the same angle. Each pair of numbers is the hand of a clock. The first clock turns once in 6.3 positions and tells neighbors apart; the last one takes about 60,000.
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
# The dot product of two encodings depends on their distance alone. Going on by k positions turns each hand by an angle that depends only on k, so that
# one matrix leads from each position to the one k later. A head can learn "the word three before" in this way. Vectors that are learned serve as well in the paper's Table 3; sinusoids
# exist for every position, also beyond the longest text of the training.
#
# ## 7. The layer (sections 3.1, 3.3 and 5.4)
#
# Beside attention, each layer has a small network that treats each position alone: equation 2, FFN(x) = max(0, x W1 + b1) W2 + b2. Attention carries information from one position to another,
# and this network works on it. Its inner width d_ff is four times d_model in the paper.
# %%


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.outer(self.inner(x).relu())  # relu is max(0, ·)


# %% [markdown]
# Three more parts make it possible to train many layers one above the other:
#
# - **Dropout** sets a share of the numbers to zero in training, chosen anew each time, so that the model cannot rely on single ones. The others are divided by the share that stays, so that sums keep their size. A model that
#   translates drops nothing.
# - A **residual connection** adds what a part returns to what it received. So each part needs to learn only a change, and the gradient has a way around it.
# - **Layer normalization** brings the numbers of each position to the mean 0 and the variance 1, and then multiplies and shifts them by learned numbers.
#
# Together: LayerNorm(x + Dropout(Sublayer(x))). The paper normalizes after the sum ("post-norm"); many later models normalize the input of the part instead ("pre-norm").
# %%


def drop(x, share, is_training):
    if not is_training or not share:
        return x
    return x * (torch.rand_like(x) >= share) / (1 - share)


class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return self.weight * (x - mean) / (variance + 1e-5).sqrt() + self.bias  # 1e-5: never divide by zero


class Residual(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm, self.dropout = LayerNorm(d_model), dropout

    def forward(self, x, result):
        """x [B, T, d_model] is what a part received, and result what it returned."""
        return self.norm(x + drop(result, self.dropout, self.training))


# %% [markdown]
# The **encoder** reads the source. Its layer has two parts: self-attention, and the network. The **decoder** writes the target. Its layer has a third part between them, which reads what the
# encoder has made of the source. These are the two columns of the paper's Figure 1.
# %%


class EncoderLayer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList(Residual(d_model, dropout) for _ in range(2))

    def forward(self, x, may_see):
        x = self.residuals[0](x, self.self_attention(x, x, may_see))
        return self.residuals[1](x, self.feed_forward(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, d_ff, heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.residuals = nn.ModuleList(Residual(d_model, dropout) for _ in range(3))

    def forward(self, x, source, may_see, may_see_source):
        x = self.residuals[0](x, self.self_attention(x, x, may_see))
        x = self.residuals[1](x, self.cross(x, source, may_see_source))
        return self.residuals[2](x, self.feed_forward(x))


# %% [markdown]
# ## 8. The model (sections 3.1 and 3.4)
#
# A few things remain, and each of them matters:
#
# - The **embedding** is a table with a learned vector for each id. It is multiplied by √d_model before the position encoding is added, so that both are about equally large.
# - The same table makes the output: the score of a word (its **logit**) is the dot product of its vector with what the decoder returns. This is "tying"; softmax then turns logits into
#   probabilities.
# - The decoder's input is the target **shifted by one**: position t holds word t − 1, reads no later position, and predicts word t. Before the first word stands `<pad>`, whose vector is zero. It tells the
#   decoder where a text begins.
# - Dropout is also applied to the sum of embedding and position.
# %%


class Transformer(nn.Module):
    def __init__(self, vocabulary, d_model, d_ff, heads, layers, dropout):
        super().__init__()
        self.d_model, self.dropout = d_model, dropout
        self.embedding = nn.Embedding(vocabulary, d_model, padding_idx=vocabulary - 1)  # this row stays as it is
        sizes = d_model, d_ff, heads, dropout
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(layers))
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)  # of a size that keeps the numbers about as large as they are
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

    def decode(self, target, encoded, source):
        """target [B, T] -> logits [B, T, words]; those at t read only the target before t."""
        start = torch.full_like(target[:, :1], PAD)
        x = self.embed(torch.cat([start, target[:, :-1]], 1))
        for layer in self.decoder:
            x = layer(x, encoded, not_later(target.size(1)), not_padding(source))
        return x @ self.embedding.weight[:-1].T  # <pad> is no word

    def forward(self, source, target):
        return self.decode(target, self.encode(source), source)


model = Transformer(len(vocabulary), d_model=96, d_ff=384, heads=4, layers=2, dropout=0.1)
count = sum(parameter.numel() for parameter in model.parameters())
print(f"{count:,} learned numbers, {model.embedding.weight.numel():,} of them in the table of words")
# %% [markdown]
# This is the whole model. Is it right? One test of a mask: change a word of the target, and see which predictions change. Those up to the word itself must stay, because they read only
# what is before it.
# %%
model.eval()
source, target = batch_of([pair.source for pair in test[:4]]), batch_of([pair.target for pair in test[:4]])
other = target.clone()
other[:, 3] = number_of["Nina"]
change = (model(source, other) - model(source, target)).abs().amax(-1)[0]
print("largest change of the logits at each position:", change.detach())
assert change[:4].max() < 1e-5 < 0.01 < change[4]
# %% [markdown]
# And does it compute what Headway computes? `headway.Transformer` has the same parts with other names. We give it our weights.
# Headway has a logit for `<pad>`, too, which is always zero; it is left out of the comparison. Both compute in float64 here, so that rounding does not hide a mistake.
# %%
import headway

NAMES = {"embedding.weight": "source_embedding.weight", "encoder.": "encoder.layers.", "decoder.": "decoder.layers."}
NAMES["self_attention"] = "mixer.attention"


def in_headway(model):
    """Return Headway's model with the weights of ours."""
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
# **Exercise 2.** Write a function that says how many numbers a model of this kind learns, and count those of the paper's base model: d_model 512, d_ff 2048, 6 layers, a vocabulary of 37,000.
# (The paper's Table 3 says 65 million. The row of `<pad>` counts here, too.)
# %%


def count_learned(vocabulary, d_model, d_ff, layers):
    """The number of heads does not matter. Why?"""
    raise NotImplementedError  # your code


def is_counted():
    for sizes in ({"d_model": 64, "d_ff": 256, "layers": 2}, {"d_model": 32, "d_ff": 48, "layers": 3}):
        small = Transformer(100, heads=4, dropout=0.1, **sizes)
        if count_learned(100, **sizes) != sum(parameter.numel() for parameter in small.parameters()):
            return False
    print(f"the base model of the paper: {count_learned(37_000, 512, 2048, 6):,}")
    return True


check(is_counted, "exercise 2")
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# def count_learned(vocabulary, d_model, d_ff, layers):
#     attention = 4 * d_model**2
#     feed_forward = d_model * d_ff + d_ff + d_ff * d_model + d_model
#     norm = 2 * d_model
#     encoder = attention + feed_forward + 2 * norm
#     decoder = 2 * attention + feed_forward + 3 * norm
#     return vocabulary * d_model + layers * (encoder + decoder)
# ```
#
# The base model has 63,045,632. More heads are narrower, so that their maps have as many numbers together.
#
# </details>
#
# ## 9. The loss (section 5.4)
#
# Training makes the right word more probable. The **cross entropy** is −log of the probability that the model gives to the right word, in nats: 0 if it is sure and right, 2.3 for a probability of 0.1.
#
# With **label smoothing** the model is asked to be a little unsure. Instead of all of the probability, the right word is to get 0.9, and 0.1 is spread over all words. The
# loss is smallest where the model's probabilities are these. A model that is surer than that is pushed back.
# %%
SMOOTHING = 0.1


def loss_of(logits, target, smoothing=SMOOTHING):
    """logits [B, T, words], target [B, T] -> the mean over the words that are not padding."""
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, target.clamp(max=PAD - 1)[..., None]).squeeze(-1)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(-1)
    return losses[target != PAD].mean()


probabilities = torch.linspace(0.5, 0.9999, 200)
figure, axes = plt.subplots(figsize=(5.5, 3))
for smoothing in (0.0, 0.1):
    others = (1 - probabilities) / 999  # of 1,000 words
    curve = -(1 - smoothing) * probabilities.log() - smoothing * (probabilities.log() + 999 * others.log()) / 1000
    axes.plot(probabilities.tolist(), curve.tolist(), label=f"smoothing {smoothing}")
    print(f"smoothing {smoothing}: the smallest loss is at the probability {probabilities[curve.argmin()]:.3f}")
axes.set(title="loss by the probability of the right word", xlabel="probability")
axes.legend()
plt.show()
# %% [markdown]
# The paper reports that smoothing makes the perplexity worse (e to the cross entropy without smoothing), because the model becomes more unsure, and accuracy and BLEU better. Szegedy et al. (2016)
# introduced it against models that are too sure. In Headway's training the logit of `<pad>`, zero, takes part in the softmax as one more word that is
# never right; a trained model gives it next to nothing.
#
# ## 10. The rate (section 5.3)
#
# How long is a step against the gradient? The paper takes the optimizer **Adam**, which divides each gradient by its recent size, and multiplies by a rate that rises first and then falls:
#
# Equation 3: rate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)
#
# It rises because Adam knows little about the size of gradients at the beginning, and large steps then spoil a post-norm model for good. It falls because smaller steps
# lead nearer to the goal at the end. With a wider model the rate is lower.
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
# Now the loop of the first section: a batch of sentences, its loss, the gradient, a step. Sentences of like length share a batch, so that there is little padding.
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
        loss = loss_of(model(*(pair := next(batches))), pair[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % (steps // 5) == 0:
            print(f"step {step:5,}: loss {sum(losses[-50:]) / 50:.3f} ({time.time() - started:.0f} s)")
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
print(f"on sentences that it has not seen: perplexity {perplexity:.2f}, {accuracy:.1%} of the words are right")
assert accuracy > 0.9
# %% [markdown]
# ## 12. Translating (section 6.1)
#
# In training the model was shown the right words before each word. Now there are only those that it has written itself. The simplest way is to add the likeliest word again and again. **Beam search** keeps the
# n best beginnings instead, because the likeliest first word may lead nowhere: at each step it goes on with each of them, and keeps the n best of all that come out. Text that ends is put aside.
#
# The probability of a text is the product of those of its words, so its logarithm is a sum of negative numbers, and short texts win. Therefore the sum is divided by a **length penalty**, ((5 + length) / 6)^α. The
# paper has a beam of 4 and α = 0.6, and at most 50 more words than the source.
# %%


@torch.no_grad()
def search(model, text, beam=4, alpha=0.6, most=50):
    """Return the ids of the best translation that is found, without its end."""
    source = torch.tensor([ids_of(text)])
    encoded = model.encode(source)
    beginnings, finished = [(0.0, [])], []
    for length in range(1, source.size(1) + most + 1):
        # The last column is not read: a prediction does not see its own word.
        target = torch.tensor([ids + [END] for _, ids in beginnings])
        logits = model.decode(target, encoded.expand(len(target), -1, -1), source.expand(len(target), -1))
        log_p = logits[:, -1].log_softmax(-1)
        longer = []
        for (score, ids), row in zip(beginnings, log_p):
            best = row.topk(beam)
            longer += [(score + more, ids + [word]) for more, word in zip(best.values.tolist(), best.indices.tolist())]
        longer.sort(reverse=True)
        penalty = ((5 + length) / 6) ** alpha
        finished += [(score / penalty, ids[:-1]) for score, ids in longer[:beam] if ids[-1] == END]
        beginnings = [(score, ids) for score, ids in longer if ids[-1] != END][:beam]
        if len(finished) >= beam:
            break
    return max(finished or beginnings)[1]


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
# A text that differs from the reference need not be wrong; the usual measure, **BLEU**, compares groups of one to four words with the reference, over a whole text.
#
# The model still equals Headway's, now that it is trained:
# %%
difference = compare(model)
print(f"largest difference to Headway's logits: {difference:.0e}")
assert difference < 1e-6
# %% [markdown]
# **Exercise 3.** `search` translates one sentence after the other, and reads the whole beginning again for each word. Write a greedy search that translates a batch at once: encode once, add the
# likeliest word to every row until all of them have ended, and return a list of ids for each text, without its end.
# %%


def search_many(model, texts, most=50):
    """`batch_of(texts)` makes the sources."""
    raise NotImplementedError  # your code


def is_the_same():
    texts = [pair.source for pair in test[:40]]
    return [list(ids) for ids in search_many(model, texts)] == [search(model, text, beam=1) for text in texts]


check(is_the_same, "exercise 3")
# %% [markdown]
# <details><summary>Answer</summary>
#
# ```python
# @torch.no_grad()
# def search_many(model, texts, most=50):
#     source = batch_of(texts)
#     encoded = model.encode(source)
#     target = torch.empty(len(texts), 0, dtype=torch.long)
#     for _ in range(source.size(1) + most):
#         unknown = torch.full((len(texts), 1), END)
#         logits = model.decode(torch.cat([target, unknown], 1), encoded, source)
#         target = torch.cat([target, logits[:, -1].argmax(-1, keepdim=True)], 1)
#         if (target == END).any(1).all():
#             break
#     return [row[: row.index(END)] if END in row else row for row in target.tolist()]
# ```
#
# The padding of short sources changes nothing, because of the mask. Headway also keeps the keys and values of earlier words, so that each step computes one position only.
#
# </details>
#
# ## 13. What it attends to
#
# The weights of encoder-decoder attention say where each word of the translation has looked. Row t is the position that predicts word t. In German the verb comes late, and its row points
# back to the middle of the English sentence.
# %%
pair = max(test[:100], key=lambda pair: ("hat" in pair.target.split()) + (translate(pair.source) == pair.target))
source, target = torch.tensor([ids_of(pair.source)]), torch.tensor([ids_of(pair.target)])
with torch.no_grad():
    model(source, target)
weights = model.decoder[-1].cross.weights[0].mean(0)
show(weights, "the last layer, mean of its heads", names=([vocabulary[n] for n in target[0]], [vocabulary[n] for n in source[0]]))
# %% [markdown]
# Read such pictures with care. A position of the source holds a vector into which the encoder has mixed other words, and other heads and layers read other places.
#
# ## 14. Why self-attention (section 4)
#
# What else could carry information from one position to another? The paper compares attention with recurrent layers, which pass a state from word to word, and with convolutions, which read k neighbors. n is the number of positions, d the
# width:
#
# | layer | operations of a layer | steps that wait for each other | longest path between two words | counted by Headway |
# |---|---|---|---|---|
# | self-attention | n² · d | 1 | 1 | 2 n² d, growing as n^2.00 d^1.00 |
# | recurrent | n · d² | n | n | 2 n d² + 3 n d |
# | convolution | k · n · d² | 1 | log_k(n), or n / k if it is not dilated | k n d² |
# | self-attention to r neighbors | r · n · d | 1 | n / r | n^1.00 d^1.00 |
#
# With sentences, n is smaller than d, so self-attention takes fewer operations than a recurrent layer. All positions are computed at once, which suits GPUs. And any two words are one step apart, so that it is easy to learn
# how they belong together. [Table 1, counted](paper-layers.md) has every measurement.
#
# Whether it translates better is another question. In Headway's trainings on small texts it does not: on Multi30k, translators with recurrent or convolutional layers in its
# place reach one to two BLEU more at the same number of steps ([the paper](paper.md#on-multi30k) has the table with seeds and settings). The paper's claim is about large models and text, and about the time that they take.
# Here is the growth of the time of our own layer:
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
        x, may_see = torch.randn(1, n, 256), torch.ones(n, n).bool()
        measured["self-attention"].append(seconds(lambda: attending(x, x, may_see)))
        measured["recurrent (LSTM)"].append(seconds(lambda: recurrent(x)))
figure, axes = plt.subplots(figsize=(5.5, 3))
for name, times in measured.items():
    axes.loglog(lengths, times, "o-", label=name)
axes.set(title="seconds of one layer, d = 256", xlabel="positions")
axes.legend()
plt.show()
# %% [markdown]
# ## 15. Twelve questions
#
# 1. Which three vectors does each token make for attention, and what does each of them do?
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
# 1. The query is compared with keys; a key decides how much its token is read; the value is what is read.
# 2. Dot products of d_k numbers have a standard deviation of √d_k. Large scores saturate the softmax, and its gradient vanishes.
# 3. Its own and the earlier ones of the shifted target, that is the words before the one it predicts. Otherwise it would copy that word, which is not there when the model translates.
# 4. That of padding, in the encoder's self-attention and in encoder-decoder attention; and that of later words, in the decoder's self-attention.
# 5. Each is narrower by as much: d_model / h.
# 6. The same three vectors, in another order.
# 7. Attention does; the feed-forward network sees one position at a time, and so do the norm, dropout and the residual.
# 8. LayerNorm(x + Dropout(Sublayer(x))).
# 9. At the input of the encoder, at the input of the decoder and, as tied weights, for the logits. Embeddings are multiplied, where they are read.
# 10. The vector of `<pad>`, which is zero, and the encoding of position 0; it predicts the first word.
# 11. 0.9 + 0.1 / 1000 = 0.9001.
# 12. Each word makes a text less probable, so that short texts would win. In training the right words before each position are known; in translating they are not written yet.
#
# </details>
#
# ## Where to go on
#
# - `headway demo` trains the same model with subwords, faster code and the whole corpus; `headway picture` draws its attention.
# - [Section by section](paper.md) says where each part of the paper is in Headway, and what was measured.
# - [A layer of your own](own-layer.md) puts something else in the place of self-attention.
# - The code of `headway/model/` is this notebook with caches, packed rows and the settings of Table 3: begin with `layers.py`.
