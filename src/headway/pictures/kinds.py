"""The three attentions of the model, and what they are called in pictures. Paper: section 3.2.3."""

KINDS = ("encoder", "decoder", "cross")
# What the rows and the columns of each kind are.
SIDES = {
    "encoder": ("queries: source", "keys: source"),
    "decoder": ("queries: decoder input, each to predict the next", "keys: decoder input"),
    "cross": ("queries: target tokens to predict", "keys: source"),
}
NAMES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "encoder-decoder attention",
}
