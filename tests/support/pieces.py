"""The places of a line's way one by one, for tests of what happens between them."""

from headway.translation.alignment import alignment_layers
from headway.translation.given_translations import read_targets
from headway.translation.pipeline import Found
from headway.translation.requests import run, together


def cut(translator, line, search=None):
    """Return the pieces of a line."""
    return translator.pipeline(search).cut(line)


def find(translator, pieces, search=None):
    """Return the n best translations of pieces, searched together, with links where tags need them."""
    pipeline = translator.pipeline(search)
    return [each.hypotheses for each in run(together(map(pipeline.find, pieces)))]


def join(translator, pieces, found, ratings=None):
    """Join translations of a line's pieces to those of the line."""
    each_rating = ratings or [None] * len(pieces)
    both = zip(found, each_rating, strict=True)
    linked = [
        Found(_link(translator, piece, [*n_best], all_of_them=False), rated)
        for piece, (n_best, rated) in zip(pieces, both, strict=True)
    ]
    return translator.pipeline().join(pieces, linked)


def align(translator, piece, hypothesis):
    """Link the words of a piece to those of a translation."""
    [linked] = _link(translator, piece, [hypothesis], all_of_them=True)
    return translator._masking.align(translator.tokenizer, piece, linked)


def log_probabilities(model, sources, targets, search):
    """Return the log-probability of each token of targets."""
    measures = [lambda given: given.log_p] * len(sources)
    return read_targets(model, sources, targets, search, measures)


def score_targets(model, sources, targets, search):
    """Return the log-probability of targets."""
    return [sum(log_p.tolist()) for log_p in log_probabilities(model, sources, targets, search)]


def attend(model, sources, targets, search, layers=alignment_layers):
    """Return how much each token of targets attends to each token of their sources."""
    measures = [lambda given: given.weights] * len(sources)
    return read_targets(model, sources, targets, search, measures, is_scored=False, layers=layers)


def _link(translator, piece, found, *, all_of_them):
    search = translator.default_search
    link = translator._masking.link
    return run(link(translator.token_search, piece, found, search, all_of_them=all_of_them))
