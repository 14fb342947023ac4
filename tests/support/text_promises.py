"""Promises for any text: it is decoded without loss, neighbors do not matter, and the search ends in time.

Each function looks at some texts and returns what was broken, worst first, and a figure.
"""

import math
from dataclasses import replace
from itertools import islice
from random import Random

import torch

from headway.config import Config, ModelConfig, SearchConfig
from headway.model import Transformer
from headway.text.vocabulary import EOS
from headway.translation import Translation, Translator
from support.bounds import grows_less
from support.cases import read_rows
from support.strange_texts import shapes

SHAPES = read_rows(__file__, "SHAPES")
SEARCHES = {
    name: SearchConfig(**settings) for name, settings in read_rows(__file__, "SEARCHES").items()
}


def comes_back(tokenizer, texts):
    """Encode and decode texts: the same comes back, halves of characters as question marks.

    Returns:
        What did not, and how many texts there were.
    """
    broken, seen = [], 0
    ends = {EOS, tokenizer.unk, tokenizer.source_pad}
    source = iter(texts)
    while batch := list(islice(source, 500)):
        seen += len(batch)
        for text, ids in zip(batch, tokenizer.encode_source(batch), strict=True):
            wanted = text.encode("utf-8", "replace").decode()
            if tokenizer.decode_source(ids) != wanted:
                broken.append(f"came back as {tokenizer.decode_source(ids)[:40]!r}: {text[:40]!r}")
            if ends & set(ids[:-1]) or ids[-1] != EOS:
                broken.append(f"has control ids: {text[:40]!r}")
            parts = tokenizer.decode_each(ids[:-1])
            if "".join(parts) != wanted or tokenizer.divide_source(wanted) != (parts or [""]):
                broken.append(f"is divided as {parts[:4]!r}: {text[:40]!r}")
    return broken, seen


def slow_shapes(work, length):
    """Return the texts of `shapes` for which some work takes more than linear time; the longest has four times the length."""
    return [name for name in shapes(1) if grows(work, name, length)]


def grows(work, name, length):
    """Return whether the work on a text takes much more than four times as long if the text is four times as long."""
    texts = {count: shapes(count)[name] for count in (length, 4 * length)}
    return not grows_less(lambda count: work(texts[count]), length, 8)


def neutral(translator, lines, search, seed=1):
    """Translate lines alone, in their order, sorted and in random batches: the same must come.

    Returns:
        The lines that differ, and the largest difference of a log-probability.
    """

    def together(order, tokens):
        wider = replace(search, batch_tokens=tokens)
        found = translator.stream([lines[i] for i in order], wider)
        return {i: answer[0] for i, answer in zip(order, found, strict=True)}

    random = Random(seed)
    places = list(range(len(lines)))
    alone = {i: next(iter(translator.stream([lines[i]], search)))[0] for i in places}
    orders = [(places, 2_000), (sorted(places, key=lambda i: len(lines[i])), 5_000)]
    shuffled = random.sample(places, len(places))
    orders.append((shuffled, 10_000))
    broken, worst = [], 0.0
    answers = [together(order, tokens) for order, tokens in orders]
    scattered: dict[int, Translation] = {}
    while shuffled:
        batch, shuffled = (shuffled[: (size := random.randrange(1, 60))], shuffled[size:])
        scattered |= together(batch, random.randrange(50, 5_000))
    for answer in [*answers, scattered]:
        for i in places:
            worst = max(worst, abs(answer[i].log_probability - alone[i].log_probability))
            if answer[i].text != alone[i].text:
                broken.append(f"{lines[i][:60]!r}: {alone[i].text[:60]!r}, {answer[i].text[:60]!r}")
    return broken, worst


def untrained(tokenizer, shape, seed, sharp):
    """Return a translator with random weights, multiplied by ``sharp``."""
    torch.manual_seed(seed)
    config = Config(
        model=ModelConfig(
            source_vocab_size=tokenizer.source_vocab_size,
            target_vocab_size=tokenizer.target_vocab_size,
            **{
                "num_encoder_layers": 1, "num_decoder_layers": 2, "d_model": 22, "d_ff": 17, "num_heads": 2,
                **SHAPES[shape],
            },
        )
    )  # fmt: skip
    model = Transformer(config.model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(sharp)
    return Translator(model, tokenizer, config.search)


def draws(tokenizer, random, count):
    """Yield random source ids, with ``</s>``."""
    for _ in range(count):
        length = random.choice([0, 1, random.randrange(1, 12), random.randrange(1, 70)])
        yield [*(random.randrange(2, tokenizer.source_pad) for _ in range(length)), EOS]


def ends(tokenizer, count, seed):
    """Translate random ids with untrained models, in all ways of searching: every search ends.

    A translation has at most as many tokens as its source and ``max_extra`` more, and a score.

    Returns:
        What did not, and the largest share of its limit that a translation took.
    """
    random = Random(seed)
    broken, largest, done = [], 0.0, 0
    while done < count:
        shape, name = random.choice(list(SHAPES)), random.choice(list(SEARCHES))
        sharp = random.choice([0.0, 1.0, 3.0])
        translator, search = (
            untrained(tokenizer, shape, random.randrange(99), sharp),
            SEARCHES[name],
        )
        sources = list(draws(tokenizer, random, min(count - done, random.choice([1, 16, 64]))))
        done += len(sources)
        found = translator.token_search.search(sources, [[] for _ in sources], search)
        for source, hypotheses in zip(sources, found, strict=True):
            limit = len(source) + search.max_extra
            where = f"{shape}, {name}, weights times {sharp}, {len(source)} ids"
            if len(hypotheses) != search.n_best:
                broken.append(f"{where}: {len(hypotheses)} hypotheses")
            for hypothesis in hypotheses:
                largest = max(largest, len(hypothesis.tokens) / max(1, limit))
                if not 1 <= len(hypothesis.tokens) <= limit or hypothesis.tokens[-1] != EOS:
                    broken.append(f"{where}: {len(hypothesis.tokens)} tokens of {limit}")
                if not (math.isfinite(hypothesis.score) and hypothesis.log_probability <= 1e-6):
                    broken.append(f"{where}: score {hypothesis.score}")
    return broken, largest
