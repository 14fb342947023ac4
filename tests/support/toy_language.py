"""A language of five tokens, whose translations can all be listed."""

import itertools

import torch

from headway.translation import StepDecoding, length_penalty

V, EOS, PAD = 5, 1, 4


class Toy:
    """A language over five tokens: the next token's logits are a table of the last two."""

    def __init__(self, sentences, seed, sharpness=1.0):
        generator = torch.Generator().manual_seed(seed)
        self.table = torch.randn(sentences, V, V, V, generator=generator) * sharpness

    def state(self, sentences, beams):
        rows = torch.tensor(list(sentences)).repeat_interleave(beams)
        return ToyState(torch.tensor(list(sentences)), torch.full((len(rows),), PAD))

    def decoding(self, sentences, beams):
        return StepDecoding(self.step, self.state(sentences, beams), PAD)

    def step(self, tokens, state):
        beams = len(tokens) // len(state.sentences)
        logits = self.table[state.sentences.repeat_interleave(beams), state.before, tokens]
        state.before = tokens
        return logits

    def log_p(self, sentence, tokens):
        path, total = [PAD, PAD, *tokens], 0.0
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            total += self.table[sentence, a, b].log_softmax(-1)[c].item()
        return total


class ToyState:
    def __init__(self, sentences, before):
        self.sentences, self.before = sentences, before

    def reorder(self, rows):
        self.before = self.before[rows]

    def keep(self, sentences):
        self.sentences = self.sentences[sentences]


def brute_force(toy, sentence, limit, alpha):
    return brute_force_of(toy.log_p, sentence, limit, alpha)


def brute_force_of(log_p, sentence, limit, alpha):
    """All translations of up to ``limit`` tokens of five, with their scores, best first."""
    found = []
    for length in range(1, limit):  # none is empty
        for body in itertools.product((0, 2, 3), repeat=length):
            tokens = [*body, EOS]
            found.append((log_p(sentence, tokens) / length_penalty(length + 1, alpha), tokens))
    return sorted(found, reverse=True)
